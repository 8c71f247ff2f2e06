"""The tables of `schemas.keywords`, and what `prepare` makes of schemas, against the engine itself."""

from __future__ import annotations

import json
import random
from typing import Any

import llguidance
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lookstruct.decoding.constraint import JSON_OPTIONS
from lookstruct.schemas.builtin import BUILTIN
from lookstruct.schemas.from_json import make_validator
from lookstruct.schemas.keywords import FORMATS, KEYWORDS, PYTHON_FORMATS, Support
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.nulls import prune_nulls
from lookstruct.schemas.prepare import prepare

TOKENIZER = llguidance.LLTokenizer("byte")  # token id = byte


def matcher(schema: Any) -> llguidance.LLMatcher:
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema, ensure_ascii=False), JSON_OPTIONS)
    return llguidance.LLMatcher(TOKENIZER, grammar, log_level=0)


def accepts(schema: Any, text: str) -> bool:
    """Whether the masks let `text` through, byte by byte, to an accepting state."""
    m = matcher(schema)
    assert not m.is_error(), m.get_error()
    for byte in text.encode():
        if not m.compute_logit_bias()[byte]:
            return False
        m.consume_token(byte)
    return m.is_accepting()


def prepared(schema: Any) -> Any:
    return prepare(schema).schema


def dumps(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False).replace("\x7f", "\\u007f")


AB = {"a": {"type": "integer"}, "b": {"type": "integer"}}

ENFORCED: dict[str, tuple[Any, list[str], list[str]]] = {
    "type": ({"type": ["boolean", "null"]}, ["true", "null"], ["1", '"a"', "{}"]),
    "enum": ({"enum": ['"', "\\", "é", 1, None]}, ['"\\""', '"\\\\"', '"é"', "1", "null"], ['"x"', "2", "true"]),
    "anyOf": ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ["1", "null"], ["1.5", '"a"']),
    "minLength": ({"type": "string", "minLength": 2}, ['"ab"', '"é😀"'], ['"a"', '"😀"', '""']),
    "maxLength": ({"type": "string", "maxLength": 2}, ['"ab"', '"\\"\\n"', '"日本"'], ['"abc"']),
    "pattern": ({"type": "string", "pattern": "^[a-c]+$"}, ['"abc"'], ['"abd"', '""']),
    "minimum": ({"type": "number", "minimum": -1.5}, ["-1.5", "0", "3.25"], ["-1.6", "-2"]),
    "maximum": ({"type": "integer", "maximum": 12}, ["12", "-3"], ["13", "120"]),
    "exclusiveMinimum": ({"type": "number", "exclusiveMinimum": 0}, ["0.01", "1"], ["0", "0.0", "-1"]),
    "exclusiveMaximum": ({"type": "number", "exclusiveMaximum": 1}, ["0.99", "0"], ["1", "1.0"]),
    "multipleOf": ({"type": "number", "multipleOf": 0.01}, ["4.35", "-0.1", "7"], ["4.355", "1e2"]),
    "items": ({"type": "array", "items": {"type": "null"}}, ["[]", "[null, null]"], ["[1]"]),
    "prefixItems": ({"type": "array", "prefixItems": [{"const": 1}], "items": False}, ["[1]"], ["[2]", "[1, 1]"]),
    "minItems": ({"type": "array", "items": {"type": "null"}, "minItems": 1}, ["[null]"], ["[]"]),
    "maxItems": ({"type": "array", "items": {"type": "null"}, "maxItems": 1}, ["[]", "[null]"], ["[null, null]"]),
    "properties": ({"type": "object", "properties": AB}, ['{"a": 1, "b": 2}'], ['{"b": 1, "a": 2}', '{"a": null}']),
    "required": ({"type": "object", "properties": AB, "required": ["b"]}, ['{"b": 1}'], ['{"a": 1}', "{}"]),
    "additionalProperties": ({"type": "object", "additionalProperties": False}, ["{}"], ['{"a": 1}']),
    "patternProperties": (
        {"type": "object", "patternProperties": {"^x": {"type": "null"}}, "additionalProperties": False},
        ['{"xy": null}', "{}"],
        ['{"y": null}', '{"x": 1}'],
    ),
}

