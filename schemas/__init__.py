"""What things are: documents, records, errors and schemas. Imports nothing else of the package.

Names are imported when they are first used, so that asking for an error class does not load pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookstruct.schemas.builtin import BUILTIN as BUILTIN
    from lookstruct.schemas.document import Block as Block
    from lookstruct.schemas.document import BlockKind as BlockKind
    from lookstruct.schemas.document import Document as Document
    from lookstruct.schemas.document import Page as Page
    from lookstruct.schemas.document import Span as Span
    from lookstruct.schemas.errors import InvalidRecord as InvalidRecord
    from lookstruct.schemas.errors import LookstructError as LookstructError
    from lookstruct.schemas.errors import SchemaError as SchemaError
    from lookstruct.schemas.loader import Schema as Schema
    from lookstruct.schemas.loader import load_schema as load_schema
    from lookstruct.schemas.record import Evidence as Evidence
    from lookstruct.schemas.record import Record as Record

_HOME = {
    "BUILTIN": "builtin",
    "Block": "document",
    "BlockKind": "document",
    "Document": "document",
    "Evidence": "record",
    "InvalidRecord": "errors",
    "LookstructError": "errors",
    "Page": "document",
    "Record": "record",
    "Schema": "loader",
    "SchemaError": "errors",
    "Span": "document",
    "load_schema": "loader",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
