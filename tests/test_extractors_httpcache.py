"""The HTTP cache: what is kept, what is asked about, and what becomes of its file."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import Any

import pytest
import pytest_asyncio
from press import BODY, Press, serving

from lookstruct.extractors.egress.client import Answer, get
from lookstruct.extractors.egress.guard import Guard
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.extractors.httpcache.cache import HttpCache, Lookup, Use
from lookstruct.extractors.httpcache.caches import Caches
from lookstruct.extractors.httpcache.store import FILE_NAME, CacheUnusable, open_storage
from lookstruct.extractors.manners.manners import Manners
from lookstruct.extractors.options import FetchOptions

URL = "https://shop.example/tea"
LONG_AGO = "Sat, 01 Jan 2022 00:00:00 GMT"


@pytest_asyncio.fixture
async def cache(tmp_path: Path) -> AsyncIterator[HttpCache]:
    storage = await open_storage(tmp_path, 10_000_000)
    yield HttpCache(storage, Use.FRESH)
    await storage.close()


async def look(cache: HttpCache, sent: Mapping[str, str] | None = None, *, url: str = URL, **more: Any) -> Lookup:
    found = await cache.look_up(url, sent or {}, is_admitted=more.pop("is_admitted", False), **more)
    assert found is not None
    return found


async def kept(cache: HttpCache, headers: Mapping[str, str], sent: Mapping[str, str] | None = None) -> None:
    """An answer with these headers was offered to the cache."""
    await cache.keep(await look(cache, sent), 200, headers, BODY)


# --- what is kept, and how long


async def test_what_its_server_calls_fresh_is_used_unasked(cache: HttpCache) -> None:
    await kept(cache, {"Cache-Control": "max-age=60", "Content-Type": "text/html"})
    fresh = (await look(cache)).fresh
    assert fresh is not None
    assert (fresh.status, fresh.body, fresh.headers["content-type"]) == (200, BODY, "text/html")


async def test_to_check_is_to_ask_about_what_is_fresh_too(cache: HttpCache, tmp_path: Path) -> None:
    await kept(cache, {"Cache-Control": "max-age=60", "ETag": '"a"'})
    storage = await open_storage(tmp_path, 10_000_000)
    found = await look(HttpCache(storage, Use.CHECK))
    assert (found.fresh, found.conditions) == (None, {"if-none-match": '"a"'})
    await storage.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": '"a"', "Last-Modified": LONG_AGO},
        {"ETag": '"a"', "Last-Modified": LONG_AGO, "Cache-Control": "no-cache, max-age=60"},
        {"ETag": '"a"', "Last-Modified": LONG_AGO, "Cache-Control": "max-age=0, must-revalidate"},
        {"ETag": '"a"', "Last-Modified": LONG_AGO, "Cache-Control": "max-age=60", "Date": LONG_AGO},
        {"ETag": '"a"', "Last-Modified": LONG_AGO, "Cache-Control": "max-age=60", "Age": "61"},
        {"ETag": '"a"', "Last-Modified": LONG_AGO, "Expires": LONG_AGO},
        {"ETag": '"a"', "Last-Modified": LONG_AGO, "Expires": "0"},
    ],
)
async def test_what_is_not_known_to_be_fresh_is_asked_about(cache: HttpCache, headers: dict[str, str]) -> None:
    await kept(cache, headers)
    found = await look(cache)
    assert found.fresh is None
    assert found.conditions == {"if-none-match": '"a"', "if-modified-since": LONG_AGO}


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": "no-store", "ETag": '"a"'},
        {"Cache-Control": "private, max-age=60"},
        {"Cache-Control": "max-age=60", "Set-Cookie": "who=ann"},
        {"Cache-Control": "public"},  # neither a lifetime nor anything to ask with
    ],
)
async def test_what_is_personal_or_of_no_use_is_not_kept(cache: HttpCache, headers: dict[str, str]) -> None:
    await kept(cache, headers)
    found = await look(cache)
    assert (found.fresh, found.conditions) == (None, {})


@pytest.mark.parametrize("sent", [{"Cookie": "who=ann"}, {"authorization": "Basic x"}])
async def test_requests_that_say_who_asks_pass_by_the_cache(cache: HttpCache, sent: dict[str, str]) -> None:
    await kept(cache, {"Cache-Control": "public, max-age=60"})
    assert await cache.look_up(URL, sent, is_admitted=False) is None
    assert await cache.look_up("https://ann:x@shop.example/tea", {}, is_admitted=False) is None


async def test_what_varies_is_used_for_the_same_request_only(cache: HttpCache) -> None:
    await kept(cache, {"Cache-Control": "max-age=60", "Vary": "Accept-Language"}, {"Accept-Language": "de"})
    assert (await look(cache, {"accept-language": "de"})).fresh is not None
    assert (await look(cache, {"Accept-Language": "fr"})).fresh is None
    assert (await look(cache, {"Accept-Language": "de"}, variant="other client")).fresh is None


async def test_what_a_persons_word_admitted_answers_nobody_else(cache: HttpCache) -> None:
    await cache.keep(await look(cache, is_admitted=True), 200, {"Cache-Control": "max-age=60"}, BODY)
    assert (await look(cache, is_admitted=True)).fresh is not None
    assert (await look(cache, is_admitted=False)).fresh is None


async def test_304_renews_what_is_kept(cache: HttpCache) -> None:
    await kept(cache, {"ETag": '"a"', "Cache-Control": "max-age=0", "X-From": "1"})
    renewed = await cache.confirmed(await look(cache), {"ETag": '"a"', "Cache-Control": "max-age=60", "X-From": "2"})
    assert renewed is not None
    assert (renewed.body, renewed.headers["x-from"]) == (BODY, "2")
    assert (await look(cache)).fresh is not None


async def test_304_about_something_else_confirms_nothing(cache: HttpCache) -> None:
    await kept(cache, {"ETag": '"a"', "Cache-Control": "max-age=0"})
    assert await cache.confirmed(await look(cache), {"ETag": '"b"'}) is None


@pytest.mark.parametrize("seconds", [60, 0])
async def test_a_new_answer_takes_the_old_ones_place(cache: HttpCache, seconds: int) -> None:
    now = time()
    await kept(cache, {"ETag": '"a"', "Date": formatdate(now - seconds, usegmt=True)})
    await kept(cache, {"ETag": '"b"', "Date": formatdate(now, usegmt=True)})
    assert (await look(cache)).conditions == {"if-none-match": '"b"'}


# --- our own client


@pytest_asyncio.fixture
async def press() -> AsyncIterator[Press]:
    async with serving() as press:
        yield press


async def fetched(cache: HttpCache, url: str, **more: Any) -> Answer:
    async with EgressProxy() as proxy:
        with proxy.admit(Guard.for_target(url), max_bytes=10**9) as ticket:
            limits = {"max_bytes": 10**6, "timeout_s": 10.0, "headers": {}}
            return await get(ticket, url, cache=cache, **{**limits, **more})


async def test_our_client_asks_once_for_what_is_fresh(cache: HttpCache, press: Press) -> None:
    press.headers = {"Cache-Control": "max-age=60"}
    answers = [await fetched(cache, f"{press.base}/a") for _ in range(3)]
    assert [answer.body for answer in answers] == [BODY] * 3
    assert press.seen == [("/a", 200)]


async def test_our_client_asks_whether_the_rest_still_holds(cache: HttpCache, press: Press) -> None:
    press.headers = {"ETag": '"a"'}
    assert [(await fetched(cache, f"{press.base}/a")).status for _ in range(3)] == [200] * 3
    assert press.seen == [("/a", 200), ("/a", 304), ("/a", 304)]
    press.headers, press.body = {"ETag": '"b"'}, b"new"
    assert [(await fetched(cache, f"{press.base}/a")).body for _ in range(2)] == [b"new"] * 2
    assert press.seen[3:] == [("/a", 200), ("/a", 304)]


async def test_a_body_that_was_cut_is_not_kept(cache: HttpCache, press: Press) -> None:
    press.headers = {"Cache-Control": "max-age=60"}
    assert (await fetched(cache, f"{press.base}/a", max_bytes=5)).is_cut
    assert (await fetched(cache, f"{press.base}/a")).body == BODY
    answer = await fetched(cache, f"{press.base}/a", max_bytes=5)
    assert (answer.body, answer.is_cut) == (BODY[:5], True)
    assert len(press.seen) == 2


async def test_304_of_where_a_redirect_led_is_not_taken_for_the_page(cache: HttpCache, press: Press) -> None:
    press.headers = {"ETag": '"a"'}
    await fetched(cache, f"{press.base}/a?x=1")
    press.body = b"other"
    lookup = await cache.look_up(f"{press.base}/a?to=/b", {}, is_admitted=True, variant="own")
    assert lookup is not None
    await cache.keep(lookup, 200, {"ETag": '"a"'}, BODY)  # as it was before it redirected
    assert (await fetched(cache, f"{press.base}/a?to=/b")).body == b"other"
    assert press.seen[1:] == [("/a", 302), ("/b", 304), ("/a", 302), ("/b", 200)]


async def test_robots_txt_is_kept_for_a_day_at_most(tmp_path: Path, press: Press) -> None:
    press.headers, press.body = {"Cache-Control": "max-age=31536000"}, b"User-agent: *\nDisallow: /no"
    options = FetchOptions(cache="on", cache_folder=tmp_path)
    for _ in range(2):
        caches = Caches()
        async with EgressProxy() as proxy, Manners(proxy, caches=caches).turn(f"{press.base}/yes", options):
            pass
        await caches.close()
    assert press.seen == [("/robots.txt", 200)]
    ((until,),) = sqlite3.connect(tmp_path / FILE_NAME).execute("SELECT expires_at FROM entries").fetchall()
    assert until == pytest.approx(time() + 86400, abs=300)


# --- its file


async def test_the_file_is_held_to_its_size(tmp_path: Path) -> None:
    storage = await open_storage(tmp_path, 1_000_000, protect_s=0)
    cache = HttpCache(storage, Use.FRESH)
    for n in range(40):
        lookup = await look(cache, url=f"{URL}/{n}")
        await cache.keep(lookup, 200, {"Cache-Control": "max-age=600"}, os.urandom(100_000))
    assert (await look(cache, url=f"{URL}/39")).fresh is not None
    assert (await look(cache, url=f"{URL}/0")).fresh is None
    lookup = await look(cache, url=f"{URL}/large")
    await cache.keep(lookup, 200, {"Cache-Control": "max-age=600"}, os.urandom(300_000))  # more than a quarter
    assert (await look(cache, url=f"{URL}/large")).fresh is None
    await storage.close()
    assert (tmp_path / FILE_NAME).stat().st_size < 1_300_000


@pytest.mark.parametrize("damage", [b"this is no database" * 100, None])
async def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes | None) -> None:
    storage = await open_storage(tmp_path, 10_000_000)
    cache = HttpCache(storage, Use.FRESH)
    for n in range(20):
        await cache.keep(await look(cache, url=f"{URL}/{n}"), 200, {"Cache-Control": "max-age=60"}, os.urandom(20_000))
    await storage.close()
    path = tmp_path / FILE_NAME
    if damage is None:  # from its middle on, as a failing disk does it
        whole = path.read_bytes()
        damage = whole[: len(whole) // 3] + os.urandom(len(whole) * 2 // 3)
    path.write_bytes(damage)
    storage = await open_storage(tmp_path, 10_000_000)
    await kept(HttpCache(storage, Use.FRESH), {"Cache-Control": "max-age=60"})
    assert (await look(HttpCache(storage, Use.FRESH))).fresh is not None
    await storage.close()


async def test_a_folder_that_cannot_be_used_is_said_and_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    options = FetchOptions(cache="on", cache_folder=tmp_path / "file")
    caches = Caches()
    assert await caches.of(options) is None
    (note,) = caches.notes(options)
    assert note.startswith(f"pages were fetched without a cache: {tmp_path / 'file'} cannot be used (")
    await caches.close()


async def test_a_database_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (mine)")
    connection.close()
    with pytest.raises(CacheUnusable, match="cannot be used"):
        await open_storage(tmp_path, 10_000_000)


WRITER = """
import asyncio, os, sys
from pathlib import Path
from lookstruct.extractors.httpcache.cache import HttpCache, Use
from lookstruct.extractors.httpcache.store import open_storage
async def main():
    name, n_pages = sys.argv[2], int(sys.argv[3])
    storage = await open_storage(Path(sys.argv[1]), 50_000_000)
    cache = HttpCache(storage, Use.FRESH)
    n = 0
    while not n_pages or n < n_pages:
        lookup = await cache.look_up(f"https://a.example/{name}/{n}", {}, is_admitted=False)
        await cache.keep(lookup, 200, {"Cache-Control": "max-age=600"}, f"{name} {n} ".encode() * 2000)
        n += 1
        print(n, flush=True)
    await storage.close()
