"""How to fetch a page: one settings model, shared by the command line, the configuration file and batch runs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from lookstruct.schemas.flags import Flag, Group

Wait = Literal["dom", "load", "settled", "networkidle"]
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
    selector: str | None = Field(default=None, description="Also wait until an element matches this CSS selector.")
    render: bool | None = Field(
        default=None,
        description="Read through the browser, JavaScript and all; unless told: yes for URLs and files, no for HTML.",
    )
    base_url: str | None = Field(default=None, description="Where relative links of HTML from stdin start.")
    user_agent: str | None = Field(default=None, description="User agent to send instead of Chromium's own.")
    headers: dict[str, str] = Field(default_factory=dict, description="Extra HTTP headers to send.")
    locale: str | None = Field(default=None, description="Language to ask for, such as de-DE.")
    timezone: str | None = Field(default=None, description="Time zone that pages see, such as Europe/Berlin.")
    viewport: tuple[PositiveInt, PositiveInt] = Field(
        default=(1280, 1024), description="Window width and height, pixels."
    )
    block: frozenset[ResourceType] = Field(
        default=frozenset({"image", "font", "media"}), description="Kinds of resources that are not loaded."
    )
    max_bytes: PositiveInt = Field(default=20_000_000, description="Largest page or single resource, in bytes.")
    max_nodes: PositiveInt = Field(default=300_000, description="Most elements of a page that are read.")
    screenshot: bool = Field(default=False, description="Keep a picture of the whole page.")
