"""What earlier pages of a site taught: where each value stood, so that the next page's values can be guessed there.

- `places`: a record and its evidence -> where each value stood, in terms that hold for the next page too
- `relocate`: those places + another page -> the record that would stand there
- `memory`: the store on disk, bounded, one for each model, schema and site

All of it only guesses: the decoder checks every draft against grammar and model.
"""
