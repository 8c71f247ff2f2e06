"""Fixtures shared by all tests."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts its background jobs deaf to Ctrl-C, and what the tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("untimed", deadline=None)  # machines are shared: no test may fail for being slow once
settings.load_profile("untimed")

from postgres_fixtures import postgres as postgres  # noqa: E402  one server for all tests
from postgres_fixtures import postgres_url as postgres_url  # noqa: E402
