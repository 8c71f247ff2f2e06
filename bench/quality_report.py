"""Answers + known values -> the figures of one run: per arm, per dataset, per field, and what was wrong."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.answers import Answer
from bench.datasets.sample import Dataset, Kind
from bench.scoring import Score, by_field, items_f1, normal, score, total


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer, its scores, and what it should have said."""

    answer: Answer
    dataset: str
    scores: Sequence[Score]
    gold: Mapping[str, Any]
    kinds: Mapping[str, Kind]


def judge(answer: Answer, gold: Mapping[str, Any], visible: Mapping[str, Any], dataset: Dataset) -> Judged:
    """The scores of an answer."""
    return Judged(answer, dataset.name, score(gold, answer.data, dataset.kinds, visible), gold, dataset.kinds)


def report(judged: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """Everything that is written as JSON: a summary for each arm, fields and datasets apart, pages, faults."""
    return {
        "pages": [{"dataset": j.dataset, "page": j.answer.page} for j in next(iter(judged.values()), ())],
        "arms": {arm: summary(some) for arm, some in judged.items()},
        "datasets": {arm: _by_dataset(some) for arm, some in judged.items()},
        "fields": {arm: _fields(some) for arm, some in judged.items()},
        "reliability": {arm: reliability(some) for arm, some in judged.items()},
        "faults": {arm: [fault for j in some for fault in faults(j)] for arm, some in judged.items()},
    }


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """The figures of one arm."""
    scores = [s for j in judged for s in j.scores]
    statuses = Counter(status for j in judged for p, status in (j.answer.status or {}).items() if _said(j, p))
    answers = [j.answer for j in judged]
    return {
        "pages": len(judged),
        **{key: round(value, 4) for key, value in asdict(total([j.scores for j in judged])).items()},
        "items_f1": round(items_f1(scores), 4),
        "valid": _share(sum(a.is_valid for a in answers), len(answers)),
        "nowhere": _share(statuses["none"], statuses.total()),
        "missed": _share(sum(s.n_missed for s in scores), sum(s.n_visible for s in scores)),
        "prompt_tokens": _median(a.prompt_tokens for a in answers),
        "new_tokens": _median(a.new_tokens for a in answers),
        "tokens_per_forward": _share(sum(a.new_tokens for a in answers), sum(a.forwards for a in answers)),
        "seconds": _median(a.seconds for a in answers),
    }


def _said(judged: Judged, pointer: str) -> bool:
    """Whether the answer has a value at a pointer: null stands nowhere, which is what it says."""
    value: Any = judged.answer.data
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value.get(step) if isinstance(value, dict) else None
    return value not in (None, "")


def _share(part: float, of: float) -> float | None:
    return round(part / of, 4) if of else None


def _median(values: Iterable[float]) -> float:
    listed = list(values)
    return round(statistics.median(listed), 1) if listed else 0.0


def _by_dataset(judged: Sequence[Judged]) -> dict[str, Any]:
    names = dict.fromkeys(j.dataset for j in judged)
    return {name: summary([j for j in judged if j.dataset == name]) for name in names}


def _fields(judged: Sequence[Judged]) -> dict[str, Any]:
    found = {}
    for name in dict.fromkeys(j.dataset for j in judged):
        for field, scores in by_field(j.scores for j in judged if j.dataset == name).items():
            together = total([[s] for s in scores], draws=0)
            found[f"{name}.{field}"] = {
                "n": len(scores),
                "visible": sum(s.n_visible > 0 for s in scores),
                "precision": round(together.precision, 3),
                "recall": round(together.recall, 3),
                "f1": round(together.f1, 3),
            }
    return found


def faults(judged: Judged) -> Iterator[dict[str, Any]]:
    """What was wrong: the field, the known values that are not answered, the answered ones that are not known."""
    for one in judged.scores:
        kind = judged.kinds.get(one.field, Kind.TEXT)
        gold, given = _listed(judged.gold[one.field]), _listed(judged.answer.data.get(one.field))
        known, answered = [normal(v, kind) for v in gold], [normal(v, kind) for v in given]
        wanting = [v for v, n in zip(gold, known, strict=True) if n not in answered]
        surplus = [v for v, n in zip(given, answered, strict=True) if n not in known]
        if one.n_right < max(one.n_gold, one.n_given):
            yield {
                "page": judged.answer.page,
                "field": one.field,
                "visible": one.n_visible,
                "wanting": wanting,
                "surplus": surplus,
            }


def _listed(value: Any) -> list[Any]:
    return [one for one in (value if isinstance(value, list) else [value]) if one not in (None, "")]


def reliability(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Each scored value: its raw confidence, its status, whether it was right."""
    found = []
    for j in judged:
        for pointer, confidence in (j.answer.confidence or {}).items():
            field = pointer.split("/")[1]
            if field in j.gold and _said(j, pointer):
                kind = j.kinds.get(field, Kind.TEXT)
                value: Any = j.answer.data[field]
                for step in pointer.split("/")[2:]:
                    value = value[int(step)]
                right = normal(value, kind) in [normal(v, kind) for v in _listed(j.gold[field])]
                status = (j.answer.status or {}).get(pointer, "none")
                found.append({"field": field, "raw": round(confidence, 4), "status": status, "right": right})
    return found


_COLUMNS = ("pages", "precision", "recall", "f1", "low", "high", "items_f1", "valid", "nowhere", "missed",
            "prompt_tokens", "new_tokens", "tokens_per_forward", "seconds")  # fmt: skip


def table(made: Mapping[str, Any]) -> str:
    """The summaries in Markdown: all pages together, then dataset by dataset, then F1 by field."""
    lines = ["| arm | " + " | ".join(_COLUMNS) + " |", "|---" * (len(_COLUMNS) + 1) + "|"]
    for arm, figures in made["arms"].items():
        lines.append(_row(arm, figures))
        lines += [_row(f"{arm}, {name}", some) for name, some in made["datasets"][arm].items()]
    arms = list(made["arms"])
    lines += ["", "| field | n | visible | " + " | ".join(arms) + " |", "|---" * (len(arms) + 3) + "|"]
    for field, first in made["fields"][arms[0]].items():
        cells = [f"{made['fields'][arm][field]['f1']:.2f}" for arm in arms]
        lines.append(f"| {field} | {first['n']} | {first['visible']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _row(name: str, figures: Mapping[str, Any]) -> str:
    return f"| {name} | " + " | ".join("-" if figures[c] is None else f"{figures[c]:g}" for c in _COLUMNS) + " |"
