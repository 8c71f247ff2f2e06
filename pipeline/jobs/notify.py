"""An event of a job -> a command's standard input, or a POST to a web address."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from lookstruct.pipeline.jobs.job import Job

LONGEST_S = 30.0
"""A command or an address that takes longer is given up."""

Post = Callable[[str, bytes], Awaitable[None]]
"""Sends JSON to an address; raises with the reason."""


class Notifier:
    """Tells all that a job names; a failure to tell is itself said and no more. `post` sends to web addresses."""

    def __init__(self, post: Post, say: Callable[[str], None]) -> None:
        self._post, self._say = post, say

    async def __call__(self, job: Job, event: str, lines: list[str]) -> None:
        """The event as one JSON object: job, event, lines, at."""
        message = {"job": job.name, "event": event, "lines": lines, "at": datetime.now(UTC).isoformat()}
        for whom in job.notify:
            try:
                async with asyncio.timeout(LONGEST_S):
                    await self._notify(whom, message)
            except Exception as exc:
                reason = str(exc) or f"no answer within {LONGEST_S:.0f} s"
                self._say(f"{job.name}: {whom} could not be told of '{event}' ({reason}).")

    async def _notify(self, whom: str, message: dict[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace")
        if whom.startswith(("http://", "https://")):
            await self._post(whom, data)
        else:
            await _command(whom, data, message)


async def _command(line: str, data: bytes, message: dict[str, Any]) -> None:
    """Runs a shell command with the message on its standard input; OSError if it fails."""
    told = {"LOOKSTRUCT_JOB": message["job"], "LOOKSTRUCT_EVENT": message["event"]}
    process = await asyncio.create_subprocess_shell(
        line,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, **told},
    )
    try:
        await process.communicate(data)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise OSError(f"the command ended with code {process.returncode}")