REFUSED: dict[str, Any] = {
    "not": {"type": "null"},
    "if": {"type": "null"},
    "then": {"type": "null"},
    "else": {"type": "null"},
    "uniqueItems": True,
    "contains": {"type": "null"},
    "minContains": 1,
    "maxContains": 1,
    "unevaluatedItems": False,
    "dependentRequired": {"a": ["b"]},
    "dependentSchemas": {"a": {}},
    "dependencies": {"a": ["b"]},
    "$dynamicRef": "#a",
    "$dynamicAnchor": "a",
    "$recursiveRef": "#",
    "$recursiveAnchor": True,
}


def keywords(support: Support) -> list[str]:
    return [name for name, found in KEYWORDS.items() if found is support]


@pytest.mark.parametrize("keyword", keywords(Support.ENFORCED))
def test_the_engine_enforces_what_the_table_calls_enforced(keyword: str) -> None:
    schema, good, bad = ENFORCED[keyword]
    assert keyword in schema
    assert [text for text in good if not accepts(schema, text)] == []
    assert [text for text in bad if accepts(schema, text)] == []


@pytest.mark.parametrize("keyword", keywords(Support.REFUSED))
def test_the_engine_refuses_what_the_table_calls_refused(keyword: str) -> None:
    if keyword == "$recursiveAnchor":
        pytest.skip("the engine ignores it: refused because $recursiveRef is")
    assert matcher({"type": "array", keyword: REFUSED[keyword]}).is_error()


@pytest.mark.parametrize("keyword", keywords(Support.ANNOTATION))
def test_an_annotation_changes_nothing(keyword: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", keyword: "x"}}, "required": ["a"]}
    assert prepared(schema) == prepared({**schema, "properties": {"a": {"type": "integer"}}})


FORMAT_SAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2024-02-29", "2000-02-29", "0001-01-01", "2023-12-31"],
        ["2023-02-29", "1900-02-29", "0000-01-01", "2023-13-01"],
    ),
    "date-time": (
        ["2024-02-29T23:59:59Z", "2024-01-01T00:00:00.25+02:00"],
        ["2024-01-01T00:00:60Z", "2024-01-01T10:00"],
    ),
    "time": (["10:00:00Z"], ["24:00:00Z", "10:00"]),
    "duration": (["PT1H30M", "P1D", "P2W"], ["1 hour", "P", "PT", "P" + "9" * 40 + "D"]),
    "email": (["a.b@example.org"], ["a b@example.org", "@example.org", "a" * 250 + "@b.de"]),
    "idn-email": (["jürgen@exämple.org"], ["a b@c", "a@@b"]),
    "hostname": (["a.example.org"], ["a_b", "-a"]),
    "ipv4": (["192.168.0.1"], ["256.1.1.1", "1.1.1"]),
    "ipv6": (["::1", "2001:db8::8:800:200c:417a"], ["1.2.3.4", ":::"]),
    "uuid": (["f47ac10b-58cc-4372-a567-0e02b2c3d479"], ["f47ac10b-58cc-4372-a567"]),
    "uri": (["https://example.org/a?b=c#d"], ["example.org/a", "https://exa mple.org"]),
    "iri": (["https://example.org/ä"], ["/ä", "https://a b"]),
    "uri-reference": (["/a/b?c", "../x", ""], ["/ä", "a b"]),
    "iri-reference": (["/ä/b?c", "../x"], ["a b", "<a>"]),
    "json-pointer": (["", "/a~1b/0"], ["a", "/~2"]),
    "password": (["any thing"], []),
    "path": (["a/b c"], []),
    "file-path": (["a/b c"], []),
    "directory-path": (["a/b c"], []),
    "binary": (["any"], []),
    "textarea": (["any"], []),
    **{
        f"uuid{n}": ([f"f47ac10b-58cc-{n}372-a567-0e02b2c3d479"], [f"f47ac10b-58cc-{9 - n}372-a567-0e02b2c3d479"])
        for n in range(1, 9)
    },
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_lets_its_own_texts_through_and_no_others(name: str) -> None:
    schema = prepared({"type": "string", "format": name})
    good, bad = FORMAT_SAMPLES[name]
    assert [text for text in good if not accepts(schema, f'"{text}"')] == []
    assert [text for text in bad if accepts(schema, f'"{text}"')] == []


