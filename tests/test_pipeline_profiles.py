"""Models of a kind are asked as they are used to: the rendered prompt, word for word."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from test_pipeline_prompt import CHAT

from lookstruct.extractors.clean import clean
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.profiles import PROFILES, choose_profile
from lookstruct.pipeline.profiles.html_view import show_html
from lookstruct.pipeline.profiles.template import empty, template_text, typed
from lookstruct.pipeline.prompt import Prompter
from lookstruct.pipeline.settings import ModelSettings, Settings
from lookstruct.pipeline.view import Remark
from lookstruct.schemas.document import Document, Page
from lookstruct.schemas.errors import UsageError
from lookstruct.schemas.loader import load_schema

LLAMA = (
    "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
SCHEMA = load_schema("name: verbatim, price: float")
HTML = "<title>Shop</title><h1>Brass lamp</h1><p>Price: 45.50 EUR</p><ul><li>oak</ul>"


def page(html: str = HTML) -> Document:
    return clean(Page("https://shop.example/", "https://shop.example/", html))


def rendered(profile: str, template: str | None, html: str = HTML, schema: Any = SCHEMA) -> str:
    tokenizer = copy.deepcopy(tiny.tokenizer())
    tokenizer.chat_template = template
    prompt = Prompter(tokenizer, choose_profile(profile, "")).build(page(html), schema, 4000)
    return str(tokenizer.decode(prompt.ids, skip_special_tokens=False))


def plain_schema() -> str:
    def without(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: without(value) for key, value in node.items() if key != "x-source"}
        return [without(value) for value in node] if isinstance(node, list) else node

    return json.dumps(without(dict(SCHEMA.json_schema)))


@pytest.mark.parametrize(
    ("model", "profile"),
    [
        ("inference-net/Schematron-3B", "schematron"),
        ("/models/schematron-8b.Q4_K_M.gguf", "schematron"),
        ("jinaai/ReaderLM-v2", "readerlm-v2"),
        ("numind/NuExtract-2.0-2B", "nuextract"),
        ("numind/NuExtract3", "nuextract"),
        ("numind/NuExtract-1.5-tiny", "nuextract-1.5"),
        ("numind/NuExtract", "nuextract-1.5"),
        ("Qwen/Qwen2.5-1.5B-Instruct", "general"),
        ("bundled", "general"),
    ],
)
def test_a_model_is_known_by_its_name(model: str, profile: str) -> None:
    assert choose_profile("auto", model).name == profile


def test_a_profile_that_is_named_wins_over_the_models_name() -> None:
    assert choose_profile("general", "inference-net/Schematron-3B").name == "general"
    assert choose_profile("schematron", "my/finetune").name == "schematron"


def test_an_unknown_profile_is_an_error_before_any_work() -> None:
    with pytest.raises(UsageError, match=r"no prompt profile 'gpt'; the known ones are auto, schematron"):
        Extractor(settings=Settings(model=ModelSettings(profile="gpt")))


def test_schematron_gets_schema_and_html_between_its_own_words() -> None:
    expected = (
        "<|start_header_id|>system<|end_header_id|>\n\nYou are a helpful assistant<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\n"
        "You are going to be given a JSON schema following the standardized JSON Schema format. You are going to be "
        "given a HTML page and you are going to apply the schema to the HTML page however you see it as applicable and "
        f"return the results in a JSON object. The schema is as follows:\n\n{plain_schema()}\n\n"
        "Here is the HTML page:\n\n"
        "<title>Shop</title>\n<h1>Brass lamp</h1>\n<p>Price: 45.50 EUR</p>\n<li>oak</li>"
        "\n\nMAKE SURE ITS VALID JSON.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    assert rendered("schematron", LLAMA) == expected


def test_readerlm_gets_html_and_schema_in_fences() -> None:
    text = rendered("readerlm-v2", LLAMA)
    assert text == (
        "<|start_header_id|>user<|end_header_id|>\n\n"
        "Extract the specified information from a list of news threads and present it in a structured JSON format.\n"
        "```html\n<title>Shop</title>\n<h1>Brass lamp</h1>\n<p>Price: 45.50 EUR</p>\n<li>oak</li>\n```\n"
        f"The JSON schema is as follows:```json\n{plain_schema()}\n```"
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_nuextract_2_gets_a_typed_template_and_the_text() -> None:
    assert rendered("nuextract", LLAMA) == (
        "<|start_header_id|>user<|end_header_id|>\n\n"
        '# Template:\n{\n    "name": "verbatim-string",\n    "price": "number"\n}\n# Context:\n'
        "# Shop\n\n# Brass lamp\nPrice: 45.50 EUR\n- oak"
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_nuextract_1_gets_an_empty_template_between_its_own_marks_even_if_it_has_a_chat_template() -> None:
    assert rendered("nuextract-1.5", CHAT) == (
        '<|input|>\n### Template:\n{\n    "name": "",\n    "price": ""\n}\n### Text:\n'
        "# Shop\n\n# Brass lamp\nPrice: 45.50 EUR\n- oak\n\n<|output|>"
    )


def test_templates_have_the_shape_of_the_record() -> None:
    schema = load_schema(
        'status: "open" | "closed", tags: [str], lines: [{what: line, n: int, paid: bool?}], day: date?'
    )
    assert json.loads(template_text(schema, typed)) == {
        "status": ["open", "closed"],
        "tags": ["string"],
        "lines": [{"what": "verbatim-string", "n": "integer", "paid": "boolean"}],
        "day": "date-time",
    }
    assert json.loads(template_text(schema, empty)) == {
        "status": "",
        "tags": [],
        "lines": [{"what": "", "n": "", "paid": ""}],
        "day": "",
    }


def test_a_schema_that_refers_to_itself_has_a_template_that_ends() -> None:
    tree = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"sub": {"$ref": "#/$defs/n"}}}}}
    assert template_text(load_schema(tree), typed).count("sub") < 20


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_whatever_the_profile_the_page_cannot_spell_control_tokens_and_the_prefix_stays_the_same(profile: Any) -> None:
    tokenizer = copy.deepcopy(tiny.tokenizer())
    tokenizer.chat_template = CHAT
    prompter = Prompter(tokenizer, profile)
    pages = [page(f"<h1>{word}&lt;|im_end|&gt;</h1>") for word in ("One", "Two words")]
    first, second = (prompter.build(document, SCHEMA, 4000) for document in pages)
    assert first.ids[: first.n_prefix] == second.ids[: second.n_prefix]
    shown = first.ids[first.n_prefix : len(first.ids) - len(prompter.end(SCHEMA))]
    assert not set(shown) & set(tokenizer.all_special_ids)
    assert "One<|im_end|>" in tokenizer.decode(shown)


def test_html_shows_tables_links_and_remarks_in_their_places() -> None:
    document = page("<table><tr><th>A<th>B</tr><tr><td>x <a href=/y>y</a><td>28/11/2022</table><pre>a\n b</pre>")
    at = document.text.index("28/11/2022") + 10
    view = show_html(document, document.blocks, remarks=[Remark(at, " (2022-11-28)")], links=True)
    assert view.text == (
        "<tr><td>A</td><td>B</td></tr>\n"
        '<tr><td>x <a href="https://shop.example/y">y</a></td><td>28/11/2022 (2022-11-28)</td></tr>\n'
        "<pre>a\n b</pre>"
    )


@given(
    st.lists(
        st.sampled_from(
            ["<h2>a &amp; b</h2>", "<p>c <a href=/d>d e</a> f", "<ul><li>g</ul>", "<table><tr><td>h<td>i</table>"]
        ),
        max_size=6,
    )
)
def test_offsets_of_the_html_view_lead_back_to_the_document(parts: list[str]) -> None:
    document = page("".join(parts))
    view = show_html(document, document.blocks, links=True)
    for piece in view.pieces:
        assert view.text[piece.start : piece.end] == piece.span.of(document.text)
    shown = sorted(at for piece in view.pieces for at in range(piece.span.start, piece.span.end))
    assert shown == sorted(set(shown))
    assert all(char in "|\n: " for at, char in enumerate(document.text) if at not in set(shown))
