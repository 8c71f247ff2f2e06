import tiny

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.prompt import Prompter
from lookstruct.pipeline.question import Question, ask
from lookstruct.schemas.document import Page
from lookstruct.schemas.loader import load_schema

MARKUP = "<html lang=de><p>Am 28.11.2022: 1.234,56 € für 2 Stunden in 04229 Leipzig, 19 % Steuer, $1,450.00"


def asked(schema: object, html: str = MARKUP, **options: bool) -> Question:
    document = clean(Page("", "https://shop.example/", html))
    return ask(document, load_schema(schema), Prompter(tiny.tokenizer()), budget=4000, **options)


def test_normal_forms_are_shown_of_what_the_schema_asks_for() -> None:
    text = "Am 28.11.2022{date}: 1.234,56{number} € für 2 Stunden{duration} in 04229 Leipzig, 19 % Steuer, $1,450.00"
    none = {"date": "", "number": "", "duration": ""}
    for schema, shown in (
        ("name: str", {}),
        ("day: date", {"date": " (2022-11-28)"}),
        ("total: float", {"number": " (1234.56)"}),
        ({"type": "object", "properties": {"t": {"type": "string", "format": "duration"}}}, {"duration": " (PT2H)"}),
    ):
        assert asked(schema).prompt.view.text == text.format(**{**none, **shown})


def test_a_schema_with_dates_is_shown_no_times() -> None:
    html = "<p>Published Feb. 11, 2025, 6:42 p.m. as the boat left at 11:15 p.m."
    assert asked("day: date", html).prompt.view.text == (
        "Published Feb. 11, 2025 (2025-02-11), 6:42 p.m. as the boat left at 11:15 p.m."
    )
    assert "(2025-02-11T18:42:00)" in asked("when: datetime", html).prompt.view.text


def test_both_readings_of_an_ambiguous_date_are_shown() -> None:
    question = asked("day: date", "<p>Due 03/04/2025")
    assert "2025-04-03" in question.prompt.view.text
    assert "2025-03-04" in question.prompt.view.text


def test_the_grammar_holds_values_to_the_page_unless_they_are_free() -> None:
    html = "<p>Invoice number 17, total 12.50 EUR"
    assert "12.50" in asked("Invoice", html).grammar.source
    free = asked("Invoice", html, free=True).grammar
    assert free.kind == "json"
    assert "12.50" not in free.source


def test_hints_show_the_page_as_the_prompt_does() -> None:
    question = asked("day: date")
    assert question.hints.page == question.prompt.view.text
    assert [c.text for c in question.hints.candidates if c.kind == "date"] == ["2022-11-28"]
