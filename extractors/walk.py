"""A parsed page -> its visible lines in reading order.

One pass without recursion, so that neither a deep page nor a large one does harm: elements are entered and left in
document order, and a stack holds what to do on leaving. Each kind of element has one `_enter_...` method, which returns
the children to read and what to do after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import urljoin

from bs4.element import NavigableString, PageElement, PreformattedString, Tag

from lookstruct.extractors.boilerplate import Frame
from lookstruct.extractors.composer import Composer, Context
from lookstruct.extractors.definitions import DESCRIPTION, TERM, paired
from lookstruct.extractors.forms import control_value, is_mark
from lookstruct.extractors.htmltree import elements
from lookstruct.extractors.images import picture_addresses
from lookstruct.extractors.lines import Line
from lookstruct.extractors.tables import RowBox, TableBox, cell_box, is_data_table, row_lines
from lookstruct.extractors.tags import BLOCKS, DROPPED, HEADINGS, LISTS, MARK_FLOW, PREFORMATTED
from lookstruct.extractors.visibility import Visibility, visible_children
from lookstruct.extractors.whitespace import collapse
from lookstruct.schemas.document import BlockKind

Leave = Callable[[], object]
Entered = tuple[Iterable[PageElement], Leave]


def _do_nothing() -> None:
    pass


_NOTHING: Entered = ((), _do_nothing)
_LEAST_ECHO = 3
"""Code points of an item's text from which on it can be what its icon shows."""
_MOST_OF_ITEM = 400
"""Code points of an item's text that are looked at."""
_REFUSED_LINKS = ("javascript:", "data:", "vbscript:", "blob:", "about:")


class Nesting(Enum):
    """How a table is read that is not a data table of its own."""

    LAYOUT = "layout"  # each cell is a place on the page
    NESTED = "nested"  # inside a cell of a data table: part of that cell's text


@dataclass(frozen=True, slots=True)
class View:
    """How to look at a page: where links start from, what cannot be seen, what is frame, and whether to look anyway."""

    base_url: str
    visibility: Visibility
    frame: Frame
    include_hidden: bool = False


