"""`--verify`: the certificate stands in meta, and one that does not hold is a note."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tiny
from pipeline_fakes import LAMP, LAMP_SCHEMA, Decoder

from lookstruct.decoding.certificate import Certificate
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.output import to_json
from lookstruct.pipeline.reader import Reader
from lookstruct.schemas.document import Page
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import Record

URL = "https://shop.example/lamp"


def read(certificate: Certificate | None) -> tuple[Record[Any], list[Any]]:
    asked: list[Any] = []

    def certify(*args: Any, **kwargs: Any) -> Certificate:
        asked.append((args, kwargs))
        assert certificate is not None
        return certificate

    decoder = Decoder()
    reader = Reader(decoder, tiny.tokenizer(), certify=certify if certificate else None)
    record = reader.read(clean(Page(URL, URL, LAMP)), load_schema(LAMP_SCHEMA))
    assert all(args[0] == decoder.prompts[0] and kwargs["grammar"] == decoder.grammars[0] for args, kwargs in asked)
    return record, asked


def test_a_certificate_that_holds_stands_in_meta_without_a_note() -> None:
    record, asked = read(Certificate(True, 12))
    assert len(asked) == 1
    certificate = json.loads(to_json(record.meta["certificate"]))
    assert certificate == {
        "holds": True,
        "tokens": 12,
        "first_difference": None,
        "margin": None,
        "least_margin": None,
    }
    assert not [note for note in record.meta["notes"] if "certificate" in note]


def test_a_certificate_that_does_not_hold_is_a_note_that_says_where_and_by_how_much() -> None:
    record, _ = read(Certificate(False, 12, 7, 0.25, 0.01))
    (note,) = [note for note in record.meta["notes"] if "certificate" in note]
    assert "token number 7" in note
    assert "2.5e-01" in note
    assert record.meta["certificate"]["least_margin"] == pytest.approx(0.01)


def test_nothing_is_certified_unasked() -> None:
    record, asked = read(None)
    assert asked == []
    assert "certificate" not in record.meta
