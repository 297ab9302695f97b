"""The order of an answer, and what it holds (R1 to R6, L3, L4, S1, S4, D1 to D5)."""

from __future__ import annotations

import asyncio
import contextvars
import random
import shutil
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import GROUPED, MERGED, RESOLVERS, WEIGHTED, Entrance, codes, names
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.clocks import NOON
from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeCatalogSource,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MergedKnowledgeResolver,
    PriorityWeightedKnowledgeResolver,
    StalePolicy,
    open_knowledge,
)

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

STRATEGIES = [*KnowledgeResolverStrategy]

BY_SOURCE = ["high/strong", "high/weak", "also/middle", "low/strong", "low/weak"]
BY_SCORE = ["low/strong", "high/strong", "also/middle", "high/weak", "low/weak"]
BY_PRIORITY = ["high/strong", "high/weak", "low/strong", "also/middle", "low/weak"]
ORDERS = {GROUPED: BY_SOURCE, MERGED: BY_SCORE, WEIGHTED: BY_PRIORITY}


@contextmanager
def opened(
    directory: Path, sources: list[dict[str, Any]], files: dict[str, str]
) -> Generator[FileKnowledgeCatalog]:
    write_tree(directory, files)
    with FileKnowledgeCatalog(write_manifest(directory, sources), watch_for_changes=False) as catalog:
        yield catalog


def answers(catalog: FileKnowledgeCatalog, text: str = "word", **fields: Any) -> dict[str, list[str]]:
    """The answer of each strategy."""
    router = KnowledgeResolverRouter(catalog)
    return {
        strategy: names(router.search(KnowledgeQuery(text, resolver_strategy=strategy, **fields)))
        for strategy in STRATEGIES
    }


# The orders


def test_each_strategy_has_its_order(catalog: FileKnowledgeCatalog) -> None:
    assert answers(catalog) == ORDERS


def test_each_resolver_has_its_order(ask: Entrance) -> None:
    orders = {
        "grouped": BY_SOURCE,
        "merged": BY_SCORE,
        "weighted": BY_PRIORITY,
        "router": BY_SOURCE,
        "router to merged": BY_SCORE,
        "router to weighted": BY_PRIORITY,
        "host": BY_SOURCE,
    }
    assert names(ask("word")) == orders[ask.resolver]
    assert names(ask(KnowledgeQuery("word"))) == orders[ask.resolver]


def test_merged_over_two_sources_is_one_list_by_descending_score(catalog: FileKnowledgeCatalog) -> None:
    context = MergedKnowledgeResolver(catalog).search(
        KnowledgeQuery("word", permitted_source_ids={"high", "low"})
    )
    assert [passage.score for passage in context.passages] == [6, 4, 1, 1]
    assert [passage.source_id for passage in context.passages] == ["low", "high", "high", "low"]


def test_weighted_never_puts_a_lower_priority_ahead_of_a_higher_one(tmp_path: Path) -> None:
    scores = random.Random(7)
    sources = [{"id": f"s{n}", "path": f"s{n}", "priority": n % 3} for n in range(6)]
    titles = {
        f"s{n}/{i}.md": f"---\ntitle: {'word' * scores.randint(0, 1)}\n---\nword"
        for n in range(6)
        for i in range(9)
    }
    with opened(tmp_path, sources, titles) as catalog:
        passages = PriorityWeightedKnowledgeResolver(catalog).search("word").passages
    ranks = [(-(int(passage.source_id[1:]) % 3), -passage.score) for passage in passages]
    assert len(ranks) == 54
    assert ranks == sorted(ranks)


def test_ties_are_broken_by_priority_then_source_then_concept(tmp_path: Path) -> None:
    sources: list[dict[str, Any]] = [
        {"id": "b", "path": "b"},
        {"id": "a", "path": "a"},
        {"id": "Z", "path": "z"},
        {"id": "top", "path": "t", "priority": 1},
    ]
    ids_as_text = ["A", "a-b", "a/b", "é"]
    ids_by_part = ["A", "a/b", "a-b", "é"]
    files = {f"{bundle}/{name}.md": "word" for bundle in "abzt" for name in ids_as_text}
    with opened(tmp_path, sources, files) as catalog:
        orders = answers(catalog)
    assert orders[GROUPED] == [
        f"{source}/{name}" for source in ("top", "Z", "a", "b") for name in ids_by_part
    ]
    assert orders[MERGED] == [f"{source}/{name}" for source in ("top", "Z", "a", "b") for name in ids_as_text]
    assert orders[WEIGHTED] == orders[MERGED]


