import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.evidence import find, ground
from lookstruct.pipeline.leaves import leaves
from lookstruct.schemas.document import Document, Page, Span
from lookstruct.schemas.record import EvidenceStatus

PAGE = clean(
    Page(
        "", "https://shop.example/", "<h1>Brass lamp</h1><p>Price: 45.50 EUR, 12 pieces<p>日本語のランプ é́<p>two\nwords"
    )
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Brass lamp", "Brass lamp"),
        (45.5, None),
        ("45.50", "45.50"),
        (12, "12"),
        ("日本語", "日本語"),
        ("two  words", "two words"),
    ],
)
def test_a_value_that_stands_on_the_page_is_exact_and_says_where(value: object, text: str | None) -> None:
    evidence = ground({"x": value}, PAGE)["/x"]
    if text is None:
        assert evidence.status is EvidenceStatus.NONE
        return
    assert (evidence.status, evidence.text) == (EvidenceStatus.EXACT, text)
    assert evidence.span is not None
    assert evidence.span.of(PAGE.text) == text
    block = PAGE.block_at(evidence.span.start)
    assert block is not None
    assert evidence.dom_path == block.dom_path


@pytest.mark.parametrize("value", ["Iron lamp", "lam", 4, 5.5, 45, None, ""])
def test_a_value_that_stands_nowhere_has_no_place(value: object) -> None:
    evidence = ground(value, PAGE)[""]
    assert (evidence.status, evidence.span, evidence.text, evidence.dom_path) == (EvidenceStatus.NONE, None, None, None)


def test_a_boolean_is_derived() -> None:
    assert ground(True, PAGE)[""].status is EvidenceStatus.DERIVED


def test_every_leaf_gets_evidence_under_its_json_pointer() -> None:
    data = {"a/b": ["x", {"c~d": 1}], "e": None, "f": []}
    assert list(ground(data, PAGE)) == ["/a~1b/0", "/a~1b/1/c~0d", "/e"] == [pointer for pointer, _ in leaves(data)]


def test_an_empty_document_has_nothing() -> None:
    assert ground({"x": "a"}, Document("", "", ()))["/x"].status is EvidenceStatus.NONE


@given(st.text(max_size=15), st.text(max_size=30))
def test_what_is_found_reads_like_the_value(text: str, page: str) -> None:
    span = find(text, page)
    if span is not None:
        assert span.of(page).split() == text.split()
        assert span != Span(0, 0)
