"""Tables -> one line a row, each cell with the header that names it.

A row reads `cell | cell | cell`. One rule makes label/value rows read as such: a cell that names its row (`th` before
a `td`) is followed by ": " instead, and a cell that ends in a colon by a space. Several lines in one cell are joined
by "; ", a table nested in a cell reads `cell, cell; cell, cell`.

Spans are expanded: a cell over several rows stands in each of them, so that every row reads on its own, and a header
over several columns names each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from bs4.element import Tag

from lookstruct.extractors.htmltree import contains
from lookstruct.extractors.lines import Line, Piece, joined
from lookstruct.extractors.tags import HEADINGS, SECTIONING
from lookstruct.schemas.document import BlockKind

_MOST_COLUMNS, _MOST_ROWS = 1000, 65534  # that one cell may span, as in the HTML standard
_REPEAT_ALLOWANCE = 10_000  # code points that spans may add to a table beyond its own length

_LAYOUT_ROLES = frozenset({"presentation", "none"})
_LAYOUT_CONTENT = SECTIONING | HEADINGS.keys()
_PARTS = frozenset({"caption", "thead", "tbody", "tfoot", "tr", "td", "th"})


@dataclass(slots=True)
class CellBox:
    """One `td` or `th` as the page has it."""

    tag: Tag
    is_header: bool
    n_columns: int
    n_rows: int
    line: Line | None

    @property
    def text(self) -> str:
        """All its lines in one; "" for an empty cell."""
        return self.line.text if self.line else ""


@dataclass(slots=True)
class RowBox:
    """One `tr` as the page has it."""

    tag: Tag
    in_head: bool
    boilerplate: bool
    cells: list[CellBox] = field(default_factory=list)


@dataclass(slots=True)
class TableBox:
    """A data table while it is read: the rows so far, and whether a head or a cell of it is open."""

    number: int
    rows: list[RowBox] = field(default_factory=list)
    in_head: bool = False
    in_cell: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """A cell at a column of the grid; `repeated` when it began in a row above."""

    column: int
    cell: CellBox
    repeated: bool = False


def cell_box(tag: Tag, lines: list[Line]) -> CellBox:
    """The box of a `td` or `th` with these lines in it."""
    is_header = tag.name == "th" or _role(tag) in ("columnheader", "rowheader")
    n_columns, n_rows = _span(tag, "colspan", _MOST_COLUMNS), _span(tag, "rowspan", _MOST_ROWS)
    return CellBox(tag, is_header, n_columns, n_rows, joined(lines) if lines else None)


def _span(tag: Tag, name: str, most: int) -> int:
    digits = str(tag.attrs.get(name, "1")).strip()
    value = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 7 else 1
    if value == 0:
        return most if name == "rowspan" else 1
    return min(value, most)


def _role(tag: Tag) -> str:
    return str(tag.attrs.get("role", ""))


def is_data_table(table: Tag) -> bool:
    """Whether rows and columns mean something; in a layout table each cell is a place on the page.

    A caption, a head or a header cell says data, `role=presentation` says layout. Otherwise one column, or a cell that
    holds headings, forms or further tables, is taken for layout.
    """
    if _role(table) in _LAYOUT_ROLES:
        return False
    parts = list(table_parts(table))
    if _role(table) in ("table", "grid") or any(_names_others(part) for part in parts):
        return True
    cells = [part for part in parts if part.name == "td"]
    one_column = len(cells) == len({id(cell.parent) for cell in cells})
    return not one_column and not any(contains(cell, _LAYOUT_CONTENT) for cell in cells)


def table_parts(table: Tag) -> Iterator[Tag]:
    """Caption, sections, rows and cells of the table itself, without those of tables nested in its cells."""
    stack = [table]
    while stack:
        node = stack.pop()
        if node is not table:
            yield node
        if node.name not in ("td", "th", "caption"):
            children = [child for child in node.contents if isinstance(child, Tag) and child.name in _PARTS]
            stack += reversed(children)


def _names_others(tag: Tag) -> bool:
    return tag.name in ("th", "caption", "thead") or "scope" in tag.attrs


def row_lines(rows: Sequence[RowBox], table: int) -> list[Line]:
    """The lines of a table's rows; rows without any text are left out."""
    grid = list(place(rows))
    n_head = head_rows(rows, grid)
    headers: dict[int, str] = {}
    lines: list[Line] = []
    for index, (row, placed) in enumerate(zip(rows, grid, strict=True)):
        is_head = index < n_head or _is_new_head(placed)
        if is_head:
            headers = _merged(headers if 0 < index < n_head else {}, placed)
        line = _row_line(row, placed, {} if is_head else headers, is_head=is_head)
        if line.text:
            line.table = table
            lines.append(line)
    return lines


def place(rows: Sequence[RowBox]) -> Iterator[list[Placed]]:
    """Each row's cells at their columns, those that reach down from rows above among them."""
    grid = _Grid(_REPEAT_ALLOWANCE + sum(len(cell.text) + 1 for row in rows for cell in row.cells))
    for row in rows:
        yield grid.place(row.cells)


