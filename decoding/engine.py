"""Prompt + grammar + hints -> tokens: lookahead decoding under a grammar, exact and drafted from everywhere.

One step of every sequence is one forward: forced tokens become pending, sources draft, the planner buys the drafts
that pay, one forward evaluates everything under a tree mask, the walk commits what the model agrees with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Seq
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.closing import Closer
from lookstruct.decoding.constraint import Grammar, GrammarCompiler, Meter
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.drafting import Drafter
from lookstruct.decoding.judges import ModelJudge
from lookstruct.decoding.measuring import cost_model
from lookstruct.decoding.planner import Budget, Planner
from lookstruct.decoding.request import Completion, Hints, Options, Step
from lookstruct.decoding.runner import Runner
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.sources import build_sources
from lookstruct.decoding.sources.base import DraftRequest
from lookstruct.decoding.sources.window import LookaheadWindow
from lookstruct.decoding.stock import StockJudge
from lookstruct.decoding.tree import DraftTree, lay_out
from lookstruct.decoding.verify import Judge, walk
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.errors import ContextOverflow

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CANNOT_DRAFT = "This model cannot verify drafts (recurrent state or alibi positions): decoded autoregressively."

Job = tuple[Sequence, Drafter]
"""A sequence and who drafts for it."""


class Decoder:
    """The loop itself, whoever judges the tokens: a model (`Engine`) or a recorded run (`replay.Replay`)."""

    def __init__(self, vocabulary: Vocabulary, judge: Judge, cost: CostModel | None, max_context: int) -> None:
        self.vocabulary = vocabulary
        self.max_context = max_context
        self._grammars = GrammarCompiler(vocabulary)
        self._closer = Closer(vocabulary)
        self._planner = Planner(vocabulary)
        self._judge = judge
        self._cost = cost

    @property
    def can_draft(self) -> bool:
        """Whether drafts can be verified at all."""
        return True

    def generate(
        self,
        prompt_ids: Seq[int],
        *,
        grammar: Grammar | None = None,
        hints: Hints = Hints(),  # noqa: B008  frozen
        options: Options = Options(),  # noqa: B008  frozen
        on_text: Callable[[str], None] | None = None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> Completion:
        """Decode one request to its end.

        `on_text` gets the text piece by piece as it becomes certain; `cancel` is asked before every forward. Raises
        ContextOverflow if prompt and answer don't fit the model, SchemaError if the grammar can't be enforced.
        """
        job = self.begin(prompt_ids, grammar=grammar, hints=hints, options=options, on_text=on_text)
        for _ in self.steps(job, cancel):
            pass
        return self.completion(job[0])

    def steps(self, job: Job, cancel: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Decode one sequence to its end, a forward an iteration: between two of them it may be looked at.

        An iterator that is closed early gives the sequence's memory back at once.
        """
        sequence = job[0]
        try:
            self.prefill(sequence, cancel)
            while sequence.finish is None:
                start = time.perf_counter()
                if cancel():
                    sequence.finish = "cancelled"
                    sequence.emit()
                else:
                    self.step([job])
                sequence.stats.decode_s += time.perf_counter() - start
                yield
        finally:
            self._judge.release(sequence)

    def step(self, jobs: Seq[Job]) -> None:
        """One forward for each sequence that has not ended."""
        for sequence, drafter in jobs:
            if sequence.options.skip_forced:
                sequence.absorb_forced()
            if sequence.finish is None:
                self._advance(sequence, drafter)
            sequence.emit()

    def begin(
        self,
        prompt_ids: Seq[int],
        *,
        grammar: Grammar | None = None,
        hints: Hints = Hints(),  # noqa: B008
        options: Options = Options(),  # noqa: B008
        on_text: Callable[[str], None] | None = None,
    ) -> Job:
        """A sequence ready for prefill and steps."""
        room = self.max_context - len(prompt_ids)
        if room < 1 or not prompt_ids:
            raise ContextOverflow(
                f"The prompt has {len(prompt_ids)} tokens and the model takes 1 to {self.max_context - 1}: "
                "shorten the page or use a model with a longer context."
            )
        sequence = Sequence(
            prompt_ids,
            self.vocabulary,
            options,
            None if grammar is None else self._grammars.start(grammar),
            self._closer,
            min(options.max_new_tokens, room),
            is_json=grammar is not None and grammar.is_json,
            on_text=on_text,
        )
        request = DraftRequest(self.vocabulary, hints, options, tuple(prompt_ids))
        drafts = self.can_draft and options.mode != "autoregressive"
        if not self.can_draft:
            sequence.stats.notes.append(CANNOT_DRAFT)
        sources = build_sources(request) if drafts else []
        return sequence, Drafter(sources, self.vocabulary)

    def completion(self, sequence: Sequence) -> Completion:
        """What came of a sequence that has ended."""
        assert sequence.finish is not None
        stats = sequence.stats
        if sequence.repeats is not None and sequence.repeats.stopped:
            stats.notes.append("A list repeated itself and was ended; its last items may stand on the page only once.")
        stats.new_tokens = sequence.n_generated
        stats.finish_reason = sequence.finish
        stats.token_ids = sequence.generated
        return Completion(
            text=sequence.stream.text,
            token_ids=stats.token_ids,
            logprobs=sequence.logprobs,
            finish_reason=sequence.finish,
            stats=stats,
            sources=tuple(sequence.origins),
            pieces=tuple(self.vocabulary.token_bytes[token] for token in stats.token_ids),
            steps=tuple(sequence.steps),
        )

    def prefill(self, sequence: Sequence, cancel: Callable[[], bool] = lambda: False) -> None:
        """KV of the prompt but for its last token, which the first step evaluates together with the first drafts."""
        start = time.perf_counter()
        self._judge.prefill(sequence, cancel)
        sequence.stats.prefill_s = time.perf_counter() - start

    def _advance(self, sequence: Sequence, drafter: Drafter) -> None:
        clock = _Clock(sequence)
        pending = sequence.pending
        tree = self._draft(sequence, drafter, len(pending))
        clock.lap("draft_s")
        window = self._window(sequence, drafter)
        rows = lay_out(pending, sequence.cache.length, tree, None if window is None else window.rows(pending[-1]))
        verdicts = self._judge.evaluate(sequence, rows, tree)
        if window is not None:
            window.learn(*verdicts.extra_argmax(window.asked))
        walked = walk(sequence, tree, verdicts)
        clock.lap("model_s")
        kept = [*range(len(pending)), *(len(pending) + node for node in walked.nodes)]
        self._judge.commit(sequence, [rows.token_ids[i] for i in kept], kept)
        clock.lap("cache_s")
        drafter.observe(sequence, walked.tokens)
        clock.lap("draft_s")
        _count(sequence, len(rows.token_ids), tree, walked.nodes, walked.tokens)

    def _window(self, sequence: Sequence, drafter: Drafter) -> LookaheadWindow | None:
        """The lookahead window, as long as its rows stand at positions that the model has."""
        window = drafter.window
        if window is None or len(sequence.ids) + window.reach > self.max_context:
            return None
        return window

    def _draft(self, sequence: Sequence, drafter: Drafter, n_pending: int) -> DraftTree:
        if not drafter.sources or sequence.remaining <= 1:
            return DraftTree()
        budget = Budget(self.cost, n_pending, sequence.cache.length, sequence.options.nodes)
        offers = drafter.propose(sequence)
        return self._planner.plan(sequence.constraint, sequence.ids[-8:], offers, budget, sequence.remaining - 1)

    @property
    def cost(self) -> CostModel:
        """The machine's cost curve; an assumed one where nothing was measured."""
        if self._cost is None:
            self._cost = CostModel.assumed()
        return self._cost


