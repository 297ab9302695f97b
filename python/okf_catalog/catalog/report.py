"""The report on a catalog: what is known about each source."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from okf_catalog.catalog.remarks import RemarkCode, RemarkCount, SourceRemark
from okf_catalog.catalog.source import KnowledgeCatalogSource
from okf_catalog.rows import ReportRow

__all__ = ["CatalogReport", "SourceProblem", "SourceReport"]


@final
@dataclass(frozen=True, slots=True)
class SourceProblem:
    """A file that is not served (B7): its path below the bundle root, and the reason."""

    path: str
    reason: str


@final
@dataclass(frozen=True, slots=True)
class SourceReport:
    """What is known about one source.

    - ``directory`` is ``None`` if the source is disabled or unavailable, or made of texts.
    - ``concepts`` is how many concepts a search can find.
    - ``duplicate_of`` is the id of an earlier source, in order S1, with the same directory.
    - ``failure`` says why the source is unavailable.
    - ``compared_because`` says why the directory is compared with the index before each search or, where the
      text says so, every half minute. It is ``None`` where the kernel reports every change, except those that
      :class:`Freshness` names.
    - ``remarks`` say what a reader may miss although the file is served, or which name looks like a concept
      but is none (B11). They are sorted by path, then line. A report keeps at most 1,000 of them: the first
      ones of each code, with the same limit for every code, so that many remarks of one code do not hide a
      few of another.
    - ``remark_count`` is how many remarks there are, and ``remark_counts`` how many of each code, in the
      order of ``RemarkCode``. Both count the remarks that are not kept too. Codes without a remark are left
      out.

    The concepts of memory sources are counted for the report only. Their files are compared with the disk
    each time a scope is read.
    """

    source: KnowledgeCatalogSource
    directory: Path | None
    concepts: int
    problems: tuple[SourceProblem, ...]
    duplicate_of: str | None
    failure: str | None
    compared_because: str | None = None
    remarks: tuple[SourceRemark, ...] = ()
    remark_count: int = 0
    remark_counts: tuple[RemarkCount, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class CatalogReport:
    """What is known about every source, in the order of the manifest.

    It is for the host only: it has the absolute paths of directories.
    """

    generation: int
    sources: tuple[SourceReport, ...]


def source_report(sources: Sequence[KnowledgeCatalogSource], row: ReportRow) -> SourceReport:
    """The report for the engine's row."""
    directory, counts = row["directory"], row["remark_counts"]
    return SourceReport(
        sources[row["source"]],
        None if directory is None else Path(directory),
        row["concepts"],
        tuple(SourceProblem(problem["path"], problem["reason"]) for problem in row["problems"]),
        row["duplicate_of"],
        row["failure"],
        row["compared_because"],
        tuple(
            SourceRemark(remark["path"], remark["line"], RemarkCode(remark["code"]), remark["sentence"])
            for remark in row["remarks"]
        ),
        sum(row["count"] for row in counts),
        tuple(RemarkCount(RemarkCode(row["code"]), row["count"]) for row in counts),
    )
