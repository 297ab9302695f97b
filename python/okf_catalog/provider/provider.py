"""The context provider that agent frameworks use."""

from collections.abc import Callable, Iterable
from typing import NoReturn, final

from okf_catalog.ask.resolver import KnowledgeResolver
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.clock import Clock
from okf_catalog.memory.store import MemoryStore
from okf_catalog.provider.budget import CountTokens
from okf_catalog.provider.capture import MemoryCaptureMode
from okf_catalog.provider.composing import Composed, compose
from okf_catalog.provider.context import ProvidedContext
from okf_catalog.provider.failures import Failures
from okf_catalog.provider.frame import BlockContent
from okf_catalog.provider.gathering import Gatherer
from okf_catalog.provider.messages import ChatMessage
from okf_catalog.provider.recording import Recorder
from okf_catalog.provider.rewriting import RewriteQuery
from okf_catalog.provider.scope import ScopeAccessor
from okf_catalog.provider.sessions import SessionScopes
from okf_catalog.provider.settings import Settings
from okf_catalog.waiting import run_in_thread

__all__ = ["KnowledgeContextProvider"]


@final
class KnowledgeContextProvider:
    """Gives an agent, before it answers, what a catalog knows and a host remembers, within a token budget.

    **Questions.** ``resolver`` is asked for the text of the last user message (X1), with
    ``resolver_strategy``, ``fairness_quota``, ``stale_policy`` and ``scoring`` as in a
    :class:`KnowledgeQuery`. The scoring is ``BM25F`` by default, because a person asks in sentences (V1).
    ``memory_store``, if there is one, is read for the same question with the same scoring. If the message is
    longer than the ``max_question_bytes`` of the resolver or the store, only its beginning is asked, cut at
    white space.

    ``rewrite_query(messages)`` makes the question instead, for example one that can be understood without the
    messages before it. It gets a tuple of all messages; without any message it is not called. If it returns
    ``None`` or a blank text, nothing is asked and the context is empty; if it fails, or returns anything
    else, that counts as a failure of the whole context. What is captured is still what the user said.

    **Budget.** The message has at most ``token_budget`` tokens. ``knowledge_budget_share`` and
    ``memory_budget_share`` divide it at first; what one side does not use, the other may (X6).
    ``count_tokens(text)`` counts; without it four code points are a token (X3). A passage that does not fit
    is cut at the end of a line or at a word, or left out if nothing useful would remain of it. The passages
    after it are still tried, and a passage that is cut takes at most half of the room of its side while
    others wait.

    **Blocks.** ``block_content`` says what a block shows of a concept below its title: ``"snippet"``, the one
    line that answers best, or ``"body"``, all of it if there is room (X4). The first line of a block ends
    with ``[draft]`` or ``[deprecated]``, and ``[stale]``, if the concept is that.

    **Scope.** ``scope_accessor()`` returns the scope of an invocation; without it the scope is ``LOCAL``. It
    is called once for each ``provide``, in the caller's thread and context (X2).

    **Capture.** If ``memory_capture`` is enabled, ``store`` writes each exchange to ``capture_tier``, for the
    scope that ``provide`` took for the same ``session`` object (X11). Only a weak reference to the session is
    kept. No scope is remembered for an object that allows none, such as a ``dict`` or a ``str``. ``clock``
    tells the day and hour.

    **Failures.** If something fails inside, its side of the context is empty, and
    ``on_internal_error(exception)`` is called. Without it the exception is logged to ``okf_catalog``, and so
    is an exception that ``on_internal_error`` raises itself (X9).

    A provider may be used by any number of threads and tasks at once, and after a fork.

    Example:
        >>> from okf_catalog import GroupedKnowledgeResolver
        >>> def provider_of(catalog):
        ...     return KnowledgeContextProvider(GroupedKnowledgeResolver(catalog), token_budget=500)

    Raises:
        RefusedTypeError: an argument has the wrong type.
        RefusedValueError: a share is not from 0 to 1, both together are more than 1, or a
            ``KnowledgeQuery`` refuses the value.
    """

    __slots__ = ("_failures", "_gatherer", "_recorder", "_sessions", "_settings")

    def __init__(
        self,
        resolver: KnowledgeResolver,
        memory_store: MemoryStore | None = None,
        *,
        token_budget: int = 2000,
        knowledge_budget_share: float = 0.6,
        memory_budget_share: float = 0.4,
        resolver_strategy: KnowledgeResolverStrategy | str | None = None,
        fairness_quota: int | None = None,
        stale_policy: StalePolicy = StalePolicy.USE,
        scoring: KnowledgeScoring | str | None = KnowledgeScoring.BM25F,
        block_content: BlockContent = "snippet",
        rewrite_query: RewriteQuery | None = None,
        scope_accessor: ScopeAccessor | None = None,
        memory_capture: MemoryCaptureMode = MemoryCaptureMode.DISABLED,
        capture_tier: MemoryTier = MemoryTier.USER,
        count_tokens: CountTokens | None = None,
        on_internal_error: Callable[[Exception], object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._settings = Settings(
            resolver=resolver,
            memory_store=memory_store,
            token_budget=token_budget,
            knowledge_budget_share=knowledge_budget_share,
            memory_budget_share=memory_budget_share,
            resolver_strategy=resolver_strategy,
            fairness_quota=fairness_quota,
            stale_policy=stale_policy,
            scoring=scoring,
            block_content=block_content,
            rewrite_query=rewrite_query,
            scope_accessor=scope_accessor,
            memory_capture=memory_capture,
            capture_tier=capture_tier,
            count_tokens=count_tokens,
            on_internal_error=on_internal_error,
            clock=clock,
        )
        self._sessions = SessionScopes()
        self._failures = Failures(on_internal_error)
        self._gatherer = Gatherer(self._settings, self._sessions, self._failures)
        self._recorder = Recorder(self._settings, self._sessions, self._failures)

    @property
    def last_memory_error(self) -> str | None:
        """Why memory could not be read, or an exchange not written, when that last happened.

        ``None`` if it never happened, or if an exchange was written since. There is one for the whole
        provider: if many invocations run at once, it may be about any of them.
        """
        return self._failures.last_memory_error

    def provide(self, messages: Iterable[ChatMessage], *, session: object = None) -> ProvidedContext:
        """What an agent should read before it answers these messages.

        Raises:
            RefusedTypeError: ``messages`` are not messages, or the accessor did not return a scope.
            Exception: anything that the scope accessor raises, unchanged.
        """
        query = self._gatherer.question(messages, session)
        if query is None:
            return ProvidedContext()
        return self._settle(compose(self._settings, self._gatherer.gather(query)))

    async def provide_async(
        self, messages: Iterable[ChatMessage], *, session: object = None
    ) -> ProvidedContext:
        """What ``provide`` returns and raises, without blocking the event loop.

        The resolver and the store are awaited. ``rewrite_query`` and ``count_tokens`` are called in a thread,
        all other callbacks in the event loop. A cancellation passes through.
        """
        query = await self._gatherer.question_async(messages, session)
        if query is None:
            return ProvidedContext()
        gathered = await self._gatherer.gather_async(query)
        return self._settle(await run_in_thread(lambda: compose(self._settings, gathered)))

    def store(
        self,
        request_messages: Iterable[ChatMessage],
        response_messages: Iterable[ChatMessage],
        *,
        session: object = None,
        failed: bool = False,
    ) -> None:
        """Remembers the last texts of the user and the agent, if capture is enabled (X10).

        ``failed`` says that the invocation failed; then nothing is remembered. If an exchange cannot be
        remembered, ``last_memory_error`` says why.

        Raises:
            RefusedTypeError: messages are not messages, or ``failed`` is not a ``bool``.
        """
        self._recorder.record(request_messages, response_messages, session, failed=failed)

    async def store_async(
        self,
        request_messages: Iterable[ChatMessage],
        response_messages: Iterable[ChatMessage],
        *,
        session: object = None,
        failed: bool = False,
    ) -> None:
        """Does and raises what ``store`` does, without blocking the event loop."""
        await self._recorder.record_async(request_messages, response_messages, session, failed=failed)

    def _settle(self, composed: Composed) -> ProvidedContext:
        for role, error in composed.failures:
            self._failures.side_failed(role, error)
        return composed.context

    def __repr__(self) -> str:
        settings = self._settings
        return f"<KnowledgeContextProvider of {settings.resolver!r}, {settings.token_budget} tokens>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a KnowledgeContextProvider cannot be pickled; open its catalog in the other process")
