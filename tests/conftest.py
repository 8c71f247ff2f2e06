"""Fixtures shared by all tests."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts its background jobs deaf to Ctrl-C, and what the tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
