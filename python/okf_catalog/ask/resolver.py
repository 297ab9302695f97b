"""A resolver: it asks the engine, and returns the answers."""

from collections.abc import Iterable, Iterator
from typing import ClassVar, NoReturn, Protocol, runtime_checkable

from okf_catalog._engine import Cancellation
from okf_catalog.ask.batch import KnowledgeBatch
from okf_catalog.ask.context import KnowledgeContext, context_of
from okf_catalog.ask.defaults import host_defaults
from okf_catalog.ask.length import check_length
from okf_catalog.ask.policy import SourceVisibilityPolicy
from okf_catalog.ask.queries import check_limit, check_queries, iterate_queries
from okf_catalog.ask.query import KnowledgeQuery, query_of
from okf_catalog.ask.question import plain_question, question_of
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.ask.stream import stream
from okf_catalog.catalog.catalog import KnowledgeCatalog
from okf_catalog.catalog.handle import opened_catalog
from okf_catalog.catalog.log import log_problems
from okf_catalog.clock import Clock, check_clock, now_of
from okf_catalog.waiting import run_cancellable

__all__ = ["KnowledgeResolver"]


@runtime_checkable
class KnowledgeResolver(Protocol):
    """Answers queries to a catalog."""

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """The answer to one query."""
        ...

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """The same answer, without blocking the event loop."""
        ...

    def search_batch(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> KnowledgeBatch:
        """The answers to many queries, in order."""
        ...


class Resolver:
    """The base class of every resolver of this package.

    A subclass sets ``_strategy``. It writes a constructor of its own only if it takes other arguments.
    """

    __slots__ = ("_catalog", "_clock", "_defaults", "_opened")

    _strategy: ClassVar[KnowledgeResolverStrategy]

    def __init__(
        self,
        catalog: KnowledgeCatalog,
        *,
        default_fairness_quota: int | None = None,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        default_scoring: KnowledgeScoring | str = KnowledgeScoring.WEIGHTED_TERMS,
        clock: Clock | None = None,
    ) -> None:
        self._opened = opened_catalog(catalog)
        self._defaults = host_defaults(
            self._strategy,
            default_fairness_quota,
            default_source_visibility_policy,
            default_scoring,
            query_chooses_strategy=False,
        )
        check_clock(clock)
        self._catalog = catalog
        self._clock = clock

    @property
    def max_question_bytes(self) -> int:
        """The text of a query, and its tag, may have at most this many bytes of UTF-8."""
        return self._opened.max_question_bytes

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """The answer to one query; a ``str`` is a ``KnowledgeQuery`` with that text.

        Raises:
            RefusedTypeError: ``query`` is neither, a policy returned something other than a ``bool`` (S3), or
                the clock something other than an aware ``datetime``.
            RefusedValueError: the text is blank (Q1), or the text or the tag has more bytes than the
                catalog's ``max_question_bytes``.
            CatalogClosedError: the catalog is closed.
            Exception: anything that a visibility policy raises, unchanged.
        """
        return self._search(query, None)

    def _search(self, query: KnowledgeQuery | str, cancellation: Cancellation | None) -> KnowledgeContext:
        opened = self._opened
        query = query_of("query", query)
        check_length(query, opened.max_question_bytes)
        generation = opened.generation()
        question = question_of(query, generation, self._defaults)
        now = now_of(self._clock)
        answer = opened.engine.search(generation.handle, question, now, opened.on_progress, cancellation)
        if problems := answer.problems:
            log_problems(problems)
        return context_of(query, generation.snapshot.generation, answer)

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """What ``search`` returns and raises, computed in a thread so that the event loop goes on.

        If the caller is cancelled, the thread stops soon.
        """
        return await run_cancellable(lambda cancellation: self._search(query, cancellation))

    def search_batch(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> KnowledgeBatch:
        """The answers to many queries, in order, as if each was searched alone.

        All of them are searched at one instant, in one snapshot. ``limit`` keeps the first ``limit`` passages
        of each answer, after everything else was applied.

        Raises:
            RefusedTypeError, RefusedValueError: a query or ``limit`` is refused. Nothing was searched then,
                and the message names the index of the query.
            CatalogClosedError: the catalog is closed.
            Exception: anything that a visibility policy raises, unchanged.
        """
        limit = check_limit(limit)
        opened, defaults = self._opened, self._defaults
        checked = check_queries(queries, opened.max_question_bytes)
        generation = opened.generation()
        # The host's policy must be called for each query. Without one, texts differ in nothing but the text.
        pass_texts = defaults.visibility_policy is None
        questions = [
            query
            if pass_texts and isinstance(query, str)
            else question_of(query_of("query", query), generation, defaults, where=f"queries[{index}]: ")
            for index, query in enumerate(checked)
        ]
        conversation = opened.engine.converse(generation.handle, now_of(self._clock))
        answers = conversation.ask(questions, plain_question(generation, defaults), limit, opened.on_progress)
        log_problems(answers.problems)
        return KnowledgeBatch(checked, generation.snapshot.generation, answers, range(len(checked)))

    def search_stream(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> Iterator[KnowledgeContext]:
        """Yields the answers of ``search_batch`` in order, while later ones are computed.

        ``queries`` is read while answers are taken, a few hundred queries ahead. So it may be endless, and
        memory stays bounded if ``limit`` is given. All answers are of one instant and one snapshot, which are
        taken at the first answer. Each source is read once, when a query first needs it. Policies are called
        on the thread that takes the answers.

        Raises:
            RefusedTypeError, RefusedValueError: ``limit`` or ``queries`` is refused at once. A single query
                is refused when its turn comes, after the answers before it.
            CatalogClosedError: the catalog is closed. Answers that were computed before are still yielded.
            OkfCatalogError: the process was forked meanwhile.
            Exception: anything that a visibility policy or ``queries`` raises, unchanged.
        """
        limit = check_limit(limit)
        return self._stream(iterate_queries(queries, self._opened.max_question_bytes), limit)

    def _stream(self, queries: Iterator[KnowledgeQuery], limit: int | None) -> Iterator[KnowledgeContext]:
        opened, defaults = self._opened, self._defaults
        generation = opened.generation()
        conversation = opened.engine.converse(generation.handle, now_of(self._clock))
        plain = plain_question(generation, defaults)
        cancellation = Cancellation()
        yield from stream(
            queries,
            lambda index, query: question_of(query, generation, defaults, where=f"queries[{index}]: "),
            generation.snapshot.generation,
            lambda questions: conversation.ask(questions, plain, limit, opened.on_progress, cancellation),
            cancellation,
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._catalog!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a resolver cannot be pickled; open its catalog again in the other process")
