"""What answers questions: a resolver for each strategy."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn, Protocol, cast, final, runtime_checkable

from okf_catalog._engine import Cancellation, is_blank
from okf_catalog.catalog import FileKnowledgeCatalog, View, log_problems
from okf_catalog.checks import check_count, check_kind, is_kind
from okf_catalog.clock import Clock, check_clock, now_of
from okf_catalog.context import KnowledgeBatch, KnowledgeContext, context_of
from okf_catalog.errors import RefusedTypeError
from okf_catalog.length import check_length
from okf_catalog.query import (
    KnowledgeQuery,
    KnowledgeResolverStrategy,
    SourceVisibilityPolicy,
    check_policy,
    query_of,
    strategy_of,
)
from okf_catalog.rows import Question
from okf_catalog.stream import stream
from okf_catalog.visibility import visible_sources

__all__ = [
    "Clock",
    "GroupedKnowledgeResolver",
    "KnowledgeResolver",
    "KnowledgeResolverRouter",
    "MergedKnowledgeResolver",
    "PriorityWeightedKnowledgeResolver",
]


@runtime_checkable
class KnowledgeResolver(Protocol):
    """Answers questions put to a catalog."""

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """The answer to one question."""
        ...

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """The same answer, without holding up the event loop."""
        ...

    def search_batch(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> KnowledgeBatch:
        """The answers to many questions, in order."""
        ...


def check_defaults(
    default_fairness_quota: object, default_source_visibility_policy: object, clock: object
) -> int | None:
    """Refuses what no host can mean; gives the plain quota.

    Raises:
        RefusedTypeError: one of them is of the wrong kind.
        RefusedValueError: the quota is below 1 (Q1).
    """
    quota = None
    if default_fairness_quota is not None:
        quota = check_count("default_fairness_quota", default_fairness_quota, least=1)
    check_policy("default_source_visibility_policy", default_source_visibility_policy)
    check_clock(clock)
    return quota


class _Resolver:
    """The one way from a question to its answer; what differs is which strategy and quota are in force."""

    __slots__ = (
        "_catalog",
        "_clock",
        "_default_policy",
        "_default_quota",
        "_max_question_bytes",
        "_strategy",
    )

    def __init__(
        self,
        catalog: FileKnowledgeCatalog,
        strategy: KnowledgeResolverStrategy,
        default_fairness_quota: int | None,
        default_source_visibility_policy: SourceVisibilityPolicy | None,
        clock: Clock | None,
    ) -> None:
        check_kind("catalog", catalog, FileKnowledgeCatalog, "a FileKnowledgeCatalog")
        self._default_quota = check_defaults(default_fairness_quota, default_source_visibility_policy, clock)
        self._catalog = catalog
        self._max_question_bytes = catalog.max_question_bytes
        self._strategy = strategy
        self._default_policy = default_source_visibility_policy
        self._clock = clock

    @property
    def max_question_bytes(self) -> int:
        """How many bytes of UTF-8 the text of a question, and its tag, may have."""
        return self._max_question_bytes

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """The answer to one question; a ``str`` is a ``KnowledgeQuery`` of that text.

        Raises:
            RefusedTypeError: ``query`` is neither, a policy answered with anything but a ``bool`` (S3), or
                the clock with anything but an aware ``datetime``.
            RefusedValueError: the text is blank (Q1), or it or the tag has more bytes than the catalog's
                ``max_question_bytes``.
            CatalogClosedError: the catalog was closed.
            Exception: whatever a visibility policy raises, unchanged.
        """
        return self._search(query, None)

    def _search(self, query: KnowledgeQuery | str, cancellation: Cancellation | None) -> KnowledgeContext:
        query = query_of("query", query)
        check_length(query, self._max_question_bytes)
        catalog = self._catalog
        view = catalog.view()
        answer = catalog.engine.search(
            view.handle, self._question(query, view), self._now(), catalog.on_progress, cancellation
        )
        if problems := answer.problems:
            log_problems(problems)
        return context_of(query, view.snapshot.generation, answer)

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """What ``search`` returns and raises, computed in a thread so that the event loop goes on.

        When the waiting for it is cancelled, the thread ends its work soon.
        """
        # A third of what this package costs to import; whoever awaits has paid for it already.
        import asyncio  # noqa: PLC0415

        cancellation = Cancellation()
        try:
            return await asyncio.to_thread(self._search, query, cancellation)
        finally:
            # Nobody waits any more, for whatever reason.
            cancellation.cancel()

    def search_batch(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> KnowledgeBatch:
        """Answers as if each question had been asked alone, at one instant, of one snapshot, in order.

        ``limit`` keeps the first ``limit`` passages of each answer, after everything else was applied.

        Raises:
            RefusedTypeError, RefusedValueError: a question or ``limit`` is refused. Nothing was done then,
                and the message names the index of the question.
            CatalogClosedError: the catalog was closed.
            Exception: whatever a visibility policy raises, unchanged.
        """
        limit = _limit_of(limit)
        checked = self._queries(queries)
        catalog = self._catalog
        view = catalog.view()
        # A policy of the host is asked for each question; without one, texts differ in nothing but the text.
        are_alike = self._default_policy is None
        questions = [
            query
            if are_alike and isinstance(query, str)
            else self._question(self._query("query", query), view, where=f"queries[{index}]: ")
            for index, query in enumerate(checked)
        ]
        conversation = catalog.engine.converse(view.handle, self._now())
        answers = conversation.ask(
            questions, self._row(_ORDINARY, view.positions), limit, catalog.on_progress
        )
        log_problems(answers.problems)
        return KnowledgeBatch(checked, view.snapshot.generation, answers, range(len(checked)))

    def search_stream(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> Iterator[KnowledgeContext]:
        """Yields the answers of ``search_batch`` in order, while later ones are being computed.

        ``queries`` is read as answers are taken, some hundred questions ahead, so it may be endless, and
        memory stays bounded if ``limit`` is given. All answers are of one instant and one snapshot, both
        taken at the first answer, and of one state of each source, taken when a question first needs it.
        Policies are called on the thread that takes the answers.

        Raises:
            RefusedTypeError, RefusedValueError: ``limit`` or ``queries`` is refused at once; a question is
                refused when its turn comes, after the answers before it.
            CatalogClosedError: the catalog was closed; answers that were computed before still come.
            OkfCatalogError: the process forked meanwhile.
            Exception: whatever a visibility policy raises, unchanged, or ``queries`` itself.
        """
        limit = _limit_of(limit)
        many = enumerate(_many(queries))
        return self._stream((self._query(f"queries[{index}]", query) for index, query in many), limit)

    def _stream(self, queries: Iterator[KnowledgeQuery], limit: int | None) -> Iterator[KnowledgeContext]:
        catalog = self._catalog
        view = catalog.view()
        conversation = catalog.engine.converse(view.handle, self._now())
        cancellation = Cancellation()
        yield from stream(
            queries,
            lambda index, query: self._question(query, view, where=f"queries[{index}]: "),
            view,
            lambda questions: conversation.ask(
                questions, self._row(_ORDINARY, view.positions), limit, catalog.on_progress, cancellation
            ),
            cancellation,
        )

    def _query(self, field: str, query: object) -> KnowledgeQuery:
        """The query that ``query`` is, or is the text of, if it is not too long."""
        checked = query_of(field, query)
        where = "" if field == "query" else f"{field}: "
        check_length(checked, self._max_question_bytes, where=where)
        return checked

    def _queries(self, queries: object) -> tuple[KnowledgeQuery | str, ...]:
        """The checked queries; a text remains one, as most are never looked at again."""
        most = self._max_question_bytes
        checked: list[KnowledgeQuery | str] = []
        for index, query in enumerate(_many(queries)):
            if type(query) is str and query.isascii() and len(query) <= most and not is_blank(query):
                checked.append(query)
            else:
                checked.append(self._query(f"queries[{index}]", query))
        return tuple(checked)

    def _question(self, query: KnowledgeQuery, view: View, *, where: str = "") -> Question:
        return self._row(query, visible_sources(query, view, self._default_policy, where=where))

    def _row(self, query: KnowledgeQuery, visible: Sequence[int]) -> Question:
        strategy, quota = self._order(query)
        return (query.text, query.tag, query.stale_policy.grace_days, strategy.value, quota, visible)

    def _order(self, query: KnowledgeQuery) -> tuple[KnowledgeResolverStrategy, int | None]:
        """The strategy and the quota in force for a question."""
        return self._strategy, query.fairness_quota or self._default_quota

    def _now(self) -> int | None:
        """The time in microseconds since 1970; ``None`` for the system's."""
        return now_of(self._clock)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._catalog!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a resolver cannot be pickled; open its catalog again in the other process")


