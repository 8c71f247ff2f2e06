"""Where the record stands -> the best guess of all that follows: what every source hangs onto its own drafts.

One instance serves all sources of a request. It guesses values only for those that are switched on: typed values for
"values", rows for "arrays", guessed records for "records"; with none it knows the schema's own text alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from lookstruct.decoding.guessing.guesser import Guesser
from lookstruct.decoding.guessing.items import Items, Row, split_path
from lookstruct.decoding.guessing.page_text import page_text
from lookstruct.decoding.guessing.progress import Progress
from lookstruct.decoding.guessing.record_guesses import RecordGuesses
from lookstruct.decoding.guessing.schema_walk import Path
from lookstruct.decoding.guessing.skeleton import Skeleton, Slot, Way
from lookstruct.decoding.guessing.topics import topics
from lookstruct.decoding.sources.base import DraftContext, DraftRequest

_ROW_BELIEF = 0.97  # in a value read off a row: the row's values stand and fall together
_LEAST_BELIEF = 0.12
_LEAST_FORK = 0.05
_OTHERS = 5  # guesses of a value that are looked at for forks
_MOST_FORKS = 8
_MAX_KEPT = 1024
_WAYS_ON = (0.7, 0.3)  # belief that a list goes on after an item, and that it ends


class Fork(NamedTuple):
    """A text that may follow, and how likely it is against the other texts of the same question."""

    text: bytes
    p: float


class _Value(NamedTuple):
    """A guessed value, how sure it is, and where the page goes on after it."""

    raw: bytes
    p: float
    last: int


class Outlook:
    """The shared knowledge of one request: page, schema, progress, and what they suggest."""

    def __init__(self, request: DraftRequest) -> None:
        hints, chosen = request.hints, request.options.sources
        self.page = page_text(hints.page)
        self.skeleton = Skeleton(hints.schema)
        self.progress = Progress(hints, self.page)
        self.guesser = Guesser(hints, self.page, self.skeleton)
        self.items = Items(hints, self.page, self.skeleton, self.progress)
        self.records = RecordGuesses(hints, self.page, self.skeleton, self.progress)
        self._recorded = chosen is None or "records" in chosen
        self._typed = chosen is None or "values" in chosen
        self._rows = chosen is None or "arrays" in chosen
        self._text = b""
        self._kept: dict[tuple[Path, int, Row | None, int, bool], list[Fork]] = {}
        self._given: dict[bytes, str] = {}

    @staticmethod
    def of(request: DraftRequest) -> Outlook:
        """The request's one instance."""
        found = request.shared.get(Outlook)
        if not isinstance(found, Outlook):
            found = request.shared[Outlook] = Outlook(request)
        return found

    def look(self, context: DraftContext) -> Slot | None:
        """Take in the text so far; the slot at its end, None where sources have nothing to say."""
        if context.cursor is None:
            return None
        if context.text != self._text:
            self.progress.update(context.text)
            self.records.update()
            self._text = context.text
            self._kept.clear()
            self._given.clear()
        return self.skeleton.slot(context.text, context.cursor)

    def follow(self, path: Path, end: int | None, limit: int, row: Row | None = None) -> bytes:
        """The guess of what follows the value at `path`, which ends at `end` on the page (None: not known where).

        It goes on for about `limit` bytes and stops early at a choice that nothing on the page settles.
        """
        return self._following(path, end, limit, row, forking=False)[0].text

    def branches(self, path: Path, end: int | None, limit: int, asker: str) -> list[Fork]:
        """The guess of `follow`, and where it may turn another way: second choices of the values on it.

        A second choice is given to the source that asks for it first (`asker` is its name), and not to the others.
        """
        main, *forks = self._following(path, end, limit, None, forking=True)
        return [main, *(fork for fork in forks if self._given.setdefault(fork.text, asker) == asker)]

    @cached_property
    def topics(self) -> list[str]:
        """What a list of keywords on this page might hold."""
        return topics(self.page)

    def steps(self, path: Path) -> list[Fork]:
        """The ways on after the value at `path`, each up to the opening of the value it leads to."""
        ways = self.skeleton.after(path)[: len(_WAYS_ON)]
        shares = _WAYS_ON if len(ways) > 1 else (1.0,)
        return [Fork(way.text + self._opening(way), share) for way, share in zip(ways, shares, strict=False)]

    def step(self, path: Path) -> bytes:
        """Just the way to the next value and its opening, where there is only one way."""
        ways = self.skeleton.after(path)
        return ways[0].text + self._opening(ways[0]) if len(ways) == 1 else b""

    def _following(self, path: Path, end: int | None, limit: int, row: Row | None, *, forking: bool) -> list[Fork]:
        """The main guess, and its forks if they are wanted."""
        last = self.progress.last if end is None else end
        if row is None:
            row = self._row_of(path, end)
        key = (path, last, row, limit, forking)
        if key not in self._kept:
            if len(self._kept) > _MAX_KEPT:
                self._kept.clear()
            way = self._way(path, row)
            self._kept[key] = [Fork(b"", 1.0)] if way is None else self._along(way[0], last, limit, way[1], forking)
        return self._kept[key]

    def closed(self, path: Path, limit: int) -> bytes:
        """What follows if the array around `path` ends after the value there: its bracket, and on."""
        ways = self.skeleton.after(path)
        return self._along(ways[1], self.progress.last, limit, None, False)[0].text if len(ways) > 1 else b""

    def _along(self, way: Way, last: int, limit: int, row: Row | None, forking: bool) -> list[Fork]:
        """The text of a way and of the values and ways after it; then its forks."""
        text, belief = b"", 1.0
        forks: list[Fork] = []
        while True:
            text += way.text
            if way.path is None or len(text) >= limit:
                break
            path, opened, row = self._enter(way.path, row)
            text += opened
            value = self._value(path, last, row)
            if value is None or belief * value.p < _LEAST_BELIEF:
                forks += self._others(text, belief, path, last, None) if forking else []
                text += self.skeleton.opening(path)
                break
            forks += self._others(text, belief, path, last, value.raw) if forking else []
            text += value.raw
            last, belief = value.last, belief * value.p
            following = self._way(path, row)
            if following is None:
                break
            way, row = following
        likely = sorted(forks, key=lambda fork: -fork.p)
        return [Fork(text, belief), *likely[:_MOST_FORKS]]

    def _others(self, before: bytes, belief: float, path: Path, last: int, chosen: bytes | None) -> list[Fork]:
        """The values at `path` that were not chosen, each up to the opening of the value after it."""
        if not self._typed or belief < _LEAST_FORK:
            return []
        guesses = self.guesser.ranked(path, last, self.progress.keeps_zeros)[:_OTHERS]
        beyond = self.step(path)
        return [
            Fork(before + guess.raw + beyond, belief * guess.p)
            for guess in guesses
            if guess.raw != chosen and belief * guess.p >= _LEAST_FORK
        ]

    def _opening(self, way: Way) -> bytes:
        return b"" if way.path is None else self.skeleton.opening(way.path)

    def _way(self, path: Path, row: Row | None) -> tuple[Way, Row | None] | None:
        """The way on after the value at `path`, and the row it leads along; None where it cannot be told."""
        ways = self.skeleton.after(path)
        if not ways:
            return None
        if len(ways) == 1:
            return ways[0], row
        place = split_path(path)
        if place is None:
            return None
        if row is None or (row.array, row.index) != place[:2]:
            n_items = self.records.n_items(place[0]) if self._recorded else None
            return None if n_items is None else (ways[0] if place[1] + 1 < n_items else ways[1], None)
        following = self.items.after(row)
        return (ways[0], following) if following is not None else (ways[1], None)

    def _enter(self, path: Path, row: Row | None) -> tuple[Path, bytes, Row | None]:
        """Into an array that begins here, if it is known which row its first item comes from."""
        node = self.skeleton.node(path)
        if node.sole != "array":
            return path, b"", row
        first = next(iter(self.items.rows(path, 0)), None) if self._rows else None
        if first is None and not (self._recorded and self.records.n_items(path)):
            return path, b"", None
        opened, inner = self.skeleton.descend((*path, 0))
        return inner, b"[" + opened, first

    def _value(self, path: Path, last: int, row: Row | None) -> _Value | None:
        place = split_path(path)
        if row is not None and place is not None and place[:2] == (row.array, row.index):
            raw = self.items.value(row, place[2])
            if raw is not None:
                return _Value(raw, _ROW_BELIEF, self.items.end(row))
            last = self.items.place(row)
        options = [self.records.best(path) if self._recorded else None]
        options += [self.guesser.best(path, last, self.progress.keeps_zeros) if self._typed else None]
        best = max((guess for guess in options if guess is not None), key=lambda guess: guess.p, default=None)
        return None if best is None else _Value(best.raw, best.p, best.end or last)

    def _row_of(self, path: Path, end: int | None) -> Row | None:
        """The row that the item around `path` comes from, as far as the page tells."""
        place = split_path(path)
        if place is None or not self._rows:
            return None
        array, index, _ = place
        mapping = self.items.mapping(array)[0]
        if mapping is not None and index in mapping.lines:
            return Row(array, index, mapping.lines[index])
        if end is not None and mapping is not None:
            atom = self.page.atom_at(max(0, end - 1))
            return Row(array, index, self.page.line_of(atom)) if atom >= 0 else None
        return next(iter(self.items.rows(array, index)), None)