# Which strategy


def test_a_router_uses_the_strategy_of_the_question_or_else_of_the_host(
    catalog: FileKnowledgeCatalog,
) -> None:
    for default in STRATEGIES:
        router = KnowledgeResolverRouter(catalog, default_strategy=default)
        assert names(router.search("word")) == ORDERS[default]
        for strategy in (*STRATEGIES, *(member.value for member in STRATEGIES)):
            query = KnowledgeQuery("word", resolver_strategy=strategy)
            assert names(router.search(query)) == ORDERS[KnowledgeResolverStrategy(strategy)]


def test_a_host_without_a_default_groups_by_source(shelf: Path) -> None:
    with open_knowledge(shelf / "catalog.json") as knowledge:
        assert names(knowledge.search("word")) == BY_SOURCE
        assert names(knowledge.resolver.search("word")) == BY_SOURCE
        assert names(knowledge.search_batch(["word"])[0]) == BY_SOURCE


def test_a_host_passes_its_settings_to_the_router(shelf: Path) -> None:
    with open_knowledge(
        shelf / "catalog.json",
        default_strategy="merged",
        default_fairness_quota=1,
        default_source_visibility_policy=lambda _, source: source.id != "also",
        clock=lambda: datetime(2026, 1, 1, tzinfo=timezone.utc),
    ) as knowledge:
        assert names(knowledge.search("word")) == ["low/strong", "high/strong", "low/weak", "high/weak"]
        write_tree(shelf, {"low/old.md": "---\nstale_after: 2026-01-01T00:00:00.000001Z\n---\nonce"})
        query = KnowledgeQuery("once", stale_policy=StalePolicy.STRICT)
        assert names(knowledge.search(query)) == ["low/old"]


def test_a_concrete_resolver_uses_its_own_strategy(catalog: FileKnowledgeCatalog) -> None:
    for name, order in (("grouped", BY_SOURCE), ("merged", BY_SCORE), ("weighted", BY_PRIORITY)):
        resolver = RESOLVERS[name](catalog)
        for strategy in STRATEGIES:
            assert names(resolver.search(KnowledgeQuery("word", resolver_strategy=strategy))) == order


# One directory, several sources

TWINS: list[dict[str, Any]] = [
    {"id": "second", "path": "x", "priority": 1},
    {"id": "first", "path": "./y/../x", "priority": 2},
    {"id": "third", "path": "x/", "priority": 1},
    {"id": "other", "path": "y"},
]
TWIN_FILES = {"x/a.md": "word", "x/b.md": "word", "y/a.md": "word"}


def test_two_sources_of_one_directory_give_each_concept_once(tmp_path: Path) -> None:
    with opened(tmp_path, TWINS, TWIN_FILES) as catalog:
        orders = answers(catalog)
    assert orders[MERGED] == orders[WEIGHTED] == ["first/a", "first/b", "other/a"]
    thrice = ["first/a", "first/b", "second/a", "second/b", "third/a", "third/b"]
    assert orders[GROUPED] == [*thrice, "other/a"]


def test_equal_concept_ids_in_two_directories_are_both_given(tmp_path: Path) -> None:
    sources = [{"id": "s", "path": "x"}, {"id": "t", "path": "y"}]
    with opened(tmp_path, sources, {"x/a.md": "word", "y/a.md": "word"}) as catalog:
        assert answers(catalog) == {strategy: ["s/a", "t/a"] for strategy in STRATEGIES}


def test_the_source_that_answers_for_a_directory_is_a_visible_one(tmp_path: Path) -> None:
    with opened(tmp_path, TWINS, TWIN_FILES) as catalog:
        orders = answers(catalog, permitted_source_ids={"third", "second"})
        assert orders[MERGED] == orders[WEIGHTED] == ["second/a", "second/b"]
        assert answers(catalog, permitted_source_ids={"third"})[MERGED] == ["third/a", "third/b"]


