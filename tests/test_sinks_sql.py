import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from lookstruct.pipeline.sinks import Entry, RefusedEntry, SinkOptions, open_sink
from lookstruct.pipeline.storage.database import open_database
from lookstruct.schemas.errors import SinkError, StorageError
from lookstruct.schemas.loader import Schema, load_schema

SCHEMA = "sku: str?, price: float, stock: int?, sold: bool?, maker: {city: str}, tags: [str], parts: [{name: str}]"
DATA = {
    "sku": "A1",
    "price": 5,
    "stock": None,
    "sold": True,
    "maker": {"city": "Köln"},
    "tags": ["new", "blue"],
    "parts": [{"name": "lid"}, {"name": "pot"}],
}
EVIDENCE = {
    "/sku": {"status": "exact", "start": 1, "end": 3, "text": "A1", "dom_path": "p", "confidence": 0.9},
    "/price": {"status": "none", "start": None, "end": None, "text": None, "dom_path": None, "confidence": 0.4},
}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/out.db"
    return str(request.getfixturevalue("postgres_url"))


def entry(page: int = 0, **changes: Any) -> Entry:
    return Entry("run", page, "t", f"https://a.example/{page}", {**DATA, **changes}, EVIDENCE, at="2026-01-01")


def keep(url: str, *entries: Entry, schema: Schema | None = None, **options: Any) -> None:
    sink = open_sink(url, schema or load_schema(SCHEMA), SinkOptions(**{"table": "goods", **options}))
    sink.write(entries, sink.prepare())
    sink.close()


def rows(url: str, query: str) -> list[Any]:
    engine = open_database(url)
    with engine.begin() as connection:
        found = [tuple(row) for row in connection.execute(sa.text(query))]
    engine.dispose()
    return found


def test_a_record_becomes_a_row_with_its_objects_as_columns(url: str) -> None:
    keep(url, entry())
    assert rows(url, "SELECT _id, _url, _run, _at, sku, price, stock, sold, maker_city FROM goods") == [
        ("run/0", "https://a.example/0", "run", "2026-01-01", "A1", 5.0, None, True, "Köln")
    ]


def test_lists_are_json_in_their_column(url: str) -> None:
    keep(url, entry())
    engine = open_database(url)
    table = sa.Table("goods", sa.MetaData(), autoload_with=engine)
    with engine.begin() as connection:
        found = connection.execute(sa.select(table.c.tags, table.c.parts)).one()
    engine.dispose()
    assert tuple(found) == (DATA["tags"], DATA["parts"])


def test_lists_become_tables_of_their_own_on_request(url: str) -> None:
    keep(url, entry(), nested="tables")
    assert rows(url, "SELECT _row, _at, value FROM goods_tags ORDER BY _at") == [
        ("run/0", "/tags/0", "new"),
        ("run/0", "/tags/1", "blue"),
    ]
    assert rows(url, "SELECT _at, name FROM goods_parts ORDER BY _at") == [("/parts/0", "lid"), ("/parts/1", "pot")]


def test_lists_inside_lists_keep_their_place(url: str) -> None:
    nested = load_schema("shops: [{city: str, shelves: [{goods: [str]}]}]")
    data = {"shops": [{"city": "Ulm", "shelves": [{"goods": ["a"]}, {"goods": ["b", "c"]}]}]}
    keep(url, Entry("run", 0, "t", "u", data), schema=nested, nested="tables")
    assert rows(url, "SELECT _at, value FROM goods_shops_shelves_goods ORDER BY _at") == [
        ("/shops/0/shelves/0/goods/0", "a"),
        ("/shops/0/shelves/1/goods/0", "b"),
        ("/shops/0/shelves/1/goods/1", "c"),
    ]


def test_evidence_and_confidence_stand_beside_the_record(url: str) -> None:
    keep(url, entry(), evidence=True)
    engine = open_database(url)
    table = sa.Table("goods", sa.MetaData(), autoload_with=engine)
    with engine.begin() as connection:
        found = connection.execute(sa.select(table.c["_confidence"], table.c["_evidence"])).one()
    engine.dispose()
    assert tuple(found) == (0.4, EVIDENCE)


