"""Measures the questions that people ask in sentences: ``python -m benches.sentences [DIR]``.

Most words of a sentence are in nearly every concept. The package answers under BM25F: the best 20 alone, the
best 20 in batches, and the whole ranking, on one thread and on all. tantivy's search of three fields answers
the same questions on its one thread, in turns; the whole ranking is compared with counting (K1 to K5). No
question is asked twice. Also measured: what counts and lengths add to memory and to the time of opening,
compared with a version of the package before them, if ``--before`` names the Python that has one.

Results go to RESULTS.md. ``DIR`` is a folder of sets (`benches.sets`) whose Japanese and Chinese texts are
used.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benches import corpus, documents, page, probe, sets, spaceless
from benches.finding import Finding, at_least, at_most
from benches.ours import NAME, TOP, Ours, Scored
from benches.people import LEAST_WORDS, MOST_WORDS, SentenceMaker, SpacelessMaker
from benches.rivals import Tantivy, TantivyPairs, pairs_of
from benches.targets import MEGABYTE
from benches.timing import Times, factor, quiet, rate, spoken, timed, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from okf_catalog import KnowledgeContext

    from benches.documents import Corpus

    Row = tuple[str, str, int]
    """Source, concept and score of a passage."""
    Asks = dict[str, Callable[[str], Any]]
    Batches = dict[str, Callable[[list[str]], Any]]

BODY_BYTES = 2_000
"""The mean size of a body, as in `benches.report`."""
PART = "benches.sentences"
_CHECKED = 40
"""For this many questions, the best 20 are compared with the whole ranking."""


class Maker(Protocol):
    def take(self, count: int) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    alone: int
    """At most so many questions are asked alone."""
    batch: int
    """Questions in a batch."""
    rounds: int
    """How many batches, and how many openings."""
    seconds: float
    """About how long the questions of one kind may take."""
    clock: Callable[[], float] = time.perf_counter


FULL = Effort(alone=2_000, batch=512, rounds=5, seconds=6.0)
QUICK = Effort(alone=200, batch=64, rounds=2, seconds=1.0)


@dataclass(slots=True)
class Measured:
    """What one corpus gave. Times and rates are by engine, in the order of the table."""

    label: str
    concepts: int
    text_bytes: int
    top: dict[str, Times] = field(default_factory=dict[str, Times])
    rates: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Questions per second of each batch."""
    full: dict[str, Times] = field(default_factory=dict[str, Times])
    added_bytes: float | None = None
    """What counts and lengths add to memory."""
    asked_bytes: float = 0.0
    """What the whole catalog takes once it has answered sentences."""
    opening: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds, by version."""


ONE, ALL, COUNTING = "one thread", "all threads", "one thread, K1 to K5"
BEFORE, NOW = "before", "now"
_LIMITS = {ONE: 1.0, ALL: None}
"""How many times faster than its rival the package must be."""
_MOST_SPACELESS = 10_000
"""The most concepts of a corpus without spaces."""
_PROBE_SECONDS = 120
"""After this time no further round of openings begins."""
_LEAST_SENTENCES = 200
"""Fewer real sentences would make all concepts alike."""
RIVALS: dict[str, type[Tantivy]] = {"tantivy, words": Tantivy, "tantivy, pairs": TantivyPairs}
"""The rivals by their names in the table. The second finds pairs of characters in scripts without spaces."""


def measure(
    label: str, manifest: Path, maker: Callable[[Corpus], Maker], effort: Effort, *, pairs: bool
) -> Measured:
    """Measures one corpus; ``pairs`` is whether its script has no spaces. Then counting gets pairs as words.

    Raises:
        AssertionError: The best 20 are not the first 20 of the whole ranking.
    """
    texts = documents.read(manifest)
    draw = maker(texts)
    result = Measured(label, len(texts), texts.text_bytes)
    kinds = RIVALS if pairs else {name: kind for name, kind in RIVALS.items() if kind is Tantivy}
    rivals = {name: kind() for name, kind in kinds.items() if kind.missing() is None}
    for rival in rivals.values():
        rival.load(texts)
    with Ours(manifest, threads=1) as one, Ours(manifest) as every:
        engines = {ONE: one.under("bm25f"), ALL: every.under("bm25f")}
        check(engines.values(), draw.take(_CHECKED))
        with quiet():
            top: Asks = {name: engine.top for name, engine in engines.items()}
            top |= {name: rival.search for name, rival in rivals.items()}
            result.top = _times(top, draw, effort)
            batches: Batches = {name: engine.batch for name, engine in engines.items()}
            batches |= {name: partial(rival.batch, limit=TOP) for name, rival in rivals.items()}
            result.rates = _rates(batches, draw, effort)
            full: Asks = {name: engine.full for name, engine in engines.items()}
            counting = one.under("weighted_terms")
            full[COUNTING] = (
                (lambda text: counting.full(" ".join(pairs_of(text)))) if pairs else counting.full
            )
            result.full = _times(full, draw, effort)
    return result


def check(engines: Iterable[Scored], texts: Sequence[str]) -> None:
    """Compares the best 20, alone and in a batch, with the first 20 of the whole ranking."""
    wanted: dict[str, list[Row]] = {}
    for engine in engines:
        for text, answer in zip(texts, engine.batch(texts), strict=True):
            whole = _rows(engine.full(text))
            found = _rows(engine.top(text)), _rows(answer), wanted.setdefault(text, whole)[:TOP]
            if any(rows != whole[:TOP] for rows in found):
                raise AssertionError(f"{text!r}: the best {TOP} are not the first {TOP} of the whole ranking")


def _rows(context: KnowledgeContext) -> list[Row]:
    return [(one.source_id, one.concept_id, one.score) for one in context.passages]


def _times(asks: Asks, draw: Maker, effort: Effort) -> dict[str, Times]:
    texts = draw.take(effort.alone)
    times = turns(list(asks.values()), texts, budget=effort.seconds, clock=effort.clock)
    return dict(zip(asks, times, strict=True))


def _rates(batches: Batches, draw: Maker, effort: Effort) -> dict[str, list[float]]:
    """Questions per second of each engine. Every round has new questions, the same for all engines."""
    rates: dict[str, list[float]] = {name: [] for name in batches}
    deadline = time.perf_counter() + 4 * effort.seconds
    for number in range(effort.rounds):
        if number and time.perf_counter() > deadline:
            break
        texts = draw.take(effort.batch)
        for name, batch in batches.items():
            rates[name].append(len(texts) / timed(partial(batch, texts), effort.clock))
    return rates


def probe_both(measured: Measured, manifest: Path, before: Path | None, rounds: int) -> None:
    """Memory and opening, each in a process of its own; before and now in turns if both are there.

    Raises:
        ValueError: The version before can score sentences already.
    """
    versions: dict[str, Path | str] = {NOW: sys.executable}
    if before is not None:
        versions = {BEFORE: before, **versions}
    memory: dict[str, list[float]] = {name: [] for name in versions}
    seconds: dict[str, list[float]] = {name: [] for name in versions}
    deadline = time.perf_counter() + _PROBE_SECONDS
    for number in range(rounds):
        if number and time.perf_counter() > deadline:
            break
        for name, python in versions.items():
            grown = probe.ask("sentences", manifest, python=python)
            if name == BEFORE and "asked" in grown:
                raise ValueError("--before names a Python whose okf_catalog has BM25F already")
            memory[name].append(grown["asked" if name == NOW else "opened"])
            seconds[name].append(probe.ask("opened", manifest, 1, python=python)["seconds"])
    measured.opening = {name: statistics.median(each) for name, each in seconds.items()}
    measured.asked_bytes = statistics.median(memory[NOW])
    if before is not None:
        measured.added_bytes = measured.asked_bytes - statistics.median(memory[BEFORE])


# Writing


def findings(measured: Measured) -> list[Finding]:
    """The targets on one corpus. Those of speed are for one thread, because the rival has one."""
    found: list[Finding] = []
    for rival in RIVALS:
        if rival in measured.top:
            found += _compared(measured, rival)
    full = measured.full
    for name, limit in _LIMITS.items():
        ratio = full[COUNTING].median / full[name].median
        found.append(at_least(f"3. whole ranking, {name}, faster than counting", ratio, limit))
    if measured.added_bytes is not None:
        added = measured.added_bytes / measured.text_bytes
        found.append(at_most("4. memory of counts and lengths, compared with bytes of text", added, 0.5))
    memory = factor(measured.asked_bytes / measured.text_bytes)
    found.append(Finding("4. memory in all, compared with bytes of text", "–", memory))
    if BEFORE in measured.opening:
        ratio = measured.opening[NOW] / measured.opening[BEFORE]
        found.append(at_most("5. opening, compared with the version before", ratio, 1.1))
    found.append(Finding("5. opening", "–", spoken(measured.opening[NOW])))
    return found


def _compared(measured: Measured, rival: str) -> list[Finding]:
    found: list[Finding] = []
    for name, limit in _LIMITS.items():
        ratio = measured.top[rival].median / measured.top[name].median
        found.append(at_least(f"1. best {TOP} alone, {name}, faster than {rival}", ratio, limit))
    for name, limit in _LIMITS.items():
        rates = zip(measured.rates[name], measured.rates[rival], strict=True)
        ratio = statistics.median(ours / theirs for ours, theirs in rates)
        found.append(at_least(f"2. best {TOP} in batches, {name}, faster than {rival}", ratio, limit))
    return found


def section(measured: Measured) -> list[str]:
    """The figures of one corpus."""
    engines = dict.fromkeys([*measured.top, *measured.full])
    return [
        f"### {measured.label}: {measured.text_bytes / MEGABYTE:,.1f} MB",
        "",
        *page.head(
            "engine",
            f"best {TOP} alone",
            "95th percentile",
            f"best {TOP} in batches",
            "whole ranking",
            "95th percentile",
            "asked",
        ),
        *(page.row(*_figures(measured, name)) for name in engines),
        "",
    ]


def _figures(measured: Measured, name: str) -> list[str]:
    cells = [name]
    counts: list[str] = []
    for times in (measured.top.get(name), measured.full.get(name)):
        cells += ["–", "–"] if times is None else [spoken(times.median), spoken(times.p95)]
        counts += [] if times is None else [f"{len(times):,}"]
    rates = measured.rates.get(name)
    cells.insert(3, rate(statistics.median(rates)) if rates else "–")
    return [*cells, ", ".join(counts)]


_INTRODUCTION = """\
## Questions in sentences

