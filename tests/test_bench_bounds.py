"""Bounds of ideas by replay: what rows beside the path tell, exactly, and what is drafted from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tiny
import torch
from drafts import VOCABULARY

from bench.asked import AskedColumns, AskedNodes, bridge
from bench.bounds import Bound, conditioned, corrected
from bench.foresight import FieldJacobi, Learnt, OffPath, Truth, state_of
from lookstruct.decoding.constraint import Grammar, allowed_ids
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.cursor import JsonReader, Place
from lookstruct.decoding.planner import Offer
from lookstruct.decoding.request import Candidate, Completion, Hints, Options
from lookstruct.decoding.runner import Runner
from lookstruct.decoding.sampler import Choice
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.sources import SOURCES
from lookstruct.decoding.sources.base import Draft, DraftContext, DraftRequest
from lookstruct.decoding.tree import DraftTree

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "maker": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "maker", "price", "tags"],
    "additionalProperties": False,
}
GRAMMAR = Grammar.json_schema(SCHEMA)
TEXT = '{"name": "Anvil", "maker": "Harrow", "price": 129.5, "tags": ["black", "blue"]}'
TRUTH = Truth(VOCABULARY.encode(TEXT), VOCABULARY, GRAMMAR)
MAKER, PRICE = TRUTH.leaves[1].first, TRUTH.leaves[2].first


def offer(text: str, p: float) -> Offer:
    return Offer("script", Draft(text.encode(), p=p), p, 0.95)


class Script:
    """Drafts one fixed text wherever the text so far is its beginning `since`."""

    name = "script"
    lines: tuple[tuple[bytes, bytes], ...] = ()

    def __init__(self, request: DraftRequest) -> None:
        pass

    def propose(self, context: DraftContext) -> list[Draft]:
        return [Draft(text, p=0.6, q=0.95) for since, text in self.lines if context.text == since]

    def observe(self, context: DraftContext, n_new: int) -> None:
        pass


def run(learnt: Learnt, *, hints: Hints = Hints(), **options: object) -> Completion:  # noqa: B008  frozen
    made = Bound(VOCABULARY, CostModel.assumed(), learnt).generate(
        [5, 6],
        grammar=GRAMMAR,
        hints=hints,
        options=Options(**options),  # type: ignore[arg-type]
    )
    assert made.text == TEXT
    return made


SCRIPT = ('{"name":', ' "Bolt", "maker": "Harrow", "price": 12')


def scripted(monkeypatch: pytest.MonkeyPatch, learnt: OffPath, line: tuple[str, str] = SCRIPT) -> int:
    """The forwards where this is the only draft."""
    monkeypatch.setitem(SOURCES, "script", Script)
    monkeypatch.setattr(Script, "lines", ((line[0].encode(), line[1].encode()),))
    return run(learnt, sources=("script",), nodes=64).stats.forwards


def told(learnt: Learnt, first: int) -> dict[int, str]:
    """What was told of the recording's tokens from `first` on."""
    return {i: piece.decode() for i, piece in sorted(learnt.told.items()) if i >= first}


def at(text: str) -> tuple[bytes, JsonReader]:
    reader = JsonReader()
    reader.feed(text.encode())
    return text.encode(), reader


def test_a_state_forgets_the_fields_before() -> None:
    texts = ('{"name": "Anvil", "maker": "Har', '{"name": "Something else", "maker": "Har')
    states = {state_of(text, reader.cursor) for text, reader in map(at, texts)}
    assert states == {(Place.IN_STRING, ("maker",), b'"Har')}


def test_tokens_without_a_choice_and_values_are_found_in_a_recording() -> None:
    text = [piece.decode() for piece in TRUTH.pieces]
    assert {text[i] for i in TRUTH.forced} >= {"name", "price", "tags", "}"}
    assert [("".join(text[leaf.first : leaf.stop]), leaf.path) for leaf in TRUTH.leaves] == [
        (' "Anvil",', ("name",)),
        (' "Harrow",', ("maker",)),
        (" 129.5,", ("price",)),
        (' ["black",', ("tags", 0)),
        (' "blue"]', ("tags", 1)),
    ]


def test_nodes_behind_a_wrong_value_tell_the_fields_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt = OffPath(TRUTH, belief=0.0)
    scripted(monkeypatch, learnt)
    assert "".join(told(learnt, MAKER).values()) == ' "Harrow", "price": 129'
    assert MAKER - 1 in learnt.told


def test_nothing_is_told_behind_the_first_wrong_token_of_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt = OffPath(TRUTH, belief=0.0)
    scripted(monkeypatch, learnt, ('{"name":', ' "Bolt", "maker": "Hat", "price": 129.9'))
    assert [TRUTH.pieces[MAKER + i] for i in range(4)] == [b' "', b"Ha", b"rrow", b'",']
    assert [MAKER + i in learnt.told for i in range(4)] == [True, True, True, False]
    assert "".join(told(learnt, PRICE).values()) == " 129.5"


