"""Classes from a user's own files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lookstruct.schemas.errors import SchemaError
from lookstruct.schemas.loader import load_schema

MODEL = "from pydantic import BaseModel\nclass Thing(BaseModel):\n    size: {}\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_class_of_a_file_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "things.py", MODEL.format("int"))
    assert load_schema(f"{path}:Thing").validate({"size": 3}).size == 3


def test_a_class_inside_a_class_is_found(tmp_path: Path) -> None:
    text = "from pydantic import BaseModel\nclass Outer:\n    class Inner(BaseModel):\n        a: int\n"
    path = write(tmp_path / "things.py", text)
    assert load_schema(f"{path}:Outer.Inner").name == "Inner"


def test_a_json_schema_in_a_file_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "things.py", "schema = {'type': 'integer'}\n")
    assert load_schema(f"{path}:schema").validate(1) == 1


@pytest.mark.parametrize("line", ["from sizes import Size", "from .sizes import Size"])
def test_a_file_may_import_its_siblings(tmp_path: Path, line: str) -> None:
    write(tmp_path / "sizes.py", "Size = int\n")
    path = write(tmp_path / "things.py", line + "\n" + MODEL.format("Size"))
    path_before = list(sys.path)
    assert load_schema(f"{path}:Thing").json_schema["properties"]["size"]["type"] == "integer"
    assert sys.path == path_before


def test_siblings_of_one_name_in_two_folders_do_not_mix(tmp_path: Path) -> None:
    for folder, kind in (("one", "int"), ("two", "str")):
        write(tmp_path / folder / "sizes.py", f"Size = {kind}\n")
        write(tmp_path / folder / "things.py", "from sizes import Size\n" + MODEL.format("Size"))
    kinds = [
        load_schema(f"{tmp_path / folder / 'things.py'}:Thing").json_schema["properties"]["size"]["type"]
        for folder in ("one", "two")
    ]
    assert kinds == ["integer", "string"]


def test_annotations_as_text_are_resolved_in_the_file(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\n" + MODEL.format("Other | None") + "class Other(BaseModel):\n    a: int\n"
    )
    path = write(tmp_path / "things.py", text)
    assert load_schema(f"{path}:Thing").validate({"size": {"a": 1}}).size.a == 1


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "things.py", MODEL.format("int"))
    load_schema(f"{path}:Thing")
    write(path, MODEL.format("list[str]"))
    assert load_schema(f"{path}:Thing").json_schema["properties"]["size"]["type"] == "array"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1/0\n", "ZeroDivisionError: division by zero"),
        ("def f(:\n", "SyntaxError"),
        ("import nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
    ],
)
def test_a_file_that_fails_is_an_error_with_its_cause(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path / "things.py", text)
    with pytest.raises(SchemaError, match=f"things.py fails when it is run: .*{reason}") as caught:
        load_schema(f"{path}:Thing")
    assert caught.value.__cause__ is not None


def test_a_missing_class_lists_those_that_are_there(tmp_path: Path) -> None:
    path = write(tmp_path / "things.py", MODEL.format("int"))
    with pytest.raises(SchemaError, match=r"There is no 'Thin' in .*things\.py; it has Thing"):
        load_schema(f"{path}:Thin")


def test_a_file_without_a_class_name_says_how_to_write_it(tmp_path: Path) -> None:
    path = write(tmp_path / "things.py", MODEL.format("int"))
    with pytest.raises(SchemaError, match=r"names no class; write .*things\.py:Thing\."):
        load_schema(str(path))
