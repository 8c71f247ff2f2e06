"""Target -> Page -> Document: fetch what a person sees, and read it in order."""

from lookstruct.extractors.browser import Chromium, find_chromium
from lookstruct.extractors.clean import clean
from lookstruct.extractors.fetch import Fetcher, fetch
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.target import Target, resolve_target

__all__ = ["Chromium", "FetchOptions", "Fetcher", "Target", "clean", "fetch", "find_chromium", "resolve_target"]
