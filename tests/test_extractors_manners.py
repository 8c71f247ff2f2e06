"""How a guest behaves: what robots.txt allows, whose turn it is, what is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from aiohttp import web

from lookstruct.extractors.egress.client import Answer, TooManyRedirects
from lookstruct.extractors.egress.guard import Unreachable
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.extractors.manners import retrying
from lookstruct.extractors.manners.manners import Manners
from lookstruct.extractors.manners.pace import Pace
from lookstruct.extractors.manners.retrying import is_worth_it, retried, retry_after
from lookstruct.extractors.manners.robots import Robots
from lookstruct.extractors.options import FetchOptions
from lookstruct.schemas.errors import (
    BlockedByPolicy,
    BrowserLost,
    EmptyPage,
    FetchError,
    FetchTimeout,
    HTTPStatusError,
    Interrupted,
)

RULES = b"""User-agent: *
Disallow: /private
Allow: /private/open
Crawl-delay: 7
User-agent: lookstruct
Disallow: /only-not-us
Request-rate: 1/4
"""
URL = "https://shop.example/private/a"


class Asked:
    """A site's robots.txt, as it answers; `n` counts the requests."""

    def __init__(self, status: int = 200, body: bytes = RULES, error: Exception | None = None) -> None:
        self.status, self.body, self.error, self.n = status, body, error, 0

    async def __call__(self, address: str) -> Answer:
        self.n += 1
        if self.error is not None:
            raise self.error
        return Answer(address, self.status, {}, self.body)


async def allowed(asked: Asked, url: str = URL, agent: str = "other") -> bool:
    return (await Robots().rules(url, asked)).allows(url, agent)


@pytest.mark.parametrize(
    ("path", "agent", "answer"),
    [
        ("/private/a", "other", False),
        ("/private/open/b", "other", True),
        ("/", "other", True),
        ("/private/a", "lookstruct", True),
        ("/only-not-us", "lookstruct", False),
        ("/only-not-us", "Lookstruct", False),
    ],
)
async def test_rules_are_those_of_the_nearest_group_and_the_longest_match(path: str, agent: str, answer: bool) -> None:
    assert await allowed(Asked(), f"https://shop.example{path}", agent) is answer


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418])
async def test_no_robots_txt_allows_everything(status: int) -> None:
    assert await allowed(Asked(status))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
async def test_a_server_in_trouble_means_no(status: int) -> None:
    assert not await allowed(Asked(status, b""))


@pytest.mark.parametrize("error", [FetchTimeout("late"), Interrupted("cut"), Unreachable("ERR_CONNECTION_REFUSED")])
async def test_no_answer_means_no(error: Exception) -> None:
    assert not await allowed(Asked(error=error))


async def test_endless_redirects_count_as_no_robots_txt() -> None:
    assert await allowed(Asked(error=TooManyRedirects("on and on")))


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"<html>not found</html>", b"Disallow: /\n"])
async def test_what_is_no_robots_txt_forbids_nothing(body: bytes) -> None:
    assert await allowed(Asked(body=body))


async def test_a_byte_order_mark_hides_no_rule() -> None:
    assert not await allowed(Asked(body=b"\xef\xbb\xbf" + RULES))


async def test_delays_come_from_the_group_that_applies() -> None:
    rules = await Robots().rules(URL, Asked())
    assert (rules.delay_s("other"), rules.delay_s("lookstruct")) == (7.0, 4.0)


async def test_a_site_is_asked_once_and_every_site_by_itself() -> None:
    robots, asked = Robots(), Asked()
    await asyncio.gather(*(robots.rules(f"https://shop.example/{n}", asked) for n in range(5)))
    assert asked.n == 1
    for url in ("http://shop.example/", "https://shop.example:8443/", "https://www.shop.example/"):
        await robots.rules(url, asked)
    assert asked.n == 4


async def test_a_site_that_gave_no_answer_is_asked_again() -> None:
    robots, asked = Robots(), Asked(503)
    assert not (await robots.rules(URL, asked)).allows(URL, "other")
    asked.status = 404
    assert (await robots.rules(URL, asked)).allows(URL, "other")