@pytest.mark.parametrize("name", ["date-time", "time"])
def test_python_times_need_neither_zone_nor_seconds(name: str) -> None:
    schema = prepare({"type": "string", "format": name}, formats=PYTHON_FORMATS).schema
    day = "2024-05-01T" if name == "date-time" else ""
    assert accepts(schema, f'"{day}19:30"')
    assert accepts(schema, f'"{day}19:30:15+02:00"')
    assert not accepts(schema, f'"{day}19:60"')
    assert not accepts(schema, f'"{day}19:30:60"')


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, ["0", "-7", "9" * 18], ["9" * 19, "1.0", "1e3"]),
        ({"type": "integer", "minimum": 0}, ["0", "9" * 18], ["9" * 19, "-1"]),
        ({"type": "number"}, ["0", "-1.25", "52.520008123", "9" * 15], ["1." + "0" * 10, "9" * 17, "1e5"]),
        ({"type": "number", "minimum": 0}, ["0.5", "19.99"], ["-1", "0." + "3" * 12]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0.123456789", "1"], ["0.1234567891", "1.1"]),
        ({"type": "number", "multipleOf": 0.05}, ["1.05"], ["1.06", "9" * 17]),
    ],
)
def test_numbers_have_a_bounded_number_of_digits(schema: Any, good: list[str], bad: list[str]) -> None:
    grammar = prepared(schema)
    assert [text for text in good if not accepts(grammar, text)] == []
    assert [text for text in bad if accepts(grammar, text)] == []


def test_a_string_without_a_bound_ends_after_2000_characters() -> None:
    grammar = prepared({"type": "string"})
    assert accepts(grammar, json.dumps("x" * 2000))
    assert not accepts(grammar, json.dumps("x" * 2001))


def test_an_array_without_a_bound_ends_after_1000_items() -> None:
    grammar = prepared({"type": "array", "items": {"const": 1}})
    assert accepts(grammar, json.dumps([1] * 1000))
    assert not accepts(grammar, json.dumps([1] * 1001))


@pytest.mark.parametrize("name", BUILTIN)
def test_every_built_in_schema_compiles(name: str) -> None:
    m = matcher(load_schema(name).grammar_schema)
    assert not m.is_error(), m.get_error()


def test_our_own_keywords_do_not_disturb_the_engine() -> None:
    assert accepts({"type": "string", "x-source": "span", "x-format": "time"}, '"a"')


