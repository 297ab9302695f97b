"""The report of ``okf-catalog check``, printed for a person or as JSON."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, cast

import typer
from rich.text import Text

from okf_catalog import (
    CatalogReport,
    KnowledgeCatalogSource,
    MemoryOverlapError,
    RemarkCode,
    SourceRemark,
    SourceReport,
    SourceRole,
)
from okf_catalog.cli.screen import open_console, show, visible
from okf_catalog.cli.table import table

__all__ = ["print_json", "print_readable"]

HEADINGS = ("source", "role", "priority", "enabled", "concepts", "path")
EXAMPLES = 5
"""At most this many problems of a source are shown, and this many of its remarks of each code."""


def print_readable(report: CatalogReport, overlap: MemoryOverlapError | None, *, show_all: bool) -> None:
    """Prints a table of the sources, then a line for each finding, grouped by source and code."""
    most = None if show_all else EXAMPLES
    lines = [line for source in report.sources for line in _lines(source, most)]
    if overlap is not None:
        lines.append(f"{overlap.memory_source_id}: cannot be used: {overlap}")
    console = open_console()
    rows = [_row(source) for source in report.sources]
    for line in table(HEADINGS, rows, numbers=("priority", "concepts")):
        show(console, Text(visible(line)))
    show(console, Text())
    for line in lines:
        show(console, Text(visible(line), style="yellow"))
    totals = _totals(report)
    if totals:
        counts = ", ".join(f"{totals[code]} {code.value}" for code in totals)
        show(console, Text(f"Remarks: {counts}."))
    show(console, Text(_summary(report)))


def _row(report: SourceReport) -> tuple[str, ...]:
    source = report.source
    return (
        source.id,
        _role(source),
        str(source.priority),
        "yes" if source.enabled else "no",
        "-" if report.failure is not None else str(report.concepts),
        source.path,
    )


def _role(source: KnowledgeCatalogSource) -> str:
    return source.role.value if source.tier is None else f"{source.role.value} ({source.tier.value})"


def _lines(report: SourceReport, most: int | None) -> Iterator[str]:
    """The lines about one source, each with its id; at most ``most`` examples of each kind."""
    name = report.source.id
    if report.failure is not None:
        yield f"{name}: cannot be read: {report.failure}"
    # Memory sources of different tiers may share a directory.
    if report.duplicate_of is not None and report.source.role is SourceRole.KNOWLEDGE:
        yield f"{name}: is the directory of {report.duplicate_of}; only grouped_by_source searches it twice"
    if report.compared_because is not None:
        yield f"{name}: is compared with the disk before each search, because {report.compared_because}"
    if report.problems:
        count = len(report.problems)
        yield f"{name}: {_counted(count, 'problem')}:"
        problems = [f"{problem.path}: {problem.reason}" for problem in report.problems]
        yield from _shown(name, problems, count, most)
    for of_code in report.remark_counts:
        yield f"{name}: {_counted(of_code.count, 'remark')} {of_code.code.value}:"
        remarks = [_remark(remark) for remark in report.remarks if remark.code is of_code.code]
        yield from _shown(name, remarks, of_code.count, most)


def _remark(remark: SourceRemark) -> str:
    where = remark.path if remark.line is None else f"{remark.path}:{remark.line}"
    return f"{where}: {remark.sentence}"


def _shown(name: str, kept: Sequence[str], count: int, most: int | None) -> Iterator[str]:
    """The first ``most`` of ``kept``, and how many more there are of the ``count``."""
    # Instead of "and 1 more", the last one itself is shown: both take one line.
    whole = most is None or count <= most + 1
    shown = kept if whole else kept[:most]
    yield from (f"{name}: {line}" for line in shown)
    more = count - len(shown)
    if more:
        hint = "" if most is None or len(kept) == len(shown) else " (--all)"
        yield f"{name}: ... and {more} more{hint}"


def _totals(report: CatalogReport) -> dict[RemarkCode, int]:
    """How many remarks of each code there are in all sources."""
    totals = Counter[RemarkCode]()
    for source in report.sources:
        totals.update({of_code.code: of_code.count for of_code in source.remark_counts})
    return {code: totals[code] for code in RemarkCode if code in totals}


def _summary(report: CatalogReport) -> str:
    failures = sum(source.failure is not None for source in report.sources)
    remarks = sum(source.remark_count for source in report.sources)
    counts = (
        (len(report.sources), "source"),
        (sum(source.concepts for source in report.sources), "concept"),
        (sum(len(source.problems) for source in report.sources), "problem"),
        *([(remarks, "remark")] if remarks else []),
        *([(failures, "failed source")] if failures else []),
    )
    return ", ".join(_counted(count, noun) for count, noun in counts) + "."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"


def print_json(report: CatalogReport, overlap: MemoryOverlapError | None) -> None:
    """Prints one JSON document with the whole report. It is for the host only: it names directories.

    It is ASCII, so it is valid in every encoding of stdout, and no control character reaches a terminal.
    """
    document = {
        "generation": report.generation,
        "sources": [_source(source) for source in report.sources],
        "problem_count": sum(len(source.problems) for source in report.sources),
        "remark_count": sum(source.remark_count for source in report.sources),
        "remark_counts": _by_code(_totals(report).items()),
        "overlap": None
        if overlap is None
        else {
            "memory_source_id": overlap.memory_source_id,
            "other_source_id": overlap.other_source_id,
            "message": str(overlap),
        },
    }
    typer.echo(json.dumps(document, indent=2))


def _source(report: SourceReport) -> dict[str, Any]:
    counts = _by_code((of_code.code, of_code.count) for of_code in report.remark_counts)
    return {**_plain(report), "remark_counts": counts}


def _plain(value: object) -> Any:
    """A value for JSON: fields by their names, an enum as its value, a path as text."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value


def _by_code(counts: Iterable[tuple[RemarkCode, int]]) -> dict[str, int]:
    return {code.value: count for code, count in counts}
