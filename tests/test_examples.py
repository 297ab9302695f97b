"""The example in examples/acme shows what its comments say."""

from __future__ import annotations

import runpy
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from making import asking
from making.asking import GROUPED, MERGED, WEIGHTED
from making.project import EXAMPLES
from okf_catalog import (
    ConceptStatus,
    Knowledge,
    KnowledgeDiagnosticCode,
    KnowledgePassage,
    KnowledgeQuery,
    StalePolicy,
    TrustTier,
    open_knowledge,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CATALOG = EXAMPLES / "acme" / "catalog.json"
NOW = datetime(2026, 1, 15, tzinfo=timezone.utc)

OTHERS = frozenset({"product", "support", "finance"})
"""What a caller who is not Northwind may see."""

POLICY = "finance/policies/refunds"
POLICY_OF_2022 = "finance/policies/refunds-2022"
PLAYBOOK = "support/playbooks/refund-request"
DECLINED = "support/replies/refund-declined"
CREDITS = "finance/policies/service-credits"


@pytest.fixture(scope="module")
def acme() -> Iterator[Knowledge]:
    with open_knowledge(CATALOG, watch_for_changes=False, clock=lambda: NOW) as knowledge:
        yield knowledge


def names(acme: Knowledge, text: str, **options: Any) -> list[str]:
    """The answer as ``source/concept``, best first."""
    options.setdefault("permitted_source_ids", OTHERS)
    return asking.names(acme.search(KnowledgeQuery(text, **options)))


def everything(acme: Knowledge) -> list[KnowledgePassage]:
    return list(acme.search("e").passages)


def test_the_example_has_four_bundles_of_about_thirty_concepts_and_no_problem(acme: Knowledge) -> None:
    sources = acme.catalog.report().sources
    assert [source.source.id for source in sources] == ["product", "support", "finance", "tenant-northwind"]
    assert 30 <= sum(source.concepts for source in sources) <= 40
    assert all(source.concepts >= 7 for source in sources)
    assert [(source.problems, source.duplicate_of, source.failure) for source in sources] == [
        ((), None, None)
    ] * 4


def test_every_status_and_tier_of_trust_occurs(acme: Knowledge) -> None:
    assert {passage.status for passage in everything(acme)} == set(ConceptStatus)
    assert {passage.trust_tier for passage in everything(acme)} == set(TrustTier)


@pytest.mark.parametrize("word", ["refund", "invoice", "export", "outage"])
def test_every_bundle_of_the_example_matches_the_same_words(acme: Knowledge, word: str) -> None:
    assert {passage.source_id for passage in acme.search(word).passages} == OTHERS | {"tenant-northwind"}


def test_grouped_puts_the_best_match_behind_earlier_sources(acme: Knowledge) -> None:
    order = names(acme, "refund policy", resolver_strategy=GROUPED)
    assert order.index(POLICY) == 11
    assert {name.partition("/")[0] for name in order[:11]} == {"product", "support"}


def test_merged_puts_the_best_match_first(acme: Knowledge) -> None:
    order = names(acme, "refund policy", resolver_strategy=MERGED)
    assert order[:3] == [POLICY, POLICY_OF_2022, PLAYBOOK]


def test_weighted_mixes_the_sources_of_one_priority(acme: Knowledge) -> None:
    order = names(acme, "refund policy", resolver_strategy=WEIGHTED)
    sources = [name.partition("/")[0] for name in order]
    assert order[0] == PLAYBOOK
    assert sources[:4] == ["support", "support", "product", "support"]
    assert sources.index("finance") == 11


def test_a_quota_lets_another_source_in_between(acme: Knowledge) -> None:
    order = names(acme, "refund policy", resolver_strategy=MERGED, fairness_quota=1)
    assert order[:3] == [POLICY, PLAYBOOK, POLICY_OF_2022]


def test_each_strategy_gives_the_same_passages_in_its_own_order(acme: Knowledge) -> None:
    ways = [(GROUPED, None), (MERGED, None), (WEIGHTED, None), (MERGED, 1), (WEIGHTED, 2)]
    orders = [
        tuple(names(acme, "refund policy", resolver_strategy=strategy, fairness_quota=quota))
        for strategy, quota in ways
    ]
    assert len(set(orders)) == len(ways)
    assert len({frozenset(order) for order in orders}) == 1


def test_grouped_compares_ids_part_by_part_and_merged_as_one_text(acme: Knowledge) -> None:
    grouped = names(acme, "export", resolver_strategy=GROUPED)
    merged = names(acme, "export", resolver_strategy=MERGED)
    assert grouped.index("product/exports/csv") < grouped.index("product/exports-legacy")
    assert merged.index("product/exports/csv") > merged.index("product/exports-legacy")


def test_strict_drops_stale_concepts_and_a_grace_period_keeps_some(acme: Knowledge) -> None:
    fresh, lenient, everything = (
        set(names(acme, "refund policy", stale_policy=policy))
        for policy in (StalePolicy.STRICT, StalePolicy.tolerate(30), StalePolicy.USE)
    )
    assert everything - fresh == {POLICY_OF_2022, DECLINED, CREDITS}
    assert lenient - fresh == {DECLINED}


def test_a_tag_is_found_in_a_list_and_in_a_scalar(acme: Knowledge) -> None:
    assert len(names(acme, "export", permitted_source_ids=None)) == 15
    for tag in ("reporting", "Reporting"):
        tagged = names(acme, "export", tag=tag, permitted_source_ids=None)
        assert tagged == ["product/exports/csv", "product/exports/scheduled"]
    assert names(acme, "export", tag="report") == []


def test_only_northwind_sees_its_terms_and_sees_them_first(acme: Knowledge) -> None:
    theirs = names(acme, "refund policy", permitted_source_ids=OTHERS | {"tenant-northwind"})
    assert theirs[0] == "tenant-northwind/contract/refunds"
    context = acme.search(KnowledgeQuery("Malmö", permitted_source_ids=OTHERS))
    assert [diagnostic.code for diagnostic in context.diagnostics] == [KnowledgeDiagnosticCode.NO_MATCHES]
    assert "northwind" not in context.diagnostics[0].message.casefold()
    assert names(acme, "Malmö", permitted_source_ids=None)


def test_the_comparison_shows_the_strategies_side_by_side(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = str(EXAMPLES / "compare_strategies.py")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "argv", [script])
    runpy.run_path(script, run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["grouped", "weighted", "merged", "merged,", "quota", "1"]
    assert "6 product one-click-refund" in lines[3]
    assert "7 support refund-request" in lines[3]
    assert lines[3].count("12 finance refunds") == 2

    monkeypatch.setattr(sys, "argv", [script, "zebra"])
    runpy.run_path(script, run_name="__main__")
    assert "zebra" in capsys.readouterr().out
