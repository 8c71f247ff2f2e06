"""Grammar schema + page -> a grammar whose values cannot leave the page (`hold`).

A leaf with the keyword `x-source` is compiled to what the page offers: a closed list of its dates, numbers, durations,
links, addresses or whole lines (an array of list items: of its lists, whole), or, for spans, the automaton of all its
substrings (cut at words). Everything else stays the JSON Schema it was. So a held value cannot be invented, and what is
unique on the page is forced and costs no forward.
Where the page offers nothing for a closed list, a nullable field is null and a list is empty; a field that must have
a value stays the JSON Schema it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lookstruct.decoding.constraint import JSON_OPTIONS, Grammar
from lookstruct.pipeline.grounding.offers import PageOffers

Node = Mapping[str, Any]
_NULL = {"type": "null"}
Lists = Sequence[Sequence[Sequence[str]]]
"""Lists of items, each in its spellings."""
MOST_ITEMS = 1000
"""Longer lists of the page are not taken in whole."""


def hold(schema: Node, offers: PageOffers) -> Grammar:
    """The grammar for one page; plain JSON Schema where nothing in `schema` is held or the page offers nothing for it.

    `schema` is a prepared grammar schema: closed objects, every property required, `$ref` into one flat `$defs`.
    """
    compiler = _Compiler(schema, offers)
    start = compiler.rule(schema)
    return compiler.grammar(start) if compiler.held else Grammar.json_schema(schema)


class _Compiler:
    """JSON Schema -> Lark, one rule a node; a subtree with nothing held stays JSON Schema inside it."""

    def __init__(self, schema: Node, offers: PageOffers) -> None:
        self._defs: Mapping[str, Node] = schema.get("$defs", {})
        self._offers = offers
        self._rules: dict[str, str] = {}
        self._terminals: dict[str, str] = {}
        self._refs: dict[str, str] = {}
        self.held = False

    def grammar(self, start: str) -> Grammar:
        """All rules and terminals, beginning with `start`."""
        lines = [f"start: {start}"]
        lines += [f"{name}: {body}" for name, body in (*self._rules.items(), *self._terminals.items())]
        return Grammar.lark("\n".join(lines) + "\n", is_json=True)

    def rule(self, node: Node) -> str:
        """The name of the rule for `node`."""
        if "$ref" in node:
            return self._ref(node["$ref"].removeprefix("#/$defs/"))
        if not self._holds(node, set()) or self._offers.lacks(node):
            return self._add(self._json(node))
        if "anyOf" in node:
            return self._add(" | ".join(self.rule(branch) for branch in self._possible(node["anyOf"])))
        if node.get("type") == "object":
            return self._add(self._object(node))
        if node.get("type") == "array":
            return self._add(self._array(node))
        self.held = True
        return self._add(self._leaf(node))

    def _possible(self, branches: Sequence[Node]) -> Sequence[Node]:
        """The branches without those for which the page offers nothing: what could only be invented is null."""
        kept = [b for b in branches if not self._offers.lacks(b) and not (b == _NULL and self._is_stated(branches))]
        self.held = self.held or len(kept) < len(branches)
        return kept or branches

    def _is_stated(self, branches: Sequence[Node]) -> bool:
        """Whether the page says outright what the value is, so that it cannot be null: who wrote it."""
        return any(self._names(branch) for branch in branches)

    def _names(self, node: Node) -> Lists:
        """The names that the page's bylines offer for a leaf, each as a list of its own."""
        names = self._offers.options(node) if node.get("x-source") == "byline" else ()
        return [[[json.loads(name)]] for name in names]

    def _ref(self, name: str) -> str:
        if name not in self._refs:
            self._refs[name] = f"def_{len(self._refs)}"
            rule = self.rule(self._defs[name])
            self._rules[self._refs[name]] = rule
        return self._refs[name]

    def _add(self, body: str) -> str:
        name = f"r{len(self._rules)}"
        while name in self._rules:
            name += "x"
        self._rules[name] = body
        return name

    def _json(self, node: Node) -> str:
        return "%json " + json.dumps({"x-guidance": JSON_OPTIONS, **node, "$defs": self._defs}, ensure_ascii=False)

    def _object(self, node: Node) -> str:
        parts = [
            f"{literal(('{' if i == 0 else ', ') + quoted(key) + ': ')} {self.rule(child)}"
            for i, (key, child) in enumerate(node["properties"].items())
        ]
        return " ".join([*parts, literal("}")]) if parts else literal("{}")

    def _array(self, node: Node) -> str:
        least, most = node.get("minItems", 0), node.get("maxItems")
        if most == 0 or (self._offers.lacks(node["items"]) and not least):
            self.held = True
            return literal("[]")
        lists = self._lists(node)
        filled = self._of_lists(node["items"], lists) if lists else self._of_items(node["items"], least, most)
        return filled if least or self._names(node["items"]) else f"{literal('[]')} | {filled}"

    def _of_items(self, node: Node, least: int, most: int | None) -> str:
        """At least one item, and at most `most`."""
        item = self.rule(node)
        bounds = f"{max(0, least - 1)},{'' if most is None else most - 1}"
        return f'"[" {item} "]"' if most == 1 else f'"[" {item} ({literal(", ")} {item}){{{bounds}}} "]"'

    def _lists(self, node: Node) -> Lists:
        """The page's lists that an array of list items takes in whole, the names that an array of authors takes once;
        () for other arrays, and where its bounds are too narrow."""
        is_of_items = node["items"].get("x-source") == "item"
        if node.get("minItems", 0) > 1:
            return ()
        lists = self._offers.lists if is_of_items else self._names(node["items"])
        return lists if sum(map(len, lists)) <= node.get("maxItems", MOST_ITEMS) else ()

    def _of_lists(self, node: Node, lists: Lists) -> str:
        """Lists of the page in page order, the first from one of its items on, those after it whole; or lines that are
        in none of them."""
        self.held = True
        begun: list[str] = []
        later = ""
        for run in reversed(lists):
            rules = self._list(run, f"({literal(', ')} {later})?" if later else "")
            begun += rules
            later = self._add(f"{rules[-1]} | {later}" if later else rules[-1])
        first = self._add(" | ".join(begun))
        listed = {text for run in lists for spellings in run for text in spellings}
        single = [text for text in self._offers.options(node) if json.loads(text) not in listed]
        if not single:
            return f'"[" {first} "]"'
        line = self._terminal(" | ".join(map(literal, single)))
        return f'"[" {first} "]" | "[" {line} ({literal(", ")} {line}){{0,{MOST_ITEMS - 1}}} "]"'

    def _list(self, run: Sequence[Sequence[str]], after: str) -> list[str]:
        """A rule for each item of a list: from it to the list's end and what may come `after`."""
        rules: list[str] = []
        for spellings in reversed(run):
            item = self._terminal(" | ".join(literal(quoted(text)) for text in spellings))
            rules.append(self._add(f"{item} {literal(', ')} {rules[-1]}" if rules else f"{item} {after}".rstrip()))
        return rules

    def _leaf(self, node: Node) -> str:
        options = list(self._offers.options(node))
        if options:
            return self._terminal(" | ".join(literal(option) for option in options))
        page = self._terminal("%regex " + json.dumps({"substring_chunks": self._offers.chunks}, ensure_ascii=False))
        limit = int(node.get("maxLength", 300))
        # neither empty nor with space at an end; the bound also ends a value that would copy the page on and on
        span = self._terminal(f"/[^ ](.{{0,{limit - 2}}}[^ ])?/ & {page}")
        return f'"\\"" {span} "\\""'

    def _terminal(self, body: str) -> str:
        for name, known in self._terminals.items():
            if known == body:
                return name
        name = f"T{len(self._terminals)}"
        self._terminals[name] = body
        return name

    def _holds(self, node: Node, seen: set[str]) -> bool:
        """Whether anything under `node` can be held to this page."""
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/$defs/")
            if name in seen:
                return False
            return self._holds(self._defs[name], seen | {name})
        decided = self._offers.has(node) or self._offers.lacks(node)
        return decided or any(self._holds(child, seen) for child in children(node))


def children(node: Node) -> Iterator[Node]:
    """The subschemas directly under a prepared node."""
    yield from node.get("anyOf", ())
    yield from node.get("properties", {}).values()
    if isinstance(node.get("items"), Mapping) and "prefixItems" not in node:
        yield node["items"]


def quoted(text: str) -> str:
    """`text` as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def literal(text: str) -> str:
    """`text` as a Lark string.

    >>> literal('"a": ')
    '"\\\\"a\\\\": "'
    """
    return json.dumps(text, ensure_ascii=False)
