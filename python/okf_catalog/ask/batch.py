"""The answers to a batch of queries."""

from collections.abc import Iterator, Sequence
from typing import NoReturn, final, overload

from okf_catalog._engine import BatchAnswer, Table
from okf_catalog.ask.context import KnowledgeContext, context_of
from okf_catalog.ask.query import KnowledgeQuery, query_of

__all__ = ["KnowledgeBatch"]


@final
class KnowledgeBatch(Sequence[KnowledgeContext]):
    """The answers to a batch of queries: element i belongs to query i.

    A batch is immutable, and makes an answer only when it is accessed. A slice is a batch too. A batch cannot
    be pickled, but ``list(batch)`` can.
    """

    __slots__ = ("_answers", "_generation", "_indices", "_queries")

    def __init__(
        self, queries: tuple[KnowledgeQuery | str, ...], generation: int, answers: BatchAnswer, indices: range
    ) -> None:
        self._queries = queries
        self._generation = generation
        self._answers = answers
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> KnowledgeContext: ...
    @overload
    def __getitem__(self, index: slice) -> "KnowledgeBatch": ...
    def __getitem__(self, index: int | slice) -> "KnowledgeContext | KnowledgeBatch":
        if isinstance(index, slice):
            return KnowledgeBatch(self._queries, self._generation, self._answers, self._indices[index])
        try:
            place = self._indices[index]
        except IndexError:
            raise IndexError("batch index out of range") from None
        query = query_of("query", self._queries[place])
        return context_of(query, self._generation, self._answers.answer(place))

    def __iter__(self) -> Iterator[KnowledgeContext]:
        for index in range(len(self)):
            yield self[index]

    def to_arrow(self) -> Table:
        """All passages as rows, for libraries that read Arrow: pyarrow, polars, DuckDB.

        For example ``pyarrow.table(batch.to_arrow())``.

        Columns: ``query_index`` (from 0, within this batch), ``rank`` (from 1), ``source_id``,
        ``concept_id``, ``title``, ``excerpt``, ``score``, ``bundle_relative_path``, ``trust_tier``,
        ``status``, ``stale_after``, ``concept_type``, ``description``, ``snippet``, ``is_stale``, and
        ``section``, a struct of ``heading`` (a list), ``text``, ``first_line`` and ``last_line``.
        The rows are made while they are read, without a Python object for each passage.
        """
        return self._answers.table(self._indices)

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
