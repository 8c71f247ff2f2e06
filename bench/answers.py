"""What the arms of the quality benchmark answered, kept in a file: a run that was cut short can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What one arm answered for one page. `data` is the record, as far as the text could be read; `is_valid` whether
    it fits the schema. `confidence` holds the raw and the reported confidence of each value by JSON pointer, where the
    arm knows it; `status` how each value stands on the page."""

    arm: str
    page: str
    data: Mapping[str, Any]
    is_valid: bool
    seconds: float
    prompt_tokens: int = 0
    new_tokens: int = 0
    forwards: int = 0
    status: Mapping[str, str] | None = None
    confidence: Mapping[str, float] | None = None
    text: str = ""


class Answers:
    """Answers by arm and page; with a `path`, each is also a line of that file, the last of an arm and page counts."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[tuple[str, str], Answer] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else ():
            self._keep(Answer(**json.loads(line)))

    def get(self, arm: str, page: str) -> Answer | None:
        """The answer of an arm for a page, if there is one."""
        return self._known.get((arm, page))

    def add(self, answer: Answer) -> None:
        """Keeps an answer."""
        self._keep(answer)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")

    def _keep(self, answer: Answer) -> None:
        self._known[answer.arm, answer.page] = answer
