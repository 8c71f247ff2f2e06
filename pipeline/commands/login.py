"""`extract login URL`: log in by hand once, and let later extractions use the cookies."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from lookstruct.pipeline.commands.console import say
from lookstruct.schemas.errors import TargetError


def add_to(app: typer.Typer) -> None:
    """Registers `login`."""
    app.command("login")(login)


def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the login form is.", show_default=False)],
    storage_state: Annotated[
        Path, typer.Option("--storage-state", metavar="FILE", help="Where to keep the cookies.", show_default=False)
    ],
) -> None:
    """Open a browser to log in by hand; its cookies are kept in FILE for extract --storage-state FILE.

    Close the window, or press Enter here, when you are logged in. FILE lets whoever has it act as you: guard it.
    """
    from lookstruct.extractors.login import log_in
    from lookstruct.extractors.target import resolve_target

    target = resolve_target(url)
    if target.kind != "url":
        raise TargetError(f"{url} is no URL: name the page that has the login form, such as https://host/login")
    say("Log in, then close the window or press Enter here.")
    n_cookies = asyncio.run(log_in(target.value, storage_state, done=enter_pressed))
    say(f"{n_cookies} cookies are kept in {storage_state}; use them with --storage-state {storage_state}")


async def enter_pressed() -> None:
    """Returns when Enter is pressed on the terminal; never where there is none."""
    pressed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def read() -> None:
        sys.stdin.readline()
        loop.call_soon_threadsafe(pressed.set)

    if sys.stdin.isatty():
        threading.Thread(target=read, daemon=True).start()
    await pressed.wait()
