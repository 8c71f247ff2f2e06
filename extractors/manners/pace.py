"""Turns at a host: so many pages at once, so long apart, and not before it wants to be asked again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_MOST_HOSTS = 10_000


@dataclass(slots=True)
class _Host:
    """One host's state; `free_at` is when its next page may begin, on the loop's clock."""

    n_inside: int = 0
    n_waiting: int = 0
    free_at: float = 0.0
    left: asyncio.Condition = field(default_factory=asyncio.Condition)


class Pace:
    """Who comes when, at every host; `now` and `sleep` are the clock, which tests replace."""

    def __init__(
        self,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now or (lambda: asyncio.get_running_loop().time())
        self._sleep = sleep
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, host: str, *, at_once: int, delay_s: float) -> AsyncIterator[None]:
        """A place at `host` while the block runs: at most `at_once` have one, and they begin `delay_s` apart."""
        state = self._state(host)
        state.n_waiting += 1
        try:
            async with state.left:
                await state.left.wait_for(lambda: state.n_inside < at_once)
                state.n_inside += 1
        finally:
            state.n_waiting -= 1
        try:
            await self._wait(state, delay_s)
            yield
        finally:
            state.n_inside -= 1
            async with state.left:
                state.left.notify_all()

    async def wait(self, host: str, delay_s: float) -> None:
        """Until one more may begin at `host`, for one that has a place already."""
        state = self._state(host)
        state.n_waiting += 1
        try:
            await self._wait(state, delay_s)
        finally:
            state.n_waiting -= 1

    async def _wait(self, state: _Host, delay_s: float) -> None:
        """Until it is this one's time; `hold` may move it while one waits."""
        begin = max(self._now(), state.free_at)
        state.free_at = begin + delay_s
        if begin > self._now():
            await self._sleep(begin - self._now())

    def hold(self, host: str, seconds: float) -> None:
        """Nobody begins at `host` for so long: it asked to be left alone."""
        state = self._state(host)
        state.free_at = max(state.free_at, self._now() + seconds)

    def _state(self, host: str) -> _Host:
        state = self._hosts.setdefault(host, _Host())
        self._hosts.move_to_end(host)
        while len(self._hosts) > _MOST_HOSTS and not self._is_busy(next(iter(self._hosts))):
            self._hosts.popitem(last=False)
        return state

    def _is_busy(self, host: str) -> bool:
        state = self._hosts[host]
        return bool(state.n_inside or state.n_waiting) or state.free_at > self._now()
