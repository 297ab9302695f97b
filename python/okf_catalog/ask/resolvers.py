"""The resolvers: one for each strategy, and a router that obeys the strategy of each query.

The scoring of a query is obeyed by all of them; ``default_scoring`` is for queries that name none (V1).
"""

from dataclasses import replace
from typing import final

from okf_catalog.ask.policy import SourceVisibilityPolicy
from okf_catalog.ask.resolver import Resolver
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.catalog.catalog import KnowledgeCatalog
from okf_catalog.checks import check_choice
from okf_catalog.clock import Clock

__all__ = [
    "GroupedKnowledgeResolver",
    "KnowledgeResolverRouter",
    "MergedKnowledgeResolver",
    "PriorityWeightedKnowledgeResolver",
]


@final
class GroupedKnowledgeResolver(Resolver):
    """Answers source by source, in order S1 (R1). A fairness quota has no effect here."""

    __slots__ = ()

    _strategy = KnowledgeResolverStrategy.GROUPED_BY_SOURCE

    def __init__(
        self,
        catalog: KnowledgeCatalog,
        *,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        default_scoring: KnowledgeScoring | str = KnowledgeScoring.WEIGHTED_TERMS,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(
            catalog,
            default_source_visibility_policy=default_source_visibility_policy,
            default_scoring=default_scoring,
            clock=clock,
        )


@final
class MergedKnowledgeResolver(Resolver):
    """Answers with one list, ordered by score (R2)."""

    __slots__ = ()

    _strategy = KnowledgeResolverStrategy.MERGED


@final
class PriorityWeightedKnowledgeResolver(Resolver):
    """Answers with one list, ordered by the priority of the source, then by score (R3)."""

    __slots__ = ()

    _strategy = KnowledgeResolverStrategy.PRIORITY_WEIGHTED


@final
class KnowledgeResolverRouter(Resolver):
    """Answers with the strategy that a query names, or else with the host's default."""

    __slots__ = ()

    _strategy = KnowledgeResolverStrategy.GROUPED_BY_SOURCE

    def __init__(
        self,
        catalog: KnowledgeCatalog,
        *,
        default_strategy: KnowledgeResolverStrategy | str = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
        default_fairness_quota: int | None = None,
        default_source_visibility_policy: SourceVisibilityPolicy | None = None,
        default_scoring: KnowledgeScoring | str = KnowledgeScoring.WEIGHTED_TERMS,
        clock: Clock | None = None,
    ) -> None:
        strategy = check_choice("default_strategy", default_strategy, KnowledgeResolverStrategy)
        super().__init__(
            catalog,
            default_fairness_quota=default_fairness_quota,
            default_source_visibility_policy=default_source_visibility_policy,
            default_scoring=default_scoring,
            clock=clock,
        )
        self._defaults = replace(self._defaults, strategy=strategy, query_chooses_strategy=True)
