import csv
import errno
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.pipeline.sinks import Entry, RefusedEntry, SinkOptions, kind_of, open_sink
from lookstruct.pipeline.sinks.appending import Appender, missing_pieces
from lookstruct.pipeline.sinks.single import open_single
from lookstruct.pipeline.sinks.sink import Sink
from lookstruct.schemas.errors import SinkError, StorageError
from lookstruct.schemas.loader import Schema, load_schema
from lookstruct.schemas.record import Evidence, EvidenceStatus, Record, Stats

SCHEMA = load_schema("sku: str?, price: float, maker: {city: str?}, tags: [str]")
EVIDENCE = {"/sku": {"status": "exact", "start": 1, "end": 3, "text": "A1", "dom_path": "p", "confidence": 0.9}}
FILES = ("out.json", "out.jsonl", "out.csv", "out.parquet")


def data(sku: str | None = "A1", price: float = 5) -> dict[str, Any]:
    return {"sku": sku, "price": price, "maker": {"city": "Köln"}, "tags": ['a "b"', "c\nd"]}


def entry(page: int = 0, sku: str | None = "A1", price: float = 5) -> Entry:
    url = f"https://a.example/{page}"
    return Entry("run", page, "t", url, data(sku, price), EVIDENCE, {"title": "x"}, "2026-01-01")


def sink_at(path: Path, schema: Schema = SCHEMA, **options: Any) -> Sink:
    return open_sink(str(path), schema, SinkOptions(**options))


def keep(path: Path, *entries: Entry, schema: Schema = SCHEMA, **options: Any) -> None:
    """What a run of these entries does."""
    sink = sink_at(path, schema, **options)
    position = sink.prepare()
    for one in entries:
        position = sink.write([one], position)
    sink.finish(entries)
    sink.close()


