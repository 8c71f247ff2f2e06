"""A web page in, a validated record out whose every value says where on the page it stands.

>>> import lookstruct
>>> record = lookstruct.extract("https://example.com/invoices/7", "Invoice")  # doctest: +SKIP
>>> record.data["total"], record.evidence["/total"].text  # doctest: +SKIP
(1210.0, '1.210,00 €')

Names are imported when they are first used: `import lookstruct` alone loads neither torch nor a browser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookstruct.decoding.adapters.generate import Lookahead as Lookahead
    from lookstruct.decoding.adapters.outlines import from_transformers as from_transformers
    from lookstruct.decoding.constraint import Grammar as Grammar
    from lookstruct.decoding.decode import decode as decode
    from lookstruct.decoding.request import Completion as Completion
    from lookstruct.pipeline.config import load_settings as load_settings
    from lookstruct.pipeline.extractor import Extractor as Extractor
    from lookstruct.pipeline.extractor import extract as extract
    from lookstruct.pipeline.extractor import extract_html as extract_html
    from lookstruct.pipeline.settings import Settings as Settings
    from lookstruct.schemas.errors import InvalidRecord as InvalidRecord
    from lookstruct.schemas.errors import LookstructError as LookstructError
    from lookstruct.schemas.loader import Schema as Schema
    from lookstruct.schemas.loader import load_schema as load_schema
    from lookstruct.schemas.record import Evidence as Evidence
    from lookstruct.schemas.record import EvidenceStatus as EvidenceStatus
    from lookstruct.schemas.record import Record as Record
    from lookstruct.schemas.record import Stats as Stats

_HOMES = {
    "decode": "decoding.decode",
    "Grammar": "decoding.constraint",
    "Completion": "decoding.request",
    "Lookahead": "decoding.adapters.generate",
    "from_transformers": "decoding.adapters.outlines",
    "Extractor": "pipeline.extractor",
    "extract": "pipeline.extractor",
    "extract_html": "pipeline.extractor",
    "Settings": "pipeline.settings",
    "load_settings": "pipeline.config",
    "Schema": "schemas.loader",
    "load_schema": "schemas.loader",
    "LookstructError": "schemas.errors",
    "InvalidRecord": "schemas.errors",
    "Evidence": "schemas.record",
    "EvidenceStatus": "schemas.record",
    "Record": "schemas.record",
    "Stats": "schemas.record",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """The public name, from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lookstruct' has no attribute {name!r}")
    return getattr(import_module(f"lookstruct.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
