import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lookstruct.pipeline.batch.targets import listed, read_list
from lookstruct.schemas.errors import TargetError


def write(folder: Path, text: str, name: str = "list.txt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_list_has_a_target_a_line_with_comments_and_empty_lines(tmp_path: Path) -> None:
    pages = read_list(write(tmp_path, "\ufeff# shops\n\nhttps://a.example/1\n  https://a.example/2  \r\n")).pages
    assert [(page.number, page.target, page.line) for page in pages] == [
        (0, "https://a.example/1", 3),
        (1, "https://a.example/2", 4),
    ]


def test_a_page_that_is_listed_twice_runs_once_under_its_first_line(tmp_path: Path) -> None:
    text = "https://a.example\nHTTPS://A.example/\nhttps://a.example/?x=1\nhttps://a.example/#top\n"
    found = read_list(write(tmp_path, text))
    assert [page.target for page in found.pages] == [
        "https://a.example/",
        "https://a.example/?x=1",
        "https://a.example/#top",
    ]
    assert found.n_duplicates == 1


def test_files_are_named_by_their_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "<p>", "page.html")
    assert read_list(write(tmp_path, "page.html\n./page.html")).pages[0].target == str(tmp_path / "page.html")


def test_every_line_that_is_no_page_is_named(tmp_path: Path) -> None:
    text = "https://a.example/\nshop.example/x\n# fine\nftp://a.example/\nhttps://\n-\nhttps://a.example/\x00\n"
    with pytest.raises(TargetError) as caught:
        read_list(write(tmp_path, text))
    message = str(caught.value)
    assert "has 5 lines that name no page" in message
    for line in (2, 4, 5, 6, 7):
        assert f"line {line}: " in message
    assert "did you mean https://shop.example/x" in message


def test_of_many_faults_the_first_are_shown() -> None:
    with pytest.raises(TargetError, match=r"has 20 lines .*line 5: .*; and 15 more\."):
        listed([(number, "nonsense") for number in range(1, 21)])


def test_a_sitemap_is_a_list_of_its_pages(tmp_path: Path) -> None:
    sitemap = write(tmp_path, "<urlset><url><loc>https://a.example/1</loc></url></urlset>", "sitemap.xml")
    assert [(page.target, page.line) for page in read_list(sitemap).pages] == [("https://a.example/1", None)]


def test_a_list_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"https://a.example/1\n")))
    assert [page.target for page in read_list("-").pages] == ["https://a.example/1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n# nothing\n", "names no page"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"<html></html>", "begins with <html>"),
    ],
)
def test_what_is_no_list_is_said_in_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "list.txt").write_bytes(content)
    with pytest.raises(TargetError, match=message):
        read_list(str(tmp_path / "list.txt"))


def test_a_list_that_is_not_there_or_on_the_web_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be read"):
        read_list(str(tmp_path / "gone.txt"))
    with pytest.raises(TargetError, match="save the list first"):
        read_list("https://a.example/sitemap.xml")
