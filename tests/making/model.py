"""Questions to the engine and to the plain-Python model (``naive``), and answers in its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import naive
from okf_catalog import (
    KnowledgeAccessScope,
    KnowledgeCatalogSource,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    StalePolicy,
)

from making.clocks import NOON, at_noon

if TYPE_CHECKING:
    from okf_catalog import KnowledgeCatalog, KnowledgeContext, KnowledgePassage

    from making.drawn import Host, Question, World


def passage_of(passage: KnowledgePassage) -> naive.Passage:
    return naive.Passage(
        source_id=passage.source_id,
        concept_id=passage.concept_id,
        title=passage.title,
        excerpt=passage.excerpt,
        score=passage.score,
        bundle_relative_path=passage.bundle_relative_path,
        trust_tier=passage.trust_tier.name.lower(),
        status=passage.status.name.lower(),
        stale_after=passage.stale_after,
        concept_type=passage.concept_type,
        description=passage.description,
        snippet=passage.snippet,
        is_stale=passage.is_stale,
    )


def answer_of(context: KnowledgeContext) -> naive.Answer:
    return naive.Answer(
        tuple(passage_of(passage) for passage in context.passages),
        tuple((diagnostic.code.name, diagnostic.source_id) for diagnostic in context.diagnostics),
    )


def document(front: str, body: str = "") -> naive.Document:
    """What the model reads in a file of this frontmatter and body."""
    return naive.read_document(f"---\n{front}\n---\n{body}".encode())


Policy: TypeAlias = Callable[[KnowledgeAccessScope, KnowledgeCatalogSource], bool]


def policy_of(ids: frozenset[str] | None) -> Policy | None:
    return None if ids is None else lambda _scope, source: source.id in ids


def naive_policy_of(ids: frozenset[str] | None) -> Callable[[naive.Source], bool] | None:
    return None if ids is None else lambda source: source.id in ids


def stale_policy_of(grace_days: int | None) -> StalePolicy:
    if grace_days is None:
        return StalePolicy.USE
    return StalePolicy.tolerate(grace_days) if grace_days else StalePolicy.STRICT


def query_of(question: Question) -> KnowledgeQuery:
    return KnowledgeQuery(
        question.text,
        question.tag,
        stale_policy=stale_policy_of(question.grace_days),
        resolver_strategy=None if question.strategy is None else KnowledgeResolverStrategy(question.strategy),
        fairness_quota=question.quota,
        permitted_source_ids=question.permitted,
        source_visibility_policy=policy_of(question.admitted),
        scoring=None if question.scoring is None else KnowledgeScoring(question.scoring),
    )


COMPARED = Counter[str]()
"""How many questions the model answered, by scoring."""


def expected(
    model: naive.NaiveCatalog, question: Question, host: Host, strategy: str | None = None
) -> naive.Answer:
    scoring = question.scoring or host.scoring
    COMPARED[scoring] += 1
    return model.search(
        question.text,
        tag=question.tag,
        grace_days=question.grace_days,
        now=NOON,
        strategy=strategy or question.strategy or host.strategy,
        quota=question.quota,
        scoring=scoring,
        permitted=question.permitted,
        policy=naive_policy_of(question.admitted),
        default_quota=host.quota,
        default_policy=naive_policy_of(host.admitted),
    )


def router_of(catalog: KnowledgeCatalog, host: Host) -> KnowledgeResolverRouter:
    return KnowledgeResolverRouter(
        catalog,
        default_strategy=KnowledgeResolverStrategy(host.strategy),
        default_fairness_quota=host.quota,
        default_source_visibility_policy=policy_of(host.admitted),
        default_scoring=host.scoring,
        clock=at_noon,
    )


def assert_answers_of_the_model(catalog: KnowledgeCatalog, model: naive.NaiveCatalog, world: World) -> None:
    """Every question of the world as it is drawn, and under each strategy and scoring."""
    router = router_of(catalog, world.host)
    for drawn in world.questions:
        for strategy, scoring in [
            (drawn.strategy, drawn.scoring),
            *product(naive.STRATEGIES, naive.SCORINGS),
        ]:
            question = replace(drawn, strategy=strategy, scoring=scoring)
            answer = answer_of(router.search(query_of(question)))
            assert answer == expected(model, question, world.host), question
