"""The pages we wrote ourselves, as data: `PAGES`, one `BenchPage` each, with its schema, gold record and half.

Nothing here reads a file on import. Prompts, field descriptions and thresholds are tuned on the half "tune" alone;
numbers that are published come from "test". Pages of one template are in the same half, so that what was learnt from
one cannot show in the score of the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "pages"

Half = Literal["tune", "test"]


@dataclass(frozen=True, slots=True)
class BenchPage:
    """One page, the schema it is for and where its gold record lies.

    `schema` is a spec for `load_schema`. `template` names the layout that several pages share, None where a page
    stands alone. `unscored` are JSON pointers of fields on which careful people differ ("*" stands for any index):
    leave them out of a score. `include_hidden` says that the gold needs text which is folded away at first,
    `needs_layout` that words run together unless a browser lays the page out.
    `matches` is False where the page holds nothing of what the schema asks for; every value of its gold is null and
    no valid record exists if the schema requires a value.
    """

    name: str
    schema: str
    half: Half
    language: str
    template: str | None = None
    unscored: tuple[str, ...] = ()
    include_hidden: bool = False
    needs_layout: bool = False
    matches: bool = True

    @property
    def path(self) -> Path:
        """The HTML file."""
        return FOLDER / f"{self.name}.html"

    @property
    def gold_path(self) -> Path:
        """The JSON file of the gold record."""
        return FOLDER / "gold" / f"{self.name}.json"

    @property
    def url(self) -> str:
        """The address the page is pretended to come from, for relative links."""
        return f"https://pages.example/{self.name}"

    def html(self) -> str:
        """The page's HTML."""
        return self.path.read_text(encoding="utf-8")

    def gold(self) -> Any:
        """What a careful person would write down, in the schema's plain JSON form."""
        return json.loads(self.gold_path.read_text(encoding="utf-8"))

    def is_scored(self, pointer: str) -> bool:
        """Whether the value at `pointer` counts.

        >>> page = BenchPage("x", "Receipt", "tune", "en", unscored=("/items/*/quantity",))
        >>> page.is_scored("/items/3/quantity"), page.is_scored("/items/3/total"), page.is_scored("/items/12/quantity")
        (False, True, False)
        """
        steps = pointer.split("/")
        return not any(_covers(pattern.split("/"), steps) for pattern in self.unscored)


def _covers(pattern: list[str], steps: list[str]) -> bool:
    return len(pattern) <= len(steps) and all(want in ("*", step) for want, step in zip(pattern, steps, strict=False))


def _own(name: str) -> str:
    return f"{ROOT / 'bench' / 'schemas.py'}:{name}"


_STATUS = ("/event_status",)
_SUMMARY = 'summary "what was decided, in two or three sentences"'

PAGES: tuple[BenchPage, ...] = (
    BenchPage("invoice", "Invoice", "tune", "en", template="ledgerleaf"),
    BenchPage("invoice_b", "Invoice", "tune", "en", template="ledgerleaf"),
    BenchPage("invoice_long", "Invoice", "test", "en"),
    BenchPage("invoice_de", "Invoice", "test", "de"),
    BenchPage("receipt", "Receipt", "tune", "en", needs_layout=True),
    BenchPage("receipt_de", "Receipt", "test", "de", unscored=("/items/*/quantity",)),
    BenchPage("product", "Product", "test", "en", template="fellside"),
    BenchPage("product_b", "Product", "test", "en", template="fellside"),
    BenchPage("product_megamenu", "Product", "test", "en"),
    BenchPage("product_variants", "Product", "tune", "en"),
    BenchPage("product_ja", "Product", "tune", "ja"),
    BenchPage("recipe", "Recipe", "tune", "en", template="crumb-kettle"),
    BenchPage("recipe_b", "Recipe", "tune", "en", template="crumb-kettle"),
    BenchPage("recipe_fr", "Recipe", "test", "fr"),
    BenchPage("job", "JobPosting", "test", "en", template="hiringdeck"),
    BenchPage("job_b", "JobPosting", "test", "en", template="hiringdeck"),
    BenchPage("job_nurse", "JobPosting", "tune", "en"),
    BenchPage("event", "Event", "tune", "en", unscored=(*_STATUS, "/end_date")),
    BenchPage("event_ar", "Event", "test", "ar", unscored=_STATUS),
    BenchPage("event_list", _own("EventList"), "tune", "en"),
    BenchPage("listing", "RealEstateListing", "tune", "en", template="pellow-strand"),
    BenchPage("listing_b", "RealEstateListing", "tune", "en", template="pellow-strand"),
    BenchPage("listing_es", "RealEstateListing", "test", "es"),
    BenchPage("article", "Article", "tune", "en"),
    BenchPage("article_long", "Article", "test", "en"),
    BenchPage("book", "Book", "test", "en"),
    BenchPage("book_it", "Book", "tune", "it"),
    BenchPage("contact", "Contact", "tune", "en"),
    BenchPage("contact_nl", "Contact", "test", "nl"),
    BenchPage("stations", _own("StationTable"), "test", "en"),
    BenchPage(
        "town_notes", 'summary "what was decided, in two or three sentences"', "test", "en", unscored=("/summary",)
    ),
    BenchPage("not_found", "Invoice", "tune", "en", matches=False),
    BenchPage("faq", _own("Faq"), "tune", "en", include_hidden=True),
)
"""All pages, by kind."""