# Fairness


def ranked_like(directory: Path, order: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Sources and files that rank as ``order``: each concept holds one term less than the one before."""
    ranking = order.split()
    files = {
        f"{name[0]}/{name}.md": " ".join(f"t{n}." for n in range(len(ranking) - place))
        for place, name in enumerate(ranking)
    }
    return [{"id": source, "path": source} for source in sorted({name[0] for name in ranking})], files


@pytest.mark.parametrize(
    ("order", "quota", "fair"),
    [
        ("A1 A2 A3 A4 A5 B1 B2", 1, "A1 B1 A2 B2 A3 A4 A5"),
        ("A1 A2 A3 A4 A5 B1 B2", 2, "A1 A2 B1 A3 A4 B2 A5"),
        ("A1 A2 A3 A4 A5 B1 B2", 3, "A1 A2 A3 B1 A4 A5 B2"),
        ("A1 A2 A3 A4 A5 B1 B2", 5, "A1 A2 A3 A4 A5 B1 B2"),
        ("A1 A2 A3 A4 A5 B1 B2", 10**30, "A1 A2 A3 A4 A5 B1 B2"),
        ("A1 A2 B1 A3 C1 B2 C2", 1, "A1 B1 A2 C1 A3 B2 C2"),
        ("B1 A1 A2 A3", 1, "B1 A1 A2 A3"),
        ("A1 A2 A3", 1, "A1 A2 A3"),
    ],
)
def test_a_quota_lets_other_sources_in_between(tmp_path: Path, order: str, quota: int, fair: str) -> None:
    text = " ".join(f"t{n}." for n in range(len(order.split())))
    with opened(tmp_path, *ranked_like(tmp_path, order)) as catalog:
        for make in (MergedKnowledgeResolver, PriorityWeightedKnowledgeResolver):
            unfair = make(catalog).search(text).passages
            assert " ".join(passage.concept_id for passage in unfair) == order
            asked = make(catalog).search(KnowledgeQuery(text, fairness_quota=quota)).passages
            assert " ".join(passage.concept_id for passage in asked) == fair
            by_host = make(catalog, default_fairness_quota=quota).search(text).passages
            assert by_host == asked


@pytest.mark.parametrize("quota", [1, 2, 3])
def test_a_quota_changes_only_the_order(catalog: FileKnowledgeCatalog, quota: int) -> None:
    router = KnowledgeResolverRouter(catalog)
    for strategy in STRATEGIES:
        without = router.search(KnowledgeQuery("word", resolver_strategy=strategy)).passages
        fair = router.search(
            KnowledgeQuery("word", resolver_strategy=strategy, fairness_quota=quota)
        ).passages
        assert Counter(fair) == Counter(without)
        for source in ("high", "low", "also"):
            assert [p for p in fair if p.source_id == source] == [p for p in without if p.source_id == source]


def test_grouped_results_ignore_the_quota(catalog: FileKnowledgeCatalog) -> None:
    query = KnowledgeQuery("word", fairness_quota=1)
    assert names(GroupedKnowledgeResolver(catalog).search(query)) == BY_SOURCE
    assert names(KnowledgeResolverRouter(catalog, default_fairness_quota=1).search("word")) == BY_SOURCE


def test_the_quota_of_the_question_beats_the_quota_of_the_host(tmp_path: Path) -> None:
    sources, files = ranked_like(tmp_path, "A1 A2 A3 B1")
    text = "t0. t1. t2. t3."
    with opened(tmp_path, sources, files) as catalog:
        for resolver in (
            MergedKnowledgeResolver(catalog, default_fairness_quota=1),
            PriorityWeightedKnowledgeResolver(catalog, default_fairness_quota=1),
            KnowledgeResolverRouter(catalog, default_strategy=MERGED, default_fairness_quota=1),
        ):
            assert names(resolver.search(text)) == ["A/A1", "B/B1", "A/A2", "A/A3"]
            query = KnowledgeQuery(text, fairness_quota=2)
            assert names(resolver.search(query)) == ["A/A1", "A/A2", "B/B1", "A/A3"]


def test_a_quota_may_put_a_lower_priority_ahead(catalog: FileKnowledgeCatalog) -> None:
    query = KnowledgeQuery("word", fairness_quota=1)
    assert names(PriorityWeightedKnowledgeResolver(catalog).search(query)) == [
        "high/strong",
        "low/strong",
        "high/weak",
        "also/middle",
        "low/weak",
    ]


# Staleness


@contextmanager
def one_that_goes_stale(directory: Path, stale_after: str) -> Generator[FileKnowledgeCatalog]:
    files = {"b/a.md": f"---\nstale_after: {stale_after}\n---\nword"}
    with opened(directory, [{"id": "s", "path": "b"}], files) as catalog:
        yield catalog


def is_admitted(catalog: FileKnowledgeCatalog, policy: StalePolicy, now: datetime) -> bool:
    context = GroupedKnowledgeResolver(catalog, clock=lambda: now).search(
        KnowledgeQuery("word", stale_policy=policy)
    )
    assert codes(context) == ([] if context.passages else [("NO_MATCHES", None)])
    return len(context.passages) == 1


def test_a_concept_goes_stale_to_the_microsecond(tmp_path: Path) -> None:
    with one_that_goes_stale(tmp_path, "2026-03-01T12:00:00.000001Z") as catalog:
        for delta, fresh in ((0, True), (1, False), (2, False)):
            now = NOON + timedelta(microseconds=delta)
            assert is_admitted(catalog, StalePolicy.STRICT, now) is fresh
            assert is_admitted(catalog, StalePolicy.tolerate(0), now) is fresh
            assert is_admitted(catalog, StalePolicy.tolerate(1), now)
            assert is_admitted(catalog, StalePolicy.USE, now)


def test_a_grace_period_is_counted_in_days(tmp_path: Path) -> None:
    with one_that_goes_stale(tmp_path, "2026-03-01T12:00:00Z") as catalog:
        for days in (1, 2, 400):
            end = NOON + timedelta(days=days)
            assert is_admitted(catalog, StalePolicy.tolerate(days), end - timedelta(microseconds=1))
            assert not is_admitted(catalog, StalePolicy.tolerate(days), end)


@pytest.mark.parametrize("days", [10**9, 2**63, 10**30])
def test_a_grace_period_can_end_after_the_last_date(tmp_path: Path, days: int) -> None:
    with one_that_goes_stale(tmp_path, "0001-01-01") as catalog:
        for now in (NOON, datetime.max.replace(tzinfo=timezone.utc)):
            assert is_admitted(catalog, StalePolicy.tolerate(days), now)


def test_a_clock_can_be_in_any_time_zone(tmp_path: Path) -> None:
    east, west = timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))
    with one_that_goes_stale(tmp_path, "2026-03-01T12:00:00Z") as catalog:
        for zone in (east, west):
            assert not is_admitted(catalog, StalePolicy.STRICT, NOON.astimezone(zone))
            earlier = (NOON - timedelta(microseconds=1)).astimezone(zone)
            assert is_admitted(catalog, StalePolicy.STRICT, earlier)
        for zone in (east, west, timezone.utc):
            assert not is_admitted(catalog, StalePolicy.STRICT, datetime.max.replace(tzinfo=zone))
            assert is_admitted(catalog, StalePolicy.STRICT, datetime.min.replace(tzinfo=zone))


def test_a_host_without_a_clock_uses_the_current_time(tmp_path: Path) -> None:
    today = datetime.now(timezone.utc)
    for days, fresh in ((2, True), (-2, False)):
        with one_that_goes_stale(tmp_path, (today + timedelta(days=days)).isoformat()) as catalog:
            query = KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)
            assert len(GroupedKnowledgeResolver(catalog).search(query).passages) == fresh


def test_the_clock_is_read_once_for_each_search(ask: Entrance) -> None:
    readings: list[datetime] = []

    def clock() -> datetime:
        readings.append(NOON)
        return NOON

    ask("word", clock=clock)
    assert len(readings) == 1


# Diagnostics


def test_an_answer_with_matches_has_no_diagnostic(ask: Entrance) -> None:
    assert ask("word").diagnostics == ()


def test_an_answer_without_matches_has_one_diagnostic(ask: Entrance) -> None:
    assert codes(ask("nowhere")) == [("NO_MATCHES", None)]


def test_failed_sources_are_named_in_order_and_the_others_answer(ask: Entrance, shelf: Path) -> None:
    for bundle in ("low", "high"):
        shutil.rmtree(shelf / bundle)
    context = ask("word")
    assert names(context) == ["also/middle"]
    assert codes(context) == [("SOURCE_UNAVAILABLE", "high"), ("SOURCE_UNAVAILABLE", "low")]
    context = ask("nowhere")
    assert codes(context) == [
        ("SOURCE_UNAVAILABLE", "high"),
        ("SOURCE_UNAVAILABLE", "low"),
        ("NO_MATCHES", None),
    ]
    for diagnostic in context.diagnostics:
        assert str(shelf) not in diagnostic.message
        assert (diagnostic.source_id is None) or diagnostic.source_id in diagnostic.message
        assert "\n" not in diagnostic.message


def test_an_answer_whose_sources_all_failed_has_no_no_matches_diagnostic(ask: Entrance, shelf: Path) -> None:
    for bundle in ("low", "high", "also"):
        shutil.rmtree(shelf / bundle)
    assert codes(ask("word")) == [("SOURCE_UNAVAILABLE", source) for source in ("high", "also", "low")]


def test_a_catalog_without_a_source_to_search_says_so(ask: Entrance, shelf: Path) -> None:
    write_manifest(
        shelf,
        [
            {"id": "off", "path": "off", "enabled": False},
            {"id": "diary", "path": "diary", "role": "memory", "tier": "user"},
        ],
    )
    ask.catalog.reload()
    (diagnostic,) = ask("word").diagnostics
    assert diagnostic.code is KnowledgeDiagnosticCode.NO_ENABLED_SOURCES
    assert diagnostic.source_id is None
    assert "visible" not in diagnostic.message


# Contexts


def test_an_answer_carries_its_question_and_its_generation(ask: Entrance) -> None:
    query = KnowledgeQuery("word", fairness_quota=3)
    context = ask(query)
    assert context.query is query
    assert context.generation == 1
    assert ask("word").query == KnowledgeQuery("word")
    ask.catalog.reload()
    assert ask("word").generation == 2
    assert context.generation == 1


def test_search_async_and_batch_give_the_same_answer(catalog: FileKnowledgeCatalog) -> None:
    for resolver, make in RESOLVERS.items():
        made = make(catalog)
        contexts = [
            made.search("word"),
            made.search_batch(["word"])[0],
            asyncio.run(made.search_async("word")),
        ]
        assert contexts == [contexts[0]] * 3, resolver


# Async


async def after(event: asyncio.Event, seen: threading.Event) -> None:
    await event.wait()
    seen.set()


def test_the_event_loop_goes_on_while_a_search_runs(catalog: FileKnowledgeCatalog) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        asked, answered = asyncio.Event(), threading.Event()

        def policy(scope: object, source: KnowledgeCatalogSource) -> bool:
            """Waits for the event loop, which answers only if the search does not block it."""
            loop.call_soon_threadsafe(asked.set)
            return answered.wait(timeout=30)

        query = KnowledgeQuery("word", source_visibility_policy=policy)
        _, context = await asyncio.gather(
            after(asked, answered), KnowledgeResolverRouter(catalog).search_async(query)
        )
        assert names(context) == BY_SOURCE

    asyncio.run(main())


def test_a_policy_of_an_async_search_sees_the_context_of_its_caller(catalog: FileKnowledgeCatalog) -> None:
    caller = contextvars.ContextVar("caller", default="nobody")
    callers: list[tuple[str, bool]] = []

    def policy(scope: object, source: object) -> bool:
        callers.append((caller.get(), threading.current_thread() is threading.main_thread()))
        return True

    async def search(name: str) -> None:
        caller.set(name)
        await KnowledgeResolverRouter(catalog, default_source_visibility_policy=policy).search_async("word")

    async def main() -> None:
        await asyncio.gather(search("ada"), search("bob"))

    asyncio.run(main())
    assert Counter(callers) == {("ada", False): 3, ("bob", False): 3}
    assert caller.get() == "nobody"
