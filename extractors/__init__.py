"""Target -> Page -> Document: fetch what a person sees, and read it in order."""

from lookstruct.extractors.clean import clean

__all__ = ["clean"]
