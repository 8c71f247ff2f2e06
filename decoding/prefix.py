"""Keeps the KV of the last prompts, so that a page with the same schema does not pay for the same prefix again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lookstruct.decoding.cache import KVCache

SHORTEST = 32
"""Shared tokens below which starting afresh is simpler and costs nothing worth mentioning."""


class PrefixPool:
    """A few idle caches; one in use is not in the pool, so two sequences never share buffers."""

    def __init__(self, make: Callable[[], KVCache] = KVCache, size: int = 1) -> None:
        self._make = make
        self._size = size
        self._idle: list[KVCache] = []

    def take(self, prompt_ids: Sequence[int]) -> KVCache:
        """A cache holding the longest known prefix of the prompt; its last token is always left to be evaluated."""
        best, shared = None, SHORTEST - 1
        for cache in self._idle:
            n = min(shared_length(cache.token_ids, prompt_ids), len(prompt_ids) - 1)
            if n > shared:
                best, shared = cache, n
        if best is None and len(self._idle) < self._size:
            return self._make()
        if best is None:
            best, shared = self._idle[0], 0  # it would have to go anyway: take over its buffers
        self._idle.remove(best)
        best.truncate(shared)
        return best

    def give(self, cache: KVCache, n_prompt: int) -> None:
        """Put a cache back, cut to its prompt: what was generated is never reused."""
        cache.truncate(n_prompt)
        self._idle = [*self._idle, cache][-self._size :]

    def nbytes(self) -> int:
        """Bytes of the buffers that wait for the next sequence."""
        return sum(cache.nbytes() for cache in self._idle)

    def clear(self) -> None:
        """Free all buffers."""
        self._idle.clear()


def shared_length(a: Sequence[int], b: Sequence[int]) -> int:
    """How many elements two sequences have in common at their beginning.

    >>> shared_length([1, 2, 3], (1, 2, 4)), shared_length(b"ab", b"abc")
    (2, 2)
    """
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
