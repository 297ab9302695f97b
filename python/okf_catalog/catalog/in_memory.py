"""A catalog whose sources are texts instead of directories."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast, final

from okf_catalog._engine import InMemoryCatalog
from okf_catalog.catalog.handle import CatalogHandle
from okf_catalog.catalog.limits import MAX_FILE_BYTES, MAX_QUESTION_BYTES, plain_limits
from okf_catalog.catalog.log import log_problems
from okf_catalog.catalog.opened import OpenedCatalog
from okf_catalog.catalog.source import KnowledgeCatalogSnapshot
from okf_catalog.checks import (
    check_bool,
    check_int,
    check_kind,
    check_segment,
    check_str,
    check_text,
    keep_plain,
    shown_int,
    shown_text,
)
from okf_catalog.errors import RefusedTypeError, RefusedValueError
from okf_catalog.mapping import FrozenMapping, text_items
from okf_catalog.rows import TextSourceRow

__all__ = ["InMemoryKnowledgeCatalog", "InMemorySource"]

LEAST_PRIORITY, MOST_PRIORITY = -(2**31), 2**31 - 1
"""The range of a priority: a 32-bit signed integer, as in a manifest (M1)."""


@final
@dataclass(frozen=True, slots=True)
class InMemorySource:
    r"""A source made of texts: for each concept id its markdown text, frontmatter included (A2).

    The texts mean what files of a directory would mean. ``tables/orders`` is the concept that a file
    ``tables/orders.md`` would be (B2), and texts that would be no concept by their name are passed over (B1):
    ``log``, ``a/index``, ``.draft``. The text of ``index`` only says which version of the format the source
    declares (L5).

    Example:
        >>> InMemorySource("glossary", {"arr": "---\ntitle: ARR\n---\nRecurring revenue."}).priority
        0

    Raises:
        RefusedTypeError: a field has the wrong type.
        RefusedValueError: the id is not one segment (M2), a concept id is no path below a root, or a number
            is out of range.
    """

    id: str
    concepts: Mapping[str, str]
    priority: int = 0
    enabled: bool = True

    def __post_init__(self) -> None:
        source_id = check_str("id", self.id)
        check_segment("id", source_id)
        keep_plain(self, "id", source_id)
        keep_plain(self, "concepts", FrozenMapping(_concepts(self.concepts)))
        priority = check_int("priority", self.priority, "an int")
        if not LEAST_PRIORITY <= priority <= MOST_PRIORITY:
            raise RefusedValueError(
                f"priority is an integer of 32 bits, {LEAST_PRIORITY} to {MOST_PRIORITY}, "
                f"not {shown_int(priority)}"
            )
        keep_plain(self, "priority", priority)
        check_bool("enabled", self.enabled)

    def __reduce__(self) -> tuple[Any, ...]:
        return InMemorySource, (self.id, dict(self.concepts), self.priority, self.enabled)


@final
class InMemoryKnowledgeCatalog(CatalogHandle):
    """A catalog of sources made of texts: the same facts as for directories, and no disk (A2).

    Every resolver takes it as it takes a :class:`FileKnowledgeCatalog`. A change of a source is one atomic
    swap with the next generation: a search sees all of it or nothing, and one that has begun finishes with
    what it began with. It has no memory sources, and no manifest: the path of its sources is empty, and the
    snapshot's ``manifest_directory`` is ``Path()``.

    Args:
        sources: the sources of generation 1, in the order that the snapshot keeps. No two have one id.
        max_file_bytes: a text with more bytes of UTF-8 is not served, and is a problem of its source (B9).
        max_threads: one call uses at most this many threads; ``None`` is one for each core.
        max_question_bytes: as for :class:`FileKnowledgeCatalog`.

    Example:
        >>> orders = InMemorySource("sales", {"orders": "Net of refunds."})
        >>> with InMemoryKnowledgeCatalog([orders]) as catalog:
        ...     catalog.put(InMemorySource("glossary", {"arr": "Annual recurring revenue."})).generation
        2

    Raises:
        RefusedTypeError: an argument has the wrong type.
        RefusedValueError: two sources have one id, or a number is out of range.

    A catalog is a context manager, for ``async with`` too. Any number of threads may use it at once, also
    after a fork. It cannot be pickled; its sources can.
    """

    __slots__ = ()

    def __init__(
        self,
        sources: Iterable[InMemorySource] = (),
        *,
        max_file_bytes: int = MAX_FILE_BYTES,
        max_threads: int | None = None,
        max_question_bytes: int = MAX_QUESTION_BYTES,
    ) -> None:
        rows = [_row(source) for source in _distinct(sources)]
        max_file_bytes, max_threads, max_question_bytes = plain_limits(
            max_file_bytes, max_threads, max_question_bytes
        )
        engine = InMemoryCatalog(rows, max_file_bytes, max_threads)
        log_problems(engine.problems)
        super().__init__(OpenedCatalog(engine, max_question_bytes=max_question_bytes))

    def put(self, source: InMemorySource) -> KnowledgeCatalogSnapshot:
        """Adds a source, or replaces the one of its id whole; returns the snapshot in force afterwards.

        A replaced source keeps its place in the order of the snapshot. Texts that cannot be served are
        logged, and are problems in the report (B7).

        Raises:
            RefusedTypeError: ``source`` is not an ``InMemorySource``.
            CatalogClosedError: the catalog is closed.
        """
        check_kind("source", source, InMemorySource, "an InMemorySource")
        log_problems(self._engine().put(_row(source)))
        return self.current

    def remove(self, source_id: str) -> KnowledgeCatalogSnapshot:
        """Removes a source; returns the snapshot in force afterwards.

        Raises:
            RefusedTypeError: ``source_id`` is not a ``str``.
            RefusedValueError: there is no source of this id.
            CatalogClosedError: the catalog is closed.
        """
        source_id = check_text("source_id", source_id)
        if not self._engine().remove(source_id):
            raise RefusedValueError(
                f"source_id is the id of a source of this catalog, not {shown_text(source_id)}"
            )
        return self.current

    def _engine(self) -> InMemoryCatalog:
        return cast("InMemoryCatalog", self._opened.engine)

    def __repr__(self) -> str:
        if self.closed:
            return "<InMemoryKnowledgeCatalog, closed>"
        snapshot = self.current
        return (
            f"<InMemoryKnowledgeCatalog, {len(snapshot.sources)} sources, generation {snapshot.generation}>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an InMemoryKnowledgeCatalog cannot be pickled; make it from its sources in the other process"
        )


def _row(source: InMemorySource) -> TextSourceRow:
    return TextSourceRow(source.id, [*source.concepts.items()], source.priority, source.enabled)


def _distinct(sources: object) -> list[InMemorySource]:
    """The sources, no two of one id."""
    if isinstance(sources, (str, bytes, InMemorySource)) or not isinstance(sources, Iterable):
        raise RefusedTypeError(f"sources is an iterable of InMemorySource, not {type(sources).__name__}")
    places = dict[str, int]()
    found = list[InMemorySource]()
    for place, source in enumerate(cast("Iterable[object]", sources)):
        check_kind(f"sources[{place}]", source, InMemorySource, "an InMemorySource")
        source = cast("InMemorySource", source)
        if source.id in places:
            raise RefusedValueError(
                f"sources[{place}] has the id {source.id!r}, as sources[{places[source.id]}] has; "
                "give each source an id of its own"
            )
        places[source.id] = place
        found.append(source)
    return found


def _concepts(given: object) -> dict[str, str]:
    concepts = dict[str, str]()
    for concept_id, text in text_items("concepts", given):
        parts = concept_id.split("/")
        problem = None
        if "" in parts:
            problem = "it is empty, or a part of it is"
        elif "." in parts or ".." in parts:
            problem = "'.' and '..' lead elsewhere"
        elif "\0" in concept_id:
            problem = "it holds a NUL"
        if problem is not None:
            raise RefusedValueError(
                "each key of concepts is a concept id, such as 'tables/orders', "
                f"not {shown_text(concept_id)}: {problem}"
            )
        if type(text) is str and text.isascii():
            # Most texts. The name of the field, which is only for a refusal, costs more than the check.
            concepts[concept_id] = text
        else:
            concepts[concept_id] = check_text(f"concepts[{shown_text(concept_id)}]", text)
    return concepts
