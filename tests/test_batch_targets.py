import gzip
import io
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from lookstruct.extractors.egress.guard import Guard, Place
from lookstruct.extractors.target import Target
from lookstruct.pipeline.batch.running import _target
from lookstruct.pipeline.batch.targets import listed, read_list
from lookstruct.schemas.errors import BlockedByPolicy, HTTPStatusError, TargetError


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


def test_a_list_that_is_not_there_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be read"):
        read_list(str(tmp_path / "gone.txt"))


def test_a_sitemap_may_not_name_files(tmp_path: Path) -> None:
    sitemap = write(tmp_path, f"<urlset><url><loc>{tmp_path}/sitemap.xml</loc></url></urlset>", "sitemap.xml")
    with pytest.raises(TargetError, match="may name URLs only"):
        read_list(sitemap)


def test_a_page_that_a_sitemap_names_is_not_taken_for_one_that_a_person_named(tmp_path: Path) -> None:
    sitemap = write(tmp_path, "<urlset><url><loc>http://127.0.0.1/admin</loc></url></urlset>", "sitemap.xml")
    (page,) = read_list(sitemap).pages
    target = _target(page)
    assert isinstance(target, Target)
    assert not Guard.for_target(target.typed).admits(Place("127.0.0.1", 80))


class Web(BaseHTTPRequestHandler):
    """Two sitemaps, a list of them, a list that leads to another port of this machine, and nothing else."""

    def do_GET(self) -> None:
        host = self.headers["Host"]
        pages = {
            "/one.xml": b"<urlset><url><loc>https://a.example/1</loc></url></urlset>",
            "/two.xml.gz": gzip.compress(b"<urlset><url><loc>https://a.example/2</loc></url></urlset>"),
            "/index.xml": _index(f"http://{host}/one.xml", f"http://{host}/two.xml.gz", f"http://{host}/one.xml"),
            "/trap.xml": _index("http://127.0.0.1:1/one.xml"),
        }
        body = pages.get(self.path)
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _index(*urls: str) -> bytes:
    inner = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{inner}</sitemapindex>".encode()


@pytest.fixture
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_list_of_sitemaps_on_the_web_is_followed(web: str) -> None:
    pages = read_list(f"{web}/index.xml").pages
    assert [page.target for page in pages] == ["https://a.example/1", "https://a.example/2"]
    assert {page.via for page in pages} == {f"{web}/index.xml"}


@pytest.mark.parametrize(("path", "error"), [("gone.xml", HTTPStatusError), ("trap.xml", BlockedByPolicy)])
def test_a_sitemap_that_cannot_or_must_not_be_had_is_an_error(web: str, path: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=path if path == "gone.xml" else "127.0.0.1:1"):
        read_list(f"{web}/{path}")
