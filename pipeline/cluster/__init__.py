"""A batch on many machines, by Ray: pages are fetched and read there, ledger and sink stay here.

- `connecting`: an address -> Ray, connected or started, and ended again
- `size`: what a cluster has -> how many fetchers and models
- `workers`: what runs on Ray: a browser, a model
- `failure`: an exception's way from one process to another
- `flow`: a batch's pages, through these workers (`RayFlow`)
"""
