"""``okf-catalog check``."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from okf_catalog import (
    CatalogReport,
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeCatalogSource,
    MemoryOverlapError,
    SourceReport,
    SourceRole,
)
from okf_catalog.cli.options import CatalogOption
from okf_catalog.cli.progress import progress_bars
from okf_catalog.cli.screen import open_console, show, visible
from okf_catalog.cli.table import table

__all__ = ["check"]

HEADINGS = ("source", "role", "priority", "enabled", "concepts", "path")


def check(
    *,
    catalog: CatalogOption,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also for anything left out.")] = False,
) -> None:
    """Show the sources of a catalog, and every file and source that a search has to leave out.

    Exits with 1 if the catalog cannot open, after saying on stderr all that is wrong with it, and if nothing
    can be remembered, because a memory source and another source overlap. A file that cannot be used, or a
    source that cannot be read, stops no search: it is shown and, unless --strict is given, the exit code
    is 0.
    """
    with (
        progress_bars() as tell,
        FileKnowledgeCatalog(catalog, watch_for_changes=False, on_progress=tell) as opened,
    ):
        report = opened.report()
        overlap = _overlap(opened)
    remarks = [remark for source in report.sources for remark in _remarks(source)]
    if overlap is not None:
        remarks.append(overlap)
    console = open_console()
    rows = [_row(source) for source in report.sources]
    for line in table(HEADINGS, rows, numbers=("priority", "concepts")):
        show(console, Text(visible(line)))
    show(console, Text())
    for remark in remarks:
        show(console, Text(visible(remark), style="yellow"))
    show(console, Text(_summary(report)))
    left_out = any(source.failure is not None or source.problems for source in report.sources)
    if overlap is not None or (strict and left_out):
        raise typer.Exit(1)


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


def _remarks(report: SourceReport) -> Iterator[str]:
    """What a search does not do with a source that one might expect, a line each."""
    name = report.source.id
    if report.failure is not None:
        yield f"{name}: cannot be read: {report.failure}"
    # Memories are told apart by tier, and may share a directory.
    if report.duplicate_of is not None and report.source.role is SourceRole.KNOWLEDGE:
        yield f"{name}: is the directory of {report.duplicate_of}; only grouped_by_source searches it twice"
    if report.compared_because is not None:
        yield f"{name}: is compared with the disk, because {report.compared_because}"
    for problem in report.problems:
        yield f"{name}: {problem.path}: {problem.reason}"


def _overlap(catalog: FileKnowledgeCatalog) -> str | None:
    """Why nothing can be remembered, if that is so (Y8)."""
    try:
        FileMemoryStore(catalog)
    except MemoryOverlapError as error:
        return f"{error.memory_source_id}: cannot be used: {error}"
    return None


def _summary(report: CatalogReport) -> str:
    failures = sum(source.failure is not None for source in report.sources)
    counts = (
        (len(report.sources), "source"),
        (sum(source.concepts for source in report.sources), "concept"),
        (sum(len(source.problems) for source in report.sources), "problem"),
        *([(failures, "failed source")] if failures else []),
    )
    return ", ".join(f"{count} {noun if count == 1 else noun + 's'}" for count, noun in counts) + "."
