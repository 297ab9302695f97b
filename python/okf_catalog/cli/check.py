"""``okf-catalog check``."""

from typing import Annotated

import typer

from okf_catalog import CatalogReport, FileKnowledgeCatalog, FileMemoryStore, MemoryOverlapError
from okf_catalog.cli.options import CatalogOption, JsonOption
from okf_catalog.cli.progress import progress_bars
from okf_catalog.cli.report import print_json, print_readable

__all__ = ["check"]


def check(
    *,
    catalog: CatalogOption,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 for any problem, remark or failed source too.")
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show each problem, and each remark that the report keeps.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the sources of a catalog, and the problems and remarks about their files.

    A problem is a file that no search finds. A remark says what a reader may miss in a file that is found,
    such as a field that cannot be read, or that a name looks like a concept but is none. If there are many of
    one kind, the first few are shown, and the exact count. A report keeps at most 1000 remarks of a source,
    some of each code.

    Exits with 0 if the catalog can be used, whatever its files say. Exits with 1 if it cannot open (stderr
    says everything that is wrong), or if nothing can be remembered because a memory source overlaps with
    another source. With --strict it also exits with 1 for any problem, any remark, or a source that cannot be
    read. Exits with 2 for wrong usage.
    """
    with (
        progress_bars() as tell,
        FileKnowledgeCatalog(catalog, watch_for_changes=False, on_progress=tell) as opened,
    ):
        report = opened.report()
        overlap = _overlap(opened)
    if as_json:
        print_json(report, overlap)
    else:
        print_readable(report, overlap, show_all=show_all)
    if overlap is not None or (strict and not _is_clean(report)):
        raise typer.Exit(1)


def _overlap(catalog: FileKnowledgeCatalog) -> MemoryOverlapError | None:
    """Why nothing can be remembered; ``None`` if it can (Y8)."""
    try:
        FileMemoryStore(catalog)
    except MemoryOverlapError as error:
        return error
    return None


def _is_clean(report: CatalogReport) -> bool:
    return not any(
        source.failure is not None or source.problems or source.remark_count for source in report.sources
    )
