"""Prompt + grammar + hints -> tokens: lookahead decoding under a grammar, exact and drafted from everywhere.

One step of every sequence is one forward: forced tokens become pending, sources draft, the planner buys the drafts
that pay, one forward evaluates everything under a tree mask, the walk commits what the model agrees with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Seq
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from lookstruct.decoding.account import Forward
from lookstruct.decoding.closing import Closer
from lookstruct.decoding.constraint import Constraint, Grammar, GrammarCompiler, Meter
from lookstruct.decoding.cost import CostModel
from lookstruct.decoding.drafting import Drafter
from lookstruct.decoding.head import is_narrow
from lookstruct.decoding.judges import ModelJudge
from lookstruct.decoding.linear import LinearMode
from lookstruct.decoding.live_cost import LiveCost
from lookstruct.decoding.measuring import cost_model, forget_cost
from lookstruct.decoding.planner import Planner
from lookstruct.decoding.purchase import Budget
from lookstruct.decoding.request import Completion, Hints, Options, Step
from lookstruct.decoding.runner import Runner
from lookstruct.decoding.sequence import Sequence
from lookstruct.decoding.sources import build_sources
from lookstruct.decoding.sources.base import DraftRequest
from lookstruct.decoding.sources.draft_model import Assistant
from lookstruct.decoding.sources.window import LookaheadWindow
from lookstruct.decoding.static.judge import DeviceJudge
from lookstruct.decoding.static.runner import StaticRunner, is_on_one_device
from lookstruct.decoding.stock import StockJudge
from lookstruct.decoding.thinking import Thinking, marks_of
from lookstruct.decoding.tree import DraftTree, Node, lay_out
from lookstruct.decoding.verify import Judge, Walked, walk
from lookstruct.decoding.vocabulary import Vocabulary
from lookstruct.schemas.errors import ContextOverflow, SchemaError

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
        self.assistant: Assistant | None = None
        self._cost = cost

    @property
    def can_draft(self) -> bool:
        """Whether drafts can be verified at all."""
        return True

    @property
    def remarks(self) -> list[str]:
        """What a user should know about how this model is decoded."""
        return [] if self.can_draft else [CANNOT_DRAFT]

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
            self._constraint(grammar, options),
            self._closer,
            min(options.max_new_tokens, room),
            is_json=grammar is not None and grammar.is_json,
            on_text=on_text,
        )
        request = DraftRequest(self.vocabulary, hints, options, tuple(prompt_ids), self.assistant)
        drafts = self.can_draft and options.mode != "autoregressive"
        sequence.stats.notes += self.remarks
        sources = build_sources(request) if drafts else []
        return sequence, Drafter(sources, self.vocabulary)

    def _constraint(self, grammar: Grammar | None, options: Options) -> Constraint | None:
        if grammar is None:
            return None
        held = self._grammars.start(grammar)
        return Thinking(held, marks_of(self.vocabulary), options.think) if options.think else held

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
            margins=tuple(sequence.margins),
            thought=sequence.thought.decode("utf-8", "replace"),
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
        forward = Forward(len(pending), sequence.cache.length, len(rows.token_ids), verdicts.n_logit_rows)
        self._book(sequence, forward, walked, clock.lap("model_s"))
        kept = [*range(len(pending)), *(len(pending) + node for node in walked.nodes)]
        self._judge.commit(sequence, [rows.token_ids[i] for i in kept], kept)
        clock.lap("cache_s")
        drafter.observe(sequence, walked.tokens)
        clock.lap("draft_s")
        _count(sequence, forward, tree, walked)

    def _window(self, sequence: Sequence, drafter: Drafter) -> LookaheadWindow | None:
        """The lookahead window, as long as its rows stand at positions that the model has."""
        window = drafter.window
        if window is None or len(sequence.ids) + window.reach > self.max_context:
            return None
        return window

    def _draft(self, sequence: Sequence, drafter: Drafter, n_pending: int) -> DraftTree:
        if not drafter.sources or sequence.remaining <= 1:
            return DraftTree()
        offers = drafter.propose(sequence)
        budget = self._budget(sequence, n_pending)
        try:
            return self._planner.plan(sequence.constraint, sequence.ids[-8:], offers, budget, sequence.remaining - 1)
        except SchemaError:  # a draft asked more of the grammar engine than the text may: it fails when the text does
            return DraftTree()

    def _budget(self, sequence: Sequence, n_pending: int) -> Budget:
        """What this step may draft: a fixed number, or what pays, and in mode "auto" what can be afforded too."""
        context, nodes = sequence.cache.length, sequence.options.nodes
        if nodes is not None:
            return Budget(CostModel.free(), n_pending, context, nodes)
        bounded = sequence.options.mode == "auto"
        wide = not is_narrow(sequence.mask())
        limit = sequence.account.allowance(self.cost, n_pending, context, wide=wide) if bounded else inf
        return Budget(self.cost, n_pending, context, None, limit)

    def _book(self, sequence: Sequence, forward: Forward, walked: Walked, seconds: float) -> None:  # noqa: ARG002
        """Keep the sequence's account, where there is a curve to keep it by; the forward took `seconds`."""
        if self._cost is not None:
            sequence.account.book(self.cost, forward, walked.choices, walked.wide)

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
        fixed_shapes: bool | None = None,
        linear: LinearMode | None = None,
    ) -> None:
        if fixed_shapes is None:
            fixed_shapes = model.device.type == "cuda" and is_on_one_device(model)
        self.runner = StaticRunner(model, linear=linear) if fixed_shapes else Runner(model, linear=linear)
        self._live: LiveCost | None = None
        vocabulary = Vocabulary(
            tokenizer, self.runner.width, _eos_ids(model, tokenizer) if eos_ids is None else eos_ids
        )
        super().__init__(vocabulary, _judge(self.runner), cost, self.runner.max_context)

    @cached_property
    def can_draft(self) -> bool:
        """Tried once, on two branches of a tiny tree; a model that fails is decoded plainly from then on."""
        if not self.runner.obeys_tree_mask:
            self._judge = StockJudge(self.runner.model)
            return False
        return True

    @property
    def remarks(self) -> list[str]:
        """See `Decoder.remarks`."""
        refused = self.runner.refused if isinstance(self.runner, StaticRunner) and self.can_draft else None
        return [*super().remarks, *([] if refused is None else [refused])]

    def assist(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Let `model` draft where the source `draft_model` is asked for; ModelUnsupported if it speaks other tokens."""
        self.assistant = Assistant(model, tokenizer, self.vocabulary.tokenizer)

    def forget_prefixes(self) -> None:
        """Free the KV kept from earlier prompts."""
        self._judge.forget()

    def prefill(self, sequence: Sequence, cancel: Callable[[], bool] = lambda: False) -> None:
        """See `Decoder.prefill`; a curve that is needed and not known is measured here, on its own clock."""
        super().prefill(sequence, cancel)
        options = sequence.options
        needed = options.nodes is None and options.mode != "autoregressive" and self.can_draft
        if self._cost is None and needed and not cancel():
            start = time.perf_counter()
            self._measure()
            sequence.stats.measuring_s = time.perf_counter() - start

    def steps(self, job: Job, cancel: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """See `Decoder.steps`; a cost curve that these steps belied is measured again the next time."""
        yield from super().steps(job, cancel)
        if self._live is not None and self._live.is_belied:
            forget_cost(self.runner)

    def _book(self, sequence: Sequence, forward: Forward, walked: Walked, seconds: float) -> None:
        """See `Decoder._book`; a curve of this machine is corrected by the way."""
        super()._book(sequence, forward, walked, seconds)
        if self._live is not None:
            self._live.observe(forward, seconds)
            self._cost = self._live.model

    @property
    def cost(self) -> CostModel:
        """The machine's cost curve as it is known by now: measured at its first use and remembered on disk."""
        return self._cost if self._cost is not None else self._measure()

    def _measure(self) -> CostModel:
        self._cost = cost_model(self.runner)
        self._live = LiveCost(self._cost)
        return self._cost


class _Clock:
    """Splits a step's time among the fields of its stats; time in the grammar engine has a field of its own."""

    def __init__(self, sequence: Sequence) -> None:
        self._stats = sequence.stats
        self._meter = Meter() if sequence.constraint is None else sequence.constraint.meter
        self._last, self._grammar = time.perf_counter(), self._meter.seconds

    def lap(self, name: str) -> float:
        """Add the time since the last lap to field `name`, and say how much it was."""
        now, grammar = time.perf_counter(), self._meter.seconds
        in_grammar = grammar - self._grammar
        seconds = now - self._last - in_grammar
        setattr(self._stats, name, getattr(self._stats, name) + seconds)
        self._stats.grammar_s += in_grammar
        self._last, self._grammar = now, grammar
        return seconds


def _count(sequence: Sequence, forward: Forward, tree: DraftTree, walked: Walked) -> None:
    stats = sequence.stats
    stats.forwards += 1
    stats.rows += forward.rows
    stats.logit_rows += forward.logit_rows
    stats.nodes += len(tree)
    stats.modelled_s, stats.modelled_plain_s = sequence.account.spent, sequence.account.plain
    for node in tree.nodes:
        _tally(stats.drafted, node)
    for index in walked.nodes:
        origin = tree.nodes[index].origin
        stats.accepted[origin] = stats.accepted.get(origin, 0) + 1
        _tally(stats.accepted_by_depth, tree.nodes[index])
    sequence.steps.append(Step(forward.rows, len(tree), walked.tokens, sequence.n_generated - walked.tokens))


def _tally(counts: dict[str, list[int]], node: Node) -> None:
    """Count one node of its source at its depth (the first drafted token has depth 1, index 0)."""
    by_depth = counts.setdefault(node.origin, [])
    by_depth.extend([0] * (node.depth - len(by_depth)))
    by_depth[node.depth - 1] += 1


def _judge(runner: Runner) -> ModelJudge:
    """Who answers for the model: on the device where its forwards have fixed shapes."""
    return DeviceJudge(runner) if isinstance(runner, StaticRunner) else ModelJudge(runner)


def _eos_ids(model: Any, tokenizer: Any) -> list[int]:
    """All ids that end a text: of the generation config, the model's config and the tokenizer."""
    found: list[int] = []
    for owner in (getattr(model, "generation_config", None), model.config, tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        found += ids if isinstance(ids, list) else [] if ids is None else [ids]
    return list(dict.fromkeys(found))
