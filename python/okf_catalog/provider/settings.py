"""The arguments of a provider, checked once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from okf_catalog.ask.length import limit_of
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.ask.resolver import KnowledgeResolver
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.checks import check_callable, check_int, check_kind, check_number, keep_plain
from okf_catalog.clock import Clock, check_clock
from okf_catalog.errors import RefusedTypeError, RefusedValueError
from okf_catalog.memory.store import MemoryStore
from okf_catalog.provider.budget import CountTokens
from okf_catalog.provider.capture import MemoryCaptureMode
from okf_catalog.provider.frame import BlockContent, check_content
from okf_catalog.provider.rewriting import RewriteQuery
from okf_catalog.provider.scope import ScopeAccessor

__all__ = ["Settings"]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings:
    """The arguments of a ``KnowledgeContextProvider``, and what follows from them.

    ``query`` is what every question has besides its text and scope. ``question_limit`` is how many bytes of
    UTF-8 a question may have for both the resolver and the store; ``None`` is no limit.

    Raises:
        RefusedTypeError, RefusedValueError: an argument is refused.
    """

    resolver: KnowledgeResolver
    memory_store: MemoryStore | None
    token_budget: int
    knowledge_budget_share: float
    memory_budget_share: float
    resolver_strategy: KnowledgeResolverStrategy | str | None
    fairness_quota: int | None
    stale_policy: StalePolicy
    scoring: KnowledgeScoring | str | None
    block_content: BlockContent
    rewrite_query: RewriteQuery | None
    scope_accessor: ScopeAccessor | None
    memory_capture: MemoryCaptureMode
    capture_tier: MemoryTier
    count_tokens: CountTokens | None
    on_internal_error: Callable[[Exception], object] | None
    clock: Clock | None
    query: KnowledgeQuery = field(init=False)
    question_limit: int | None = field(init=False)

    def __post_init__(self) -> None:
        _check_method("resolver", self.resolver, "search", "a KnowledgeResolver")
        if self.memory_store is not None:
            _check_method("memory_store", self.memory_store, "read", "a MemoryStore or None")
        keep_plain(self, "token_budget", check_int("token_budget", self.token_budget, "an int"))
        self._check_shares()
        check_content(self.block_content)
        check_kind("memory_capture", self.memory_capture, MemoryCaptureMode, "a MemoryCaptureMode")
        check_kind("capture_tier", self.capture_tier, MemoryTier, "a MemoryTier")
        check_callable("rewrite_query", self.rewrite_query, "with the messages")
        check_callable("scope_accessor", self.scope_accessor, "without arguments")
        check_callable("count_tokens", self.count_tokens, "with a text")
        check_callable("on_internal_error", self.on_internal_error, "with an exception")
        check_clock(self.clock)
        query = KnowledgeQuery(
            "any text",
            stale_policy=self.stale_policy,
            resolver_strategy=self.resolver_strategy,
            fairness_quota=self.fairness_quota,
            scoring=self.scoring,
        )
        keep_plain(self, "query", query)
        keep_plain(self, "question_limit", limit_of(self.resolver, self.memory_store))

    def _check_shares(self) -> None:
        shares: list[float] = []
        for name in ("knowledge_budget_share", "memory_budget_share"):
            share = check_number(name, getattr(self, name), "a number from 0 to 1")
            if not 0 <= share <= 1:
                raise RefusedValueError(f"{name} is a number from 0 to 1, not {share!r}")
            keep_plain(self, name, float(share))
            shares.append(share)
        if sum(shares) > 1:
            raise RefusedValueError(
                f"knowledge_budget_share and memory_budget_share are at most 1 together, not {sum(shares)!r}"
            )


def _check_method(name: str, value: object, method: str, expected: str) -> None:
    # Not by type: any object with the methods that a provider calls is accepted.
    if not callable(getattr(value, method, None)):
        raise RefusedTypeError(f"{name} is {expected}, not {type(value).__name__}")
