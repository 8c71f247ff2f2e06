import json
import os
import threading
from pathlib import Path

import pytest

from lookstruct.pipeline.output import check_writable, full_json, open_output, to_json, write_json
from lookstruct.schemas.document import Span
from lookstruct.schemas.errors import SinkError
from lookstruct.schemas.record import Evidence, EvidenceStatus, Record, Stats


def test_a_json_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old and longer than what comes")
    open_output(str(path))({"name": "Lampe für 5 €"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "Lampe für 5 €"}
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_jsonl_file_gets_a_line_more(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for number in range(3):
        open_output(str(path))({"n": number, "text": "a\nb"})
    assert [json.loads(line)["n"] for line in path.read_text(encoding="utf-8").splitlines()] == [0, 1, 2]


def test_lines_added_by_several_threads_stay_whole(tmp_path: Path) -> None:
    write = open_output(str(tmp_path / "out.jsonl"))
    threads = [threading.Thread(target=lambda: [write({"x": "y" * 2000}) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"x": "y" * 2000}] * 80


@pytest.mark.parametrize("name", ["out.csv", "out", ""])
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SinkError, match=r"neither -, a .json nor a .jsonl file"):
        open_output(str(tmp_path / name) if name else "")


def test_a_missing_folder_a_folder_and_a_forbidden_place_are_found_out_at_once(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "gone" / "out.json", tmp_path / "folder.json", Path("/proc/out.json")):
        with pytest.raises(SinkError, match=r"out.json cannot be written|is a folder"):
            open_output(str(path))


def test_looking_whether_a_file_is_writable_changes_nothing(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("{}")
    check_writable(old)
    check_writable(tmp_path / "new.json")
    assert old.read_text() == "{}"
    assert os.listdir(tmp_path) == ["old.json"]


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "null.json"
    link.symlink_to(os.devnull)
    write_json(link, {"x": 1})
    assert not Path(os.devnull).is_file()


def test_a_linked_file_is_replaced_behind_its_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    write_json(tmp_path / "link.json", [1])
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text()) == [1]


def test_half_a_surrogate_pair_is_written_as_its_escape() -> None:
    text = to_json({"x": "\ud83d"})
    assert json.loads(text.encode("utf-8")) == {"x": "\ud83d"}


def test_the_full_form_has_data_evidence_and_meta() -> None:
    evidence = {"/a": Evidence(EvidenceStatus.EXACT, Span(2, 5), "one", "p")}
    record = Record(value=None, data={"a": "one"}, evidence=evidence, raw="", stats=Stats(), meta={"url": "u"})
    assert full_json(record) == {
        "data": {"a": "one"},
        "evidence": {
            "/a": {"status": "exact", "start": 2, "end": 5, "text": "one", "dom_path": "p", "confidence": None}
        },
        "meta": {"url": "u"},
    }
