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
from lookstruct.pipeline.holding.field_names import is_named
from lookstruct.pipeline.holding.offers import PageOffers
from lookstruct.pipeline.holding.page_lines import Run, spellings
from lookstruct.pipeline.holding.servings import asks_servings
from lookstruct.pipeline.holding.shapes import meant
from lookstruct.pipeline.holding.stated import each_once

Node = Mapping[str, Any]
_NULL = {"type": "null"}
FEW_ADDRESSES = 3
"""A page with so many addresses is about those whose they are; one with more lists them."""
MOST_ITEMS = 1000
"""Of a longer page lists are not taken in whole."""


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
        """Whether the page says outright what the value is, so that it is not null: who wrote it, its few addresses."""
        is_address = any(branch.get("x-source") == "address" for branch in branches)
        is_author = any(branch.get("x-source") == "byline" for branch in branches)
        return (is_author and bool(self._offers.authors)) or (
            is_address and 0 < len(self._offers.addresses) <= FEW_ADDRESSES
        )

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
        lists = [key for key, child in node["properties"].items() if _is_of_items(child)]
        parts = [
            f"{literal(('{' if i == 0 else ', ') + quoted(key) + ': ')} {self._property(key, child, lists)}"
            for i, (key, child) in enumerate(node["properties"].items())
        ]
        return " ".join([*parts, literal("}")]) if parts else literal("{}")

    def _property(self, key: str, node: Node, lists: Sequence[str]) -> str:
        """The rule for a property: what the page itself calls by the name of `key`, a list, a time, how many it serves,
        if it does.

        `lists` are the keys of all lists of items in the same object.
        """
        if _is_of_items(node):
            return self._add(self._array(node, key, lists))
        told = self._told(key, node)
        if not told:
            return self.rule(node)
        self.held = True
        return self._add(self._terminal(" | ".join(map(literal, told))))

    def _told(self, key: str, node: Node) -> Sequence[str]:
        """The values that the page states to be `key`'s, as JSON text; none where more than the page is believed."""
        branches = [branch for branch in node.get("anyOf", (node,)) if branch != _NULL]
        source = branches[0].get("x-source") if len(branches) == 1 and "enum" not in branches[0] else None
        if source == "duration" and not self._offers.also.get(source):
            return self._offers.named_durations(key)
        if source == "span" and asks_servings(key) and not self._offers.also.get(source):
            return self._offers.servings()
        return ()

    def _array(self, node: Node, key: str = "", lists: Sequence[str] = ()) -> str:
        least, most = node.get("minItems", 0), node.get("maxItems")
        if most == 0 or (self._offers.lacks(node["items"]) and not least):
            self.held = True
            return literal("[]")
        if self._is_unsigned(node["items"]) and not least:
            self.held = True
            return literal("[]")
        runs, is_stated = self._runs(node, key, lists)
        filled = self._of_runs(runs, is_stated) if runs else self._of_items(node["items"], least, most)
        return filled if least or is_stated else f"{literal('[]')} | {filled}"

    def _is_unsigned(self, node: Node) -> bool:
        """Whether an item is to be a person who wrote the page, and it says of nobody that they did."""
        return node.get("x-source") == "byline" and not self._offers.authors and not self._offers.also.get("byline")

    def _of_items(self, node: Node, least: int, most: int | None) -> str:
        """At least one item, and at most `most`."""
        item = self.rule(node)
        bounds = f"{max(0, least - 1)},{'' if most is None else most - 1}"
        return f'"[" {item} "]"' if most == 1 else f'"[" {item} ({literal(", ")} {item}){{{bounds}}} "]"'

    def _runs(self, node: Node, key: str, lists: Sequence[str]) -> tuple[Sequence[Run], bool]:
        """What an array takes in page order: the names of the bylines, the page's lists and lines; () for other arrays,
        where its bounds are too narrow, and where more than the page is believed. And whether the page states that they
        are what `key` asks for.

        What it states to be for another of `lists` is left out.
        """
        source, longest = node["items"].get("x-source"), node.get("maxItems", MOST_ITEMS)
        if source not in ("byline", "item") or node.get("minItems", 0) > 1 or self._offers.also.get(source):
            return (), False
        if source == "byline":
            names = [name for name in self._offers.authors if len(name) <= node["items"].get("maxLength", 300)]
            run = Run(tuple(tuple(spellings(name)) for name in names))
            return ([run], True) if 0 < len(names) <= longest else ((), False)
        page = self._offers.page_lines
        most = node["items"].get("maxLength")
        shown, tables = (
            [run for run in some if most is None or run.n_chars <= most] for some in (page.runs, page.tables)
        )
        told = meant(key, (*shown, *tables))
        shown = each_once(shown)
        others = [other for other in lists if other != key]
        untaken = [run for run in shown if not any(is_named(other, run.names) for other in others)]
        runs = told or untaken or shown
        return (runs, bool(told)) if sum(len(run.items) for run in runs) <= longest else ((), False)

    def _of_runs(self, runs: Sequence[Run], is_stated: bool) -> str:
        """Runs in page order. A list goes on to its end, and after it come lists only. The first may be taken from one
        of its items on, unless the page states which it is."""
        self.held = True
        begun: list[str] = []
        lists = any_run = ""
        for run in reversed(runs):
            is_line = len(run.items) == 1
            after = any_run if is_line else lists
            rules = self._list(run, f"({literal(', ')} {after})?" if after else "")
            begun += rules[-1:] if is_stated else rules
            any_run = self._either(rules[-1], any_run)
            lists = lists if is_line else self._either(rules[-1], lists)
        return f'"[" {self._add(" | ".join(begun))} "]"'

    def _either(self, rule: str, other: str) -> str:
        return self._add(f"{rule} | {other}") if other else rule

    def _list(self, run: Run, after: str) -> list[str]:
        """A rule for each item of a list, the last first: from it to the list's end and what may come `after`."""
        rules: list[str] = []
        for texts in reversed(run.items):
            item = self._terminal(" | ".join(literal(quoted(text)) for text in texts))
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


def _is_of_items(node: Node) -> bool:
    return node.get("type") == "array" and node.get("items", {}).get("x-source") == "item"


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
