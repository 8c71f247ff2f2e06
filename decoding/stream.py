"""Token bytes -> text as it may be shown: whole characters only, nothing of a stop string, nothing taken back."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Collects bytes and releases text; what was released plus `flush()` is exactly the final text.

    >>> stream = TextStream(stop=("END",))
    >>> stream.feed(b"caf\\xc3"), stream.feed(b"\\xa9 E"), stream.feed(b"NDx")
    (False, False, True)
    >>> stream.text
    'caf\\u00e9 '
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(s for s in stop if s)
        self._held = ""
        self._released: list[str] = []
        self._taken = 0
        self.stopped = False

    def feed(self, data: bytes) -> bool:
        """Take bytes; True once a stop string is complete (it and what follows are not part of the text)."""
        self._held += self._decoder.decode(data)
        found = [i for s in self._stop if (i := self._held.find(s)) >= 0]
        if found:
            self._release(self._held[: min(found)])
            self._held, self.stopped = "", True
            return True
        safe = len(self._held) - self._at_risk()
        self._release(self._held[:safe])
        self._held = self._held[safe:]
        return False

    def flush(self) -> None:
        """The end: release what was held back."""
        if not self.stopped:
            self._release(self._held + self._decoder.decode(b"", final=True))
        self._held = ""

    def take(self) -> str:
        """Text released since the last call."""
        piece = "".join(self._released[self._taken :])
        self._taken = len(self._released)
        return piece

    @property
    def text(self) -> str:
        """All text released so far."""
        return "".join(self._released)

    def _release(self, piece: str) -> None:
        if piece:
            self._released.append(piece)

    def _at_risk(self) -> int:
        """How many characters at the end may be the beginning of a stop string."""
        for size in range(min(len(self._held), max(map(len, self._stop), default=1) - 1), 0, -1):
            tail = self._held[-size:]
            if any(s.startswith(tail) for s in self._stop):
                return size
        return 0