NAMES = st.sampled_from(["a", "b", "name", 'with "quotes"', "back\\slash", "größe", "日本", "a/b~c", "$ref", "type"])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def leaves(draw: st.DrawFn) -> Any:
    low = draw(st.integers(-50, 50))
    return draw(
        st.sampled_from(
            [
                {"type": "string"},
                {"type": "string", "minLength": 1, "maxLength": 4},
                {"type": "string", "pattern": "^[a-z]{1,3}$"},
                {"type": "string", "format": "date"},
                {"type": "integer"},
                {"type": "integer", "minimum": low, "maximum": low + 9},
                {"type": "number", "minimum": low},
                {"type": "boolean"},
                {"type": ["integer", "null"]},
                {"enum": draw(st.lists(st.one_of(TEXT, st.integers(-9, 9), st.none()), min_size=1, max_size=3))},
                {"const": draw(TEXT)},
            ]
        )
    )


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.dictionaries(NAMES, inner, max_size=3).flatmap(
        lambda props: st.lists(st.sampled_from(sorted(props) or ["a"]), unique=True).map(
            lambda required: {
                "type": "object",
                "properties": props,
                "required": [name for name in required if name in props],
                "additionalProperties": False,
            }
        )
    )
    arrays = st.tuples(inner, st.integers(0, 2)).map(lambda p: {"type": "array", "items": p[0], "minItems": p[1]})
    unions = st.lists(inner, min_size=1, max_size=2).map(lambda branches: {"anyOf": branches})
    nullable = inner.map(lambda node: {"anyOf": [node, {"type": "null"}]})
    merged = st.tuples(objects, objects).map(lambda p: {"allOf": [opened(p[0], {}), opened(p[1], p[0]["properties"])]})
    tagged = st.lists(objects, min_size=1, max_size=3).map(
        lambda branches: {"oneOf": [tag(node, f"kind {i}") for i, node in enumerate(branches)]}
    )
    maps = inner.map(lambda node: {"type": "object", "additionalProperties": node, "maxProperties": 2})
    tuples = st.lists(inner, min_size=1, max_size=2).map(
        lambda nodes: {"type": "array", "prefixItems": nodes, "items": False, "minItems": len(nodes)}
    )
    return st.one_of(objects, arrays, unions, nullable, merged, tagged, maps, tuples)


def tag(node: Any, kind: str) -> Any:
    """The object schema with a property that only it has."""
    return {
        **node,
        "properties": {**node["properties"], "kind": {"const": kind}},
        "required": [*node["required"], "kind"],
    }


def opened(node: Any, known: dict[str, Any]) -> Any:
    """An object schema that allows more properties; those in `known` are as they are there."""
    properties = {name: known.get(name, sub) for name, sub in node["properties"].items()}
    return {"type": "object", "properties": properties, "required": node["required"]}


SCHEMAS = st.recursive(leaves(), containers, max_leaves=6)
RECURSIVE = SCHEMAS.map(
    lambda node: {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"value": node, "next": {"$ref": "#/$defs/Node"}, "kids": KIDS},
                "required": ["value"],
                "additionalProperties": False,
            }
        },
    }
)
KIDS = {"type": "array", "items": {"$ref": "#/$defs/Node"}}


