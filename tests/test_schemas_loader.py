"""Whatever a user calls a schema becomes a `Schema`, or one sentence that says what to do."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest
from outlines.types import JsonSchema
from pydantic import BaseModel, ConfigDict, Field, HttpUrl
from typing_extensions import TypedDict

from lookstruct.schemas.builtin import BUILTIN
from lookstruct.schemas.errors import InvalidRecord, SchemaError
from lookstruct.schemas.loader import Schema, load_schema


class Shop(BaseModel):
    name: str
    founded: date | None = None
    stars: int = 3


@dataclass
class Point:
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Colour(enum.Enum):
    QUOTED = 'say "red"'
    SLASHED = "a\\b"


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str | None = None


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class Tree(BaseModel):
    label: str
    children: list[Tree] = []


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("spec", ["Invoice", "invoice", " INVOICE "])
def test_a_built_in_name_may_be_written_in_any_case(spec: str) -> None:
    assert load_schema(spec).name == "Invoice"


@pytest.mark.parametrize("name", BUILTIN)
def test_every_built_in_name_loads_without_remarks(name: str) -> None:
    assert load_schema(name).notes == ()


def test_a_loaded_schema_is_taken_as_it_is() -> None:
    schema = load_schema("Invoice")
    assert load_schema(schema) is schema


def test_a_model_validates_into_its_own_type() -> None:
    schema = load_schema(Shop)
    shop = schema.validate({"name": "A", "founded": "2001-02-03", "stars": None})
    assert shop == Shop(name="A", founded=date(2001, 2, 3))
    assert schema.dump(shop) == {"name": "A", "founded": "2001-02-03", "stars": 3}


def test_the_users_schema_is_kept_beside_the_grammars() -> None:
    schema = load_schema(Tree)
    assert schema.json_schema["$defs"]["Tree"]["required"] == ["label"]
    assert schema.grammar_schema["$defs"]["Tree"]["required"] == ["label", "children"]


@pytest.mark.parametrize(
    ("spec", "data", "value"),
    [
        (Point, {"x": 1, "y": None}, Point(1)),
        (Movie, {"title": "A", "year": None}, {"title": "A"}),
        (Colour, 'say "red"', Colour.QUOTED),
        (Literal["a", 1], "a", "a"),
        (list[Shop], [{"name": "A", "founded": None, "stars": 1}], [Shop(name="A", stars=1)]),
        (int | str, 3, 3),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[str], ["a", "a"], {"a"}),
        (Decimal, 2.5, Decimal("2.5")),
        (datetime, "2024-05-01T19:30", datetime(2024, 5, 1, 19, 30)),
        (Owner, {"pet": {"kind": "dog", "name": None}}, Owner(pet=Dog())),
        (
            Tree,
            {"label": "a", "children": [{"label": "b", "children": None}]},
            Tree(label="a", children=[Tree(label="b")]),
        ),
        (bool, True, True),
    ],
)
def test_python_types_validate_into_their_own_values(spec: Any, data: Any, value: Any) -> None:
    assert load_schema(spec).validate(data) == value


def test_a_function_stands_for_its_parameters() -> None:
    def order(item: str, count: int = 1) -> None: ...

    schema = load_schema(order)
    assert schema.dump(schema.validate({"item": "a", "count": None})) == {"item": "a", "count": 1}


def test_a_strict_model_takes_dates_and_enums_from_json() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        day: date
        colour: Colour

    found = load_schema(Strict).validate({"day": "2024-02-29", "colour": "a\\b"})
    assert found.colour is Colour.SLASHED


def test_aliases_are_the_names_in_the_grammar_and_in_the_output() -> None:
    class Aliased(BaseModel):
        unit_price: float = Field(alias="unitPrice")

    schema = load_schema(Aliased)
    assert list(schema.grammar_schema["properties"]) == ["unitPrice"]
    assert schema.dump(schema.validate({"unitPrice": 1.5})) == {"unitPrice": 1.5}


def test_a_decimal_is_a_number_and_a_set_has_no_unique_items() -> None:
    assert load_schema(Decimal).grammar_schema["type"] == "number"
    assert load_schema(set[str]).notes == ()


def test_a_web_address_starts_with_its_scheme() -> None:
    assert load_schema(HttpUrl).grammar_schema["pattern"].startswith("^(?:http|https)://")


def test_a_fault_is_told_by_its_pointer_with_the_data() -> None:
    with pytest.raises(InvalidRecord, match="does not fit Tree: /children/0/label: Field required") as caught:
        load_schema(Tree).validate({"label": "a", "children": [{}]})
    assert json.loads(caught.value.raw) == {"label": "a", "children": [{}]}


def test_a_json_schema_validates_into_the_data_itself() -> None:
    schema = load_schema({"title": "Thing", "type": "object", "properties": {"a": {"type": "integer"}}})
    assert schema.name == "Thing"
    assert schema.validate({"a": None}) == {}
    with pytest.raises(InvalidRecord, match="does not fit the schema: /a: 'x' is not of type 'integer'"):
        schema.validate({"a": "x"})


def test_decimal_steps_are_counted_in_decimals() -> None:
    assert load_schema({"type": "number", "multipleOf": 0.01}).validate(4.35) == 4.35


def test_a_pattern_that_python_cannot_read_is_left_to_the_grammar() -> None:
    assert load_schema({"type": "string", "pattern": r"^\p{Lu}$"}).validate("É") == "É"


def test_json_schema_text_is_a_schema() -> None:
    assert load_schema('{"type": "integer"}').validate(3) == 3


def test_a_schema_of_outlines_is_a_schema() -> None:
    assert load_schema(JsonSchema({"type": "integer"})).validate(3) == 3


def test_a_json_schema_file_is_a_schema(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", '\ufeff{"type": "integer"}')
    assert load_schema(str(path)).name == "thing"
    assert load_schema(path).validate(3) == 3


def test_lenient_loading_says_what_is_checked_only_after_decoding() -> None:
    tags = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    with pytest.raises(SchemaError, match="'uniqueItems' at the top level"):
        load_schema(tags)
    schema = load_schema(tags, lenient=True)
    assert len(schema.notes) == 1
    with pytest.raises(InvalidRecord, match="non-unique"):
        schema.validate(["a", "a"])


def test_a_class_of_a_module_is_found() -> None:
    assert load_schema("lookstruct.schemas.typed:Money").name == "Money"


def test_a_module_in_the_working_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "my_shop_types.py", "from pydantic import BaseModel\nclass A(BaseModel):\n    b: int\n")
    monkeypatch.chdir(tmp_path)
    assert load_schema("my_shop_types:A").name == "A"


def test_one_inline_field_with_a_type_is_not_a_module() -> None:
    assert list(load_schema("price:float").json_schema["properties"]) == ["price"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Invoce", "There is no built-in schema 'Invoce'; did you mean Invoice"),
        ("xyzzy", "There is no built-in schema 'xyzzy'; 'extract schemas list' shows all"),
        ("", "The schema is empty"),
        ("missing.json", "The schema file missing.json cannot be read"),
        ("missing.py:A", "There is no file missing.py"),
        ("no_such_module_here:A", "'no_such_module_here' cannot be imported .*No module named"),
        ("lookstruct.schemas.typed:Mony", "There is no 'Mony' in lookstruct.schemas.typed; it has Money"),
        ('{"type": ', "is not JSON .*line 1, column 9"),
        ({"type": "strin"}, "The JSON Schema is invalid at /type: 'strin'"),
        ({"type": "string", "pattern": "(a"}, r"invalid at /pattern: '\(a' is not a 'regex'"),
        ({"properties": {"a/b": {"minLength": -1}}}, "invalid at /properties/a~1b/minLength"),
        (3, "'3' cannot serve as a schema: pydantic knows no such type; expected a pydantic model"),
        (print, "cannot serve as a schema"),
        (lambda *args: args, r"takes \*args"),
    ],
)
def test_what_is_no_schema_is_one_sentence(spec: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        load_schema(spec)
    assert "\n" not in str(caught.value)


def test_a_model_with_an_unknown_name_in_it_is_an_error() -> None:
    class Broken(BaseModel):
        other: NoSuchType  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(SchemaError, match=r"'Broken' cannot serve as a schema: .*NoSuchType"):
        load_schema(Broken)


def test_a_broken_file_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", '{\n  "type": integer}')
    with pytest.raises(SchemaError, match=r"thing\.json is not JSON .*line 2, column 11"):
        load_schema(str(path))


def test_a_schema_can_be_printed_and_hashed() -> None:
    schema: Schema = load_schema("a: int")
    assert "Record" in repr(schema)
    assert len({schema, load_schema("a: int")}) == 2