async def test_who_is_cancelled_does_not_spoil_the_answer_for_others() -> None:
    robots, waiting = Robots(), asyncio.Event()

    async def slow(address: str) -> Answer:
        await waiting.wait()
        return Answer(address, 404, {}, b"")

    first = asyncio.create_task(robots.rules(URL, slow))
    second = asyncio.create_task(robots.rules(URL, slow))
    await asyncio.sleep(0)
    first.cancel()
    waiting.set()
    assert (await second).allows(URL, "other")


# --- turns


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def visits(pace: Pace, clock: Clock, hosts: list[str], *, at_once: int = 9, delay_s: float = 0.0) -> list[float]:
    """When each of them began."""
    began = []
    for host in hosts:
        async with pace.turn(host, at_once=at_once, delay_s=delay_s):
            began.append(clock.now - 100)
    return began


async def test_pages_of_one_host_begin_apart_and_other_hosts_do_not_wait(clock: Clock) -> None:
    pace = Pace(clock, clock.sleep)
    assert await visits(pace, clock, ["a", "a", "b", "a"], delay_s=2) == [0, 2, 2, 4]


async def test_a_host_that_wants_to_be_left_alone_is(clock: Clock) -> None:
    pace = Pace(clock, clock.sleep)
    pace.hold("a", 30)
    pace.hold("a", 10)
    assert await visits(pace, clock, ["b", "a", "a"]) == [0, 30, 30]


async def test_no_more_than_allowed_are_inside_at_once() -> None:
    pace = Pace()
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with pace.turn("a", at_once=3, delay_s=0):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert (most, inside) == (3, 0)


async def test_who_gives_up_waiting_takes_no_place() -> None:
    pace = Pace()
    async with pace.turn("a", at_once=1, delay_s=0):
        waiting = asyncio.create_task(visits(pace, Clock(), ["a"], at_once=1))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert len(await visits(pace, Clock(), ["a"], at_once=1)) == 1


# --- tries


@pytest.mark.parametrize(
    "error",
    [FetchTimeout("x"), Interrupted("x"), BrowserLost("x"), HTTPStatusError("x", 503), HTTPStatusError("x", 429, 30.0)],
)
def test_what_may_pass_is_worth_another_try(error: FetchError) -> None:
    assert is_worth_it(error)


@pytest.mark.parametrize(
    "error",
    [
        EmptyPage("x"),
        BlockedByPolicy("x"),
        HTTPStatusError("x", 404),
        HTTPStatusError("x", 403),
        HTTPStatusError("x", 503, 3600.0),
        ValueError("x"),
        asyncio.CancelledError(),
    ],
)
def test_what_will_not_pass_is_not(error: BaseException) -> None:
    assert not is_worth_it(error)


