"""What runs on Ray: `FetchWorker` holds a browser, `ReadWorker` a model. Failures are returned, not raised."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookstruct.pipeline.cluster.failure import Failure
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.flow import Arrival, Watch

if TYPE_CHECKING:
    from lookstruct.extractors.options import FetchOptions
    from lookstruct.extractors.target import Target
    from lookstruct.pipeline.flow import Flow
    from lookstruct.pipeline.settings import Settings
    from lookstruct.schemas.record import Record


class Worker:
    """An extractor in a process of its own; called from as many threads as pages are worked on at once."""

    def __init__(self, settings: Settings) -> None:
        self._extractor = Extractor(settings=settings)

    def ready(self) -> None:
        """Answers when the process has started."""

    def close(self) -> None:
        """Closes the browser and lets go of the model."""
        self._extractor.close()

    def _outcome(self, work: Callable[[Flow], Coroutine[Any, Any, Any]]) -> Any:
        try:
            return self._extractor.run(work)
        except Exception as exc:
            return Failure.of(exc)


class FetchWorker(Worker):
    """Pages -> cleaned documents."""

    def arrive(self, target: Target | str, options: FetchOptions | None) -> Arrival | Failure:
        """The page behind `target`, or why there is none."""
        outcome: Arrival | Failure = self._outcome(lambda flow: flow.arrive(target, Watch(), options))
        return outcome


class ReadWorker(Worker):
    """Documents -> records of one schema, which is named as the command line names it."""

    def __init__(self, settings: Settings, schema: str, n_threads: int) -> None:
        from lookstruct.schemas.loader import load_schema

        os.environ["OMP_NUM_THREADS"] = str(n_threads)  # Ray allows one; torch has not been imported yet
        super().__init__(settings)
        self._schema = load_schema(schema, lenient=settings.schemas.lenient)

    def record(self, arrival: Arrival) -> Record[Any] | Failure:
        """The record in a page, or why there is none. The user's own object stays here, its plain data goes on."""

        async def work(flow: Flow) -> Record[Any]:
            return replace(await flow.record(arrival, self._schema, Watch()), value=None)

        outcome: Record[Any] | Failure = self._outcome(work)
        return outcome
