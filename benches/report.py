"""The run that writes the table: ``make bench``, or ``python -m benches.report [--quick]``.

Corpora are generated into a temporary directory. `OKF_BENCH_BUNDLE` may name a bundle directory, or a
``catalog.json`` or the directory of one: it is measured too, and only read.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okf_catalog import KnowledgePassage

from benches import corpus, documents, plot, probe, rivals, targets
from benches.compare import LIMIT, Comparison, Effort, Standing, compare
from benches.ours import CHECKS_FRESHNESS, NAME, Ours
from benches.rivals import Rival
from benches.targets import MEGABYTE, Measured, Run
from benches.timing import factor, quiet, rate, spoken, timed

BODY_BYTES = 2_000
"""As in the published bundles; a hundred thousand of 6 KB would be more than a small machine likes."""
_HERE = Path(__file__).resolve().parent
_BEGUN = time.monotonic()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does."""

    sizes: tuple[int, ...]
    effort: Effort
    broad: int
    """Questions whose words are in every concept, asked of the largest corpus."""
    rounds: int


FULL = Plan((1_000, 10_000, 100_000), Effort(batch=10_000, seconds=3.0, repeats=3), broad=100_000, rounds=3)
QUICK = Plan((300, 3_000), Effort(batch=1_000, seconds=0.3, repeats=2), broad=2_000, rounds=2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.report", description="Measures, and writes RESULTS.md."
    )
    parser.add_argument(
        "--quick", action="store_true", help="small corpora, in about a minute; prints the table only"
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of concepts, from small to large")
    parser.add_argument("--body-bytes", type=int, default=BODY_BYTES)
    parser.add_argument("--rivals", nargs="+", metavar="NAME", help="only these classes of benches.rivals")
    parser.add_argument("--output", type=Path, help="directory of RESULTS.md and latency.svg")
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
    (output / "RESULTS.md").write_text(text, encoding="utf-8")
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
            measured.overhead = _overhead(tiny, manifest)
        if largest:
            _say(f"{plan.broad:,} broad questions")
            measured.broad = probe.ask("broad", manifest, plan.broad)
            _say("one edit")
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
    """The manifest of what the user named; a bare bundle is copied, since a manifest has to lie above it."""
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
    """Seconds of a full build, of a search that looks at every file, and of one that finds one of them edited."""
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
                raise AssertionError(f"an edit is found {found} times")
    return {"build": build, "look": statistics.median(looks), "edit": statistics.median(edits)}


def _overhead(tiny: Path, manifest: Path) -> dict[str, float]:
    """Seconds of a search to its first passage beyond what the engine takes, and of making a passage."""
    through_python: list[float] = []
    in_engine: list[float] = []
    with Ours(tiny) as ours, quiet():
        word = "pipeline"
        engine = ours.engine_search(word)
        if not ours.search(word).passages:
            raise AssertionError(f"no concept has {word!r}")
        for _ in range(100):
            in_engine += [timed(engine) for _ in range(20)]
            through_python += [timed(lambda: ours.search(word).passages[0].excerpt) for _ in range(20)]
    making: list[float] = []
    with Ours(manifest) as ours, quiet():
        for _ in range(20):
            passages = ours.search("overview").passages
            making.append(timed(lambda passages=passages: _touched(passages)) / len(passages))
    return {
        "python": statistics.median(through_python) - statistics.median(in_engine),
        "passage": statistics.median(making),
    }


def _touched(passages: Sequence[KnowledgePassage]) -> int:
    """Makes every passage, and reads of each what is shown first."""
    return sum(
        len(passage.source_id) + len(passage.concept_id) + len(passage.title or "") + passage.score
        for passage in passages
    )


# Writing


def _page(run: Run, plan: Plan, body_bytes: int) -> list[str]:
    lines = [
        "# Measured",
        "",
        f"By `make bench`, on {_machine()}. {_versions()}.",
        "",
        f"Corpora: `python -m benches.corpus`, bodies of {body_bytes:,} bytes on average. Mixed questions have one "
        "to eight words of three or more letters, drawn as often as they occur, a third of them cut to a piece. "
        f"Single questions have no limit and get the whole ranking; batches are of {plan.effort.batch:,} distinct "
        f"mixed questions with `limit={LIMIT}`. Each rival was asked the same questions as {NAME} in turns, as many "
        f"as there was time for; the answers of exact ways were compared first. *Ratio* is how many times faster "
        f"{NAME} was.",
        "",
    ]
    if CHECKS_FRESHNESS:
        lines += [f"**Every figure of {NAME} holds a look at every file of the catalog (freshness).**", ""]
    lines += ["## Targets", "", "What misses its target is bold.", "", *targets.table(run), ""]
    for measured in run.all:
        lines += _section(measured.comparison)
    if len(run.generated) > 1:
        lines += ["![Latency against the size of the corpus](latency.svg)", ""]
    return lines[:-1]


def _section(comparison: Comparison) -> list[str]:
    lines = [
        f"## {comparison.label}: {comparison.concepts:,} concepts, {comparison.text_bytes / MEGABYTE:,.1f} MB",
        "",
        "| way | one query | 95th percentile | ratio | batch | ratio | exact? | asked |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for standing in comparison.standings:
        lines.append(_row(standing, comparison.batch_rate))
    mixed = comparison.kinds["mixed"]
    lines += [
        f"| **{NAME}** | {spoken(mixed.median)} | {spoken(mixed.p95)} | | {rate(comparison.batch_rate)} | | yes | "
        f"{len(mixed)}, {comparison.batch_size:,} |",
        f"| {NAME}, one thread | | | | {rate(comparison.one_thread_rate)} | "
        f"{factor(comparison.batch_rate / comparison.one_thread_rate)} | yes | {comparison.batch_size:,} |",
        "",
        f"| {NAME}, by kind of question | median | 95th percentile | asked |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, times in comparison.kinds.items():
        lines.append(f"| {name} | {spoken(times.median)} | {spoken(times.p95)} | {len(times)} |")
    lines.append("")
    return lines


def _row(standing: Standing, our_rate: float) -> str:
    rival = standing.rival
    if standing.skipped is not None:
        return f"| {rival.name} | | | | | | {rival.exactness.value} | {standing.skipped} |"
    single = ["–", "–", "–"]
    asked = f"{standing.batch_size:,}"
    if standing.single is not None and standing.our_single is not None:
        ratio = standing.single.median / standing.our_single.median
        single = [spoken(standing.single.median), spoken(standing.single.p95), factor(ratio)]
        asked = f"{len(standing.single)}, {asked}"
    batch = ["–", "–"]
    if standing.batch_rate is not None:
        batch = [rate(standing.batch_rate), factor(our_rate / standing.batch_rate)]
    name = f"{rival.name} ({rival.remark})" if rival.remark else rival.name
    return f"| {name} | {' | '.join(single)} | {' | '.join(batch)} | {rival.exactness.value} | {asked} |"


def _machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if line.startswith("model name")
        ]
        if names:
            model = names[0].partition(":")[2].strip()
    return f"{os.cpu_count()} cores of {model}, {platform.system()}"


def _versions() -> str:
    packages = sorted({package for rival in rivals.ALL for package in rival.packages} - {"numpy"})
    named = [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    for package in packages:
        try:
            named.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(named)


if __name__ == "__main__":
    main()
