import json
import os
from pathlib import Path

import pytest

from lookstruct.pipeline.output import check_writable, full_json, to_json, write_json
from lookstruct.schemas.document import Span
from lookstruct.schemas.errors import SinkError
from lookstruct.schemas.record import Evidence, EvidenceStatus, Record, Stats


def test_a_json_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old and longer than what comes")
    write_json(path, {"name": "Lampe für 5 €"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "Lampe für 5 €"}
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_missing_folder_a_folder_and_a_forbidden_place_are_found_out_at_once(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "gone" / "out.json", tmp_path / "folder.json", Path("/proc/out.json")):
        with pytest.raises(SinkError, match=r"out.json cannot be written|is a folder"):
            check_writable(path)


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
