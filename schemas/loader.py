"""What a user calls a schema (a name, a file, inline text, JSON Schema, a Python type) -> `Schema`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lookstruct.schemas.builtin import BUILTIN
from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.from_json import check_json_schema, json_check
from lookstruct.schemas.from_python import PythonType
from lookstruct.schemas.inline import INLINE_TYPES, parse_inline
from lookstruct.schemas.keywords import FORMATS, PYTHON_FORMATS
from lookstruct.schemas.nulls import prune_nulls
from lookstruct.schemas.prepare import prepare
from lookstruct.schemas.user_code import load_file, load_module

_MODULE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What a record must look like, in the user's words and in the grammar's.

    `json_schema` is the user's own JSON Schema; `grammar_schema` what the engine holds the model to: every property
    required and in order, optional ones nullable. `notes` are remarks for the user: keywords that are checked only
    after decoding, words that were not understood.

    >>> schema = load_schema("name, price: float?")
    >>> schema.validate({"name": "Lamp", "price": None})
    {'name': 'Lamp', 'price': None}
    """

    name: str
    json_schema: Mapping[str, Any]
    grammar_schema: Mapping[str, Any]
    notes: tuple[str, ...]
    _check: Callable[[Any], Any] = field(repr=False)
    _dump: Callable[[Any], Any] = field(repr=False)

    def validate(self, data: Any) -> Any:
        """The user's object made from decoded JSON; InvalidRecord, with the faults by JSON pointer, if it does not fit.

        Nulls that stand for absence are taken out first. For a JSON Schema the object is the data itself.
        """
        return self._check(prune_nulls(data, self.json_schema))

    def dump(self, value: Any) -> Any:
        """The plain JSON form of a value that `validate` gave."""
        return self._dump(value)


def load_schema(spec: Any, *, lenient: bool = False) -> Schema:
    """The schema that `spec` names or is; SchemaError, in one sentence with the fix, if there is none.

    `spec` is a built-in name in any case ("Invoice"), "module:Class", "path/to/file.py:Class", the path of a JSON
    Schema file, JSON Schema text, inline text (see `schemas.inline`), or a Python object: a pydantic model, dataclass,
    TypedDict, Enum, Literal, Union, list[X] or any other annotation, a function (its parameters), a JSON Schema as
    dict, or another `Schema`. With `lenient`, keywords that cannot be enforced become notes instead of errors.
    """
    if isinstance(spec, Schema):
        return spec
    if isinstance(spec, str | Path):
        return _from_text(str(spec).strip(), lenient)
    return _from_object(spec, lenient)


def _from_text(text: str, lenient: bool) -> Schema:
    if not text:
        raise SchemaError("The schema is empty; give a name such as Invoice, a file, module:Class or inline fields.")
    if text.startswith("{"):
        return _from_json(_parse_json(text, "The schema text"), "Record", lenient)
    builtin = {name.lower(): model for name, model in BUILTIN.items()}.get(text.lower())
    if builtin is not None:
        return _from_object(builtin, lenient)
    path, _, member = text.rpartition(":")
    if path.endswith(".py"):
        return _from_object(load_file(Path(path), member), lenient)
    if text.endswith(".py"):
        return _from_object(load_file(Path(text), ""), lenient)
    if _is_path(text):
        return _from_file(Path(text), lenient)
    module = _MODULE.fullmatch(text)
    if module and module[2].lower() not in INLINE_TYPES:
        return _from_object(load_module(module[1], module[2]), lenient)
    if _NAME.fullmatch(text):
        raise SchemaError(_unknown_name(text))
    return _from_json(parse_inline(text), "Record", lenient)


def _is_path(text: str) -> bool:
    if text.lower().endswith((".json", ".schema")):
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long or with characters no file name has: not a path
        return False


def _from_file(path: Path, lenient: bool) -> Schema:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        raise SchemaError(
            f"The schema file {path} cannot be read ({exc}); give the path of a JSON Schema file."
        ) from exc
    return _from_json(_parse_json(text, f"The file {path}"), path.name.removesuffix(".json"), lenient)


def _parse_json(text: str, origin: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        place = f"line {exc.lineno}, column {exc.colno}"
        raise SchemaError(f"{origin} is not JSON ({exc.msg} at {place}); a JSON Schema was expected.") from exc


def _unknown_name(name: str) -> str:
    known = {n.lower(): n for n in BUILTIN}
    near = [known[n] for n in get_close_matches(name.lower(), known, 3, 0.5)]
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return (
        f"There is no built-in schema '{name}'; {hint}'extract schemas list' shows all,"
        f" module:Class and files work too, and one inline field is written '{name}: str'."
    )


def _from_object(spec: Any, lenient: bool) -> Schema:
    if isinstance(spec, Schema):
        return spec
    text = _outlines_json_schema(spec)
    if text is not None:
        return _from_text(text, lenient)
    if isinstance(spec, dict):
        return _from_json(spec, "Record", lenient)
    python = PythonType.of(spec)
    prepared = prepare(python.json_schema, lenient=lenient, formats=PYTHON_FORMATS)
    return Schema(python.name, python.json_schema, prepared.schema, prepared.notes, python.validate, python.dump)


def _outlines_json_schema(spec: Any) -> str | None:
    """The text of an `outlines.types.JsonSchema`; known by its shape, so that outlines need not be imported."""
    module = type(spec).__module__.partition(".")[0]
    text = getattr(spec, "schema", None) if module == "outlines" else None
    if module == "genson" and hasattr(spec, "to_json"):
        text = spec.to_json()
    return text if isinstance(text, str) else None


def _from_json(schema: Any, name: str, lenient: bool) -> Schema:
    check_json_schema(schema)
    prepared = prepare(schema, lenient=lenient, formats=FORMATS)
    title = schema.get("title") if isinstance(schema.get("title"), str) else name
    return Schema(title or name, schema, prepared.schema, prepared.notes, json_check(schema), lambda value: value)