def test_evidence_becomes_a_table_of_its_own_on_request(url: str) -> None:
    keep(url, entry(), evidence=True, nested="tables")
    query = 'SELECT _row, _at, status, start, "end", text, confidence FROM goods_evidence ORDER BY _at DESC'
    assert rows(url, query) == [
        ("run/0", "/sku", "exact", 1, 3, "A1", 0.9),
        ("run/0", "/price", "none", None, None, None, 0.4),
    ]


def test_an_entry_that_is_written_twice_is_kept_once(url: str) -> None:
    for nested in ("json", "tables"):
        for _ in range(2):
            keep(url, entry(0), entry(1), nested=nested, evidence=True, table=f"goods_{nested}")
        assert rows(url, f"SELECT _id FROM goods_{nested} ORDER BY _id") == [("run/0",), ("run/1",)]
    assert rows(url, "SELECT count(*) FROM goods_tables_tags") == [(4,)]


def test_a_record_with_a_key_replaces_the_one_that_is_there(url: str) -> None:
    keep(url, entry(0), nested="tables", key=("sku",))
    keep(url, entry(1, price=6, tags=["old"]), nested="tables", key=("sku",))
    assert rows(url, "SELECT sku, price, _url FROM goods") == [("A1", 6.0, "https://a.example/1")]
    assert rows(url, "SELECT value FROM goods_tags") == [("old",)]


def test_the_pages_address_may_be_part_of_a_key(url: str) -> None:
    keep(url, entry(0), entry(1), key=("url", "sku"))
    keep(url, entry(1, price=7), key=("url", "sku"))
    assert rows(url, "SELECT price FROM goods ORDER BY _url") == [(5.0,), (7.0,)]


def test_records_that_lack_their_key_are_all_kept(url: str) -> None:
    keep(url, entry(0, sku=None), entry(1, sku=None), key=("sku",))
    assert rows(url, "SELECT count(*) FROM goods") == [(2,)]


def test_two_records_of_one_key_in_one_write_leave_the_later(url: str) -> None:
    keep(url, entry(0, price=1), entry(1, price=2), key=("sku",))
    assert rows(url, "SELECT price FROM goods") == [(2.0,)]


def test_a_list_schema_gives_a_row_an_item(url: str) -> None:
    schema = load_schema({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}})
    found = {"/1/n": {"status": "exact", "confidence": 0.5}}
    keep(url, Entry("run", 3, "t", "u", [{"n": 1}, {"n": 2}], found), schema=schema, evidence=True)
    assert rows(url, "SELECT _id, n, _confidence FROM goods ORDER BY n") == [("run/3/0", 1, None), ("run/3/1", 2, 0.5)]


def test_a_column_that_the_schema_gained_is_added(url: str) -> None:
    keep(url, Entry("run", 0, "t", "u", {"a": "x"}), schema=load_schema("a: str"))
    keep(url, Entry("run", 1, "t", "u", {"a": "y", "b": 2}), schema=load_schema("a: str, b: int"), evidence=True)
    assert rows(url, "SELECT a, b FROM goods ORDER BY a") == [("x", None), ("y", 2)]


def test_a_column_that_the_schema_lost_stays_and_is_empty(url: str) -> None:
    keep(url, Entry("run", 0, "t", "u", {"a": "x", "b": 2}), schema=load_schema("a: str, b: int"))
    keep(url, Entry("run", 1, "t", "u", {"a": "y"}), schema=load_schema("a: str"))
    assert rows(url, "SELECT a, b FROM goods ORDER BY a") == [("x", 2), ("y", None)]


@pytest.mark.parametrize(("before", "after", "fits"), [
    ("a: str", "a: int", False),
    ("a: int", "a: float", False),
    ("a: float", "a: int", True),
    ("a: bool", "a: str", False),
    ("a: [str]", "a: str", False),
])  # fmt: skip
def test_a_column_of_another_type_is_refused_before_any_work(url: str, before: str, after: str, fits: bool) -> None:
    keep(url, schema=load_schema(before))
    sink = open_sink(url, load_schema(after), SinkOptions(table="goods"))
    if fits:
        sink.prepare()
    else:
        with pytest.raises(SinkError, match=r"column a of the table goods is .* the schema now has"):
            sink.prepare()
    sink.close()


