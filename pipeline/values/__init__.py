"""What the page's text says: dates, numbers, money, durations, addresses to write to, in every locale; no model.

- `found`: all of them, each with its span
- `labels`: the text beside each that says what it is
- `candidates`: the same, as guesses for the decoder
- `normal_forms`: the same, as remarks beside the page's text
"""