By `python -m benches.sentences`, on {machine}. {versions}.

A question has {least} to {most} words: how a question begins, and words drawn by their frequency in the
corpus. In scripts without spaces it is two or three phrases of 3 to 8 characters. No question is asked twice.
{name} answers under BM25F. Counting is K1 to K5; for scripts without spaces, the pairs of the question are
its words. Bodies have {body_bytes:,} bytes on average. Ratios are of medians.
"""


def part(run: Sequence[Measured], body_bytes: int) -> list[str]:
    """The part of RESULTS.md."""
    introduction = _INTRODUCTION.format(
        machine=page.machine(),
        versions=", ".join(page.versions(Tantivy.packages)) or "Without tantivy",
        least=LEAST_WORDS,
        most=MOST_WORDS,
        name=NAME,
        body_bytes=body_bytes,
    )
    table = page.findings(
        [(measured.label, findings(measured)) for measured in run], by=lambda target: target[:2]
    )
    return [introduction, *table, "", *(line for one in run for line in section(one))][:-1]


# Running


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    effort = QUICK if options.quick else FULL
    if options.cpu:
        effort = replace(effort, clock=time.process_time)
    run: list[Measured] = []
    for spaceless_script, size in _corpora(options):
        with tempfile.TemporaryDirectory(prefix="okf-bench-") as scratch:
            label = f"{size:,} concepts{' without spaces' if spaceless_script else ''}"
            _say(f"{label}: generating")
            if spaceless_script:
                sentences = _sentences(options.folder)
                manifest = spaceless.write(
                    Path(scratch), sentences, count=size, body_bytes=options.body_bytes
                )
            else:
                manifest = corpus.write(Path(scratch), count=size, body_bytes=options.body_bytes)
            maker = SpacelessMaker if spaceless_script else SentenceMaker
            _say(f"{label}: measuring")
            measured = measure(label, manifest, maker, effort, pairs=spaceless_script)
            # Opening takes long for a large corpus, and who tunes the engine does not want to wait for it.
            _say("\n".join(section(measured)))
            _say(f"{label}: memory and opening")
            probe_both(measured, manifest, options.before, effort.rounds)
            run.append(measured)
    lines = part(run, options.body_bytes)
    if options.cpu:
        lines.insert(1, "Times are processor time of all threads together.\n")
    print("\n".join(lines))
    if not (options.quick or options.cpu):
        page.write_part(options.output, PART, lines)


def _corpora(options: argparse.Namespace) -> list[tuple[bool, int]]:
    """Whether the script has no spaces, and the number of concepts, of each corpus."""
    with_spaces = options.sizes or ([1_000] if options.quick else [1_000, 10_000, 100_000])
    without = [size for size in with_spaces if size <= _MOST_SPACELESS]
    return [*((False, size) for size in with_spaces), *((True, size) for size in without)]


def _sentences(folder: Path | None) -> list[str]:
    """Real ones if there are some; else made ones."""
    if folder is not None:
        bodies = [concept.body for found in sets.read(folder) for concept in found.concepts]
        found = spaceless.sentences_of(bodies)
        if len(found) >= _LEAST_SENTENCES:
            return found
    return spaceless.made_sentences(20_000)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benches.sentences",
        description="Measures questions in sentences, and writes its part of RESULTS.md.",
    )
    parser.add_argument("folder", type=Path, nargs="?", help="sets whose Japanese and Chinese texts are used")
    parser.add_argument("--quick", action="store_true", help="measure 1,000 concepts; only print the tables")
    parser.add_argument(
        "--cpu", action="store_true", help="measure processor time, for busy machines; only print the tables"
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of concepts, from small to large")
    parser.add_argument("--body-bytes", type=int, default=BODY_BYTES, help="mean size of a body, in bytes")
    parser.add_argument(
        "--before", type=Path, metavar="PYTHON", help="a Python with the package as it was before BM25F"
    )
    parser.add_argument("--output", type=Path, default=page.RESULTS, help="the page that gets the part")
    options = parser.parse_args(arguments)
    if options.folder is None and sets.GIVEN.is_dir():
        options.folder = sets.GIVEN
    return options


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
