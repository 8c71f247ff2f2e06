"""The commands, one file a group: its options, what it calls, what it prints. `cli.py` lists them.

A module here has `add_to(app)`, which registers its commands under its own name.
"""
