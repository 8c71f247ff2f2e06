"""Keeps transformers' progress bars and advice out of a person's terminal while we load a local model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quiet_transformers(*, bars: bool = False) -> Iterator[None]:
    """Errors only, and no bars unless asked (a download should be seen); what was set before is set again after."""
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging  # its functions are not annotated
    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if not bars:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()
