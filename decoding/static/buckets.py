"""How many rows or keys a forward has -> the fixed size that it is filled up to."""

from __future__ import annotations

ROWS = (1, 8, 16, 32, 64, 128, 192)
"""Row counts with a captured forward each: more of them waste fewer rows and take longer to capture."""
MAX_ROWS = ROWS[-1]
"""More rows than this are evaluated without capture: a long run of forced tokens, once in a while."""
SHORTEST = 512
"""The fewest keys that a captured forward looks over."""


def rows_bucket(n: int) -> int | None:
    """The least row count with a captured forward that holds `n` rows, None if none does.

    >>> rows_bucket(1), rows_bucket(9), rows_bucket(500)
    (1, 16, None)
    """
    return next((size for size in ROWS if size >= n), None)


def keys_bucket(n: int) -> int:
    """The least of 512, 768, 1024, 1536, 2048, ... that is at least `n`: attention runs over that many keys.

    >>> keys_bucket(3), keys_bucket(600), keys_bucket(769), keys_bucket(1025)
    (512, 768, 1024, 1536)
    """
    size = SHORTEST
    while size < n:
        size = size * 3 // 2 if size * 3 // 2 >= n else size * 2
    return size
