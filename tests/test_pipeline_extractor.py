import asyncio
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tiny
from pipeline_fakes import LAMP, LAMP_JSON, LAMP_SCHEMA, Decoder, Source, reader
from pydantic import BaseModel

from lookstruct.extractors.target import Target
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.flow import Stage, Watch
from lookstruct.pipeline.reader import Reader
from lookstruct.pipeline.settings import ModelSettings, SchemaSettings, Settings
from lookstruct.schemas.errors import FetchTimeout, InvalidRecord, ModelNotFound, SchemaError, TargetError
from lookstruct.schemas.record import EvidenceStatus

URL = "https://shop.example/lamp"


class Lamp(BaseModel):
    name: str
    price: float


def made(source: Source | None = None, decoder: Decoder | None = None, **options: Any) -> Extractor:
    """An extractor with no browser and no model."""
    opened = source or Source()
    return Extractor(
        settings=Settings(),
        open_source=lambda: opened,
        load_reader=reader(decoder or Decoder(), tiny.tokenizer(), **options),
    )


def own_threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("lookstruct")}


def until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_a_page_becomes_a_typed_record_with_evidence_stats_and_meta() -> None:
    with made(meta={"model": "tiny"}) as extractor:
        record = extractor.extract(URL, Lamp)
    assert record.value == Lamp(name="Brass lamp", price=45.5)
    assert record.data == {"name": "Brass lamp", "price": 45.5}
    assert record.evidence["/name"].status is EvidenceStatus.EXACT
    assert record.evidence["/name"].dom_path == "html > body > h1"
    assert (record.url, record.raw, record.stats.new_tokens) == (URL, LAMP_JSON, 12)
    assert record.meta["final_url"] == URL
    assert (record.meta["schema"], record.meta["model"], record.meta["title"]) == ("Lamp", "tiny", "Shop")
    assert record.meta["notes"] == []


def test_the_model_is_asked_with_the_schemas_grammar_the_hints_and_the_options() -> None:
    decoder = Decoder()
    with made(decoder=decoder) as extractor:
        extractor.extract(URL, LAMP_SCHEMA)
    assert decoder.grammars[0] is not None
    assert '"price"' in decoder.grammars[0].source
    assert "Brass lamp" in decoder.hints[0].page
    assert decoder.options[0].max_new_tokens == 2048
    assert "Brass lamp" in str(tiny.tokenizer().decode(decoder.prompts[0]))


def test_browser_and_model_start_once_and_stay_for_every_call() -> None:
    source, loads = Source(), []
    load = reader(Decoder(), tiny.tokenizer())

    def counted() -> Reader:
        loads.append(threading.current_thread().name)
        return load()

    with Extractor(settings=Settings(), open_source=lambda: source, load_reader=counted) as extractor:
        assert (source.opened, loads) == (0, [])
        for _ in range(3):
            extractor.extract(URL, LAMP_SCHEMA)
        assert (source.opened, source.closed) == (1, 0)
    assert (source.opened, source.closed, loads) == (1, 1, ["lookstruct-model_0"])
    assert source.fetched == [URL] * 3


def test_html_that_is_here_is_read_without_rendering_and_resolves_links_against_the_url_given() -> None:
    source = Source()
    with made(source) as extractor:
        record = extractor.extract_html(LAMP.encode("utf-16"), LAMP_SCHEMA, url="https://a.example/x")
    assert record.data["name"] == "Brass lamp"
    options = source.options[0]
    assert options is not None
    assert (options.render, options.base_url) == (False, "https://a.example/x")
    assert source.fetched == [LAMP]


def test_the_sync_api_works_inside_a_running_event_loop() -> None:
    async def notebook_cell() -> Any:
        with made() as extractor:
            return extractor.extract(URL, LAMP_SCHEMA).data

    assert asyncio.run(notebook_cell()) == {"name": "Brass lamp", "price": 45.5}


async def test_the_async_api_leaves_the_callers_loop_free() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    async with made(decoder=Decoder(steps=10, step_s=0.02)) as extractor:
        record = await extractor.aextract(URL, Lamp)
    ticking.cancel()
    assert record.value.price == 45.5
    assert ticks >= 5


