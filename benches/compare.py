"""Compares the package with all rivals on one corpus: first their answers, then their times."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benches import documents, rivals
from benches.ours import Ours, Positions
from benches.queries import QueryMaker
from benches.rivals import Exactness, Rival
from benches.timing import Times, each, in_turns, quiet, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benches.documents import Corpus

LIMIT = 20
"""How many passages of each answer of a batch are kept."""
_CHECKED = 24
"""The answers to this many single questions, and to as many questions of a batch, are compared."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    batch: int
    """Questions in a batch."""
    seconds: float
    """About how many seconds each kind of single questions, and a batch of a rival, may take."""
    repeats: int
    """How many batches of the package are timed, unless they take too long."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The times of one rival, and those of the package for the same questions."""

    rival: type[Rival]
    skipped: str | None = None
    """Why the rival was not measured."""
    single: Times | None = None
    our_single: Times | None = None
    """The package's times for new questions. Some of their words occurred in earlier questions."""
    our_repeated: Times | None = None
    """The package's times for the same questions again: all their terms are in its cache then."""
    batch_rate: float = 0.0
    """Questions per second."""
    batch_size: int = 0
    load_seconds: float = 0.0


@dataclass(slots=True)
class Comparison:
    """The results for one corpus."""

    label: str
    concepts: int
    text_bytes: int
    kinds: dict[str, Times] = field(default_factory=dict[str, Times])
    """The package's times for single questions, by kind of question."""
    standings: list[Standing] = field(default_factory=list[Standing])
    batch_rates: list[float] = field(default_factory=list[float])
    """Questions per second on all cores, one entry for each batch."""
    one_thread_rates: list[float] = field(default_factory=list[float])
    """The same on one thread."""
    batch_size: int = 0

    @property
    def batch_rate(self) -> float:
        return statistics.median(self.batch_rates)

    @property
    def one_thread_rate(self) -> float:
        return statistics.median(self.one_thread_rates)

    def of(self, rival: type[Rival]) -> Standing | None:
        """The times of a rival, if it was measured."""
        found = [one for one in self.standings if one.rival is rival and one.skipped is None]
        return found[0] if found else None


def compare(
    label: str,
    manifest: Path,
    effort: Effort,
    say: Callable[[str], None],
    chosen: Sequence[type[Rival]] = rivals.ALL,
) -> Comparison:
    """Measures the package and the chosen rivals on one corpus.

    Raises:
        AssertionError: A rival that claims to be exact gave another answer. It was not timed.
    """
    say(f"{label}: reading the corpus")
    corpus = documents.read(manifest)
    maker = QueryMaker(corpus)
    mixed = list(maker.mixed(effort.batch).texts)
    singles = maker.all_kinds(2_000).texts
    result = Comparison(label, len(corpus), corpus.text_bytes, batch_size=len(mixed))
    with Ours(manifest) as ours, Ours(manifest, threads=1) as single_threaded:
        ours.search(mixed[0])
        single_threaded.search(mixed[0])
        with quiet():
            say(f"{label}: okf-catalog alone")
            kinds = (
                maker.mixed(500),
                maker.short(200),
                maker.everywhere(200),
                maker.selective(500),
                maker.misses(200),
            )
            for kind in kinds:
                result.kinds[kind.name] = each(ours.answer, kind.texts, budget=effort.seconds)
            again = kinds[0].texts[: len(result.kinds["mixed"])]
            result.kinds["mixed, asked again"] = each(ours.answer, again, budget=effort.seconds)
            result.kinds["all kinds"] = each(ours.answer, singles, budget=2 * effort.seconds)
            for _ in range(effort.repeats):
                # New questions each time, so that cached terms of earlier questions help little.
                texts = list(maker.mixed(effort.batch).texts)
                result.batch_rates.append(_rate(ours, texts))
                result.one_thread_rates.append(_rate(single_threaded, texts))
                if len(mixed) > 3 * effort.seconds * result.one_thread_rate:
                    break
        judge = _Judge(corpus, ours, [*singles[:_CHECKED], *mixed[:_CHECKED]])
        for rival in chosen:
            result.standings.append(
                _stand(rival, corpus, ours, judge, maker, effort, result.batch_rates, say)
            )
    return result