def test_without_a_node_nothing_is_told() -> None:
    learnt = OffPath(TRUTH)
    run(learnt, sources=())
    assert learnt.told == {}


def test_each_forward_that_ended_at_a_told_token_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, informed = OffPath(TRUTH, belief=0.0), OffPath(TRUTH)
    before, after = scripted(monkeypatch, plain), scripted(monkeypatch, informed)
    assert (before, plain.ends_told) == (17, 5)
    assert (after, informed.ends_told) == (17 - 5, 0)


def test_a_column_learns_one_choice_in_every_forward() -> None:
    learnt = FieldJacobi(TRUTH, K=1)
    assert run(learnt, sources=()).stats.forwards == 18
    missed = {3, 4, 5, 15}  # the first value is never ahead, the second is reached one token before its end
    assert set(learnt.told) == {i for leaf in TRUTH.leaves for i in range(leaf.first, leaf.stop)} - missed
    assert learnt.n_rows == len(learnt.told)


@pytest.mark.parametrize(("K", "standing"), [(1, 1), (2, 2), (4, 4), (9, 4)])
def test_columns_stand_at_the_next_values_and_not_at_the_one_that_is_to_be_written(K: int, standing: int) -> None:
    learnt = FieldJacobi(TRUTH, K)
    sequence, _ = Bound(VOCABULARY, CostModel.assumed(), learnt).begin([5, 6], grammar=GRAMMAR)
    sequence.absorb_forced()
    assert bytes(sequence.text) == b'{"name":'
    assert learnt.columns(sequence) == standing


def test_columns_are_paid_for_in_every_forward() -> None:
    plain, columns = OffPath(TRUTH, belief=0.0), FieldJacobi(TRUTH, K=2)
    before, after = (run(learnt, sources=()).stats for learnt in (plain, columns))
    assert before.forwards == after.forwards
    assert after.modelled_s - before.modelled_s == pytest.approx(0.03 * columns.n_rows)


def test_a_value_that_comes_out_wrong_reads_like_another_one() -> None:
    learnt = FieldJacobi(TRUTH, K=2, right=0.0)
    run(learnt, sources=())
    assert learnt.told[MAKER].decode() in (' "Anvil",', ' "blue"]')
    assert all(i not in learnt.told for i in range(PRICE, PRICE + 4)), "no other number to take it for"


def test_offers_that_say_what_is_known_share_the_belief() -> None:
    offers = [offer("abcd", 0.4), offer("abcx", 0.1), offer("xyz", 0.3), offer("ab", 0.2)]
    found = [(o.draft.text, round(o.p, 3)) for o in conditioned(offers, b"abc", 0.9)]
    assert found == [(b"abcd", 0.72), (b"abcx", 0.18), (b"xyz", 0.03)]


def test_what_no_offer_says_is_offered() -> None:
    found = [(o.source, o.draft.text, round(o.p, 3)) for o in conditioned([offer("xyz", 0.3)], b"abc", 0.9)]
    assert found == [("learnt", b"abc", 0.9), ("script", b"xyz", 0.03)]
    assert conditioned([offer("xyz", 0.3)], b"", 0.9) == [offer("xyz", 0.3)]


def test_a_draft_is_corrected_where_it_passes_what_is_known() -> None:
    learnt = OffPath(TRUTH, belief=0.9)
    learnt.told = {MAKER + i: TRUTH.pieces[MAKER + i] for i in range(4)}
    draft = offer(' "Bolt", "maker": "Hat", "price": 1', 0.6)
    better, worse = corrected(draft, *at('{"name":'), learnt)
    assert better.draft.text.decode() == ' "Bolt", "maker": "Harrow", "price":'
    assert (worse.draft, better.p, worse.p) == (draft.draft, pytest.approx(0.54), pytest.approx(0.06))


def test_a_draft_that_ends_inside_what_is_known_is_carried_on() -> None:
    learnt = OffPath(TRUTH)
    learnt.told = {MAKER + i: TRUTH.pieces[MAKER + i] for i in range(4)}
    (longer,) = corrected(offer(' "Bolt", "maker": "Ha', 0.6), *at('{"name":'), learnt)
    assert longer.draft.text.decode() == ' "Bolt", "maker": "Harrow", "price":'
    same = offer(' "Bolt", "maker": "Harrow", "price": 7', 0.6)
    assert corrected(same, *at('{"name":'), learnt) == [same]


class Overheard(OffPath):
    """Keeps the text of every node, and what was told."""

    def __init__(self, truth: Truth) -> None:
        super().__init__(truth)
        self.texts: set[bytes] = set()

    def learn(self, sequence: Sequence, tree: DraftTree) -> None:
        for i in range(len(tree)):
            tokens = [tree.nodes[j].token for j in tree.path(i)]
            self.texts.add(bytes(sequence.text) + VOCABULARY.decode(tokens))
        super().learn(sequence, tree)