class Engine(Decoder):
    """Decodes for one frozen model. One call at a time; a second engine may share the model.

    >>> engine = Engine(model, tokenizer)  # doctest: +SKIP
    >>> engine.generate(prompt_ids, grammar=Grammar.json_schema(schema)).text  # doctest: +SKIP
    '{"name": "Anvil", "price": 129.5}'
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        eos_ids: Seq[int] | None = None,
        cost: CostModel | None = None,
    ) -> None:
        self.runner = Runner(model)
        vocabulary = Vocabulary(
            tokenizer, self.runner.width, _eos_ids(model, tokenizer) if eos_ids is None else eos_ids
        )
        super().__init__(vocabulary, ModelJudge(self.runner), cost, self.runner.max_context)

    @cached_property
    def can_draft(self) -> bool:
        """Tried once, on two branches of a tiny tree; a model that fails is decoded plainly from then on."""
        if not self.runner.obeys_tree_mask:
            self._judge = StockJudge(self.runner.model)
            return False
        return True

    def forget_prefixes(self) -> None:
        """Free the KV kept from earlier prompts."""
        self._judge.forget()

    @property
    def cost(self) -> CostModel:
        """The machine's cost curve, measured at its first use and remembered on disk."""
        if self._cost is None:
            self._cost = cost_model(self.runner)
        return self._cost


class _Clock:
    """Splits a step's time among the fields of its stats; time in the grammar engine has a field of its own."""

    def __init__(self, sequence: Sequence) -> None:
        self._stats = sequence.stats
        self._meter = Meter() if sequence.constraint is None else sequence.constraint.meter
        self._last, self._grammar = time.perf_counter(), self._meter.seconds

    def lap(self, name: str) -> None:
        """Add the time since the last lap to field `name`."""
        now, grammar = time.perf_counter(), self._meter.seconds
        in_grammar = grammar - self._grammar
        setattr(self._stats, name, getattr(self._stats, name) + now - self._last - in_grammar)
        self._stats.grammar_s += in_grammar
        self._last, self._grammar = now, grammar


def _count(sequence: Sequence, n_rows: int, tree: DraftTree, accepted: list[int], tokens: int) -> None:
    stats = sequence.stats
    stats.forwards += 1
    stats.rows += n_rows
    stats.nodes += len(tree)
    for node in accepted:
        origin = tree.nodes[node].origin
        stats.accepted[origin] = stats.accepted.get(origin, 0) + 1
    sequence.steps.append(Step(n_rows, len(tree), tokens, sequence.n_generated - tokens))


def _eos_ids(model: Any, tokenizer: Any) -> list[int]:
    """All ids that end a text: of the generation config, the model's config and the tokenizer."""
    found: list[int] = []
    for owner in (getattr(model, "generation_config", None), model.config, tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        found += ids if isinstance(ids, list) else [] if ids is None else [ids]
    return list(dict.fromkeys(found))