class Walker:
    """Reads the tree below `root`; call `lines` once."""

    def __init__(self, root: Tag, view: View) -> None:
        self._root = root
        self._view = view
        self._composer = Composer(root)
        self._builder = self._composer.builder
        self._tables: list[TableBox | Nesting] = []
        self._n_tables = 0
        self._n_hidden = 0

    @property
    def n_hidden_chars(self) -> int:
        """Code points of text left out because nobody can see them."""
        return self._n_hidden + self._builder.n_stripped

    def lines(self) -> list[Line]:
        """All visible lines."""
        stack: list[tuple[Iterator[PageElement], Leave]] = [(iter([self._root]), _do_nothing)]
        while stack:
            children, leave = stack[-1]
            for node in children:
                if isinstance(node, Tag):
                    inner, on_leave = self._enter(node)
                    stack.append((iter(inner), on_leave))
                    break
                if isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
                    self._composer.text(node)
            else:
                stack.pop()
                leave()
        return self._composer.finish()

    def _enter(self, tag: Tag) -> Entered:
        name, attrs = tag.name, tag.attrs
        if name in DROPPED:
            return _NOTHING
        if not self._view.include_hidden and self._view.visibility.hides(tag):
            self._n_hidden += n_readable_chars(tag)
            return _NOTHING
        enter = _BY_TAG.get(name)
        if enter is None and "role" in attrs:
            enter = _BY_ROLE.get(str(attrs["role"]))
        if enter is not None:
            return enter(self, tag)
        flow = attrs.get(MARK_FLOW)
        if (name in BLOCKS and flow != "inline") or flow == "block":
            return self._enter_block(tag)
        return self._enter_inline(tag)

    # -- text --------------------------------------------------------------------------------------------------------

    def _enter_inline(self, tag: Tag) -> Entered:
        builder, name = self._builder, tag.name
        builder.opened(name)
        return tag.contents, lambda: builder.closed(name)

    def _enter_block(self, tag: Tag) -> Entered:
        return self._enter_as(self._context_of(tag), tag.contents)

    def _enter_as(self, context: Context, children: Iterable[PageElement]) -> Entered:
        self._composer.begin(context)
        return children, self._composer.end

    def _context_of(self, tag: Tag) -> Context:
        outer, name = self._composer.context, tag.name
        kind, level, depth, pre = outer.kind, outer.level, outer.list_depth, outer.pre
        if name in HEADINGS or tag.attrs.get("role") == "heading":
            kind, level = BlockKind.HEADING, HEADINGS.get(name) or _aria_level(tag)
        elif name in LISTS:
            depth += 1
        elif name == "li":
            kind, level = BlockKind.LIST_ITEM, max(depth, 1)
        elif name in PREFORMATTED:
            kind, level, pre = BlockKind.PRE, 0, True
        return Context(tag, kind, level, outer.boilerplate or self._view.frame.begins(tag), pre, depth)

    def _enter_link(self, tag: Tag) -> Entered:
        href = absolute(self._view.base_url, str(tag.attrs.get("href", "")))
        is_block = tag.attrs.get(MARK_FLOW) == "block"
        inner, leave = self._enter_block(tag) if is_block else self._enter_inline(tag)
        if href is None:
            return inner, leave
        self._builder.open_link(href)

        def close() -> None:
            self._builder.close_link()
            leave()

        return inner, close

    def _enter_break(self, _: Tag) -> Entered:
        if self._composer.context.pre:
            self._composer.text("\n")
        else:
            self._composer.end_line()
        return _NOTHING

    def _enter_rule(self, _: Tag) -> Entered:
        self._composer.end_line()
        return _NOTHING

    def _enter_image(self, tag: Tag) -> Entered:
        alt = str(tag.attrs.get("alt", ""))
        found = (absolute(self._view.base_url, address) for address in picture_addresses(tag))
        self._builder.image("" if is_echoed(alt, tag) else alt, [address for address in found if address is not None])
        return _NOTHING

    def _enter_control(self, tag: Tag) -> Entered:
        value = control_value(tag)
        if tag.name == "textarea" and "\n" in value.strip():
            context = replace(self._context_of(tag), kind=BlockKind.PRE, pre=True, level=0)
            return self._enter_as(context, tag.contents)
        self._builder.value(value, labelled=not is_mark(tag))
        return _NOTHING

    def _enter_apart(self, tag: Tag) -> Entered:
        self._builder.space()
        return tag.contents, self._builder.space

    def _enter_drawing(self, tag: Tag) -> Entered:
        return [node for node in elements(tag) if node.name == "text"], self._builder.space

    def _enter_details(self, tag: Tag) -> Entered:
        context = self._context_of(tag)
        if self._view.include_hidden or self._view.visibility.opens(tag):
            return self._enter_as(context, tag.contents)
        shown = visible_children(tag)
        self._n_hidden += n_readable_chars(tag) - sum(n_readable_chars(child) for child in shown)
        return self._enter_as(context, shown)

    # -- definition lists --------------------------------------------------------------------------------------------

    def _enter_definitions(self, tag: Tag) -> Entered:
        inner, leave = self._enter_block(tag)
        self._composer.open_sink()

        def close() -> None:
            lines = self._composer.close_sink()
            leave()
            self._composer.add(paired(lines))

        return inner, close

    def _enter_definition(self, tag: Tag) -> Entered:
        inner, leave = self._enter_as(replace(self._context_of(tag), kind=BlockKind.DEFINITION, level=0), tag.contents)
        self._composer.open_sink()

        def close() -> None:
            lines = self._composer.close_sink()
            leave()
            for line in lines:
                line.role = TERM if tag.name == "dt" else DESCRIPTION
            self._composer.add(lines)

        return inner, close

    # -- tables ------------------------------------------------------------------------------------------------------

    def _enter_table(self, tag: Tag) -> Entered:
        inner, leave = self._enter_block(tag)
        table = self._kind_of_table(tag)
        self._tables.append(table)

        def close() -> None:
            leave()
            self._tables.pop()
            if isinstance(table, TableBox):
                self._composer.add(row_lines(table.rows, table.number))

        return inner, close

    def _kind_of_table(self, tag: Tag) -> TableBox | Nesting:
        if any(table is Nesting.NESTED or (isinstance(table, TableBox) and table.in_cell) for table in self._tables):
            return Nesting.NESTED
        if not is_data_table(tag):
            return Nesting.LAYOUT
        self._n_tables += 1
        return TableBox(self._n_tables - 1)

    @property
    def _table(self) -> TableBox | Nesting:
        return self._tables[-1] if self._tables else Nesting.LAYOUT

    def _enter_head(self, tag: Tag) -> Entered:
        inner, leave = self._enter_block(tag)
        table = self._table
        if not isinstance(table, TableBox):
            return inner, leave
        table.in_head = True

        def close() -> None:
            table.in_head = False
            leave()

        return inner, close

    def _enter_row(self, tag: Tag) -> Entered:
        inner, leave = self._enter_block(tag)
        if isinstance(self._table, TableBox) and not self._table.in_cell:
            self._table.rows.append(RowBox(tag, self._table.in_head, self._composer.context.boilerplate))
        return inner, leave

    def _enter_cell(self, tag: Tag) -> Entered:
        table = self._table
        if table is Nesting.NESTED:
            self._builder.separate(", ")
            return tag.contents, self._builder.space
        if not isinstance(table, TableBox) or table.in_cell or not table.rows:
            return self._enter_block(tag)
        return self._enter_data_cell(tag, table)

    def _enter_data_cell(self, tag: Tag, table: TableBox) -> Entered:
        inner, leave = self._enter_block(tag)
        self._composer.open_sink()
        table.in_cell = True

        def close() -> None:
            lines = self._composer.close_sink()
            leave()
            table.in_cell = False
            table.rows[-1].cells.append(cell_box(tag, lines))

        return inner, close