def _rate(ours: Ours, texts: list[str]) -> float:
    return len(texts) / timed(lambda: ours.batch(texts, limit=LIMIT))


def _stand(
    kind: type[Rival],
    corpus: Corpus,
    ours: Ours,
    judge: _Judge,
    maker: QueryMaker,
    effort: Effort,
    our_rates: list[float],
    say: Callable[[str], None],
) -> Standing:
    reason = kind.missing()
    if reason is None and kind.most_concepts is not None and len(corpus) > kind.most_concepts:
        reason = f"not run above {kind.most_concepts:,} concepts"
    if reason is not None:
        say(f"  {kind.name}: {reason}")
        return Standing(kind, skipped=reason)
    rival = kind()
    load_seconds = timed(lambda: rival.load(corpus))
    judge.check(rival)
    single = our_single = our_repeated = None
    # New questions for each rival, so that neither the rival nor the package has a cached answer.
    mixed, singles = list(maker.mixed(effort.batch).texts), maker.mixed(400).texts
    with quiet():
        size = len(mixed)
        if kind.answers_single:
            our_single, single = in_turns(ours.answer, rival.search, singles, budget=effort.seconds)
            our_repeated = each(ours.answer, singles[: len(single)], budget=effort.seconds)
            size = max(3, min(size, int(effort.seconds / single.median)))
        if len(mixed) < effort.seconds * our_rates[-1]:
            our_rates.append(_rate(ours, mixed))
        part = mixed[:size]
        batch_rate = size / timed(lambda: rival.batch(part, limit=LIMIT))
    count = len(single) if single else 0
    say(f"  {kind.name}: loaded in {load_seconds:.1f} s, {count} single questions, a batch of {size:,}")
    return Standing(
        kind,
        single=single,
        our_single=our_single,
        our_repeated=our_repeated,
        batch_rate=batch_rate,
        batch_size=size,
        load_seconds=load_seconds,
    )


class _Judge:
    """Holds the package's answers, and raises if a rival that claims to be exact gives others."""

    def __init__(self, corpus: Corpus, ours: Ours, texts: Sequence[str]) -> None:
        positions = Positions(corpus)
        self._wanted = {text: positions.ranking(ours.search(text)).rows() for text in texts}
        self._batch = list(texts)
        self._batch_wanted = [
            positions.ranking(context).rows() for context in ours.batch(self._batch, limit=LIMIT)
        ]
        for text, rows in zip(self._batch, self._batch_wanted, strict=True):
            if rows != self._wanted[text][:LIMIT]:
                raise AssertionError(f"search_batch and search give different answers to {text!r}")

    def check(self, rival: Rival) -> None:
        """Compares some whole answers, and the first passages of a batch."""
        if rival.exactness not in (Exactness.EXACT, Exactness.LONG_TERMS):
            return
        texts = [text for text in self._batch if rival.can_answer(text)]
        if rival.answers_single:
            texts = self._check_single(rival, texts)
        for text, ranking in zip(texts, rival.batch(texts, limit=LIMIT), strict=True):
            _same(rival, text, ranking.rows(), self._wanted[text][:LIMIT])

    def _check_single(self, rival: Rival, texts: list[str]) -> list[str]:
        """Compares whole answers for two seconds, at least two of them; returns the questions it compared."""
        deadline = time.perf_counter() + 2.0
        for number, text in enumerate(texts):
            _same(rival, text, rival.search(text).rows(), self._wanted[text])
            if time.perf_counter() > deadline and number >= 1:
                return texts[: number + 1]
        return texts


def _same(rival: Rival, text: str, found: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    if found != wanted:
        raise AssertionError(f"{rival.name} answers {text!r} with {found[:5]}, not {wanted[:5]}")
