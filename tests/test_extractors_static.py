"""Files, standard input and given HTML, read without a browser: charsets, sizes, what is no page."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from lookstruct.extractors.clean import clean
from lookstruct.extractors.decode import codec_of, decode
from lookstruct.extractors.fetch import Fetcher
from lookstruct.extractors.neterrors import fetch_error
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.target import Target
from lookstruct.schemas.errors import (
    BlockedByPolicy,
    ContentTypeError,
    EmptyPage,
    FetchTimeout,
    PageTooLarge,
    UsageError,
)

STATIC = FetchOptions(render=False)
GERMAN = "Die Straße nach Köln ist für Fußgänger gesperrt, die Brücke über den Fluß dagegen nicht. " * 3
CHINESE = "价格是二十五元，运费另计，请在三天之内付款，谢谢您的惠顾，欢迎下次光临。" * 3
JAPANESE = "価格は二千五百円です。送料は別途かかります。お支払いは三日以内にお願いします。ありがとうございます。" * 3


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbf" + "<meta charset=latin1>ö".encode(), "<meta charset=latin1>ö"),
        ("\ufeffö".encode("utf-16-le"), "ö"),
        ("\ufeffö".encode("utf-16-be"), "ö"),
        ("<meta charset=gbk>价格".encode("gbk"), "<meta charset=gbk>价格"),
        ("<meta charset='Shift_JIS'>価格①".encode("cp932"), "<meta charset='Shift_JIS'>価格①"),
        ("<meta charset=iso-8859-1>“ö” €".encode("cp1252"), "<meta charset=iso-8859-1>“ö” €"),
        ("<?xml version='1.0' encoding='koi8-r'?>цена".encode("koi8-r"), "<?xml version='1.0' encoding='koi8-r'?>цена"),
        ("ö".encode(), "ö"),
        (b"plain", "plain"),
        (b"", ""),
    ],
)
def test_a_right_declaration_is_followed(data: bytes, text: str) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.note) == (text, None)


def test_the_http_header_comes_before_the_page() -> None:
    data = "<meta charset=latin1>цена".encode("cp1251")
    assert decode(data, 'text/html; charset="windows-1251"').text.endswith("цена")


@pytest.mark.parametrize(
    ("text", "declared", "actual"),
    [
        (GERMAN, "utf-8", "windows-1252"),
        (GERMAN, "iso-8859-1", "utf-8"),
        (CHINESE, "utf-8", "gb18030"),
        (JAPANESE, "utf-8", "cp932"),
        (JAPANESE, "windows-1252", "utf-8"),
    ],
)
def test_a_wrong_declaration_is_put_right_and_noted(text: str, declared: str, actual: str) -> None:
    decoded = decode(f"<meta charset={declared}>{text}".encode(actual))
    assert decoded.text.endswith(text)
    assert decoded.note is not None
    assert "but its bytes are not: read as" in decoded.note


@pytest.mark.parametrize(("text", "encoding"), [(GERMAN, "windows-1252"), (CHINESE, "gb18030"), (JAPANESE, "cp932")])
def test_no_declaration_is_guessed(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_any_bytes_can_be_read() -> None:
    assert decode(bytes(range(1, 256)) * 3).text


def test_unknown_and_binary_codecs_are_passed_over() -> None:
    assert [codec_of(label) for label in ("klingon", "rot13", "hex", "utf-16", "x-sjis")] == [
        None,
        None,
        None,
        "utf-8",
        "cp932",
    ]
    assert decode("<meta charset=klingon>ö".encode()).text.endswith("ö")


async def test_a_file_is_read_without_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "seite.html"
    path.write_bytes("<meta charset=gbk><p>价格 12".encode("gbk"))
    async with Fetcher(STATIC) as fetcher:
        page = await fetcher.fetch(str(path))
    assert (page.url, page.final_url, page.status, page.hidden_paths) == (path.as_uri(), path.as_uri(), 200, None)
    assert clean(page).text == "价格 12"


async def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("<p>Köln<a href=x>y".encode("cp1252"))))
    async with Fetcher() as fetcher:
        page = await fetcher.fetch("-", FetchOptions(base_url="https://a.example/b/"))
    assert clean(page).text == "Kölny"
    assert clean(page).links[0].href == "https://a.example/b/x"


async def test_given_html_is_read_as_it_is() -> None:
    async with Fetcher() as fetcher:
        page = await fetcher.fetch(Target.html("<meta charset=gbk><p>ö<a href='/x'>y"))
    assert (clean(page).text, clean(page).links[0].href) == ("öy", "/x")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7 ...", "is a PDF"),
        (b"\x89PNG\r\n\x1a\n", "is an image"),
        (b"\xff\xd8\xff\xe0", "is an image"),
        (b"RIFF\0\0\0\0WEBP", "is an image"),
        (b"PK\x03\x04", "is a ZIP archive"),
        (b"\x1f\x8b\x08", "is a gzip archive"),
        (b"\x7fELF\x00\x01", "is a binary file"),
    ],
)
@pytest.mark.parametrize("render", [None, False])
async def test_a_file_that_is_no_page_is_named(tmp_path: Path, data: bytes, said: str, render: bool | None) -> None:
    path = tmp_path / "x.html"
    path.write_bytes(data)
    async with Fetcher() as fetcher:
        with pytest.raises(ContentTypeError, match=said):
            await fetcher.fetch(str(path), FetchOptions(render=render))


async def test_a_file_over_the_limit_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    with path.open("wb") as file:
        file.truncate(10_000_000_000)
    async with Fetcher() as fetcher:
        with pytest.raises(PageTooLarge, match="larger than 20 MB"):
            await fetcher.fetch(str(path))


async def test_an_empty_file_is_an_empty_page(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text(" \n")
    async with Fetcher() as fetcher:
        with pytest.raises(EmptyPage, match="is empty: expected HTML"):
            await fetcher.fetch(str(path), STATIC)


async def test_a_url_needs_the_browser() -> None:
    async with Fetcher() as fetcher:
        with pytest.raises(UsageError, match="needs the browser"):
            await fetcher.fetch("https://a.example/", STATIC)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("ERR_NAME_NOT_RESOLVED", None, "unknown host name"),
        ("ERR_CONNECTION_TIMED_OUT", FetchTimeout, "raise the timeout"),
        ("ERR_CERT_DATE_INVALID", None, "has expired"),
        ("ERR_CERT_AUTHORITY_INVALID", None, "issuer is unknown"),
        ("ERR_CERT_WEAK_KEY", None, "certificate that cannot be trusted"),
        ("ERR_UNSAFE_REDIRECT", BlockedByPolicy, "refused"),
        ("ERR_NEVER_HEARD_OF", None, "Chromium says ERR_NEVER_HEARD_OF"),
    ],
)
def test_chromium_errors_become_one_sentence(name: str, kind: type[Exception] | None, said: str) -> None:
    error = fetch_error("https://a.example/", name)
    assert said in str(error)
    assert kind is None or isinstance(error, kind)


def test_options_refuse_unknown_fields_and_describe_known_ones() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        FetchOptions.model_validate({"time_out": 3})
    assert all(field.description for field in FetchOptions.model_fields.values())
