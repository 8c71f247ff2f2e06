"""The ways to read a record that the quality benchmark compares: each a function of a page, told apart by name."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from pydantic_core import from_json

from bench.answers import Answer
from bench.arms import counting
from bench.datasets.sample import Sample
from bench.metadata_guess import metadata_record
from lookstruct.decoding.engine import Engine
from lookstruct.decoding.loading import LoadedModel
from lookstruct.decoding.request import Completion, Options
from lookstruct.pipeline.grounding.align import ground
from lookstruct.pipeline.grounding.confidence import Calibration, leaf_confidence
from lookstruct.pipeline.reader import Reader
from lookstruct.schemas.document import Document
from lookstruct.schemas.errors import InvalidRecord
from lookstruct.schemas.loader import Schema
from lookstruct.schemas.record import Record

LIMIT = 1024
"""New tokens a page, for every arm."""
PLAIN_TASK = """Extract one {name} from the text of this web page. Copy values from the text; use null for what it \
does not give. Answer with JSON that fits this JSON Schema and nothing else:
{schema}

Text of the page:
{text}"""
"""What the baselines are asked: the user's own JSON Schema, descriptions included, and the page's visible text."""


@dataclass(frozen=True, slots=True)
class Case:
    """One page, cleaned, and the schema asked of it."""

    sample: Sample
    document: Document
    whole: Document
    schema: Schema


Arm = Callable[[Case], Answer]


def ours_arm(loaded: LoadedModel) -> Arm:
    """Our own pipeline, from the cleaned page on."""
    seen: list[Completion] = []
    engine = Engine(loaded.model, loaded.tokenizer, eos_ids=loaded.eos_ids)
    reader = Reader(engine, loaded.tokenizer, options=Options(max_new_tokens=LIMIT))

    def run(case: Case) -> Answer:
        start = time.perf_counter()
        seen.clear()
        record = _read(reader, case, seen)
        seconds = time.perf_counter() - start
        made = seen[-1]
        data = record.data if record is not None else partial(made.text)
        return Answer(
            "ours",
            case.sample.path,
            data,
            record is not None,
            seconds,
            made.stats.prompt_tokens,
            made.stats.new_tokens,
            made.stats.forwards,
            _status(case, data),
            _raw_confidence(record, made),
            made.text,
        )

    return run


def _read(reader: Reader, case: Case, seen: list[Completion]) -> Record[Any] | None:
    try:
        return reader.read(case.document, case.schema, on_completion=seen.append)
    except InvalidRecord:
        return None


def _raw_confidence(record: Record[Any] | None, made: Completion) -> Mapping[str, float] | None:
    """The probability of each value before any calibration: what a calibration is fitted to."""
    if record is None or not made.pieces:
        return None
    return leaf_confidence(made.pieces, made.logprobs, record.evidence, Calibration())


def metadata_arm() -> Arm:
    """What the page says about itself, read without a model; the one arm that sees the metadata."""

    def run(case: Case) -> Answer:
        start = time.perf_counter()
        data = metadata_record(case.whole, case.schema.name, case.schema.json_schema["properties"])
        is_valid = _is_valid(case.schema, data)
        return Answer("metadata", case.sample.path, data, is_valid, time.perf_counter() - start, status={})

    return run


def outlines_arm(loaded: LoadedModel) -> Arm:
    """Outlines (llguidance) over transformers' generate, with the user's JSON Schema."""
    import outlines
    from outlines.types import JsonSchema

    wrapped = outlines.from_transformers(loaded.model, loaded.tokenizer)  # type: ignore[arg-type]

    def run(case: Case) -> Answer:
        generator = outlines.Generator(wrapped, JsonSchema(case.schema.json_schema), backend="llguidance")
        processor = generator.logits_processor  # type: ignore[union-attr]
        processor.reset()
        return _generated("outlines", case, loaded, logits_processor=[processor])

    return run


def bare_arm(loaded: LoadedModel) -> Arm:
    """The same prompt without a grammar."""
    return lambda case: _generated("bare", case, loaded)


def _generated(name: str, case: Case, loaded: LoadedModel, **options: Any) -> Answer:
    ids = plain_prompt(case, loaded.tokenizer)
    start = time.perf_counter()
    with counting(loaded.model) as calls, torch.inference_mode():
        out = loaded.model.generate(  # type: ignore[operator]
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=LIMIT,
            do_sample=False,
            eos_token_id=list(loaded.eos_ids),
            pad_token_id=loaded.eos_ids[0],
            **options,
        )
    seconds = time.perf_counter() - start
    new = [token for token in out[0, ids.shape[1] :].tolist() if token not in loaded.eos_ids]
    text = loaded.tokenizer.decode(new)
    data = partial(text)
    valid = _is_valid(case.schema, whole(text))
    status = _status(case, data)
    return Answer(name, case.sample.path, data, valid, seconds, ids.shape[1], len(new), len(calls), status, None, text)


def plain_prompt(case: Case, tokenizer: Any) -> torch.Tensor:
    """Ids of the baselines' question, shape (1, n), int64."""
    schema = json.dumps(user_schema(case.schema.json_schema), ensure_ascii=False)
    content = PLAIN_TASK.format(name=case.schema.name, schema=schema, text=case.document.text)
    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
    )
    return torch.tensor([tokenizer(rendered, add_special_tokens=False)["input_ids"]])


def user_schema(schema: Any) -> Any:
    """A JSON Schema without the keywords that are ours alone.

    >>> user_schema({"type": "string", "x-source": "span"})
    {'type': 'string'}
    """
    if isinstance(schema, Mapping):
        return {key: user_schema(value) for key, value in schema.items() if not key.startswith("x-")}
    return [user_schema(one) for one in schema] if isinstance(schema, list) else schema


def partial(text: str) -> dict[str, Any]:
    """The object that a text holds, as far as it goes: around it a model may talk, and a limit may cut it off.

    >>> partial('Here: {"a": 1, "b": [2, 3'), partial("none")
    ({'a': 1, 'b': [2, 3]}, {})
    """
    try:
        found = from_json(_object(text), allow_partial="trailing-strings")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def whole(text: str) -> Any:
    """The value of a complete JSON text, a code fence around it forgiven; None where there is none."""
    try:
        return json.loads(_object(text))
    except ValueError:
        return None


def _object(text: str) -> str:
    begin = text.find("{")
    fenced = text[begin:].partition("```")[0] if begin >= 0 else ""
    return fenced.strip()


def _is_valid(schema: Schema, data: Any) -> bool:
    try:
        schema.validate(data)
    except InvalidRecord:
        return False
    return isinstance(data, dict)


def _status(case: Case, data: Mapping[str, Any]) -> dict[str, str]:
    """How each answered value stands on the page."""
    evidence = ground(case.document, data, case.schema.json_schema)
    return {pointer: one.status.value for pointer, one in evidence.items()}
