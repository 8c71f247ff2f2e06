"""The worked examples in the drafting modules are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

GUESSING = (
    *("atom_values", "field_kinds", "field_words", "items", "json_text", "page_text", "page_values", "row_mapping"),
    *("schema_walk", "skeleton"),
)
MODULES = ("cursor", *(f"guessing.{name}" for name in GUESSING))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str):
    result = doctest.testmod(import_module(f"lookstruct.decoding.{name}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
