"""Two records of the same thing -> what changed, field by field (`Change`); other spellings of a value are no change.

>>> [c.pointer for c in diff({"price": 2879.2, "tags": ["a", "b"]}, {"price": 2879.20, "tags": ["a", "c"]})]
['/tags/1']
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from lookstruct.pipeline.leaves import escape

_MONEY = re.compile(r"(?P<before>[^\d]*?)(?P<whole>\d[\d,' ]*)(?:\.(?P<cents>\d{1,2}))?(?P<after>[^\d]*)")
_SIGN = re.compile(r"[\u0024\u00a2-\u00a5\u20a0-\u20cf]|\b[A-Z]{3}\b")
_LONGEST_ALIGNED = 2000
"""Lists longer than this are compared item by item: aligning them would take too long."""


@dataclass(frozen=True, slots=True)
class Change:
    """One field that changed. `pointer` is a JSON pointer: into the new record, for `removed` into the old one."""

    pointer: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None

    def to_json(self) -> dict[str, Any]:
        """Its JSON form in the history."""
        return asdict(self)

    @property
    def line(self) -> str:
        """One line for people."""
        shown = [json.dumps(value, ensure_ascii=False) for value in (self.before, self.after)]
        place = self.pointer or "/"
        if self.kind == "changed":
            return f"{place}: {shown[0]} -> {shown[1]}"
        return f"{place}: {'+ ' + shown[1] if self.kind == 'added' else '- ' + shown[0]}"


def diff(old: Any, new: Any) -> list[Change]:
    """The changes from `old` to `new`; [] where both say the same.

    Numbers are compared as numbers, text without regard to white space and Unicode composition, amounts of money
    without their trailing zeros; null, empty text and a missing key are one. Items of lists are aligned, so one that
    is put in front changes no other.
    """
    return list(_changes(old, new, ""))


def canonical(value: Any) -> str:
    """A text that is equal for values that say the same.

    >>> canonical("$ 2,879.2") == canonical("$\u00a02,879.20"), canonical("1.1") == canonical("1.10"), canonical(1.0)
    (True, False, '1')
    """
    if isinstance(value, Mapping):
        kept = {str(key): canonical(inner) for key, inner in value.items() if not _is_nothing(inner)}
        return json.dumps(kept, sort_keys=True)
    if isinstance(value, list):
        return json.dumps([canonical(item) for item in value])
    if isinstance(value, str):
        return json.dumps(_plain_text(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    return json.dumps(value)


def _plain_text(text: str) -> str:
    """Text without the noise: composed, single spaces; money without trailing zeros in its cents."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    money = _MONEY.fullmatch(plain) if _SIGN.search(plain) else None
    if money is None:
        return plain
    cents = (money["cents"] or "").rstrip("0")
    return f"{money['before']}{money['whole']}{'.' + cents if cents else ''}{money['after']}"


def _is_nothing(value: Any) -> bool:
    return value is None or value == ""


def _changes(old: Any, new: Any, pointer: str) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from _changes(old.get(key), new.get(key), f"{pointer}/{escape(str(key))}")
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_changes(old, new, pointer)
    elif canonical(old) != canonical(new) and not (_is_nothing(old) and _is_nothing(new)):
        yield _change(old, new, pointer)


def _change(old: Any, new: Any, pointer: str) -> Change:
    if _is_nothing(old):
        return Change(pointer, "added", after=new)
    return Change(pointer, "removed", before=old) if _is_nothing(new) else Change(pointer, "changed", old, new)


def _list_changes(old: Sequence[Any], new: Sequence[Any], pointer: str) -> Iterator[Change]:
    for tag, i1, i2, j1, j2 in _aligned([canonical(item) for item in old], [canonical(item) for item in new]):
        if tag == "equal":
            continue
        n_paired = min(i2 - i1, j2 - j1)
        for i, j in zip(range(i1, i1 + n_paired), range(j1, j1 + n_paired), strict=True):
            yield from _changes(old[i], new[j], f"{pointer}/{j}")
        for i in range(i1 + n_paired, i2):
            yield Change(f"{pointer}/{i}", "removed", before=old[i])
        for j in range(j1 + n_paired, j2):
            yield Change(f"{pointer}/{j}", "added", after=new[j])


def _aligned(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if max(len(old), len(new)) > _LONGEST_ALIGNED:
        return [("replace", 0, len(old), 0, len(new))]
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