class Writer:
    """Draws a value of a schema twice: as the user would have it, and as the grammar writes it, with nulls."""

    def __init__(self, root: Any, rng: random.Random) -> None:
        self.root = root
        self.rng = rng

    def write(self, node: Any, depth: int = 0) -> tuple[Any, Any]:
        if "$ref" in node:
            return self.write(self.root["$defs"]["Node"], depth)
        if "anyOf" in node or "oneOf" in node:
            return self.write(self.rng.choice(node.get("anyOf") or node["oneOf"]), depth)
        if "allOf" in node:
            return self.write(join(*node["allOf"]), depth)
        if node.get("type") == "object":
            return self.object(node, depth)
        if node.get("type") == "array":
            if "prefixItems" in node:
                return self.pairs([self.write(sub, depth + 1) for sub in node["prefixItems"]])
            n_items = node.get("minItems", 0) + (self.rng.randrange(2) if depth < 4 else 0)
            return self.pairs([self.write(node["items"], depth + 1) for _ in range(n_items)])
        value = self.leaf(node)
        return value, value

    @staticmethod
    def pairs(items: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        return [plain for plain, _ in items], [filled for _, filled in items]

    def object(self, node: Any, depth: int) -> tuple[Any, Any]:
        plain, filled = {}, {}
        if "properties" not in node:
            plain["any key"], filled["any key"] = self.write(node["additionalProperties"], depth + 1)
        for name, sub in node.get("properties", {}).items():
            if name not in node["required"] and (depth > 4 or self.rng.random() < 0.5):
                filled[name] = None
                if make_validator({"$defs": self.root.get("$defs", {}), **sub}).is_valid(None):
                    plain[name] = None
            else:
                plain[name], filled[name] = self.write(sub, depth + 1)
        return plain, filled

    def leaf(self, node: Any) -> Any:
        rng = self.rng
        if "const" in node or "enum" in node:
            return rng.choice(node.get("enum", [node.get("const")]))
        if node["type"] == "string":
            if node.get("format"):
                return rng.choice(["2024-02-29", "1999-12-31"])
            if node.get("pattern"):
                return rng.choice(["a", "xyz"])
            text = rng.choice(['"', "\\", "é\n", "日本", "😀", "\x7f\x01", "ab", "x'"])
            return text[: node.get("maxLength", 9)]
        if node["type"] == "number":
            return round(node["minimum"] + rng.randrange(5000) / 1000, 3)
        if node["type"] == "integer":
            return rng.randint(node.get("minimum", -9), node.get("maximum", 99))
        if node["type"] == "null":
            return None
        return rng.choice([True, False]) if node["type"] == "boolean" else rng.choice([None, 3])


def join(a: Any, b: Any) -> Any:
    """The object schema that two object schemas make together."""
    required = [*a["required"], *b["required"]]
    return {"type": "object", "properties": {**a["properties"], **b["properties"]}, "required": required}


def has_union(node: Any) -> bool:
    return "anyOf" in json.dumps(node) or "oneOf" in json.dumps(node)


FAST = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@FAST
@given(st.one_of(SCHEMAS, RECURSIVE), st.integers(0, 2**32))
@example({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, 0)
def test_every_value_of_a_schema_is_let_through_and_comes_back_valid(schema: Any, seed: int) -> None:
    if schema.get("properties") == {"a": {}}:
        plain, filled = {"a": None}, {"a": None}
    else:
        plain, filled = Writer(schema, random.Random(seed)).write(schema)
    assert accepts(prepared(schema), dumps(filled))
    pruned = prune_nulls(filled, schema)
    assert make_validator(schema).is_valid(pruned)
    if not has_union(schema):
        assert pruned == plain


def random_text(schema: Any, rng: random.Random, n_free: int = 200) -> str:
    """A text that the masks allow, drawn at random; after `n_free` bytes quotes and brackets close where they can."""
    m = matcher(schema)
    assert not m.is_error(), m.get_error()
    written = bytearray()
    while not (m.is_accepting() and (m.is_stopped() or len(written) > n_free or rng.random() < 0.3)):
        bias = m.compute_logit_bias()
        allowed = [byte for byte in range(256) if bias[byte]]
        closing = [byte for byte in allowed if byte in b'"]}']
        byte = rng.choice(closing if closing and (len(written) > n_free or rng.random() < 0.3) else allowed)
        m.consume_token(byte)
        written.append(byte)
        assert len(written) < 20_000, "the grammar does not end"
    return written.decode()


@FAST
@given(st.one_of(SCHEMAS, RECURSIVE), st.integers(0, 2**32))
def test_whatever_the_masks_let_through_is_valid(schema: Any, seed: int) -> None:
    data = json.loads(random_text(prepared(schema), random.Random(seed)))
    pruned = prune_nulls(data, schema)
    faults = [fault.message for fault in make_validator(schema).iter_errors(pruned)]
    assert faults == []


@pytest.mark.parametrize("name", BUILTIN)
def test_whatever_a_built_in_grammar_lets_through_validates(name: str) -> None:
    schema = load_schema(name)
    for seed in range(20):
        data = json.loads(random_text(schema.grammar_schema, random.Random(seed)))
        value = schema.validate(data)
        assert isinstance(value, BUILTIN[name])
        assert set(schema.dump(value)) == set(data)
