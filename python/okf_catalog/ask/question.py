"""Questions: queries as the engine takes them. This is the only place that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okf_catalog._engine import Question
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.ask.visibility import visible_positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog.ask.defaults import HostDefaults
    from okf_catalog.catalog.generation import Generation

__all__ = ["memory_question", "plain_question", "question_of"]

_PLAIN = KnowledgeQuery("any text")
_GROUPED = KnowledgeResolverStrategy.GROUPED_BY_SOURCE.value


def question_of(
    query: KnowledgeQuery, generation: Generation, defaults: HostDefaults, *, where: str = ""
) -> Question:
    """The question for a query to a resolver.

    Raises:
        RefusedTypeError: a visibility policy returned something other than a ``bool`` (S3). The message
            begins with ``where``.
        Exception: anything that a visibility policy raises, unchanged.
    """
    return _question(
        query, defaults, visible_positions(query, generation, defaults.visibility_policy, where=where)
    )


def plain_question(generation: Generation, defaults: HostDefaults) -> Question:
    """How a query is asked that has a text and nothing else, if the host has no visibility policy.

    A batch passes this once, and only the texts of such queries. The text in it is not used.
    """
    return _question(_PLAIN, defaults, generation.positions)


def memory_question(query: KnowledgeQuery) -> Question:
    """The question for a query to the memories of a scope.

    Only text, tag, stale policy, scoring and unit of the query count. There is no host's default for the
    scoring of memories. The question names no source: the place says what is read.
    """
    scoring = query.scoring or KnowledgeScoring.WEIGHTED_TERMS
    return Question(
        query.text,
        query.tag,
        query.stale_policy.grace_days,
        scoring.value,
        query.unit.value,
        _GROUPED,
        None,
        (),
    )


def _question(query: KnowledgeQuery, defaults: HostDefaults, visible: Sequence[int]) -> Question:
    strategy = defaults.strategy
    if defaults.query_chooses_strategy:
        strategy = query.resolver_strategy or strategy
    quota = query.fairness_quota or defaults.fairness_quota
    scoring = query.scoring or defaults.scoring
    return Question(
        query.text,
        query.tag,
        query.stale_policy.grace_days,
        scoring.value,
        query.unit.value,
        strategy.value,
        quota,
        visible,
    )
