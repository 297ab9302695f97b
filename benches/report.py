"""Measures everything and writes the table: ``make bench``, or ``python -m benches.report [--quick]``.

Corpora are generated in a temporary directory. `OKF_BENCH_BUNDLE` may name a bundle directory, a
``catalog.json``, or the directory of one. It is measured too, and is only read.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benches import corpus, documents, page, plot, probe, rivals, targets
from benches.compare import LIMIT, Comparison, Effort, Standing, compare
from benches.ours import CHECKS_FRESHNESS, NAME, Ours
from benches.page import row
from benches.targets import MEGABYTE, Measured, Run
from benches.timing import factor, quiet, rate, spoken, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog import KnowledgePassage

    from benches.rivals import Rival

BODY_BYTES = 2_000
"""The mean size of a body, as in published bundles. 100,000 of 6 KB would not fit a small machine."""
_HERE = Path(__file__).resolve().parent
_BEGUN = time.monotonic()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run measures."""

    sizes: tuple[int, ...]
    """Numbers of concepts, from small to large."""
    effort: Effort
    broad: int
    """How many questions with words of every concept the largest corpus is asked."""
    rounds: int
    """How often opening and Python's share are measured."""


FULL = Plan((1_000, 10_000, 100_000), Effort(batch=10_000, seconds=2.0, repeats=7), broad=100_000, rounds=3)
QUICK = Plan((300, 3_000), Effort(batch=1_000, seconds=0.3, repeats=2), broad=2_000, rounds=2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.report",
        description="Measures the package and its rivals, and writes RESULTS.md.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="measure small corpora in about a minute; only print the table"
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of concepts, from small to large")
    parser.add_argument("--body-bytes", type=int, default=BODY_BYTES, help="mean size of a body, in bytes")
    parser.add_argument(
        "--rivals", nargs="+", metavar="NAME", help="measure only these classes of benches.rivals"
    )
    parser.add_argument("--output", type=Path, help="write RESULTS.md and latency.svg into this directory")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else FULL
    if options.sizes:
        plan = Plan(tuple(options.sizes), plan.effort, plan.broad, plan.rounds)
    chosen = [rival for rival in rivals.ALL if options.rivals is None or rival.__name__ in options.rivals]
    output: Path | None = options.output or (None if options.quick else _HERE)

    with tempfile.TemporaryDirectory(prefix="okf-bench-") as scratch:
        run = _measure(Path(scratch), plan, options.body_bytes, chosen)
    text = "\n".join(_page(run, plan, options.body_bytes)) + "\n"
    if output is None:
        print(text)
        return
    output.mkdir(parents=True, exist_ok=True)
    drawn = plot.draw(run, output / "latency.svg")
    page.write_report(output / "RESULTS.md", text)
    _say(f"wrote {output / 'RESULTS.md'}{' and latency.svg' if drawn else ''}")


def _say(text: str) -> None:
    print(f"[{time.monotonic() - _BEGUN:5.0f} s] {text}", file=sys.stderr, flush=True)


# Measuring


def _measure(scratch: Path, plan: Plan, body_bytes: int, chosen: Sequence[type[Rival]]) -> Run:
    run = Run()
    tiny = corpus.write(scratch / "tiny", count=100, body_bytes=body_bytes)
    for size in plan.sizes:
        largest = size == plan.sizes[-1]
        label = f"{size:,} concepts"
        _say(f"{label}: generating")
        manifest = corpus.write(scratch / str(size), count=size, body_bytes=body_bytes)
        measured = Measured(compare(label, manifest, plan.effort, _say, chosen))
        _add_probes(measured, manifest, plan.rounds)
        if size == plan.sizes[0]:
            _say("Python's share")
            measured.overhead = _overhead(tiny, manifest, plan.rounds)
        if largest:
            _say(f"{plan.broad:,} broad questions")
            measured.broad = probe.ask("broad", manifest, plan.broad)
            _say("a search after one edit")
            measured.edit = _edit(manifest)
        run.generated.append(measured)
        if not largest:
            shutil.rmtree(manifest.parent)
    given = os.environ.get("OKF_BENCH_BUNDLE")
    if given:
        manifest = _catalog_of(Path(given), scratch)
        measured = Measured(compare(Path(given).name, manifest, plan.effort, _say, chosen))
        _add_probes(measured, manifest, plan.rounds)
        run.given.append(measured)
    return run


def _add_probes(measured: Measured, manifest: Path, rounds: int) -> None:
    _say("opening and memory")
    measured.opening = targets.as_seconds(probe.ask("opening", manifest, rounds))
    measured.memory = probe.ask("memory", manifest)


def _catalog_of(given: Path, scratch: Path) -> Path:
    """The manifest of what the user named. A bundle is copied, because a manifest must lie above it."""
    if given.is_file():
        return given
    if (given / "catalog.json").is_file():
        return given / "catalog.json"
    shutil.copytree(given, scratch / "given" / "bundle")
    manifest = scratch / "given" / "catalog.json"
    manifest.write_text(
        json.dumps({"version": 1, "sources": [{"id": "bundle", "path": "bundle"}]}), encoding="utf-8"
    )
    return manifest


def _edit(manifest: Path) -> dict[str, float]:
    """Seconds of a full build, of a search that finds no change, and of a search after one edit."""
    paths = documents.files(manifest)
    with Ours(manifest, fresh=True) as ours, quiet():
        build = timed(lambda: ours.search("overview"))
        looks: list[float] = []
        edits: list[float] = []
        for turn in range(9):
            looks.append(timed(lambda: ours.search("zqxjedited")))
            path = paths[(turn * 7919) % len(paths)]
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\nzqxjedited{turn}\n")
            edits.append(timed(lambda: ours.search("zqxjedited")))
            found = len(ours.search(f"zqxjedited{turn}").passages)
            if found != 1:
                raise AssertionError(f"one file was edited, but {found} concepts have the new word")
    return {"build": build, "look": statistics.median(looks), "edit": statistics.median(edits)}


def _overhead(tiny: Path, manifest: Path, rounds: int) -> dict[str, float]:
    """Seconds that Python adds to a search and its first passage, and seconds to make a passage."""
    through_python: list[float] = []
    in_engine: list[float] = []
    with Ours(tiny) as ours, quiet():
        word = "pipeline"
        engine = ours.engine_search(word)
        if not ours.search(word).passages:
            raise AssertionError(f"no concept contains {word!r}")
        for _ in range(30 * rounds):
            in_engine += [timed(engine) for _ in range(20)]
            through_python += [timed(lambda: ours.search(word).passages[0].excerpt) for _ in range(20)]
    making: list[float] = []
    with Ours(manifest) as ours, quiet():
        for _ in range(20):
            passages = ours.search("overview").passages
            making.append(timed(partial(_touched, passages)) / len(passages))
    return {
        "python": statistics.median(through_python) - statistics.median(in_engine),
        "passage": statistics.median(making),
    }


def _touched(passages: Sequence[KnowledgePassage]) -> int:
    """Makes every passage, and reads the fields that a caller shows first."""
    return sum(
        len(passage.source_id) + len(passage.concept_id) + len(passage.title or "") + passage.score
        for passage in passages
    )


# Writing

_INTRODUCTION = """\
# Measured

By `make bench`, on {machine}. {versions}.

`python -m benches.corpus` makes the corpora, with bodies of {body_bytes:,} bytes on average. A mixed question
has one to eight terms of three or more letters. They are drawn by their frequency in the corpus, and a third
of them are pieces of words. A single question has no limit and gets the whole ranking. A batch has {batch:,}
distinct mixed questions and `limit={limit}`. Each rival and {name} answered the same questions in turns, as
many as there was time for ("asked"). Before that, the answers of exact rivals were compared. *Ratio* is how
many times faster {name} was.
"""
_WITH_FRESHNESS = (
    "**In every figure of {name}, each search compares every file of the catalog (freshness).**\n"
)
_WITHOUT_FRESHNESS = (
    "No search checks whether files changed (`Freshness.manual()`), except where a row says so.\n"
)


def _page(run: Run, plan: Plan, body_bytes: int) -> list[str]:
    introduction = _INTRODUCTION.format(
        machine=page.machine(),
        versions=_versions(),
        body_bytes=body_bytes,
        batch=plan.effort.batch,
        limit=LIMIT,
        name=NAME,
    )
    freshness = _WITH_FRESHNESS if CHECKS_FRESHNESS else _WITHOUT_FRESHNESS
    lines = [introduction, freshness.format(name=NAME)]
    lines += ["## Targets", "", "Figures that miss their target are bold.", "", *targets.table(run), ""]
    for measured in run.all:
        lines += _section(measured.comparison)
    if len(run.generated) > 1:
        lines += ["![Latency against the size of the corpus](latency.svg)", ""]
    return lines[:-1]


def _section(comparison: Comparison) -> list[str]:
    megabytes = comparison.text_bytes / MEGABYTE
    mixed, size = comparison.kinds["mixed"], comparison.batch_size
    cores = factor(comparison.batch_rate / comparison.one_thread_rate)
    all_cores, one_core = rate(comparison.batch_rate), rate(comparison.one_thread_rate)
    ours = (f"**{NAME}**", spoken(mixed.median), spoken(mixed.p95), "", all_cores, "", "yes")
    one_thread = (f"{NAME}, one thread", "", "", "", one_core, cores, "yes")
    return [
        f"## {comparison.label}: {comparison.concepts:,} concepts, {megabytes:,.1f} MB",
        "",
        row("engine", "one query", "95th percentile", "ratio", "batch", "ratio", "exact?", "asked"),
        row("---", "---:", "---:", "---:", "---:", "---:", "---", "---"),
        *(_standing(standing, comparison.batch_rate) for standing in comparison.standings),
        row(*ours, f"{len(mixed)}, {size:,}"),
        row(*one_thread, f"{size:,}"),
        "",
        row(f"{NAME}, by kind of question", "median", "95th percentile", "asked"),
        row("---", "---:", "---:", "---:"),
        *(
            row(name, spoken(times.median), spoken(times.p95), str(len(times)))
            for name, times in comparison.kinds.items()
        ),
        "",
    ]


def _standing(standing: Standing, our_rate: float) -> str:
    rival = standing.rival
    exact = rival.exactness.value
    if standing.skipped is not None:
        return row(rival.name, "", "", "", "", "", exact, standing.skipped)
    single = ("–", "–", "–")
    asked = f"{standing.batch_size:,}"
    if standing.single is not None and standing.our_single is not None:
        ratio = standing.single.median / standing.our_single.median
        single = (spoken(standing.single.median), spoken(standing.single.p95), factor(ratio))
        asked = f"{len(standing.single)}, {asked}"
    batch = (rate(standing.batch_rate), factor(our_rate / standing.batch_rate))
    name = f"{rival.name} ({rival.remark})" if rival.remark else rival.name
    return row(name, *single, *batch, exact, asked)


def _versions() -> str:
    packages = {package for rival in rivals.ALL for package in rival.packages} - {"numpy"}
    return ", ".join(
        [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}", *page.versions(packages)]
    )


if __name__ == "__main__":
    main()