def failing(*ends: Exception | str) -> Callable[[], object]:
    """Work that ends so, time after time."""
    left = list(ends)

    async def work() -> str:
        end = left.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    return work


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between tries, without waiting."""
    times: list[float] = []

    async def sleep(seconds: float) -> None:
        times.append(seconds)

    monkeypatch.setattr("asyncio.sleep", sleep)
    return times


async def test_tries_are_further_and_further_apart(slept: list[float]) -> None:
    cut = Interrupted("cut")
    assert await retried(failing(cut, cut, cut, "page"), 3) == "page"  # type: ignore[arg-type]
    assert [int(seconds >= least) for seconds, least in zip(slept, (1, 2, 4), strict=True)] == [1, 1, 1]


async def test_the_last_failure_is_the_one_that_is_told(slept: list[float]) -> None:
    with pytest.raises(FetchTimeout, match="second"):
        await retried(failing(Interrupted("first"), FetchTimeout("second"), "page"), 1)  # type: ignore[arg-type]
    assert len(slept) == 1


async def test_a_server_s_wish_is_respected(slept: list[float]) -> None:
    await retried(failing(HTTPStatusError("later", 503, 42.0), "page"), 1)  # type: ignore[arg-type]
    assert slept == [42.0]


def test_retry_after_is_seconds_or_a_date() -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert retry_after("Thu, 01 Jan 2026 12:00:30 GMT", now) == 30.0
    assert [retry_after(text) for text in ("5", "", None, "-3", "later")] == [5.0, None, None, None, None]
    assert retrying.LONGEST_WAIT_S >= 30


# --- together, over a real socket


@pytest_asyncio.fixture
async def robots_site() -> AsyncIterator[str]:
    """A site whose robots.txt forbids /no and wants four seconds between two pages."""

    async def robots(request: web.Request) -> web.Response:
        assert request.headers["User-Agent"].startswith("lookstruct")
        return web.Response(text="User-agent: lookstruct\nDisallow: /no\nCrawl-delay: 4\n")

    app = web.Application()
    app.router.add_get("/robots.txt", robots)
    runner = web.AppRunner(app)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    assert listener._server is not None
    yield f"http://127.0.0.1:{listener._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
    await runner.cleanup()


async def visited(url: str, **options: object) -> str:
    async def visit() -> str:
        return "page"

    async with EgressProxy() as egress:
        return await Manners(egress).visited(url, visit, FetchOptions.model_validate(options))


async def test_robots_txt_is_obeyed_under_this_program_s_name(robots_site: str) -> None:
    assert await visited(f"{robots_site}/yes") == "page"
    with pytest.raises(BlockedByPolicy, match=r"robots\.txt forbids it to lookstruct: pass --ignore-robots"):
        await visited(f"{robots_site}/no")


async def test_robots_txt_is_not_asked_when_told_so(robots_site: str) -> None:
    assert await visited(f"{robots_site}/no", ignore_robots=True) == "page"


async def test_requests_for_others_do_not_reach_a_local_robots_txt(robots_site: str) -> None:
    with pytest.raises(BlockedByPolicy, match="served for others"):
        await visited(f"{robots_site}/yes", for_others=True)


async def test_where_a_page_leads_no_private_robots_txt_is_asked_and_typing_it_later_works(robots_site: str) -> None:
    async def visit() -> str:
        return "page"

    async with EgressProxy() as egress:
        manners, url, options = Manners(egress), f"{robots_site}/yes", FetchOptions(retries=0)
        with pytest.raises(BlockedByPolicy, match=r"127\.0\.0\.1"):
            await manners.visited(url, visit, options, typed="https://lists.example/sitemap.xml")
        assert await manners.visited(url, visit, options) == "page"


async def further(url: str, clock: Clock, **options: object) -> float:
    """Seconds from one visit's beginning to the turn of the next page that it leads to, at `url`."""
    async with EgressProxy() as proxy:
        manners = Manners(proxy, Pace(clock, clock.sleep))
        asked = FetchOptions.model_validate({"retries": 0, **options})
        async with manners.turn(url, asked):
            began = clock.now
            async with manners.next_turn(url, asked, typed=url):
                return clock.now - began


async def test_a_further_page_waits_its_turn_in_the_place_that_its_visit_has(robots_site: str, clock: Clock) -> None:
    assert await further(f"{robots_site}/a", clock, per_host=1) == 4  # as its robots.txt asks
    assert await further(f"{robots_site}/a", clock, per_host=1, delay_s=9) == 9
    assert await further(f"{robots_site}/a", clock, ignore_robots=True) == 0


async def test_a_further_page_that_robots_txt_forbids_has_no_turn(robots_site: str, clock: Clock) -> None:
    async with EgressProxy() as proxy:
        manners = Manners(proxy, Pace(clock, clock.sleep))
        with pytest.raises(BlockedByPolicy, match="forbids it to lookstruct"):
            async with manners.next_turn(f"{robots_site}/no", FetchOptions(), typed=robots_site):
                pass
        with pytest.raises(BlockedByPolicy, match="not a public address"):
            async with Manners(proxy).next_turn(f"{robots_site}/a", FetchOptions(), typed="https://shop.example/"):
                pass


async def test_a_further_page_may_ask_for_rest_too(robots_site: str, clock: Clock) -> None:
    async with EgressProxy() as proxy:
        manners, asked = Manners(proxy, Pace(clock, clock.sleep)), FetchOptions(ignore_robots=True)
        with pytest.raises(HTTPStatusError):
            async with manners.next_turn(robots_site, asked, typed=robots_site):
                raise HTTPStatusError("later", 429, 30.0)
        began = clock.now
        async with manners.next_turn(robots_site, asked, typed=robots_site):
            assert clock.now - began == 30


async def test_a_site_that_is_down_is_said_to_be_down(unused_tcp_port: int) -> None:
    with pytest.raises(Interrupted, match="refuses connections"):
        await visited(f"http://127.0.0.1:{unused_tcp_port}/", retries=0)