Enter = Callable[[Walker, Tag], Entered]

_BY_TAG: Mapping[str, Enter] = {
    "a": Walker._enter_link,
    "br": Walker._enter_break,
    "hr": Walker._enter_rule,
    "img": Walker._enter_image,
    "input": Walker._enter_control,
    "select": Walker._enter_control,
    "textarea": Walker._enter_control,
    "meter": Walker._enter_control,
    "progress": Walker._enter_control,
    "button": Walker._enter_apart,
    "text": Walker._enter_apart,
    "svg": Walker._enter_drawing,
    "details": Walker._enter_details,
    "dl": Walker._enter_definitions,
    "dt": Walker._enter_definition,
    "dd": Walker._enter_definition,
    "table": Walker._enter_table,
    "thead": Walker._enter_head,
    "tr": Walker._enter_row,
    "td": Walker._enter_cell,
    "th": Walker._enter_cell,
}

_BY_ROLE: Mapping[str, Enter] = {
    "table": Walker._enter_table,
    "grid": Walker._enter_table,
    "row": Walker._enter_row,
    "cell": Walker._enter_cell,
    "gridcell": Walker._enter_cell,
    "columnheader": Walker._enter_cell,
    "rowheader": Walker._enter_cell,
}


def n_readable_chars(tag: Tag) -> int:
    """How many code points of text `tag` holds, white space collapsed, scripts not counted."""
    return len(collapse(tag.get_text()))


def absolute(base_url: str, href: str) -> str | None:
    """The absolute form of a link, None for what leads nowhere (scripts, inline data, a broken address).

    >>> absolute("https://a.example/b/", "../c?d#e"), absolute("https://a.example/", "javascript:go()")
    ('https://a.example/c?d#e', None)
    """
    cleaned = "".join(char for char in href if char not in "\t\n\r").strip()
    if not cleaned or cleaned.lower().startswith(_REFUSED_LINKS):
        return None
    try:
        return urljoin(base_url, cleaned)
    except ValueError:
        return None


def is_echoed(alt: str, image: Tag) -> bool:
    """Whether an image is but the icon of the list item it is in: the item's own text says what it shows.

    >>> from bs4 import BeautifulSoup
    >>> item = BeautifulSoup('<li><img alt="Thyme"> 1 sprig of thyme</li>', "lxml").li
    >>> is_echoed("Thyme", item.img), is_echoed("Leaf", item.img)
    (True, False)
    """
    item = image.find_parent("li")
    said = _beginning(item, _MOST_OF_ITEM).casefold() if item is not None else ""
    shown = collapse(alt).casefold()
    return bool(shown) and (shown in said or (len(said) >= _LEAST_ECHO and said in shown))


def _beginning(tag: Tag, most: int) -> str:
    """The first texts of an element, until they are longer than `most`: an item may hold half the page."""
    texts: list[str] = []
    for text in tag.stripped_strings:
        texts.append(text)
        most -= len(text)
        if most < 0:
            break
    return collapse(" ".join(texts))


def _aria_level(tag: Tag) -> int:
    level = str(tag.attrs.get("aria-level", "2"))
    return int(level) if level in ("1", "2", "3", "4", "5", "6") else 2
