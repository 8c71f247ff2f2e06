"""A record and its page -> where each value stands and how far to trust it: pure functions, no model.

- `align`: a record's values -> their evidence, by `places` (where a value could stand) and `choosing` (where it does)
- `matching`, `tokens`: text found again although case, accents or spaces differ
- `confidence`: token log-probabilities and evidence -> how far to trust each value
"""
