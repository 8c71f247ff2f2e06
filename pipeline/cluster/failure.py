"""An exception -> what can travel between processes (`Failure`) -> the same exception."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from lookstruct.schemas.errors import LookstructError


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception as plain data: unlike the exception itself it needs no constructor that takes its `args`.

    >>> from lookstruct.schemas.errors import HTTPStatusError
    >>> again = pickle.loads(pickle.dumps(Failure.of(HTTPStatusError("Gone.", 410)))).restored()
    >>> type(again).__name__, str(again), again.status
    ('HTTPStatusError', 'Gone.', 410)
    """

    kind: type[Exception]
    args: tuple[Any, ...]
    state: Mapping[str, Any]

    @classmethod
    def of(cls, exc: Exception) -> Self:
        """The exception without its traceback and causes; of one that cannot travel, its message."""
        failure = cls(type(exc), exc.args, dict(vars(exc)))
        try:
            pickle.loads(pickle.dumps(failure)).restored()
        except Exception:
            return cls(LookstructError, (f"{type(exc).__name__}: {exc}",), {})
        return failure

    def restored(self) -> Exception:
        """The exception."""
        exc = self.kind.__new__(self.kind, *self.args)
        vars(exc).update(self.state)
        return exc
