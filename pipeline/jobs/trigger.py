"""When a schedule fires: clock arithmetic alone, no tables and no present time.

>>> Every(timedelta(hours=6), datetime(2025, 3, 1, 9, tzinfo=UTC)).after(datetime(2025, 3, 1, 12, tzinfo=UTC))
datetime.datetime(2025, 3, 1, 15, 0, tzinfo=datetime.timezone.utc)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Protocol
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from lookstruct.schemas.errors import UsageError

MOST_COUNTED = 1000
"""Missed firings are counted up to here: a worker that was away for a year need not count half a million minutes."""
_LOOKBACKS = tuple(timedelta(hours=h) for h in (1, 24, 24 * 32, 24 * 366, 24 * 366 * 9))
"""How far back the latest firing is looked for, step by step; a 29 February is at most eight years away."""
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


class Trigger(Protocol):
    """A schedule: moments in UTC, whole seconds."""

    def after(self, moment: datetime) -> datetime | None:
        """The first firing later than `moment`; None if there is none."""
        ...

    def latest(self, after: datetime, until: datetime) -> datetime | None:
        """The last firing in (after, until]; None if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """Fires at `anchor` and every `period` after it, whatever clocks on the wall do in between."""

    period: timedelta
    anchor: datetime

    def after(self, moment: datetime) -> datetime:
        """The first multiple later than `moment`; never before the anchor."""
        return self.anchor + max((moment - self.anchor) // self.period + 1, 0) * self.period

    def latest(self, after: datetime, until: datetime) -> datetime | None:
        """The last multiple in (after, until]."""
        found = self.anchor + ((until - self.anchor) // self.period) * self.period
        return found if found > after and found >= self.anchor else None


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields as Debian's cron reads them, on the wall clock of `zone`.

    A fixed time that the spring night leaves out fires when the night goes on (02:30 at 03:00); one that the autumn
    night has twice fires once, the first time. Where minutes or hours begin with `*`, every real hour counts.
    """

    expression: str
    zone: ZoneInfo

    def after(self, moment: datetime) -> datetime | None:
        """The first firing later than `moment`."""
        return next(self._firings(moment), None)

    def latest(self, after: datetime, until: datetime) -> datetime | None:
        """The last firing in (after, until]: looked for in the last hour first, then further back."""
        for back in _LOOKBACKS:
            start = max(after, until - back)
            firings = deque(takewhile(lambda firing: firing <= until, self._firings(start)), maxlen=1)
            found = firings[0] if firings else None
            if found is not None or start == after:
                return found
        return None

    def _firings(self, moment: datetime) -> Iterator[datetime]:
        """All firings after `moment`. Counting on the wall clock from inside the repeated hour would give times of
        its first pass again: they are over, and left out."""
        for local in CronSim(self.expression, moment.astimezone(self.zone)):
            if (firing := local.astimezone(UTC)) > moment:
                yield firing


def count_between(trigger: Trigger, after: datetime, until: datetime) -> int:
    """How many firings lie in (after, until), at most `MOST_COUNTED`."""
    if isinstance(trigger, Every):
        first = trigger.after(after)
        return min(max(-((first - until) // trigger.period), 0), MOST_COUNTED)
    return sum(1 for _ in islice(_walk(trigger, after, until), MOST_COUNTED))


def _walk(trigger: Trigger, after: datetime, until: datetime) -> Iterator[datetime]:
    while (firing := trigger.after(after)) is not None and firing < until:
        yield firing
        after = firing


def cron(expression: str, zone: ZoneInfo) -> Cron:
    """A cron trigger that is known to fire; UsageError says what is wrong with the expression.

    >>> cron("0 6 * * 1", ZoneInfo("UTC")).after(datetime(2025, 3, 1, tzinfo=UTC)).isoformat()
    '2025-03-03T06:00:00+00:00'
    """
    fields = _ALIASES.get(expression.strip().lower(), expression.strip())
    if len(fields.split()) != 5:
        raise UsageError(
            f"The cron expression {expression!r} has {len(fields.split())} fields; five are expected: minute, hour, "
            "day of month, month, day of week, for example '0 6 * * 1-5'."
        )
    found = Cron(fields, zone)
    try:
        fires = found.after(datetime.now(UTC)) is not None
    except CronSimError as exc:
        reason = str(exc)[:1].lower() + str(exc)[1:]
        raise UsageError(f"The cron expression {expression!r} is not valid ({reason}); see man 5 crontab.") from exc
    if not fires:
        raise UsageError(f"The cron expression {expression!r} never fires; check its day and month.")
    return found
