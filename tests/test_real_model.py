"""The whole job with the real 0.5B: the README example is right, outputs are certified as plain decoding's own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

import lookstruct  # noqa: E402
from bench.questions import cases, chosen  # noqa: E402  the bench is not installed
from lookstruct.decoding.certificate import certify  # noqa: E402
from lookstruct.decoding.engine import Engine  # noqa: E402
from lookstruct.decoding.loading import LoadedModel, load_model  # noqa: E402
from lookstruct.decoding.request import Completion, Options  # noqa: E402
from lookstruct.schemas.record import EvidenceStatus  # noqa: E402

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return load_model("bundled")


@pytest.fixture(scope="module")
def engine(loaded: LoadedModel) -> Engine:
    return Engine(loaded.model, loaded.tokenizer, eos_ids=loaded.eos_ids)


@pytest.mark.browser
def test_the_readme_example_is_right_in_every_field_and_grounded() -> None:
    settings = lookstruct.Settings(decode={"nodes": 32})  # fixed: the automatic budget follows the machine's clock
    with lookstruct.Extractor(settings=settings) as extractor:
        record: Any = extractor.extract(str(ROOT / "examples" / "pages" / "invoice.html"), "Invoice")
    gold = json.loads((ROOT / "examples" / "pages" / "gold" / "invoice.json").read_text(encoding="utf-8"))
    assert record.data == gold
    shown = re.search(r"```json\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert json.loads(shown[1]) == gold
    assert record.evidence["/total"].text == "5,889.60"
    assert record.evidence["/issue_date"].status is EvidenceStatus.NORMALISED
    assert record.stats.tokens_per_forward > 10


@pytest.mark.parametrize("name", ["product", "listing"])
def test_lookahead_output_of_the_real_model_is_certified(name: str, loaded: LoadedModel, engine: Engine) -> None:
    (case,) = cases(chosen([name]), loaded.tokenizer)
    question, options = case.question, Options(max_new_tokens=600, nodes=32)
    made = engine.generate(question.prompt.ids, grammar=question.grammar, hints=question.hints, options=options)
    proof = certify(engine, question.prompt.ids, made, grammar=question.grammar, options=options)
    assert proof.holds or (proof.margin or 0) < 1e-4
    assert made.stats.tokens_per_forward > 5
    case.schema.validate(json.loads(made.text))


PAGES = [page.name for page in chosen(None, "test") if page.name != "stations"] + ["invoice", "product_ja", "faq"]
"""The half not tuned on and three more; the 60-row table alone would take longer than the rest, see its own test."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_page_comes_out_token_for_token_as_plain_decoding_writes_it(
    name: str, loaded: LoadedModel, engine: Engine
) -> None:
    """In float32; a difference is tolerated only where the two best allowed tokens nearly tie."""
    (case,) = cases(chosen([name]), loaded.tokenizer)
    question = case.question

    def decoded(**options: Any) -> Completion:
        engine.forget_prefixes()
        return engine.generate(
            question.prompt.ids,
            grammar=question.grammar,
            hints=question.hints,
            options=Options(max_new_tokens=1500, **options),
        )

    plain = decoded(mode="autoregressive", skip_forced=False)
    for made in (decoded(), decoded(nodes=128)):
        pairs = enumerate(zip(plain.token_ids, made.token_ids, strict=False))
        at = next((i for i, (one, other) in pairs if one != other), None)
        assert at is None or plain.margins[at] < 1e-4
        assert at is not None or made.token_ids == plain.token_ids
        assert made.stats.forwards < plain.stats.forwards


@pytest.mark.slow
def test_a_table_of_sixty_rows_is_certified(loaded: LoadedModel, engine: Engine) -> None:
    (case,) = cases(chosen(["stations"]), loaded.tokenizer)
    question, options = case.question, Options(max_new_tokens=3000, nodes=64)
    made = engine.generate(question.prompt.ids, grammar=question.grammar, hints=question.hints, options=options)
    proof = certify(engine, question.prompt.ids, made, grammar=question.grammar, options=options)
    assert proof.holds or (proof.margin or 0) < 1e-4
    assert made.stats.tokens_per_forward > 10