class _Grid:
    """Knows which cells of the rows above hang into the next row."""

    def __init__(self, allowance: int) -> None:
        self._allowance = allowance
        self._hanging: dict[int, tuple[CellBox, int]] = {}  # first column -> cell, and how many rows it still covers

    def place(self, cells: Sequence[CellBox]) -> list[Placed]:
        hanging, self._hanging = self._hanging, {}
        placed: list[Placed] = []
        column = 0
        for cell in cells:
            while column in hanging:
                column = self._repeat(column, *hanging.pop(column), placed)
            placed.append(Placed(column, cell))
            self._hang(column, cell, cell.n_rows - 1)
            column += cell.n_columns
        for column in sorted(hanging):
            self._repeat(column, *hanging[column], placed)
        return placed

    def _repeat(self, column: int, cell: CellBox, n_left: int, placed: list[Placed]) -> int:
        placed.append(Placed(column, cell, repeated=True))
        self._allowance -= len(cell.text) + 1
        self._hang(column, cell, n_left - 1)
        return column + cell.n_columns

    def _hang(self, column: int, cell: CellBox, n_left: int) -> None:
        if n_left > 0 and self._allowance > 0:
            self._hanging[column] = (cell, n_left)


def head_rows(rows: Sequence[RowBox], grid: Sequence[Sequence[Placed]]) -> int:
    """How many rows at the top hold column headers: those in `thead`, else those of `th` only, else a guess."""
    n_thead = sum(1 for _ in takewhile(lambda row: row.in_head, rows))
    if n_thead:
        return n_thead
    n_th = sum(1 for _ in takewhile(_is_new_head, grid))
    if n_th:
        return n_th if n_th < len(rows) else 1
    return int(_first_row_names_columns(grid))


def _is_new_head(placed: Sequence[Placed]) -> bool:
    return len(placed) > 1 and all(item.cell.is_header for item in placed)


def _first_row_names_columns(grid: Sequence[Sequence[Placed]]) -> bool:
    """Whether a table without `th` begins with a row of names: all bold, or words above columns of numbers."""
    if len(grid) < 3 or len(grid[0]) < 2 or any(item.cell.is_header for row in grid for item in row):
        return False
    first = [item.cell for item in grid[0]]
    if not all(cell.text and not _has_digit(cell.text) for cell in first):
        return False
    if all(_is_bold(cell.tag) for cell in first) and not all(row and _is_bold(row[0].cell.tag) for row in grid[1:]):
        return True
    return any(_holds_numbers(grid[1:], item.column) for item in grid[0])


def _holds_numbers(rows: Sequence[Sequence[Placed]], column: int) -> bool:
    texts = [item.cell.text for row in rows for item in row if item.column == column]
    return len(texts) == len(rows) and all(_has_digit(text) for text in texts)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _is_bold(cell: Tag) -> bool:
    children = [child for child in cell.contents if isinstance(child, Tag) or str(child).strip()]
    return bool(children) and all(isinstance(child, Tag) and child.name in ("b", "strong") for child in children)


def _merged(above: dict[int, str], placed: Sequence[Placed]) -> dict[int, str]:
    headers = dict(above)
    for item in placed:
        text = item.cell.text
        if item.repeated or not text:
            continue
        for column in range(item.column, item.column + item.cell.n_columns):
            headers[column] = f"{headers[column]} {text}" if column in headers else text
    return headers


def _row_line(row: RowBox, placed: Sequence[Placed], headers: dict[int, str], *, is_head: bool) -> Line:
    line = Line("", row.tag, BlockKind.TABLE_ROW, boilerplate=row.boilerplate)
    row_header = _row_header(placed)
    text = ""
    for index, item in enumerate(placed):
        if index:
            text += _separator(placed[index - 1].cell, row_header)
        start = len(text)
        if item.cell.line is not None:
            text += item.cell.line.text
            line.links += [link.shifted(start) for link in item.cell.line.links]
        header = headers.get(item.column) or (None if is_head or item.cell is row_header else _text_of(row_header))
        line.cells.append(Piece(start, len(text), header))
    line.text = text
    return _trimmed(line)


def _row_header(placed: Sequence[Placed]) -> CellBox | None:
    leading = placed[0].cell if placed else None
    if leading is None or not leading.is_header or not leading.text:
        return None
    return leading if any(not item.cell.is_header for item in placed) else None


def _text_of(cell: CellBox | None) -> str | None:
    return cell.text.rstrip(" :") if cell is not None else None


def _separator(before: CellBox, row_header: CellBox | None) -> str:
    if not before.text:
        return "| "
    if before.text.endswith(":"):
        return " "
    return ": " if before is row_header else " | "


def _trimmed(line: Line) -> Line:
    """Without the separators that follow the last cell with text; the empty cells behind it stand at the end."""
    end = max((cell.end for cell in line.cells if cell.end > cell.start), default=0)
    line.text = line.text[:end]
    line.cells = [Piece(min(cell.start, end), min(cell.end, end), cell.value) for cell in line.cells]
    return line
