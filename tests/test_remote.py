"""`--engine openai`: a model on a server of others, held to the schema, grounded and validated as ever."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openai_stub import Reply, Stub, refused, said
from pipeline_fakes import LAMP, LAMP_JSON, LAMP_SCHEMA, Source

from lookstruct import cli
from lookstruct.pipeline import extractor as extractor_module
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.remote.chat import Answer, Chat
from lookstruct.pipeline.remote.decoder import sendable
from lookstruct.pipeline.remote.text_tokens import CHARS, TextTokens, text_of
from lookstruct.pipeline.settings import EngineSettings, ModelSettings, Settings
from lookstruct.schemas.errors import ContextOverflow, InvalidRecord, ModelError, ModelNotFound
from lookstruct.schemas.loader import load_schema

URL = "https://shop.example/lamp"
Serve = Callable[[Callable[[dict[str, Any]], Reply]], Stub]


@pytest.fixture
def serve() -> Iterator[Serve]:
    made: list[Stub] = []

    def start(reply: Callable[[dict[str, Any]], Reply]) -> Stub:
        made.append(Stub(reply))
        return made[-1]

    yield start
    for stub in made:
        stub.close()


def extractor(stub: Stub, **engine: Any) -> Extractor:
    described = EngineSettings(engine="openai", base_url=stub.url, **engine)
    settings = Settings(engine=described, model=ModelSettings(name="big"))
    return Extractor(settings=settings, open_source=lambda: Source(LAMP))


def chat(stub: Stub, waits: list[float], **options: Any) -> Chat:
    return Chat(stub.url, "big", sleep=waits.append, **options)


def ask(chat: Chat, **more: Any) -> Answer | None:
    return chat.ask("Hello", schema=None, options={}, **more)


def test_a_record_is_asked_for_validated_and_grounded(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOOKSTRUCT_API_KEY", "secret")
    stub = serve(lambda _: said(LAMP_JSON))
    with extractor(stub) as made:
        record = made.extract(URL, LAMP_SCHEMA)
    assert record.data == {"name": "Brass lamp", "price": 45.5}
    assert (record.evidence["/price"].text, record.evidence["/price"].status.value) == ("45.50", "exact")
    assert (record.stats.prompt_tokens, record.stats.new_tokens, record.stats.cached_prompt_tokens) == (100, 20, 40)
    asked = stub.asked[0]
    assert (asked["model"], asked["temperature"]) == ("big", 0.0)
    assert "Brass lamp" in asked["messages"][0]["content"]
    held = asked["response_format"]["json_schema"]
    assert (asked["response_format"]["type"], held["strict"]) == ("json_schema", True)
    assert held["schema"]["required"] == ["name", "price"]
    assert stub.headers[0]["Authorization"] == "Bearer secret"
    assert record.meta["model"] == "big"
    assert "secret" not in json.dumps(dict(record.meta))


def test_a_value_that_the_server_invented_stands_nowhere(serve: Serve):
    stub = serve(lambda _: said('{"name": "Gold lamp", "price": 45.5}'))
    with extractor(stub) as made:
        record = made.extract(URL, LAMP_SCHEMA)
    assert record.evidence["/name"].status.value == "none"


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        (said("I am sorry"), "no JSON"),
        (said('{"name": "Brass lamp"}'), "price"),
        (said('{"name": "Bra', "length"), "token limit"),
        (said(""), "no JSON"),
    ],
)
def test_an_answer_that_does_not_fit_is_an_invalid_record(serve: Serve, reply: Reply, part: str):
    stub = serve(lambda _: reply)
    with extractor(stub) as made, pytest.raises(InvalidRecord, match=part):
        made.extract(URL, LAMP_SCHEMA)


@pytest.mark.parametrize(
    ("reply", "error", "part"),
    [
        (refused(404, "no such model"), ModelNotFound, "has no model 'big'"),
        (refused(401), ModelError, "LOOKSTRUCT_API_KEY"),
        (refused(400, "maximum context length is 10"), ContextOverflow, "too long"),
        (refused(400, "response_format is not supported"), ModelError, "response_format is not supported"),
        ((200, "<html>", {}), ModelError, "no chat completion"),
        ((200, {"choices": []}, {}), ModelError, "no chat completion"),
    ],
)
def test_what_another_attempt_would_not_mend_is_said_at_once(
    serve: Serve, reply: Reply, error: type[Exception], part: str
):
    stub, waits = serve(lambda _: reply), list[float]()
    with pytest.raises(error, match=part):
        ask(chat(stub, waits))
    assert (len(stub.asked), waits) == (1, [])


def test_a_busy_server_is_asked_again_after_as_long_as_it_wants(serve: Serve):
    replies = iter([refused(429, Retry_After="7"), refused(503), said("hi")])
    stub, waits = serve(lambda _: next(replies)), list[float]()
    answer = ask(chat(stub, waits))
    assert answer is not None
    assert answer.text == "hi"
    assert waits[0] == 7.0
    assert 1.0 <= waits[1] <= 2.0


def test_a_server_that_stays_away_is_given_up_and_named(serve: Serve):
    stub, waits = serve(lambda _: refused(500, "boom")), list[float]()
    with pytest.raises(ModelError, match=r"3 attempts \(status 500: boom\)"):
        ask(chat(stub, waits, retries=2))
    stub.close()
    with pytest.raises(ModelError, match="1 attempts"):
        ask(Chat(stub.url, "big", retries=0))


def test_a_cancelled_request_is_not_tried_again(serve: Serve):
    stub = serve(lambda _: refused(503))
    assert ask(chat(stub, []), cancelled=lambda: len(stub.asked) > 0) is None
    assert len(stub.asked) == 1


def test_a_batch_asks_for_several_pages_at_once(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    together = threading.Barrier(3, timeout=60)

    def reply(_: dict[str, Any]) -> Reply:
        together.wait()  # nobody is answered before three have asked
        return said(LAMP_JSON)

    stub, out = serve(reply), tmp_path / "x.jsonl"
    monkeypatch.setattr(extractor_module, "_open_browser", lambda _: Source(LAMP))
    urls = tmp_path / "urls.txt"
    urls.write_text("".join(f"https://shop.example/{n}\n" for n in range(6)))
    args = ["batch", str(urls), "--schema", LAMP_SCHEMA, "--to", str(out), "--engine", "openai", "--model", "big"]
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    code = cli.run([*args, "--base-url", stub.url, "--requests", "3", "--concurrency", "1", "--ledger", ledger])
    assert code == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == [json.loads(LAMP_JSON)] * 6
    assert stub.most_at_once == 3


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["--engine", "openai", "--model", "big"], "add --base-url"),
        (["--engine", "openai", "--base-url", "http://127.0.0.1:1/v1"], "add --model NAME"),
        (["--engine", "openai", "--model", "b", "--base-url", "http://127.0.0.1:1/v1", "--think", "9"], "run here"),
        (["--engine", "openai", "--model", "big", "--base-url", "127.0.0.1:8000"], "is no web address"),
        (["--engine", "magic"], "--engine"),
    ],
)
def test_a_server_that_is_not_described_whole_is_asked_for_at_once(
    args: list[str], part: str, capsys: pytest.CaptureFixture[str]
):
    assert cli.run([URL, "--schema", "Invoice", *args]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Invoice", "Product", "Recipe", "JobPosting"])
def test_schemas_are_sent_without_words_of_ours_and_closed(name: str):
    sent = sendable(load_schema(name).grammar_schema)
    Draft202012Validator.check_schema(sent)
    assert "x-source" not in json.dumps(sent)

    def objects(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            if "properties" in node:
                yield node
            for child in node.values():
                yield from objects(child)
        elif isinstance(node, list):
            for child in node:
                yield from objects(child)

    assert all(node["additionalProperties"] is False for node in objects(sent))


@given(st.text())
def test_text_becomes_numbers_and_text_again(text: str):
    ids = TextTokens()(text)["input_ids"]
    assert text_of(ids) == text
    assert len(ids) == -(-len(text) // CHARS)
