"""What the user typed -> Target, or one sentence that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookstruct.extractors.target import Target, resolve_target
from lookstruct.schemas.errors import TargetError


def test_an_existing_path_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a b.html"
    path.write_text("x")
    monkeypatch.chdir(tmp_path)
    expected = Target("file", str(path.resolve()))
    assert resolve_target("a b.html") == resolve_target(str(path)) == resolve_target(path.as_uri()) == expected


def test_a_path_comes_before_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "example.com").write_text("x")
    assert resolve_target("example.com").kind == "file"


@pytest.mark.parametrize(
    "url", ["https://example.com/x?y#z", "HTTP://localhost:8000", "http://[::1]:80/", "https://ex.ämple/"]
)
def test_a_url_with_a_scheme_is_a_url(url: str) -> None:
    assert resolve_target(f" {url}\n") == Target("url", url)


def test_a_dash_is_standard_input() -> None:
    assert resolve_target("-").kind == "stdin"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("example.com/x", "did you mean https://example.com/x ?"),
        ("www.example.co.uk", "did you mean https://www.example.co.uk ?"),
        ("example.com:8443/x", "did you mean https://example.com:8443/x ?"),
        ("localhost:8000/x", "did you mean http://localhost:8000/x ?"),
        ("127.0.0.1/x", "did you mean http://127.0.0.1/x ?"),
        ("page.html", "check the path"),
        ("./no/such/file", "check the path"),
        ("javascript:alert(1)", "scheme 'javascript': only http and https"),
        ("data:text/html,x", "scheme 'data'"),
        ("view-source:https://a.example", "scheme 'view-source'"),
        ("ftp://a.example/x", "scheme 'ftp'"),
        ("chrome://version", "scheme 'chrome'"),
        ("file:///no/such/file", "does not exist"),
        ("file://server/share/x", "another machine"),
        ("https://", "no valid host name"),
        ("https:///path", "no valid host name"),
        ("https://a b/", "no valid host name"),
        ("http://[::1", "not a valid URL"),
        ("http://a:port/", "not a valid URL"),
        ("<p>hello", "looks like HTML"),
        ("", "empty"),
        ("a\0b", "neither"),
        ("x" * 5000, "neither"),
    ],
)
def test_anything_else_is_one_helpful_sentence(text: str, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        resolve_target(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="is a folder"):
        resolve_target(str(tmp_path))
