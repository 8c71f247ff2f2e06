"""Values and a Document -> where each value stands: pure functions, no model.

found       what stands on the page: numbers, dates, durations, e-mails, phones, addresses
candidates  the same, as guesses and closed lists for the decoder
normal_forms    the same, as remarks beside the page's text
align       a record's leaves -> their evidence
confidence  token log-probabilities and evidence -> how far to trust each leaf
"""