def read(path: Path) -> list[Any]:
    """The file's records in the form of that file."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return list(pq.read_table(path).to_pylist())
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.splitlines(keepends=True))) if path.suffix == ".csv" else list(json.loads(text))


ROW = {"sku": "A1", "price": 5.0, "maker_city": "Köln", "tags": ['a "b"', "c\nd"], "_url": "https://a.example/0"}
CELLS = {
    "sku": "A1",
    "price": "5",
    "maker.city": "Köln",
    "tags": '["a \\"b\\"", "c\\nd"]',
    "_url": "https://a.example/0",
}


@pytest.mark.parametrize(
    ("name", "record"), [("o.json", data()), ("o.jsonl", data()), ("o.csv", CELLS), ("o.parquet", ROW)]
)
def test_a_record_is_kept_in_the_files_own_form(tmp_path: Path, name: str, record: Any) -> None:
    keep(tmp_path / name, entry())
    assert read(tmp_path / name) == [record]
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_with_evidence_json_files_hold_data_evidence_and_meta(tmp_path: Path, name: str) -> None:
    keep(tmp_path / name, entry(), evidence=True)
    assert read(tmp_path / name) == [{"data": data(), "evidence": EVIDENCE, "meta": {"title": "x"}}]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_with_evidence_tables_have_columns_for_it(tmp_path: Path, name: str) -> None:
    keep(tmp_path / name, entry(), evidence=True)
    (row,) = read(tmp_path / name)
    assert float(row["_confidence"]) == 0.9
    assert json.loads(row["_evidence"]) == EVIDENCE


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv"])
def test_lines_are_added_to_what_a_file_holds(tmp_path: Path, name: str) -> None:
    keep(tmp_path / name, entry(0))
    keep(tmp_path / name, entry(1, "B2"), entry(2, None))
    assert [row["sku"] or None for row in read(tmp_path / name)] == ["A1", "B2", None]


@pytest.mark.parametrize("name", ["out.json", "out.parquet"])
def test_files_that_are_written_whole_are_replaced(tmp_path: Path, name: str) -> None:
    keep(tmp_path / name, entry(0))
    keep(tmp_path / name, entry(1, "B2"))
    assert [row["sku"] for row in read(tmp_path / name)] == ["B2"]


@pytest.mark.parametrize("name", FILES)
def test_with_a_key_new_records_take_the_place_of_old_ones(tmp_path: Path, name: str) -> None:
    keep(tmp_path / name, entry(0, "A1"), entry(1, "B2"), entry(2, None), key=("sku",))
    keep(tmp_path / name, entry(3, "C3"), entry(4, "A1", 9), entry(5, None), key=("sku",))
    found = [(row["sku"] or None, float(row["price"])) for row in read(tmp_path / name)]
    assert found == [("A1", 9.0), ("B2", 5.0), (None, 5.0), ("C3", 5.0), (None, 5.0)]


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_keys_are_found_beside_evidence_too(tmp_path: Path, name: str) -> None:
    for price in (1, 2):
        keep(tmp_path / name, entry(0, "A1", price), key=("sku",), evidence=True)
    assert [value["data"]["price"] for value in read(tmp_path / name)] == [2]


@pytest.mark.parametrize("name", FILES)
def test_an_unknown_key_is_refused_before_any_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(SinkError, match=r"cannot be keyed by 'ean'.*sku"):
        sink_at(tmp_path / name, key=("ean",))


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_kept_of_a_run_without_records(tmp_path: Path, name: str) -> None:
    keep(tmp_path / name)
    assert not (tmp_path / name).exists() or read(tmp_path / name) == []


@pytest.mark.parametrize("name", FILES)
def test_a_place_that_cannot_be_written_is_found_out_before_any_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(SinkError, match="cannot be written"):
        sink_at(tmp_path / "gone" / name).prepare()


@pytest.mark.parametrize("to", ["out.xlsx", "out", "", "mysql://host/db", "csv"])
def test_other_kinds_of_sinks_are_refused_and_the_known_ones_named(to: str) -> None:
    with pytest.raises(SinkError, match=r"sqlite:///file\.db or postgresql://host/name"):
        kind_of(to)


@pytest.mark.parametrize("name", ["out.json", "out.jsonl", "out.csv", "out.parquet"])
def test_a_full_disk_is_a_storage_error_and_keeps_what_was_there(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    keep(path, entry(0))
    before = path.read_bytes()

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        keep(path, entry(1))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


def test_what_a_killed_process_left_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".out.json.999999999.1.part").write_text("[")
    (tmp_path / f".out.json.{os.getpid()}.1.part").write_text("[")
    keep(tmp_path / "out.json", entry())
    assert sorted(os.listdir(tmp_path)) == [f".out.json.{os.getpid()}.1.part", "out.json"]


def test_half_a_write_on_a_full_disk_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.jsonl"
    keep(path, entry(0))
    before, write = path.read_bytes(), os.write
    calls = []

    def fill(descriptor: int, piece: Any) -> int:
        calls.append(len(piece))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, bytes(piece)[:10])

    monkeypatch.setattr("os.write", fill)
    with pytest.raises(StorageError, match="No space left"):
        keep(path, entry(1))
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_a_number_beyond_64_bits_is_refused_when_its_page_is_written(tmp_path: Path) -> None:
    sink = sink_at(tmp_path / "out.parquet", load_schema("n: int"))
    with pytest.raises(RefusedEntry, match="64 bits"):
        sink.write([Entry("r", 0, "t", "u", {"n": 2**64})], sink.prepare())


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"ab\n", b'"c\nd"\n', b"e" * 20 + b"\n"]), max_size=6)


@given(pieces=LINES, cut=st.integers(0, 200))
def test_wherever_a_write_is_killed_the_next_attempt_completes_it(pieces: list[bytes], cut: int) -> None:
    """Half of the bytes, then the same pieces from the old position: the file is as if nothing had happened."""
    torn = b"".join(pieces)[:cut]
    left, end = missing_pieces(torn, pieces)
    assert torn[:end] + b"".join(left) == b"".join(pieces)


@given(foreign=LINES, pieces=LINES)
def test_lines_that_others_added_meanwhile_stay(foreign: list[bytes], pieces: list[bytes]) -> None:
    tail = b"".join(foreign)
    mine = [b"mine " + piece for piece in pieces]
    assert missing_pieces(tail, mine) == (mine, len(tail))


@given(data=st.data(), pieces=LINES, cut=st.integers(0, 200))
def test_what_was_kept_last_need_not_have_been_written_last(data: st.DataObject, pieces: list[bytes], cut: int) -> None:
    """Of two pages read at once the later may be written first, and torn: the earlier was then looked for in vain."""
    torn = b"".join(data.draw(st.permutations(pieces)))[:cut]
    left, end = missing_pieces(torn, pieces)
    assert sorted((torn[:end] + b"".join(left)).splitlines()) == sorted(b"".join(pieces).splitlines())


def test_a_position_of_a_dead_process_makes_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old\n")
    position = Appender(path).start()
    path.write_bytes(b"old\none\ntw")
    Appender(path).add([b"one\n", b"two\n"], position)
    assert path.read_bytes() == b"old\none\ntwo\n"


def test_a_file_that_ends_inside_a_line_gets_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"a": 1}')
    keep(path, entry())
    assert len(read(path)) == 2


def test_a_file_that_was_removed_meanwhile_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    keep(path, entry(0))
    sink = sink_at(path)
    position = sink.prepare()
    path.unlink()
    sink.write([entry(1, "B2")], position)
    assert [row["sku"] for row in read(path)] == ["B2"]


def test_a_csv_file_gets_the_columns_it_lacks_and_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("\ufeffsku,note\nZ9,mine\n", encoding="utf-8")
    keep(path, entry())
    first, second = read(path)
    assert (first["sku"], first["note"], first["price"]) == ("Z9", "mine", "")
    assert (second["sku"], second["note"], second["price"]) == ("A1", "", "5")


def test_a_csv_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("name,age\nAda,36\n")
    with pytest.raises(SinkError, match="none of the schema's columns"):
        sink_at(path).prepare()
    assert path.read_text() == "name,age\nAda,36\n"


def test_a_parquet_file_keeps_its_lists_and_objects_and_gains_columns(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    first, second = load_schema("id: str, lines: [{n: int}]"), load_schema("id: str, lines: [{n: int}], open: bool?")
    keep(path, Entry("r", 0, "t", "u", {"id": "1", "lines": [{"n": 1}]}), schema=first, key=("id",))
    keep(path, Entry("r", 0, "t", "u", {"id": "2", "lines": [], "open": True}), schema=second, key=("id",))
    assert [(row["id"], row["lines"], row["open"]) for row in read(path)] == [("1", [{"n": 1}], None), ("2", [], True)]


def test_a_parquet_file_whose_column_became_of_another_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    keep(path, Entry("r", 0, "t", "u", {"id": "1"}), schema=load_schema("id: str"), key=("id",))
    with pytest.raises(SinkError, match="cannot be merged into"):
        sink_at(path, load_schema("id: int"), key=("id",)).prepare()


@pytest.mark.parametrize(("name", "content", "message"), [
    ("out.json", "{}", "holds no list"),
    ("out.json", "no json", "is no JSON"),
    ("out.jsonl", '{"sku": "a"}\nno json\n', "Line 2 of .* is no JSON"),
    ("out.csv", "sku\na,b\n", "more cells than columns"),
])  # fmt: skip
def test_a_file_that_cannot_be_merged_into_is_refused_before_any_work(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SinkError, match=message):
        sink_at(tmp_path / name, key=("sku",)).prepare()
    assert (tmp_path / name).read_text() == content


def test_standard_output_takes_no_key() -> None:
    with pytest.raises(SinkError, match="no records to update"):
        open_sink("-", SCHEMA, SinkOptions(key=("sku",)))


def test_standard_output_gets_a_line_a_record(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    keep(Path("-"), entry(0), entry(1))
    assert [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()] == [data(), data()]


def test_one_record_goes_to_any_sink(tmp_path: Path) -> None:
    found = {"/sku": Evidence(EvidenceStatus.EXACT, text="A1", confidence=0.9)}
    record = Record(None, data(), found, "", Stats(), "https://a.example/0", {"final_url": "https://a.example/0"})
    for name in FILES:
        open_single(str(tmp_path / name), SCHEMA, SinkOptions())(record)
    assert json.loads((tmp_path / "out.json").read_text()) == data()
    assert [len(read(tmp_path / name)) for name in FILES[1:]] == [1, 1, 1]


def test_lines_added_by_several_processes_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"

    def add() -> None:
        for _ in range(20):
            keep(path, entry(sku="y" * 2000))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row["sku"] for row in read(path)] == ["y" * 2000] * 80
