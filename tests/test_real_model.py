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
from lookstruct.decoding.request import Options  # noqa: E402
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
