"""PDF, mail, saved pages, Markdown and plain text become the same Document that a web page becomes."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_maker import make_pdf

from lookstruct.extractors import Fetcher, FetchOptions
from lookstruct.extractors.clean import clean
from lookstruct.extractors.inputs import KINDS, convert, kind_of
from lookstruct.extractors.inputs.layout import Word, page_html, rows_of
from lookstruct.schemas.document import BlockKind, Document, Page
from lookstruct.schemas.errors import ContentTypeError, EmptyPage

INVOICE = [
    (50, 60, 20, "Invoice 2025-17"),
    (50, 100, 10, "Harrow & Finch Ltd"),
    (400, 100, 10, "Date: 14 March 2025"),
    (50, 150, 10, "Description"),
    (300, 150, 10, "Qty"),
    (400, 150, 10, "Total"),
    (50, 165, 10, "Brand workshop"),
    (310, 165, 10, "1"),
    (405, 165, 10, "950.00"),
    (50, 180, 10, "Packaging design"),
    (310, 180, 10, "3"),
    (398, 180, 10, "2,040.00"),
    (300, 195, 10, "Sum"),
    (398, 195, 10, "2,990.00"),
    (50, 240, 10, "Payable within 30 days."),
]


def read(data: bytes, name: str) -> Document:
    kind = kind_of(name, data)
    assert kind is not None
    return clean(Page("", "file:///x", convert(kind, data, name).html))


def lines(document: Document) -> list[str]:
    return document.text.split("\n")


# -- PDF -------------------------------------------------------------------------------------------------------------


def test_a_pdf_reads_line_by_line_its_table_by_rows() -> None:
    document = read(make_pdf([INVOICE]), "invoice.pdf")
    assert lines(document) == [
        "Invoice 2025-17",
        "Harrow & Finch Ltd | Date: 14 March 2025",
        "Description | Qty | Total",
        "Brand workshop | 1 | 950.00",
        "Packaging design | 3 | 2,040.00",
        "| Sum | 2,990.00",
        "Payable within 30 days.",
    ]
    assert document.blocks[0].kind is BlockKind.HEADING
    rows = [block for block in document.blocks if block.table == 1]
    assert [cell.header for cell in rows[1].cells] == ["Description", "Qty", "Total"]


def test_the_path_of_a_pdf_block_says_on_which_page_it_stands() -> None:
    document = read(make_pdf([INVOICE, [(50, 50, 10, "Second page")]]), "x.pdf")
    assert lines(document)[-1] == "Second page"
    assert "section:nth-of-type(2)" in document.blocks[-1].dom_path


def test_two_columns_of_running_text_are_read_one_after_the_other() -> None:
    left = [f"the left column goes on with line {n}" for n in range(8)]
    right = [f"the right column has its own line {n}" for n in range(8)]
    page = [(50.0 + 280 * side, 100.0 + 14 * n, 10.0, text) for side, texts in enumerate((left, right))
            for n, text in enumerate(texts)]  # fmt: skip
    assert " ".join(lines(read(make_pdf([page]), "x.pdf"))) == " ".join(left + right)


def test_wrapped_lines_are_one_paragraph() -> None:
    full = "This line is as long as the whole paragraph is wide, and so it goes on"
    page = [(50.0, 100.0, 10.0, full), (50.0, 112.0, 10.0, "in the next one."), (50.0, 150.0, 10.0, "New.")]
    assert lines(read(make_pdf([page]), "x.pdf")) == [f"{full} in the next one.", "New."]


def test_letters_beyond_ascii_are_read() -> None:
    assert read(make_pdf([[(50, 50, 12, "Köln, 12,50 €")]]), "x.pdf").text == "Köln, 12,50 €"


def test_a_pdf_without_text_says_that_it_wants_ocr() -> None:
    with pytest.raises(EmptyPage, match=r"scan\.pdf is a PDF without text, probably a scan: run it through OCR"):
        read(make_pdf([[]]), "scan.pdf")


def test_a_damaged_pdf_says_so() -> None:
    with pytest.raises(ContentTypeError, match=r"x\.pdf is a PDF that is damaged"):
        read(b"%PDF-1.7\n%%EOF", "x.pdf")


# -- words with places -----------------------------------------------------------------------------------------------

WORDS = st.lists(
    st.builds(
        lambda text, x, y, width: Word(text, x, x + width, y, y + 10),
        st.text("abc12", min_size=1, max_size=5),
        st.integers(0, 500),
        st.integers(0, 40).map(lambda n: n * 5),
        st.integers(1, 90),
    ),
    max_size=30,
)


@given(WORDS)
def test_no_word_is_lost_and_none_is_added(words: list[Word]) -> None:
    text = clean(Page("", "", page_html(words))).text
    assert sorted("".join(text.replace("|", "").split())) == sorted("".join(word.text for word in words))


@given(WORDS)
def test_the_cells_of_a_line_stand_from_left_to_right(words: list[Word]) -> None:
    for row in rows_of(words):
        assert [cell.x0 for cell in row] == sorted(cell.x0 for cell in row)


# -- plain text and Markdown -----------------------------------------------------------------------------------------


def test_plain_text_keeps_its_lines_and_its_columns() -> None:
    table = "Item        Qty   Price\nTea           2    3.50\nGreen tea    10   12.00\n"
    text = f"ACME Ltd\nTown 7\n\n{table}\nTotal:  15.50\n"
    document = read(text.encode(), "receipt.txt")
    assert lines(document) == [
        "ACME Ltd",
        "Town 7",
        "Item | Qty | Price",
        "Tea | 2 | 3.50",
        "Green tea | 10 | 12.00",
        "Total: 15.50",
    ]
    assert [cell.header for cell in document.blocks[4].cells] == ["Item", "Qty", "Price"]


def test_markup_in_plain_text_stays_text() -> None:
    assert read(b"<b>1</b> & <!-- 2 -->", "x.txt").text == "<b>1</b> & <!-- 2 -->"


def test_markdown_is_read_with_its_headings_lists_tables_and_links() -> None:
    document = read(b"# Tea\n\n- green\n- [black](https://a.example/b)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "x.md")
    assert lines(document) == ["Tea", "green", "black", "a | b", "1 | 2"]
    assert document.links[0].href == "https://a.example/b"


# -- mail ------------------------------------------------------------------------------------------------------------


def message(**parts: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Ann Smith <ann@a.example>", "bob@b.example"
    mail["Date"], mail["Subject"] = "Fri, 14 Mar 2025 10:00:00 +0000", "Your invoice № 7"
    mail.set_content(parts["text"])
    if "html" in parts:
        mail.add_alternative(parts["html"], subtype="html")
    return mail


def test_a_mail_reads_as_subject_heads_and_body() -> None:
    document = read(message(text="Dear Bob,\n\nyou owe us 12 EUR.\n").as_bytes(), "x.eml")
    assert lines(document) == [
        "Your invoice № 7",
        "From: Ann Smith <ann@a.example>",
        "To: bob@b.example",
        "Date: Fri, 14 Mar 2025 10:00:00 +0000",
        "Dear Bob,",
        "you owe us 12 EUR.",
    ]


def test_of_a_mail_in_two_forms_the_html_is_read_without_what_it_hides() -> None:
    html = "<html><body><p>you owe <b>12 EUR</b></p><p style='display:none'>99 EUR</p></body></html>"
    document = read(message(text="plain", html=html).as_bytes(), "x.eml")
    assert lines(document)[-1] == "you owe 12 EUR"
    assert document.n_hidden_chars == 6


def test_a_pdf_attached_to_a_mail_is_read_behind_it() -> None:
    mail = message(text="see attachment")
    mail.add_attachment(make_pdf([INVOICE]), maintype="application", subtype="pdf", filename="invoice.pdf")
    mail.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="logo.png")
    found = lines(read(mail.as_bytes(), "x.eml"))
    assert found[4:8] == ["see attachment", "invoice.pdf", "logo.png", "Invoice 2025-17"]


def test_a_mail_is_known_by_how_it_begins() -> None:
    kind = kind_of("download", message(text="x").as_bytes())
    assert kind is not None
    assert kind.title == "e-mail"
    assert kind_of("page.html", b"<p>From: a\nDate: b\nSubject: c") is None


# -- which kind ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content_type", "title"),
    [
        ("https://a.example/x?y=1.pdf", "application/pdf", "PDF"),
        ("https://a.example/x.md", "text/plain; charset=utf-8", "Markdown"),
        ("https://a.example/x", "text/plain", "plain text"),
        ("https://a.example/x.pdf", "text/html", None),
        ("https://a.example/x.pdf", "application/octet-stream", "PDF"),
        ("https://a.example/x", None, None),
        (r"C:\files\x.EML", None, "e-mail"),
    ],
)
def test_the_servers_word_counts_before_the_name(name: str, content_type: str | None, title: str | None) -> None:
    kind = kind_of(name, b"", content_type)
    assert (kind.title if kind else None) == title


def test_no_two_kinds_claim_the_same_ending_or_type() -> None:
    for claimed in ([s for k in KINDS for s in k.suffixes], [t for k in KINDS for t in k.types]):
        assert len(claimed) == len(set(claimed))


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.pdf", make_pdf([[(50, 50, 12, "Tea 3")]]), "Tea 3"),
        ("a.txt", b"Tea 3", "Tea 3"),
        ("a.md", b"*Tea* 3", "Tea 3"),
    ],
)
async def test_files_of_these_kinds_need_no_browser(tmp_path: Path, name: str, data: bytes, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    async with Fetcher(FetchOptions()) as fetcher:
        page = await fetcher.fetch(str(path))
    assert (clean(page).text, page.final_url) == (text, path.as_uri())
