"""What one page may reach, and what it did reach: a `Guard` is the rule, a `Passage` the page's own record under it.

typed target     its own origin is admitted, even where that is local
--allow-private  hosts that are admitted besides
all the rest     what the page leads to: public addresses only
others' requests public addresses only, the typed target's too
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lookstruct.extractors.egress.addresses import Address, is_public, literal
from lookstruct.extractors.egress.resolver import Resolve

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A host (lower case, no brackets, no final dot; numbers in their plain form) and a port."""

    host: str
    port: int

    @classmethod
    def at(cls, host: str, port: int) -> Place:
        """The place in one form, however the host is written.

        >>> Place.at("0x7F.1", 80), Place.at("[::FFFF:1.2.3.4]", 80).host, Place.at("A.example.", 80).host
        (Place(host='127.0.0.1', port=80), '::ffff:102:304', 'a.example')
        """
        address = literal(host)
        return cls(str(address) if address else host.lower().removesuffix("."), port)

    @classmethod
    def of(cls, url: str) -> Place | None:
        """Where an http(s) or ws(s) URL leads, None for any other or a faulty one.

        >>> Place.of("HTTPS://Example.com/x"), Place.of("file:///etc/passwd")
        (Place(host='example.com', port=443), None)
        """
        try:
            parts = urlsplit(url)
            default = PORTS.get(parts.scheme.lower())
            if default is None or not parts.hostname:
                return None
            return cls.at(parts.hostname, default if parts.port is None else parts.port)
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Guard:
    """The rule. `typed` is the origin that a person named, `allowed` are hosts, or host:port, that may be private."""

    typed: Place | None = None
    allowed: frozenset[str] = frozenset()
    for_others: bool = False

    @classmethod
    def for_target(cls, url: str | None, allowed: Iterable[str] = (), *, for_others: bool = False) -> Guard:
        """The rule for a URL that a person typed (None: nothing was); `for_others` admits nothing private."""
        if for_others:
            return cls(for_others=True)
        return cls(Place.of(url) if url else None, frozenset(_plain(host) for host in allowed))

    def admits(self, place: Place) -> bool:
        """Whether `place` may be reached where it is not public."""
        return self.is_typed(place) or place.host in self.allowed or str(place) in self.allowed

    def admits_url(self, url: str) -> bool:
        """Whether where `url` leads may be reached where it is not public."""
        place = Place.of(url)
        return place is not None and self.admits(place)

    def advice(self, place: Place) -> str:
        """What a person can do who wants to reach `place` none the less."""
        if self.for_others:
            return "requests served for others reach public addresses only"
        return f"pass --allow-private {place.host} if you trust the page with it"

    def is_typed(self, place: Place) -> bool:
        """The typed origin; https on its usual port counts as the same as http on its own, as sites redirect so."""
        if self.typed is None or place.host != self.typed.host:
            return False
        return place.port == self.typed.port or (self.typed.port, place.port) == (80, 443)


def _plain(allowed: str) -> str:
    """A host, or host:port, as `Place` writes it.

    >>> _plain("LOCALHOST"), _plain("0x7f.1:8080"), _plain("[::1]:80"), _plain("::1")
    ('localhost', '127.0.0.1:8080', '[::1]:80', '::1')
    """
    text = allowed.strip()
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal() and (host.endswith("]") or ":" not in host):
        return str(Place.at(host, int(port)))
    return Place.at(text, 0).host


class Refused(Exception):
    """The guard says no; the text is the reason."""


class Unreachable(Exception):
    """Nothing can be reached there; `name` is what Chromium would call it (`ERR_NAME_NOT_RESOLVED`)."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(slots=True)
class Passage:
    """What one page reaches: names keep the addresses they had first, bytes and refusals are counted.

    `unchecked` are names that a user's proxy looked up, so that nobody knows here where they led. `on_excess` is called
    once when more than `max_bytes` came in; from then on nothing passes.
    """

    guard: Guard
    resolve: Resolve
    max_bytes: int
    on_excess: Callable[[], None] = lambda: None
    n_bytes: int = 0
    refusals: Counter[Place] = field(default_factory=Counter)
    unchecked: set[str] = field(default_factory=set)
    _pinned: dict[str, tuple[Address, ...]] = field(default_factory=dict)
    _faults: dict[Place, Refused | Unreachable] = field(default_factory=dict)

    @property
    def is_exhausted(self) -> bool:
        """Whether its bytes are used up."""
        return self.n_bytes > self.max_bytes

    def count(self, n_bytes: int) -> None:
        """Note bytes that came in."""
        was_exhausted = self.is_exhausted
        self.n_bytes += n_bytes
        if self.is_exhausted and not was_exhausted:
            self.on_excess()

    async def addresses(self, place: Place) -> tuple[Address, ...]:
        """The addresses to connect to, all of them checked. Raises `Refused` or `Unreachable`."""
        found = await self._pin(place.host)
        if not found:
            raise Unreachable("ERR_NAME_NOT_RESOLVED")
        return self._checked(place, found)

    async def _pin(self, host: str) -> tuple[Address, ...]:
        address = literal(host)
        if address is not None:
            return (address,)
        if host not in self._pinned:
            try:
                found = await self.resolve(host)
            except OSError as exc:
                raise Unreachable("ERR_NAME_RESOLUTION_FAILED") from exc
            self._pinned.setdefault(host, found)
        return self._pinned[host]

    def _checked(self, place: Place, found: Sequence[Address]) -> tuple[Address, ...]:
        public = tuple(address for address in found if is_public(address))
        if len(public) == len(found):
            return public
        if self.guard.is_typed(place) and public:
            return public  # a name that is here and there at once would be a way to trade one for the other
        if not self.guard.admits(place):
            private = next(address for address in found if not is_public(address))
            where = place.host if place.host == str(private) else f"{place.host} ({private})"
            raise Refused(f"leads to {where}, which is not a public address: {self.guard.advice(place)}")
        return tuple(found)

    def note(self, place: Place, fault: Refused | Unreachable) -> None:
        """Remember why `place` was not reached."""
        self._faults[place] = fault
        if isinstance(fault, Refused):
            self.refusals[place] += 1

    def reached(self, place: Place) -> None:
        """Forget what was wrong with `place`."""
        self._faults.pop(place, None)

    def fault(self, url: str) -> Refused | Unreachable | None:
        """Why `url` was not reached, None if nothing is known."""
        place = Place.of(url)
        return self._faults.get(place) if place else None

    def notes(self) -> list[str]:
        """What a person should know: how much was refused, and where it led; what could not be checked."""
        return [*self._refused(), *self._unchecked()]

    def _unchecked(self) -> list[str]:
        if not self.unchecked:
            return []
        named = ", ".join(sorted(self.unchecked)[:_MOST_NAMED]) + (", ..." if len(self.unchecked) > _MOST_NAMED else "")
        return [f"the proxy looked names up ({named}): that they lead to no private address could not be checked here"]

    def _refused(self) -> list[str]:
        n = self.refusals.total()
        if not n:
            return []
        named = ", ".join(str(place) for place, _ in self.refusals.most_common(_MOST_NAMED))
        more = ", ..." if len(self.refusals) > _MOST_NAMED else ""
        requests = "1 request" if n == 1 else f"{n} requests"
        return [f"{requests} of the page to addresses that are not public: refused ({named}{more})"]
