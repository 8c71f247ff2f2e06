"""How much memory is free, and who may begin a page when there is little."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from lookstruct.extractors.memory import free_bytes
from lookstruct.extractors.room import PAGE_BYTES, Room

MB = 1_000_000


def groups(tmp_path: Path, listed: str, **files: int | str) -> tuple[Path, Path]:
    """Control groups as Linux shows them: `files` by path, with two underscores for a slash, and - for a dot."""
    (tmp_path / "own").write_text(listed)
    for name, text in files.items():
        path = tmp_path / "groups" / name.replace("__", "/").replace("-", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return tmp_path / "groups", tmp_path / "own"


def test_without_groups_the_machines_own_figure_counts(tmp_path: Path) -> None:
    assert free_bytes(tmp_path, tmp_path / "none") == pytest.approx(psutil.virtual_memory().available, rel=0.5)


def test_a_groups_limit_counts_its_file_cache_as_free(tmp_path: Path) -> None:
    files = {
        "a__memory-max": 500 * MB,
        "a__memory-current": 400 * MB,
        "a__memory-stat": f"anon 5\ninactive_file {30 * MB}",
    }
    assert free_bytes(*groups(tmp_path, "0::/a/b\n", **files)) == 130 * MB


def test_the_narrowest_of_nested_groups_counts(tmp_path: Path) -> None:
    outer = {"a__memory-max": 500 * MB, "a__memory-current": 100 * MB}
    inner = {"a__b__memory-max": 50 * MB, "a__b__memory-current": 60 * MB}
    assert free_bytes(*groups(tmp_path, "0::/a/b\n", **outer, **inner)) == 0


def test_groups_of_version_1_are_read_too(tmp_path: Path) -> None:
    files = {
        "memory__a__memory-limit_in_bytes": 90 * MB,
        "memory__a__memory-usage_in_bytes": 40 * MB,
        "memory__memory-limit_in_bytes": 9223372036854771712,  # none
        "memory__memory-usage_in_bytes": 1,
    }
    assert free_bytes(*groups(tmp_path, "8:pids:/x\n4:memory:/a\n", **files)) == 50 * MB


def test_a_group_without_a_limit_is_none(tmp_path: Path) -> None:
    files: dict[str, int | str] = {"a__memory-max": "max", "a__memory-current": 100 * MB}
    assert free_bytes(*groups(tmp_path, "0::/a\n", **files)) > 0


class Machine:
    """A machine whose memory is told, not measured; who waits for it lets others go on, and counts."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.n_waits = 0

    async def wait(self, _: float) -> None:
        self.n_waits += 1
        await asyncio.sleep(0)


async def test_a_page_alone_never_waits() -> None:
    machine = Machine(0)
    async with Room(4, lambda: machine.free, machine.wait).place(500 * MB):
        assert machine.n_waits == 0


async def test_a_page_beside_others_waits_for_memory() -> None:
    machine = Machine(100 * MB)
    room = Room(4, lambda: machine.free, machine.wait)
    began: list[int] = []

    async def page(number: int) -> None:
        async with room.place(500 * MB):
            began.append(number)
            while number == 1 and machine.free < 1000 * MB:
                await asyncio.sleep(0)

    first, second = asyncio.create_task(page(1)), asyncio.create_task(page(2))
    while machine.n_waits < 5:
        await asyncio.sleep(0)
    assert began == [1]
    machine.free = 1000 * MB
    await asyncio.gather(first, second)
    assert began == [1, 2]


async def test_what_pages_just_begun_will_take_is_counted() -> None:
    machine = Machine(500 * MB + PAGE_BYTES + 1)
    room = Room(4, lambda: machine.free, machine.wait)
    async with room.place(500 * MB), room.place(500 * MB):
        third = asyncio.create_task(room.place(500 * MB).__aenter__())
        while machine.n_waits < 5:
            await asyncio.sleep(0)
        assert not third.done()
        third.cancel()


async def test_no_more_than_so_many_at_once() -> None:
    machine = Machine(10**12)
    room = Room(2, lambda: machine.free, machine.wait)
    async with room.place(0), room.place(0):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(room.place(0).__aenter__(), 0.05)
