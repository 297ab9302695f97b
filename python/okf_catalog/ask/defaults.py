"""What a host chooses for all queries of one resolver."""

from dataclasses import dataclass
from typing import final

from okf_catalog.ask.policy import SourceVisibilityPolicy, check_policy
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.checks import check_choice, check_count

__all__ = ["HostDefaults", "host_defaults"]


@final
@dataclass(frozen=True, slots=True)
class HostDefaults:
    """The strategy, quota, policy and scoring of a resolver.

    With ``query_chooses_strategy`` the strategy of the query is used, if it has one. The query's quota,
    policy and scoring always come first.
    """

    strategy: KnowledgeResolverStrategy
    fairness_quota: int | None
    visibility_policy: SourceVisibilityPolicy | None
    scoring: KnowledgeScoring
    query_chooses_strategy: bool


def host_defaults(
    strategy: KnowledgeResolverStrategy,
    default_fairness_quota: int | None,
    default_source_visibility_policy: SourceVisibilityPolicy | None,
    default_scoring: KnowledgeScoring | str,
    *,
    query_chooses_strategy: bool,
) -> HostDefaults:
    """The checked defaults.

    Raises:
        RefusedTypeError: an argument has the wrong type.
        RefusedValueError: the quota is below 1 (Q1), or there is no such scoring.
    """
    quota = None
    if default_fairness_quota is not None:
        quota = check_count("default_fairness_quota", default_fairness_quota, least=1)
    check_policy("default_source_visibility_policy", default_source_visibility_policy)
    scoring = check_choice("default_scoring", default_scoring, KnowledgeScoring)
    return HostDefaults(strategy, quota, default_source_visibility_policy, scoring, query_chooses_strategy)
