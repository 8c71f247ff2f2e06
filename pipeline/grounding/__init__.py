"""Values and a Document -> where each value stands: pure functions, no model.

- `found`: what stands on the page: numbers, dates, durations, e-mail and web addresses, phones
- `candidates`: the same, as guesses for the decoder; `offers` and `holding`: as a grammar that fields cannot leave
- `normal_forms`: the same, as remarks beside the page's text
- `align`: a record's values -> their evidence
- `confidence`: token log-probabilities and evidence -> how far to trust each value
"""