def test_calls_from_several_threads_fetch_together_and_decode_one_at_a_time() -> None:
    source, decoder = Source(delay_s=0.2), Decoder(steps=3, step_s=0.02)
    with made(source, decoder) as extractor, ThreadPoolExecutor(4) as pool:
        start = time.monotonic()
        records = list(pool.map(lambda _: extractor.extract(URL, LAMP_SCHEMA), range(4)))
        elapsed = time.monotonic() - start
    assert [record.data["price"] for record in records] == [45.5] * 4
    assert (decoder.most_running, len(decoder.prompts), source.opened) == (1, 4, 1)
    assert elapsed < 0.75  # four fetches one after another would take 0.8 s


async def test_calls_from_several_tasks_are_safe_too() -> None:
    decoder = Decoder(steps=3, step_s=0.01)
    async with made(decoder=decoder) as extractor:
        records = await asyncio.gather(*(extractor.aextract(URL, LAMP_SCHEMA) for _ in range(5)))
    assert (len(records), decoder.most_running) == (5, 1)


async def test_cancelling_a_call_stops_the_model_and_the_next_call_works() -> None:
    decoder = Decoder(steps=500, step_s=0.01)
    async with made(decoder=decoder) as extractor:
        task = asyncio.create_task(extractor.aextract(URL, LAMP_SCHEMA))
        assert await asyncio.to_thread(until, lambda: decoder.running == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(until, lambda: decoder.was_cancelled)
        decoder.steps = 1
        assert (await extractor.aextract(URL, LAMP_SCHEMA)).data["price"] == 45.5


async def test_cancelling_a_call_that_waits_for_the_model_never_starts_it() -> None:
    decoder = Decoder(steps=50, step_s=0.01)
    async with made(decoder=decoder) as extractor:
        first = asyncio.create_task(extractor.aextract(URL, LAMP_SCHEMA))
        assert await asyncio.to_thread(until, lambda: decoder.running == 1)
        second = asyncio.create_task(extractor.aextract(URL, LAMP_SCHEMA))
        await asyncio.sleep(0.1)
        second.cancel()
        await first
    assert len(decoder.prompts) == 1


def test_closing_while_a_call_runs_cancels_it_and_leaves_nothing() -> None:
    source, decoder = Source(), Decoder(steps=1000, step_s=0.01)
    extractor = made(source, decoder)
    outcome: list[BaseException] = []

    def call() -> None:
        try:
            extractor.extract(URL, LAMP_SCHEMA)
        except BaseException as exc:
            outcome.append(exc)

    caller = threading.Thread(target=call)
    caller.start()
    assert until(lambda: decoder.running == 1)
    start = time.monotonic()
    extractor.close()
    caller.join(5)
    assert time.monotonic() - start < 2
    assert (len(outcome), decoder.was_cancelled, source.closed) == (1, True, 1)
    assert own_threads() == set()


def test_close_leaves_no_thread_and_may_be_called_again() -> None:
    extractor = made()
    extractor.extract(URL, LAMP_SCHEMA)
    assert own_threads() >= {"lookstruct-loop", "lookstruct-model_0"}
    extractor.close()
    extractor.close()
    assert own_threads() == set()


def test_a_closed_extractor_says_so() -> None:
    extractor = made()
    extractor.close()
    with pytest.raises(RuntimeError, match="this extractor is closed"):
        extractor.extract(URL, LAMP_SCHEMA)


def test_a_forgotten_extractor_is_closed_when_it_is_collected() -> None:
    source = Source()
    extractor = made(source)
    extractor.extract(URL, LAMP_SCHEMA)
    del extractor
    gc.collect()
    assert until(lambda: source.closed == 1 and not own_threads())


FORGETFUL = """
import atexit, sys
atexit.register(lambda: print("closed", source.closed))  # the first to be registered is the last to be called
sys.path.insert(0, sys.argv[1])
import tiny
from pipeline_fakes import LAMP_SCHEMA, Decoder, Source, reader
from lookstruct.pipeline.extractor import Extractor
from lookstruct.pipeline.settings import Settings
source = Source()
extractor = Extractor(settings=Settings(), open_source=lambda: source, load_reader=reader(Decoder(), tiny.tokenizer()))
print(extractor.extract("https://shop.example/", LAMP_SCHEMA).data["price"])
"""


def test_a_program_that_forgets_to_close_still_ends_and_closes_the_browser() -> None:
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", FORGETFUL, here], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout.decode().split(), done.stderr) == (0, ["45.5", "closed", "1"], b"")


@pytest.mark.parametrize(
    ("target", "schema", "error"),
    [("shop.example", LAMP_SCHEMA, TargetError), (URL, "Lampe", SchemaError), (URL, {"type": "x"}, SchemaError)],
)
def test_a_wrong_target_or_schema_is_found_before_browser_and_model_start(
    target: str, schema: Any, error: type[Exception]
) -> None:
    source, decoder = Source(), Decoder()
    with made(source, decoder) as extractor, pytest.raises(error):
        extractor.extract(target, schema)
    assert (source.opened, decoder.prompts) == (0, [])


def test_a_page_that_cannot_be_had_does_not_load_the_model() -> None:
    decoder = Decoder()
    with made(Source(error=FetchTimeout("too slow")), decoder) as extractor:
        with pytest.raises(FetchTimeout):
            extractor.extract(URL, LAMP_SCHEMA)
        assert own_threads() == {"lookstruct-loop"}


def test_a_model_that_cannot_be_had_is_tried_again_at_the_next_call() -> None:
    tries: list[int] = []
    load = reader(Decoder(), tiny.tokenizer())

    def flaky() -> Reader:
        tries.append(1)
        if len(tries) == 1:
            raise ModelNotFound("not yet")
        return load()

    with Extractor(settings=Settings(), open_source=Source, load_reader=flaky) as extractor:
        with pytest.raises(ModelNotFound):
            extractor.extract(URL, LAMP_SCHEMA)
        assert extractor.extract(URL, LAMP_SCHEMA).data["price"] == 45.5


def test_text_that_is_no_valid_record_is_an_error_with_the_raw_text() -> None:
    with made(decoder=Decoder('{"name": 3}')) as extractor, pytest.raises(InvalidRecord) as caught:
        extractor.extract(URL, LAMP_SCHEMA)
    assert caught.value.raw == '{"name": 3}'


def test_what_the_user_should_know_is_noted() -> None:
    html = f"{LAMP}<p hidden>secret" + "<p>filler text" * 300
    with made(Source(html), Decoder(finish="closed"), max_page_tokens=100) as extractor:
        notes = extractor.extract(URL, LAMP_SCHEMA).meta["notes"]
    assert len(notes) == 4
    assert "page is too long" in notes[0]
    assert "read in 16 parts" in notes[1]
    assert "hidden text" in notes[2]
    assert "closed early" in notes[3]


def test_a_lenient_extractor_takes_what_the_grammar_cannot_enforce_and_notes_it() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "not": {"required": ["x"]}}
    strict = made(decoder=Decoder('{"name": "Brass lamp"}'))
    with strict, pytest.raises(SchemaError, match="not"):
        strict.extract(URL, schema)
    lenient = Extractor(
        settings=Settings(schemas=SchemaSettings(lenient=True)),
        open_source=Source,
        load_reader=reader(Decoder('{"name": "Brass lamp"}'), tiny.tokenizer()),
    )
    with lenient:
        assert any("not" in note for note in lenient.extract(URL, schema).meta["notes"])


def test_whoever_watches_sees_the_stages_in_order_and_the_text() -> None:
    stages: list[Stage] = []
    texts: list[str] = []
    with made() as extractor:
        for _ in range(2):
            extractor.extract(URL, LAMP_SCHEMA, watch=Watch(stages.append, texts.append))
    assert stages == [Stage.FETCH, Stage.CLEAN, Stage.LOAD, Stage.READ, Stage.FETCH, Stage.CLEAN, Stage.READ]
    assert texts == [LAMP_JSON] * 2


def test_a_target_object_is_taken_as_it_is() -> None:
    source = Source()
    with made(source) as extractor:
        extractor.extract(Target("url", "https://a.example/"), LAMP_SCHEMA)
    assert source.fetched == ["https://a.example/"]


def test_what_is_given_for_the_model_wins_over_the_settings() -> None:
    settings = Settings(model=ModelSettings(name="some/model", dtype="float16"))
    with Extractor("other/model", device="cpu", settings=settings, open_source=Source) as extractor:
        model = extractor.settings.model
    assert (model.name, model.device, model.dtype) == ("other/model", "cpu", "float16")
