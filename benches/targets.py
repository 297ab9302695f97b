"""The targets, and what was measured for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benches import page
from benches.finding import Finding, at_least, at_most
from benches.rivals import AhoCorasick, Rival, Tantivy, TantivyOneField, TrigramFts5
from benches.timing import factor, spoken

if TYPE_CHECKING:
    from benches.compare import Comparison

MEGABYTE = 1_000_000


@dataclass(slots=True)
class Measured:
    """All measurements on one corpus; ``None`` stands for what was not measured."""

    comparison: Comparison
    opening: dict[str, float] | None = None
    memory: dict[str, int] | None = None
    broad: dict[str, float] | None = None
    edit: dict[str, float] | None = None
    overhead: dict[str, float] | None = None


@dataclass(slots=True)
class Run:
    """A whole run: the generated corpora from small to large, then the user's own, if any."""

    generated: list[Measured] = field(default_factory=list[Measured])
    given: list[Measured] = field(default_factory=list[Measured])

    @property
    def all(self) -> list[Measured]:
        return [*self.generated, *self.given]


def findings(measured: Measured) -> list[Finding]:
    """All findings of one corpus."""
    found: list[Finding] = []
    comparison = measured.comparison
    for number, rival, wanted in (("1", TrigramFts5, 100.0), ("1", Tantivy, 1.0)):
        found += _single(comparison, rival, number, wanted)
    found += _single(comparison, TantivyOneField, "1", None)
    every = comparison.kinds["all kinds"]
    found.append(at_most("1. search, 95th percentile compared with median", every.p95 / every.median, 20))
    found += _batch(comparison, AhoCorasick, 40.0)
    found += _batch(comparison, Tantivy, 3.0)
    found += _batch(comparison, TantivyOneField, None)
    cores = comparison.batch_rate / comparison.one_thread_rate
    found.append(at_least("2. batch, all cores compared with one", cores, 1.7))
    found += _opening(measured.opening)
    found += _edit(measured.edit)
    found += _memory(measured)
    found += _overhead(measured.overhead)
    return found


def growth(run: Run) -> list[Finding]:
    """How much slower the largest generated corpus is than the smallest."""
    if len(run.generated) < 2:
        return []
    small, large = run.generated[0].comparison, run.generated[-1].comparison
    text = factor(large.text_bytes / small.text_bytes)
    selective = large.kinds["selective"].median / small.kinds["selective"].median
    batch = small.batch_rate / large.batch_rate
    return [
        at_most(f"3. selective search, with {text} the text", selective, 10),
        at_most(f"3. batch query, with {text} the text", batch, 20),
    ]


def _single(comparison: Comparison, rival: type[Rival], number: str, wanted: float | None) -> list[Finding]:
    standing = comparison.of(rival)
    if standing is None or standing.single is None:
        return []
    return [
        at_least(
            f"{number}. search, {how}faster than {rival.name}", standing.single.median / ours.median, limit
        )
        for how, ours, limit in (
            ("", standing.our_single, wanted),
            ("asked again, ", standing.our_repeated, None),
        )
        if ours is not None
    ]


def _batch(comparison: Comparison, rival: type[Rival], wanted: float | None) -> list[Finding]:
    standing = comparison.of(rival)
    if standing is None:
        return []
    return [
        at_least(f"2. batch, faster than {rival.name}", comparison.batch_rate / standing.batch_rate, wanted)
    ]


def _opening(opening: dict[str, float] | None) -> list[Finding]:
    if opening is None:
        return []
    found = [Finding("4. opening", "–", spoken(opening["ours"]))]
    if "yaml" in opening:
        found.append(
            at_most("4. opening, compared with PyYAML's C loader", opening["ours"] / opening["yaml"], 1 / 3)
        )
    found.append(
        at_most("4. opening, compared with reading all files", opening["ours"] / opening["files"], 4)
    )
    return found


def _edit(edit: dict[str, float] | None) -> list[Finding]:
    if edit is None:
        return []
    return [
        Finding("4. search after one edit, with the check for changes", "–", spoken(edit["edit"])),
        Finding("4. the same search without an edit", "–", spoken(edit["look"])),
        Finding(
            "4. full build, compared with the search after one edit",
            "reported",
            factor(edit["build"] / edit["edit"]),
        ),
    ]


def _memory(measured: Measured) -> list[Finding]:
    found: list[Finding] = []
    if measured.memory is not None:
        size = measured.comparison.text_bytes
        found.append(
            at_most(
                "5. resident memory, compared with bytes of text", measured.memory["resident"] / size, 2.5
            )
        )
        found.append(
            Finding(
                "5. peak of resident memory, compared with bytes of text",
                "–",
                factor(measured.memory["peak"] / size),
            )
        )
    if measured.broad is not None:
        peak = f"{measured.broad['peak'] / MEGABYTE:,.0f} MB in {spoken(measured.broad['seconds'])}"
        found.append(
            Finding(f"5. peak of {measured.broad['questions']:,.0f} broad questions", "bounded", peak)
        )
    return found


def _overhead(overhead: dict[str, float] | None) -> list[Finding]:
    if overhead is None:
        return []
    python, passage = overhead["python"], overhead["passage"]
    return [
        Finding("6. Python's share of a search", "≤ 15 µs", spoken(max(python, 0.0)), python <= 15e-6),
        Finding("6. making a passage and reading it", "≤ 2 µs", spoken(passage), passage <= 2e-6),
    ]


def table(run: Run) -> list[str]:
    """All findings: a row for each target, a column for each corpus."""
    columns = [(measured.comparison.label, findings(measured)) for measured in run.all]
    blank = ["" for _ in columns[1:]]
    return [
        # By number, and within a number in the order in which targets first occur.
        *page.findings(columns, by=lambda target: target[:2]),
        *(page.row(finding.target, finding.wanted, finding.shown, *blank) for finding in growth(run)),
    ]


def as_seconds(probed: dict[str, Any]) -> dict[str, float]:
    """The median of each list of seconds."""
    return {name: sorted(values)[len(values) // 2] for name, values in probed.items() if values}
