"""How to fetch a page: one settings model, shared by the command line, the configuration file and batch runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from lookstruct.schemas.flags import Flag, Group, Listed

Wait = Literal["dom", "load", "settled", "networkidle"]
Answer = Literal["ignore", "reject", "accept"]
ResourceType = Literal["image", "font", "media", "stylesheet", "script", "xhr", "fetch", "websocket", "other"]


class FetchOptions(Group):
    """How to fetch a page; every field has a default that suits an ordinary page."""

    title: ClassVar[str] = "Page"

    timeout_s: Annotated[PositiveFloat, Flag("--timeout", "SECONDS")] = Field(
        default=30.0, description="For the whole page, loading and settling."
    )
    wait: Annotated[Wait, Flag("--wait", "STATE")] = Field(
        default="settled",
        description="Read the page when its markup (dom) or its resources (load) are there, its visible text has "
        "stopped changing (settled), or the network is quiet (networkidle).",
    )
    settle_s: PositiveFloat = Field(default=5.0, description="Most seconds to wait for a page to settle after loading.")
    selector: Annotated[str | None, Flag("--wait-for", "SELECTOR")] = Field(
        default=None, description="Also wait until an element matches this CSS selector."
    )
    wait_function: str | None = Field(default=None, description="Also wait until this JavaScript expression is true.")
    consent: Answer = Field(
        default="ignore",
        description="What to answer banners that ask about cookies: ignore, reject or accept; none is ever content.",
    )
    scroll: Annotated[NonNegativeInt, Flag("--scroll", "N")] = Field(
        default=0, description="Scroll down up to N screens while more comes; what scrolls away is kept."
    )
    load_more: Annotated[str | None, Flag("--load-more", "SELECTOR")] = Field(
        default=None, description="Click what loads more until it is gone; auto finds it by what it says."
    )
    max_clicks: PositiveInt = Field(default=50, description="Most clicks on what loads more.")
    open_folds: Annotated[bool, Flag("--open")] = Field(
        default=False, description="Open tabs, accordions and folded details first."
    )
    script: str | None = Field(default=None, description="JavaScript to run before the page is read.")
    follow_next: Annotated[NonNegativeInt, Flag("--follow-next", "N")] = Field(
        default=0, description="Read up to N further pages of a listing as one with it."
    )
    next_selector: str | None = Field(
        default=None, description="What leads to the next page: a CSS selector; rel=next unless given."
    )
    render: bool | None = Field(
        default=None,
        description="Read through the browser, JavaScript and all; unless told: yes for URLs and files, no for HTML.",
    )
    base_url: str | None = Field(default=None, description="Where relative links of HTML from stdin start.")
    include_hidden: Annotated[bool, Flag("--include-hidden")] = Field(
        default=False, description="Read hidden text too, such as folded answers."
    )
    storage_state: Annotated[Path | None, Flag("--storage-state", "FILE")] = Field(
        default=None, description="Cookies of an earlier login, as extract login keeps them."
    )
    http_auth: str | None = Field(
        default=None, repr=False, description="user:password for the page's own host; in the URL they serve as well."
    )
    emulate: Annotated[str | None, Flag("--emulate", "DEVICE")] = Field(
        default=None, description="The device to pass for, such as 'Pixel 7'."
    )
    user_agent: str | None = Field(default=None, description="User agent to send instead of Chromium's own.")
    headers: dict[str, str] = Field(default_factory=dict, description="Extra HTTP headers for the page's own host.")
    locale: str | None = Field(default=None, description="Language to ask for, such as de-DE.")
    timezone: str | None = Field(default=None, description="Time zone that pages see, such as Europe/Berlin.")
    viewport: tuple[PositiveInt, PositiveInt] = Field(
        default=(1280, 1024), description="Window width and height, pixels."
    )
    block: frozenset[ResourceType] = Field(
        default=frozenset({"image", "font", "media"}), description="Kinds of resources that are not loaded."
    )
    ignore_robots: Annotated[bool, Flag("--ignore-robots")] = Field(
        default=False, description="Fetch what the site's robots.txt forbids; only where the site permits it otherwise."
    )
    retries: Annotated[NonNegativeInt, Flag("--retries", "N")] = Field(
        default=2, description="Further tries after a failure that may pass, each after a longer wait."
    )
    delay_s: Annotated[NonNegativeFloat | None, Flag("--delay", "SECONDS")] = Field(
        default=None, description="Least time between two pages of one host: 1 unless given, none for local ones."
    )
    per_host: PositiveInt | None = Field(
        default=None, description="Most pages of one host at once: 2 unless given, any number for local ones."
    )
    cache: Annotated[Literal["auto", "off", "check", "on"], Flag("--cache", "USE")] = Field(
        default="auto",
        description="Keep what servers let us keep: check asks whether it still holds, on also uses unasked what is "
        "fresh, off, or auto (check in batches and jobs).",
    )
    cache_folder: Path | None = Field(default=None, description="Where; http.db in the cache folder unless given.")
    cache_mb: PositiveInt = Field(default=500, description="Most megabytes in it; what was used least goes first.")
    proxy: Annotated[str | None, Flag("--proxy", "URL")] = Field(
        default=None,
        description="http://user:password@host:port, https:// or socks5://; the environment's unless given.",
    )
    allow_private: Annotated[tuple[str, ...], Listed, Flag("--allow-private", "HOST,...")] = Field(
        default=(), description="Hosts, or host:port, that pages may lead to although they are not public."
    )
    for_others: bool = Field(
        default=False, description="The page is wanted by someone else: nothing that is not public is reached."
    )
    max_bytes: PositiveInt = Field(default=20_000_000, description="Largest page or single resource, in bytes.")
    page_memory_mb: PositiveInt = Field(
        default=2000, description="Most memory that a page may take, in megabytes; beyond it is closed."
    )
    least_free_mb: NonNegativeInt = Field(
        default=500, description="Memory that must be free, in megabytes, before one more page is begun beside others."
    )
    max_nodes: PositiveInt = Field(default=300_000, description="Most elements of a page that are read.")
    snapshot: Annotated[Path | None, Flag("--snapshot", "DIR")] = Field(
        default=None, description="Keep the page in a folder, to be read again without the network."
    )
    screenshot: Annotated[bool, Flag("--screenshot")] = Field(
        default=False, description="Take a picture of the whole page, kept with --snapshot."
    )
