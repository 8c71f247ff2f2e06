"""The pipeline on the real engine, with a tiny random model: whatever it writes must be a valid record."""

import pytest
import tiny
from jsonschema import Draft202012Validator
from pipeline_fakes import LAMP, Source

from lookstruct.decoding.engine import Engine
from lookstruct.decoding.request import Options
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.reader import Reader
from lookstruct.pipeline.settings import Settings
from lookstruct.schemas.loader import load_schema

URL = "https://shop.example/lamp"


def extractor(options: Options) -> Extractor:
    model, tokenizer = tiny.model("llama"), tiny.tokenizer()
    return Extractor(
        settings=Settings(),
        open_source=lambda: Source(LAMP),
        load_reader=lambda: Reader(Engine(model, tokenizer), tokenizer, options=options),
    )


@pytest.mark.parametrize("schema", ["name: str, price: float?, tags: [str]", "Receipt", "Book"])
@pytest.mark.parametrize("seed", [1])
def test_a_random_model_still_writes_a_record_that_fits_the_schema(schema: str, seed: int) -> None:
    with extractor(Options(max_new_tokens=200, temperature=1.0, seed=seed)) as made:
        record = made.extract(URL, schema)
    Draft202012Validator(load_schema(schema).json_schema).validate(record.data)
    assert record.stats.new_tokens <= 200
    assert all(0 <= e.confidence <= 1 for e in record.evidence.values() if e.confidence is not None)


def test_values_that_are_held_to_the_page_stand_on_it_whatever_the_model_wants() -> None:
    with extractor(Options(max_new_tokens=200, temperature=1.0, seed=3)) as made:
        record = made.extract(URL, "Book")
    page = " ".join(["Shop", "Brass", "lamp", "Price:", "45.50", "EUR", "See", "how", "to", "care"])
    for field in ("name", "publisher", "isbn"):
        assert record.data[field] is None or " ".join(record.data[field].split()) in page


def test_the_second_page_of_a_schema_takes_its_prompts_beginning_from_the_cache() -> None:
    with extractor(Options(max_new_tokens=60)) as made:
        first = made.extract_html(LAMP, "name: str")
        second = made.extract_html("<h1>Tin lamp</h1>", "name: str")
    assert first.stats.cached_prompt_tokens == 0
    assert second.stats.cached_prompt_tokens > 20


def test_the_same_page_twice_gives_the_same_record() -> None:
    with extractor(Options(max_new_tokens=200)) as made:
        first, second = (made.extract(URL, "name: str, price: float") for _ in range(2))
    assert (first.raw, first.stats.token_ids) == (second.raw, second.stats.token_ids)
