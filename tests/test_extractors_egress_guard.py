"""What a page may reach: the typed origin, what is allowed besides, and public addresses."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from lookstruct.extractors.egress.addresses import Address
from lookstruct.extractors.egress.guard import Guard, Passage, Place, Refused, Unreachable

PUBLIC, LOCAL = "93.184.215.14", "127.0.0.1"


class Names:
    """A resolver whose answers follow one another; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, name: str) -> tuple[Address, ...]:
        self.asked.append(name)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return tuple(ip_address(text) for text in answer)


def passage(guard: Guard, *answers: Sequence[str]) -> Passage:
    return Passage(guard, Names(*answers), max_bytes=1000)


async def reached(passage: Passage, url: str) -> list[str]:
    place = Place.of(url)
    assert place is not None
    return [str(address) for address in await passage.addresses(place)]


NOBODY = Guard.for_target("https://shop.example/")


async def test_a_public_name_is_reached_at_its_addresses() -> None:
    assert await reached(passage(NOBODY, [PUBLIC, "1.1.1.1"]), "https://cdn.example/x.js") == [PUBLIC, "1.1.1.1"]


@pytest.mark.parametrize("answer", [[LOCAL], [PUBLIC, "10.0.0.1"], ["::1", PUBLIC], ["64:ff9b::a00:1"]])
async def test_one_private_address_is_enough_to_refuse_a_name(answer: list[str]) -> None:
    with pytest.raises(Refused, match=r"leads to evil.example .* --allow-private evil.example"):
        await reached(passage(NOBODY, answer), "http://evil.example/")


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "0177.1", "[::1]", "[::ffff:7f00:1]", "0.0.0.0"])
async def test_numbers_are_read_and_not_looked_up(host: str) -> None:
    there = passage(NOBODY, [PUBLIC])
    with pytest.raises(Refused):
        await reached(there, f"http://{host}/")
    assert there.resolve.asked == []  # type: ignore[attr-defined]


async def test_an_unknown_name_is_no_refusal() -> None:
    with pytest.raises(Unreachable, match="ERR_NAME_NOT_RESOLVED"):
        await reached(passage(NOBODY, []), "http://nowhere.example/")


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/b"),
        ("http://localhost:8000/", "ws://localhost:8000/socket"),
        ("http://intranet/", "https://intranet/"),
        ("http://0x7f.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[::1]:8000/", "http://[0:0::1]:8000/"),
    ],
)
async def test_the_typed_origin_is_admitted_where_it_is_local(typed: str, url: str) -> None:
    assert await reached(passage(Guard.for_target(typed), [LOCAL]), url)


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8001/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.2:8000/"),
        ("http://localhost:8000/", "http://127.0.0.1:8000/"),
        ("https://intranet/", "http://intranet/"),
        ("http://intranet:8080/", "https://intranet/"),
        ("file:///home/page.html", "http://127.0.0.1:8000/"),
    ],
)
async def test_another_origin_than_the_typed_one_is_not(typed: str, url: str) -> None:
    with pytest.raises(Refused):
        await reached(passage(Guard.for_target(typed), [LOCAL]), url)


@pytest.mark.parametrize("allowed", ["10.0.0.7", "10.0.0.7:81", "0xa.7", "nas", "NAS:81"])
async def test_allowed_hosts_are_admitted(allowed: str) -> None:
    host = "nas" if "nas" in allowed.lower() else "10.0.0.7"
    guard = Guard.for_target("https://shop.example/", [allowed])
    assert await reached(passage(guard, ["10.0.0.7"]), f"http://{host}:81/") == ["10.0.0.7"]


async def test_an_allowed_port_is_only_that_port() -> None:
    with pytest.raises(Refused):
        await reached(passage(Guard.for_target(None, ["10.0.0.7:81"]), []), "http://10.0.0.7:82/")


async def test_requests_for_others_reach_nothing_private_and_are_not_told_how() -> None:
    guard = Guard.for_target("http://127.0.0.1:8000/", ["127.0.0.1"], for_others=True)
    with pytest.raises(Refused, match="served for others") as caught:
        await reached(passage(guard, []), "http://127.0.0.1:8000/")
    assert "--allow-private" not in str(caught.value)


async def test_a_name_keeps_the_addresses_it_had_first() -> None:
    there = passage(Guard.for_target("http://evil.example/"), [PUBLIC], [LOCAL])
    assert await reached(there, "http://evil.example/") == [PUBLIC]
    assert await reached(there, "http://evil.example/") == [PUBLIC]
    assert there.resolve.asked == ["evil.example"]  # type: ignore[attr-defined]


async def test_a_typed_name_that_is_public_and_private_at_once_is_only_public() -> None:
    there = passage(Guard.for_target("http://evil.example/"), [PUBLIC, LOCAL])
    assert await reached(there, "http://evil.example/") == [PUBLIC]


async def test_a_name_server_that_does_not_answer_is_said_to() -> None:
    async def silent(name: str) -> tuple[Address, ...]:
        raise OSError(name)

    with pytest.raises(Unreachable, match="ERR_NAME_RESOLUTION_FAILED"):
        await Passage(NOBODY, silent, 1000).addresses(Place("a.example", 80))


def test_refusals_are_counted_and_named() -> None:
    there = passage(NOBODY, [])
    for port in (1, 1, 2):
        there.note(Place("10.0.0.1", port), Refused("no"))
    there.note(Place("10.0.0.1", 3), Unreachable("ERR_CONNECTION_REFUSED"))
    assert there.notes() == [
        "3 requests of the page to addresses that are not public: refused (10.0.0.1:1, 10.0.0.1:2)"
    ]
    assert isinstance(there.fault("http://10.0.0.1:1/x"), Refused)
    assert isinstance(there.fault("http://10.0.0.1:3/x"), Unreachable)
    assert there.fault("http://10.0.0.1:4/x") is None


def test_excess_is_called_once() -> None:
    calls: list[int] = []
    there = Passage(NOBODY, Names([]), max_bytes=10, on_excess=lambda: calls.append(1))
    for _ in range(4):
        there.count(4)
    assert (there.is_exhausted, calls) == (True, [1])