PAGE = Hints(
    page="Harrow\nAnvil\nHarrow & Finch\nprice 1295 129.50 129.5\nblack, blue and green\nmaker Finch\nname Harrow\n",
    candidates=(
        *(
            Candidate(text, "line", at)
            for at, text in enumerate(("Harrow", "Anvil", "Finch", "black", "blue", "green"))
        ),
        Candidate("1295", "number", 30),
        Candidate("129.5", "number", 40, "price"),
    ),
    schema=SCHEMA,
)


def test_nothing_is_told_that_no_node_stood_before() -> None:
    learnt = Overheard(TRUTH)
    run(learnt, hints=PAGE, nodes=32)
    assert len(learnt.told) > 10
    for i in learnt.told:
        before = b"".join(TRUTH.pieces[:i])
        since = max(before.rfind(mark) for mark in (b", ", b": ", b'":', b",", b"[", b"{", b"]"))
        assert any(text.endswith(before[since:]) for text in learnt.texts), (i, TRUTH.pieces[i])


@pytest.mark.parametrize("nodes", [2, 4, 8, 16, 32, 128])
@pytest.mark.parametrize("idea", [OffPath, lambda truth: FieldJacobi(truth, 1), lambda truth: FieldJacobi(truth, 4)])
def test_who_knows_more_never_needs_more_forwards(idea: Callable[[Truth], Learnt], nodes: int) -> None:
    before = run(OffPath(TRUTH, belief=0.0), hints=PAGE, nodes=nodes).stats.forwards
    assert run(idea(TRUTH), hints=PAGE, nodes=nodes).stats.forwards <= before


def asked(K: int) -> AskedColumns:
    return AskedColumns(TRUTH, K, belief=0.7, runner=Runner(tiny.model("qwen2")), vocabulary=VOCABULARY)


def test_a_bridge_leads_from_one_value_to_a_later_one() -> None:
    assert bridge(("name",), ("maker",)) == b', "maker": '
    assert bridge(("items", 2, "price"), ("total",)) == b'}], "total": '
    assert bridge(("items", 2, "price"), ("items", 3, "seller", "name")) == b'}, {"seller": {"name": '
    assert bridge(("tags", 0), ("tags", 2)) == b", "


def test_an_asked_column_answers_what_the_model_writes_behind_its_rows() -> None:
    """One column at a time, in one forward of its own: text, open value closed, key, what is known of the value."""
    learnt, model = asked(1), tiny.model("qwen2")
    sequence, _ = Bound(VOCABULARY, CostModel.assumed(), learnt).begin([5, 6], grammar=GRAMMAR)
    sequence.absorb_forced()
    for token in VOCABULARY.encode(' "Anvil'):
        sequence.commit(Choice(token, 0.0, 0.0), "model")
    learnt.learn(sequence, DraftTree())
    column = learnt._columns[1]
    shown = [*sequence.ids, *VOCABULARY.continuation(sequence.ids, b'", "maker":')]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([shown])).logits[0, -1]
    start = TRUTH.start.fork()
    for token in TRUTH.token_ids[:MAKER]:
        start.advance(token)
    ids = allowed_ids(start.mask(), tiny.WIDTH)
    assert column.tokens[0] == ids[int(logits[torch.from_numpy(ids)].argmax())]
    assert learnt.columns(sequence) == len(shown) - len(sequence.ids) + len(column.tokens)


@pytest.mark.parametrize("K", [1, 3])
def test_what_a_random_model_answers_changes_no_text(K: int) -> None:
    learnt = asked(K)
    run(learnt, hints=PAGE, nodes=16)
    assert learnt.n_rows > 0
    assert 0 <= learnt.n_right <= learnt.n_ended <= len(TRUTH.leaves)


def test_an_asked_node_answers_what_the_model_writes_behind_its_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt = AskedNodes(TRUTH, belief=0.0, runner=Runner(tiny.model("qwen2")))
    scripted(monkeypatch, learnt)
    shown = [5, 6, *VOCABULARY.encode('{"name": "Bolt", "maker": "Ha')]
    with torch.no_grad():
        logits = tiny.model("qwen2")(input_ids=torch.tensor([shown])).logits[0, -1]
    start = TRUTH.start.fork()
    for token in TRUTH.token_ids[: MAKER + 2]:
        start.advance(token)
    ids = allowed_ids(start.mask(), tiny.WIDTH)
    assert learnt.told[MAKER + 2] == VOCABULARY.token_bytes[ids[int(logits[torch.from_numpy(ids)].argmax())]]
    assert 0 <= learnt.n_right <= learnt.n_told < 20
