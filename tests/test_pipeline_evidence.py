import math

from lookstruct.decoding.request import Completion
from lookstruct.extractors.clean import clean
from lookstruct.pipeline.evidence import evidence_of
from lookstruct.pipeline.leaves import leaves
from lookstruct.pipeline.values.found import find_all
from lookstruct.schemas.document import Page
from lookstruct.schemas.loader import load_schema
from lookstruct.schemas.record import Evidence, EvidenceStatus, Stats

PAGE = clean(Page("", "https://shop.example/", "<h1>Brass lamp</h1><p>Price: 1.045,50 EUR"))
SCHEMA = load_schema("name: str, price: float, colour: str?")
DATA = {"name": "Brass lamp", "price": 1045.5, "colour": None}
PIECES = (b'{"name": "', b"Brass lamp", b'", "price": ', b"1045.5", b', "colour": null}')


def evidence(pieces: tuple[bytes, ...], logprobs: tuple[float, ...]) -> dict[str, Evidence]:
    text = b"".join(pieces).decode()
    completion = Completion(text, range(len(logprobs)), logprobs, "eos", Stats(), pieces=pieces)
    return dict(evidence_of(DATA, PAGE, SCHEMA, completion, find_all(PAGE)))


def test_every_leaf_says_where_it_stands() -> None:
    found = evidence((), ())
    assert list(found) == ["/name", "/price", "/colour"] == [pointer for pointer, _ in leaves(DATA)]
    assert (found["/name"].status, found["/name"].text) == (EvidenceStatus.EXACT, "Brass lamp")
    assert (found["/price"].status, found["/price"].text) == (EvidenceStatus.NORMALISED, "1.045,50")
    assert (found["/colour"].status, found["/colour"].span) == (EvidenceStatus.NONE, None)


def test_confidence_is_that_of_the_tokens_which_spell_the_value() -> None:
    found = evidence(PIECES, (0.0, math.log(0.8), 0.0, math.log(0.5), 0.0))
    assert found["/name"].confidence is not None
    assert found["/price"].confidence is not None
    assert math.isclose(found["/name"].confidence, 0.8)
    assert math.isclose(found["/price"].confidence, 0.5)


def test_without_the_tokens_there_is_no_confidence() -> None:
    assert {one.confidence for one in evidence((), ()).values()} == {None}
