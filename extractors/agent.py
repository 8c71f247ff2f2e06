"""What this program calls itself."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PRODUCT = "lookstruct"
"""The name that robots.txt may speak to."""


def product() -> str:
    """Name and version."""
    try:
        return f"{PRODUCT}/{version(PRODUCT)}"
    except PackageNotFoundError:
        return PRODUCT


def user_agent(chromium: str | None = None) -> str:
    """The user agent: of Chromium's version `chromium`, with this program's name at its end.

    >>> user_agent("156.0.8078.108").split(" (KHTML, like Gecko) ")[1].rpartition("/")[0]
    'Chrome/156.0.0.0 Safari/537.36 lookstruct'
    """
    if chromium is None:
        return product()
    major = chromium.split(".")[0]
    return (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.0.0 Safari/537.36 {product()}"
    )


def product_of(user_agent: str | None) -> str:
    """The name under which robots.txt is read: the user's own agent's, or this program's.

    >>> product_of(None), product_of("ShopBot/2.1 (+https://a.example)"), product_of("Mozilla/5.0 (X11) Chrome/1")
    ('lookstruct', 'ShopBot', 'lookstruct')
    """
    first = (user_agent or "").split("/")[0].split(" ")[0].strip()
    return PRODUCT if first in ("", "Mozilla") else first
