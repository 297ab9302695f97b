"""``okf-catalog init``."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated, NoReturn

import typer
from rich.text import Text

from okf_catalog import CatalogReport, FileKnowledgeCatalog
from okf_catalog.cli.draft import UnfitDirectoryError, draft_of, ids_of, manifest_text, path_below
from okf_catalog.cli.find import MANIFEST
from okf_catalog.cli.progress import progress_bars
from okf_catalog.cli.screen import complain, open_console, show, visible
from okf_catalog.cli.table import table

__all__ = ["init"]

HEADINGS = ("source", "concepts", "path")


def init(
    directories: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR",
            help="A directory of markdown files; each becomes a source, in this order.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            metavar="PATH", help="The manifest to write; every DIR is its directory, or lies below it."
        ),
    ] = Path(MANIFEST),
) -> None:
    """Write a catalog.json that has each directory as a source, and say what is in it.

    Ids are made of the names of the directories. Paths are relative to the directory of the manifest, so
    that the two can be moved together. A file that exists is never overwritten.

    Exits with 1 if nothing was written: for a directory that is missing, is a file or a link, or lies outside
    the manifest's directory, and if the manifest exists. Exits with 2 for wrong usage.
    """
    _refuse_existing(output)
    found = list(_found(directories, output.parent))
    sources = _named(found)
    text = manifest_text((source_id, place.path) for source_id, place in sources)
    with draft_of(output, text) as draft:
        # Opened before it is published: what the catalog refuses is never written.
        with (
            progress_bars() as tell,
            FileKnowledgeCatalog(draft.path, watch_for_changes=False, on_progress=tell) as opened,
        ):
            report = opened.report()
        try:
            draft.publish()
        except FileExistsError:
            _refuse_existing(output)
            raise
    _print(output, report, [*_repeated(found), *_nested(sources)])


def _refuse_existing(output: Path) -> None:
    if not output.parent.is_dir():
        _end([f"{output.parent}: is no directory that a manifest can be written to; create it first"])
    if output.is_dir():
        _end([f"{output}: is a directory; name the file to write in it"])
    if os.path.lexists(output):
        _end([f"{output}: exists, and is not overwritten; remove it, or name another with --output"])


def _end(reasons: Sequence[str]) -> NoReturn:
    for reason in reasons:
        complain(reason)
    complain("nothing was written")
    raise typer.Exit(1)


@dataclass(frozen=True)
class _Place:
    """A directory, as it was given and as the manifest writes it."""

    given: str
    path: str
    real: str
    identity: tuple[int, int]


def _found(directories: Sequence[str], base: Path) -> Iterator[_Place]:
    """Every directory; if any is unfit, all that are unfit are told and nothing is done."""
    reasons = list[str]()
    for directory in directories:
        try:
            path = path_below(directory, str(base))
        except UnfitDirectoryError as error:
            reasons.append(f"{directory}: {error}")
            continue
        stat = Path(directory).stat()
        yield _Place(directory, path, os.path.realpath(directory), (stat.st_dev, stat.st_ino))
    if reasons:
        _end(reasons)


def _named(found: Sequence[_Place]) -> list[tuple[str, _Place]]:
    """The id and the place of each source. A directory that is given twice is one source."""
    once = dict[tuple[int, int], _Place]()
    for place in found:
        once.setdefault(place.identity, place)
    places = [*once.values()]
    return [*zip(ids_of([os.path.basename(place.real) for place in places]), places, strict=True)]  # noqa: PTH119


def _repeated(found: Sequence[_Place]) -> Iterator[str]:
    first = dict[tuple[int, int], _Place]()
    for place in found:
        before = first.setdefault(place.identity, place)
        if before is not place:
            yield f"{place.given} is the same directory as {before.given}, and no source of its own."


def _nested(sources: Sequence[tuple[str, _Place]]) -> Iterator[str]:
    ids = {Path(place.real): source_id for source_id, place in sources}
    for source_id, place in sources:
        outer = next((ids[parent] for parent in Path(place.real).parents if parent in ids), None)
        if outer is not None:
            yield f"{source_id} lies inside {outer}: each of its concepts is found in both."


def _print(output: Path, report: CatalogReport, notes: Sequence[str]) -> None:
    console = open_console()
    count = len(report.sources)
    show(console, Text(visible(f"Wrote {output} with {count} source{'' if count == 1 else 's'}:")))
    show(console, Text())
    rows = [(source.source.id, str(source.concepts), source.source.path) for source in report.sources]
    for line in table(HEADINGS, rows, numbers=("concepts",)):
        show(console, Text(visible(line)))
    show(console, Text())
    for note in [*notes, *_doubts(report)]:
        show(console, Text(visible(note), style="yellow"))
    option = "" if output == Path(MANIFEST) else f" --catalog {quote(str(output))}"
    show(
        console, Text(visible(f"okf-catalog check{option} shows more; okf-catalog search TEXT{option} asks."))
    )


def _doubts(report: CatalogReport) -> Iterator[str]:
    """What somebody should look at before asking."""
    for source in report.sources:
        if source.failure is not None:
            yield f"{source.source.id} cannot be read: {source.failure}."
        elif source.concepts == 0:
            yield (
                f"{source.source.id} has no concepts: these are files whose names end in .md, "
                "but for index.md and log.md."
            )
    problems = sum(len(source.problems) for source in report.sources)
    remarks = sum(source.remark_count for source in report.sources)
    if problems or remarks:
        yield f"Files that are left out: {problems}. Remarks on others: {remarks}."