def _limit_of(limit: int | None) -> int | None:
    if limit is None:
        return None
    return min(check_count("limit", limit, least=0), (1 << 32) - 1)


def _many(queries: object) -> Iterable[object]:
    if is_kind(queries, (str, bytes)) or not is_kind(queries, Iterable):
        raise RefusedTypeError(f"queries is an iterable of queries, not one {type(queries).__name__}")
    return cast("Iterable[object]", queries)


_ORDINARY = KnowledgeQuery("anything")
"""What a text says besides itself when it is asked as a query."""


@final
class GroupedKnowledgeResolver(_Resolver):
    """Answers source by source, in order S1 (R1). A quota has no meaning here and is ignored."""

    __slots__ = ()

    def __init__(
        self,
        catalog: FileKnowledgeCatalog,
        *,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        strategy = KnowledgeResolverStrategy.GROUPED_BY_SOURCE
        super().__init__(catalog, strategy, None, default_source_visibility_policy, clock)


@final
class MergedKnowledgeResolver(_Resolver):
    """Answers with one list by score (R2)."""

    __slots__ = ()

    def __init__(
        self,
        catalog: FileKnowledgeCatalog,
        *,
        default_fairness_quota: int | None = None,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        strategy = KnowledgeResolverStrategy.MERGED
        super().__init__(catalog, strategy, default_fairness_quota, default_source_visibility_policy, clock)


@final
class PriorityWeightedKnowledgeResolver(_Resolver):
    """Answers with one list by the priority of the source, then by score (R3)."""

    __slots__ = ()

    def __init__(
        self,
        catalog: FileKnowledgeCatalog,
        *,
        default_fairness_quota: int | None = None,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        strategy = KnowledgeResolverStrategy.PRIORITY_WEIGHTED
        super().__init__(catalog, strategy, default_fairness_quota, default_source_visibility_policy, clock)


@final
class KnowledgeResolverRouter(_Resolver):
    """Answers with the strategy that each question names, or else with the host's."""

    __slots__ = ()

    def __init__(
        self,
        catalog: FileKnowledgeCatalog,
        *,
        default_strategy: KnowledgeResolverStrategy | str = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
        default_fairness_quota: int | None = None,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        strategy = strategy_of("default_strategy", default_strategy)
        super().__init__(catalog, strategy, default_fairness_quota, default_source_visibility_policy, clock)

    def _order(self, query: KnowledgeQuery) -> tuple[KnowledgeResolverStrategy, int | None]:
        return query.resolver_strategy or self._strategy, query.fairness_quota or self._default_quota