asyncio.run(main())
"""


async def start(folder: Path, name: str, n_pages: int) -> asyncio.subprocess.Process:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(n_pages)]
    return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)


async def whole(folder: Path, name: str, n_pages: int) -> list[int]:
    """The numbers of the pages that are kept whole; none may be kept in part."""
    storage = await open_storage(folder, 50_000_000)
    cache, found = HttpCache(storage, Use.FRESH), []
    for n in range(n_pages):
        fresh = (await look(cache, url=f"https://a.example/{name}/{n}")).fresh
        if fresh is not None:
            assert fresh.body == f"{name} {n} ".encode() * 2000
            found.append(n)
    await storage.close()
    return found


async def test_two_processes_may_use_one_file(tmp_path: Path) -> None:
    writers = [await start(tmp_path, name, 25) for name in ("a", "b")]
    assert [await writer.wait() for writer in writers] == [0, 0]
    assert [await whole(tmp_path, name, 25) for name in ("a", "b")] == [list(range(25))] * 2


async def test_a_kill_while_writing_leaves_what_was_whole(tmp_path: Path) -> None:
    writer = await start(tmp_path, "a", 0)
    assert writer.stdout is not None
    for _ in range(10):
        await writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    await writer.wait()
    assert set(range(9)) <= set(await whole(tmp_path, "a", 40))
