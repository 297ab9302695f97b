"""An answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, final, overload

from okf_catalog._engine import Answer, BatchAnswer, KnowledgePassage, Table
from okf_catalog.choice import Choice
from okf_catalog.query import KnowledgeQuery, query_of

__all__ = ["KnowledgeBatch", "KnowledgeContext", "KnowledgeDiagnostic", "KnowledgeDiagnosticCode"]


@final
class KnowledgeDiagnosticCode(Choice):
    """The kind of a diagnostic (D1 to D3)."""

    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    NO_MATCHES = "NO_MATCHES"
    NO_ENABLED_SOURCES = "NO_ENABLED_SOURCES"


@final
@dataclass(frozen=True, slots=True)
class KnowledgeDiagnostic:
    """Something the asker should know about an answer. The message carries no absolute path (D4)."""

    code: KnowledgeDiagnosticCode
    source_id: str | None
    message: str


@final
@dataclass(frozen=True, slots=True)
class KnowledgeContext:
    """What one question got (D5).

    ``passages`` is a tuple in every way, but makes a passage only when it is touched. ``generation`` is
    that of the one catalog snapshot the answer came from.
    """

    query: KnowledgeQuery
    generation: int
    passages: Sequence[KnowledgePassage]
    diagnostics: tuple[KnowledgeDiagnostic, ...]


def context_of(query: KnowledgeQuery, generation: int, answer: Answer) -> KnowledgeContext:
    """The value for what the engine answered."""
    return KnowledgeContext(query, generation, answer.passages, diagnostics_of(answer))


def diagnostics_of(answer: Answer) -> tuple[KnowledgeDiagnostic, ...]:
    """The values for what the asker should know."""
    return tuple(
        KnowledgeDiagnostic(KnowledgeDiagnosticCode(code), source_id, message)
        for code, source_id, message in answer.diagnostics
    )


@final
class KnowledgeBatch(Sequence[KnowledgeContext]):
    """The answers to a batch of questions: element i belongs to query i. Made on sight, immutable.

    A slice is a batch too. It cannot be pickled, but ``list(batch)`` can.
    """

    __slots__ = ("_answers", "_generation", "_places", "_queries")

    def __init__(
        self, queries: tuple[KnowledgeQuery | str, ...], generation: int, answers: BatchAnswer, places: range
    ) -> None:
        self._queries = queries
        self._generation = generation
        self._answers = answers
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> KnowledgeContext: ...
    @overload
    def __getitem__(self, index: slice) -> "KnowledgeBatch": ...
    def __getitem__(self, index: int | slice) -> "KnowledgeContext | KnowledgeBatch":
        if isinstance(index, slice):
            return KnowledgeBatch(self._queries, self._generation, self._answers, self._places[index])
        try:
            place = self._places[index]
        except IndexError:
            raise IndexError("batch index out of range") from None
        query = query_of("query", self._queries[place])
        return context_of(query, self._generation, self._answers.answer(place))

    def __iter__(self) -> Iterator[KnowledgeContext]:
        for index in range(len(self)):
            yield self[index]

    def to_arrow(self) -> Table:
        """All passages as rows, for what reads Arrow: ``pyarrow.table(batch.to_arrow())``, polars, DuckDB.

        Columns: ``query_index`` (from 0, within this batch), ``rank`` (from 1), ``source_id``,
        ``concept_id``, ``title``, ``excerpt``, ``score``, ``bundle_relative_path``, ``trust_tier``,
        ``status``, ``stale_after``, ``concept_type``, ``description``, ``snippet``, ``is_stale``.
        The rows are made while they are read, without Python objects.
        """
        return self._answers.table(self._places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnowledgeBatch):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<KnowledgeBatch of {len(self)} answers, generation {self._generation}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a KnowledgeBatch is a handle and cannot be pickled; pickle list(batch)")
