"""What servers let us keep, on disk: asked whether it still holds instead of being fetched again (RFC 9111).

store      the file, its size limit, and what becomes of it when it is damaged
cache      which kept response answers a request, and which response is kept
caches     the caches that a run's options name
documents  the same for what the browser navigates to
"""
