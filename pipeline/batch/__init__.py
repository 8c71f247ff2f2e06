"""Many pages -> many records, nothing lost: pages arrive ahead of the model, every result is committed at once.

- `targets`: a list of URLs, a sitemap or a feed -> pages
- `start`: what was asked for -> a run in the ledger, new or taken up again
- `running`: fetch, read, keep, deliver (`Batch`)
- `report`, `display`: what became of it, for programs and for people
"""
