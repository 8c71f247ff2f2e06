"""A Python type (model, dataclass, TypedDict, annotation, function) -> its JSON Schema and its validator."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from lookstruct.schemas.errors import InvalidRecord, SchemaError
from lookstruct.schemas.json_values import pointer_step, shown

_EXPECTED = (
    "expected a pydantic model, dataclass, TypedDict, Enum, Literal, Union, list or a function,"
    " or a JSON Schema as a dict"
)


@dataclass(frozen=True, slots=True)
class PythonType:
    """A type that pydantic can validate."""

    name: str
    json_schema: dict[str, Any]
    adapter: TypeAdapter[Any]

    @staticmethod
    def of(spec: Any) -> PythonType:
        """The type's JSON Schema and validator; SchemaError if pydantic knows no such type."""
        target = _function_model(spec) if inspect.isfunction(spec) else spec
        name = getattr(spec, "__name__", None) or str(spec)
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(target)
            adapter.rebuild(raise_errors=True)
            schema = adapter.json_schema(schema_generator=_ForModels)
        except PydanticSchemaGenerationError as exc:
            raise SchemaError(f"{name!r} cannot serve as a schema: pydantic knows no such type; {_EXPECTED}.") from exc
        except (PydanticUserError, PydanticUndefinedAnnotation, TypeError) as exc:
            reason = str(exc).partition("\n")[0].rstrip(".")
            raise SchemaError(f"{name!r} cannot serve as a schema: {reason}; {_EXPECTED}.") from exc
        return PythonType(name, schema, adapter)

    def validate(self, data: Any) -> Any:
        """The typed value; InvalidRecord lists every fault by JSON pointer, pydantic's error chained."""
        text = json.dumps(data, ensure_ascii=False)
        try:
            return self.adapter.validate_json(text)  # as JSON: strict models take a date from a string only there
        except ValidationError as exc:
            raise InvalidRecord(f"The record does not fit {self.name}: {_faults(exc)}.", text) from exc

    def dump(self, value: Any) -> Any:
        """The value as plain JSON data, under the names of the JSON Schema."""
        return self.adapter.dump_python(value, mode="json", by_alias=True)


class _ForModels(GenerateJsonSchema):
    """JSON Schema as a language model should see it: where pydantic offers spellings, the plainest one."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """A Decimal is a number: the alternative string would let the model write words."""
        found = super().decimal_schema(schema)
        return next((branch for branch in found.get("anyOf", ()) if branch.get("type") == "number"), found)

    def set_schema(self, schema: core_schema.SetSchema) -> JsonSchemaValue:
        """Duplicates do no harm: a set drops them."""
        return _without(super().set_schema(schema), "uniqueItems")

    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> JsonSchemaValue:
        """Like `set_schema`."""
        return _without(super().frozenset_schema(schema), "uniqueItems")

    def url_schema(self, schema: core_schema.UrlSchema) -> JsonSchemaValue:
        """Only the schemes that the type takes, and a host where it wants one."""
        found = super().url_schema(schema)
        schemes = schema.get("allowed_schemes")
        return {**found, "pattern": f"^(?:{'|'.join(schemes)})://[A-Za-z0-9]"} if schemes else found


def _without(schema: JsonSchemaValue, key: str) -> JsonSchemaValue:
    return {k: v for k, v in schema.items() if k != key}


def _function_model(function: Any) -> type[BaseModel]:
    """A model whose fields are the parameters of a function."""
    fields: dict[str, Any] = {}
    hints = inspect.get_annotations(function, eval_str=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise SchemaError(f"The function {function.__name__} takes *args or **kwargs; name its parameters.")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints.get(name, Any), default)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _faults(exc: ValidationError) -> str:
    return "; ".join(
        f"{shown(''.join('/' + pointer_step(str(step)) for step in fault['loc']))}: {fault['msg']}"
        for fault in exc.errors(include_url=False, include_context=False)
    )