@pytest.mark.parametrize(("table", "message"), [
    ("CREATE TABLE goods (id INTEGER PRIMARY KEY, a TEXT)", "was not made by lookstruct"),
    ("CREATE TABLE goods (_id TEXT PRIMARY KEY, must TEXT NOT NULL)", "column must .* must not be empty"),
])  # fmt: skip
def test_a_table_of_somebody_elses_is_refused_before_any_work(url: str, table: str, message: str) -> None:
    engine = open_database(url)
    with engine.begin() as connection:
        connection.execute(sa.text(table))
    engine.dispose()
    sink = open_sink(url, load_schema("a: str"), SinkOptions(table="goods"))
    with pytest.raises(SinkError, match=message):
        sink.prepare()
    sink.close()


def test_an_unknown_key_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(SinkError, match=r"keyed by 'ean'; what can be a key is: sku, price, .*maker_city, url"):
        open_sink("sqlite:///x.db", load_schema(SCHEMA), SinkOptions(key=("ean",)))


def test_fields_called_like_our_own_columns_keep_their_values(url: str) -> None:
    schema = load_schema({"properties": {name: {"type": "string"} for name in ("_url", "A", "a")}})
    keep(url, Entry("run", 0, "t", "u", {"_url": "theirs", "A": "1", "a": "2"}), schema=schema)
    assert rows(url, 'SELECT _url, _url_2, "A", a_2 FROM goods') == [("u", "theirs", "1", "2")]


def test_names_too_long_for_a_database_are_shortened_apart(url: str) -> None:
    first, second = "x" * 80 + "1", "x" * 80 + "2"
    schema = load_schema(f"{first}: str, {second}: str")
    keep(url, Entry("run", 0, "t", "u", {first: "1", second: "2"}), schema=schema)
    found = rows(url, "SELECT * FROM goods")
    assert found[0][-2:] == ("1", "2")


def test_characters_that_no_database_takes_are_replaced(url: str) -> None:
    keep(url, entry(0, sku="a\0b\ud83dc", tags=["\0"]))
    assert rows(url, "SELECT sku FROM goods") == [("a\ufffdb?c",)]


def test_a_number_beyond_64_bits_is_refused_and_nothing_of_the_write_is_kept(url: str) -> None:
    with pytest.raises(RefusedEntry, match="stock"):
        keep(url, entry(0), entry(1, stock=2**63))
    assert rows(url, "SELECT count(*) FROM goods") == [(0,)]


def test_a_rule_of_the_owner_that_a_record_breaks_refuses_that_record(url: str) -> None:
    keep(url)
    engine = open_database(url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE UNIQUE INDEX one_sku ON goods (sku)"))
    engine.dispose()
    keep(url, entry(0))
    with pytest.raises(RefusedEntry):
        keep(url, entry(1))


def test_a_database_that_goes_away_is_a_storage_error(tmp_path: Path) -> None:
    sink = open_sink(f"sqlite:///{tmp_path}/out.db", load_schema(SCHEMA), SinkOptions(table="goods"))
    position = sink.prepare()
    sink.close()
    (tmp_path / "out.db").write_bytes(b"no database " * 1000)
    with pytest.raises(StorageError, match="what was done is kept"):
        sink.write([entry()], position)
    sink.close()


@pytest.mark.parametrize(("url", "message"), [
    ("sqlite:////proc/none/x.db", "cannot be written"),
    ("sqlite://", "names no file"),
    ("postgresql://me:secret@127.0.0.1:1/x", r"postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/x cannot be written"),
])  # fmt: skip
def test_a_database_that_cannot_be_had_is_found_out_before_any_work(url: str, message: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(SinkError, match=message):
        open_sink(url, load_schema(SCHEMA), SinkOptions()).prepare()


def test_a_full_disk_is_a_storage_error_and_keeps_what_was_there(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/out.db"
    keep(url, entry(0))
    sink = open_sink(url, load_schema(SCHEMA), SinkOptions(table="goods"))
    position = sink.prepare()
    with sink._engine.begin() as connection:  # type: ignore[attr-defined]
        n_pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {n_pages}")
    with pytest.raises(StorageError, match="full"):
        sink.write([entry(n, sku="x" * 9000) for n in range(1, 9)], position)
    sink.close()
    assert sqlite3.connect(tmp_path / "out.db").execute("SELECT count(*) FROM goods").fetchone() == (1,)


def test_a_sqlite_file_waits_for_another_writer(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/out.db"
    keep(url)
    other = sqlite3.connect(tmp_path / "out.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    timer.start()
    keep(url, entry(0))
    timer.join()
    other.close()
    assert rows(url, "SELECT count(*) FROM goods") == [(1,)]
