"""HTML text -> BeautifulSoup tree, and the one DOM path function of this package.

A path names every element from the root by its tag, numbered among the siblings of that tag where there are several:
`html > body > p:nth-of-type(2)`. It is a CSS selector that selects exactly one element.
"""

from __future__ import annotations

import gc
import re
import warnings
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from bs4.element import Tag
from lxml import etree

MAX_PATH_DEPTH = 256
"""Below this depth elements get the path of their ancestor at this depth, so that paths stay linear in the page."""

_SEPARATOR = " > "
_CSS_SPECIAL = re.compile(r"([^\w-])|^(?=\d)")


def parse(html: str) -> BeautifulSoup:
    """Parse with lxml's HTML parser, however deep the tree; attributes stay plain strings (`class` too).

    >>> parse("<p class='a b'>x").p["class"]
    'a b'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(html, "lxml", multi_valued_attributes=None, huge_tree=True)


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection inside: a tree makes no garbage but many objects, and each pass would walk them all."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def elements(root: Tag) -> Iterator[Tag]:
    """The elements below `root` in document order (Beautiful Soup's own search costs ten times as much)."""
    stack = [iter(root.contents)]
    while stack:
        for child in stack[-1]:
            if isinstance(child, Tag):
                yield child
                if child.contents:
                    stack.append(iter(child.contents))
                    break
        else:
            stack.pop()


def contains(root: Tag, names: Container[str]) -> bool:
    """Whether an element with one of these names stands below `root`."""
    return any(tag.name in names for tag in elements(root))


class Paths:
    """DOM paths of one tree, in time linear in the tree: each parent's children are numbered once.

    >>> soup = parse("<p>a</p><p>b</p>")
    >>> Paths().of(soup.find_all("p")[1])
    'html > body > p:nth-of-type(2)'
    """

    def __init__(self) -> None:
        self._paths: dict[int, tuple[str, int]] = {}
        self._steps: dict[int, dict[int, str]] = {}
        self._by_step: dict[int, dict[str, Tag]] = {}

    def of(self, tag: Tag) -> str:
        """The path of `tag`, which must belong to a parsed tree."""
        chain: list[Tag] = []
        node: Tag | None = tag
        while node is not None and id(node) not in self._paths and not isinstance(node, BeautifulSoup):
            chain.append(node)
            node = node.parent
        path, depth = ("", 0) if node is None or isinstance(node, BeautifulSoup) else self._paths[id(node)]
        for element in reversed(chain):
            if depth < MAX_PATH_DEPTH:
                path = f"{path}{_SEPARATOR}{self._step(element)}" if path else self._step(element)
                depth += 1
            self._paths[id(element)] = (path, depth)
        return path

    def find(self, root: BeautifulSoup, path: str) -> Tag | None:
        """The element that `path` names, or None when there is none; the inverse of `of`."""
        node: Tag = root
        for step in path.split(_SEPARATOR):
            found = self._children(node).get(step)
            if found is None:
                return None
            node = found
        return node

    def _step(self, tag: Tag) -> str:
        assert tag.parent is not None
        steps = self._steps.get(id(tag.parent))
        if steps is None:
            steps = self._steps[id(tag.parent)] = {id(child): step for step, child in numbered(tag.parent)}
        return steps[id(tag)]

    def _children(self, parent: Tag) -> dict[str, Tag]:
        cached = self._by_step.get(id(parent))
        if cached is None:
            cached = self._by_step[id(parent)] = dict(numbered(parent))
        return cached


def numbered(parent: Tag) -> list[tuple[str, Tag]]:
    """The child elements of `parent`, each with its step of a path."""
    children = [child for child in parent.contents if isinstance(child, Tag)]
    totals = Counter(child.name for child in children)
    seen: Counter[str] = Counter()
    steps: list[tuple[str, Tag]] = []
    for child in children:
        seen[child.name] += 1
        steps.append((step(child.name, seen[child.name], totals[child.name]), child))
    return steps


def step(name: str, index: int, total: int) -> str:
    """One step of a path: the `index`-th (from 1) of `total` siblings called `name`.

    >>> step("p", 1, 1), step("p", 2, 3), step("o:p", 1, 1)
    ('p', 'p:nth-of-type(2)', 'o\\\\:p')
    """
    escaped = name if name.isalnum() else _CSS_SPECIAL.sub(r"\\\1", name)
    return escaped if total == 1 else f"{escaped}:nth-of-type({index})"


def marked_paths(html: str, mark: str) -> frozenset[str]:
    """Paths of the topmost elements that carry the attribute `mark`, as `Paths` gives them, without a soup.

    >>> marked_paths("<p>a</p><p x><b x>b</b></p>", "x")
    frozenset({'html > body > p:nth-of-type(2)'})
    """
    if mark not in html:
        return frozenset()
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8")
    root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    found: set[str] = set()
    stack = [(root, step(root.tag, 1, 1), 1)] if root is not None else []
    while stack:
        element, path, depth = stack.pop()
        if mark in element.attrib:
            found.add(path)
        else:
            children = [child for child in element if isinstance(child.tag, str)]
            totals, seen = Counter(child.tag for child in children), Counter[str]()
            for child in children:
                seen[child.tag] += 1
                name = step(child.tag, seen[child.tag], totals[child.tag])
                stack.append((child, f"{path}{_SEPARATOR}{name}" if depth < MAX_PATH_DEPTH else path, depth + 1))
    return frozenset(found)
