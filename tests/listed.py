"""Pages of lists and lines for the tests of what holds a list to its page."""

from collections.abc import Callable, Iterable

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.holding.page_lines import PageLines, Run
from lookstruct.schemas.document import Page


def p(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def ul(*items: str) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def items(choose: Callable[[str, Iterable[Run]], list[Run]], html: str, key: str) -> list[str]:
    """The items that `choose` takes for the field `key` of the lists, lines and tables of a page."""
    page = clean(Page("https://a.example/", "https://a.example/", html))
    lines = PageLines(page, page.blocks)
    return [item[0] for run in choose(key, (*lines.runs, *lines.tables)) for item in run.items]
