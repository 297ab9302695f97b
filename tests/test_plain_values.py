"""Arguments are copied into plain values once, so that no subclass can change its value later."""

from __future__ import annotations

import asyncio
import pickle
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import pytest
from making.asking import RESOLVERS
from okf_catalog import (
    ChatMessage,
    FileKnowledgeCatalog,
    FileMemoryStore,
    Freshness,
    GroupedKnowledgeResolver,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeSection,
    KnowledgeUnit,
    MemoryEntry,
    MemoryTier,
    MergedKnowledgeResolver,
    RefusedTypeError,
    RefusedValueError,
    StalePolicy,
    open_knowledge,
    parse_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from okf_catalog import Knowledge


def lies(*_: object, **__: object) -> Any:
    raise AssertionError("a method of the caller's own class was called")


def lying(base: type, *names: str) -> Any:
    """A subclass of ``base``; a call of one of the named methods fails the test."""
    return type(f"Lying{base.__name__}", (base,), dict.fromkeys(names, lies))


COMMON = (
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__str__",
    "__repr__",
    "__format__",
)
LyingStr = lying(
    str,
    *COMMON,
    *(
        "__len__",
        "__iter__",
        "__contains__",
        "__getitem__",
        "__add__",
        "__mod__",
        "__getnewargs__",
        "__reduce__",
    ),
    *(
        "encode",
        "strip",
        "rstrip",
        "lower",
        "upper",
        "split",
        "splitlines",
        "isascii",
        "startswith",
        "replace",
    ),
    *("casefold", "join", "format", "isspace", "translate"),
)
LyingInt = lying(
    int,
    *COMMON,
    *(
        "__int__",
        "__index__",
        "__bool__",
        "__float__",
        "__add__",
        "__radd__",
        "__sub__",
        "__rsub__",
        "__neg__",
    ),
    *("__mul__", "__rmul__", "__floordiv__", "__abs__", "__trunc__", "__ceil__", "__floor__", "__round__"),
)
LyingFloat = lying(
    float, *COMMON, "__float__", "__int__", "__add__", "__radd__", "__mul__", "__rmul__", "__bool__"
)
LyingDelta = lying(
    timedelta,
    *COMMON,
    "__floordiv__",
    "__truediv__",
    "__bool__",
    "__neg__",
    "__pos__",
    "__sub__",
    "total_seconds",
)


def text(value: str) -> Any:
    return LyingStr(value)


def number(value: int) -> Any:
    return LyingInt(value)


class Turning(str):
    """A str subclass whose methods all give other text than its content."""

    __slots__ = ()

    def __str__(self) -> str:
        return "other"

    def __len__(self) -> int:
        return 0

    def encode(self, *_: object, **__: object) -> bytes:
        return b"other"

    def strip(self, *_: object) -> str:
        return ""

    def isascii(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def only_plain(value: object) -> None:
    assert type(value) in {str, int, float, type(None)}


def test_a_query_holds_plain_values() -> None:
    query = KnowledgeQuery(
        text("word"),
        text("tag"),
        fairness_quota=number(2),
        resolver_strategy=text("merged"),
        scoring=text("bm25f"),
        unit=text("section"),
        permitted_source_ids=[text("high"), text("low")],
    )
    for value in (query.text, query.tag, query.fairness_quota, *(query.permitted_source_ids or ())):
        only_plain(value)
    assert query == KnowledgeQuery(
        "word",
        "tag",
        fairness_quota=2,
        resolver_strategy=KnowledgeResolverStrategy.MERGED,
        scoring=KnowledgeScoring.BM25F,
        unit=KnowledgeUnit.SECTION,
        permitted_source_ids={"high", "low"},
    )
    assert type(query.resolver_strategy) is KnowledgeResolverStrategy
    assert (type(query.scoring), type(query.unit)) == (KnowledgeScoring, KnowledgeUnit)
    assert pickle.loads(pickle.dumps(query)) == query


def test_a_text_enum_member_is_taken_as_its_value() -> None:
    query = KnowledgeQuery(KnowledgeResolverStrategy.MERGED)
    assert type(query.text) is str
    assert query.text == "merged"


@pytest.mark.parametrize("wrong", ["", " ", "\ud800"])
def test_a_text_subclass_is_taken_by_its_content_and_not_by_its_methods(wrong: str) -> None:
    with pytest.raises(ValueError, match="text"):
        KnowledgeQuery(Turning(wrong))
    with pytest.raises(RefusedValueError, match="at least 1"):
        KnowledgeQuery("word", fairness_quota=number(0))


class TwiceDifferent(frozenset[str]):
    """A set that yields other ids from the second time on."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        type(self).times += 1
        return iter(["high"] if self.times == 1 else ["low", "also"])

    def __contains__(self, _: object) -> bool:
        return True


def test_permitted_ids_are_read_once(catalog: FileKnowledgeCatalog) -> None:
    query = KnowledgeQuery("word", permitted_source_ids=TwiceDifferent({"also"}))
    assert type(query.permitted_source_ids) is frozenset
    for make in RESOLVERS.values():
        resolver = make(catalog)
        for context in (
            resolver.search(query),
            asyncio.run(resolver.search_async(query)),
            resolver.search_batch([query])[0],
        ):
            assert {passage.source_id for passage in context.passages} == {"high"}


def test_an_id_with_a_false_equality_permits_only_its_content(catalog: FileKnowledgeCatalog) -> None:
    query = KnowledgeQuery("word", permitted_source_ids=[Turning("low")])
    context = GroupedKnowledgeResolver(catalog).search(query)
    assert {passage.source_id for passage in context.passages} == {"low"}
    nothing = KnowledgeQuery("word", permitted_source_ids=[Turning("nowhere")])
    assert not GroupedKnowledgeResolver(catalog).search(nothing).passages


def test_a_scope_holds_plain_ids() -> None:
    scope = KnowledgeAccessScope(text("acme"), text("alice"), text("today"))
    for value in (scope.tenant_id, scope.user_id, scope.session_id):
        only_plain(value)
    assert scope == KnowledgeAccessScope("acme", "alice", "today")
    for wrong in ("_local", "a/b", "../x", ""):
        with pytest.raises(RefusedValueError):
            KnowledgeAccessScope(Turning(wrong))


def test_a_section_holds_plain_values() -> None:
    section = KnowledgeSection([text("a"), text("b")], text("word"), number(3), number(4))
    for value in (*section.heading, section.text, section.first_line, section.last_line):
        only_plain(value)
    assert section == KnowledgeSection(("a", "b"), "word", 3, 4)


def test_a_stale_policy_holds_a_plain_number() -> None:
    for policy in (StalePolicy(number(3)), StalePolicy.tolerate(number(3))):
        only_plain(policy.grace_days)
        assert policy == StalePolicy.tolerate(3)
    with pytest.raises(RefusedValueError):
        StalePolicy.tolerate(number(-1))


def test_a_message_holds_plain_text() -> None:
    message = ChatMessage(text("user"), text("hello"))
    only_plain(message.role)
    only_plain(message.text)
    assert message == ChatMessage("user", "hello")


class TwiceDifferentMapping(dict[str, str]):
    """A dict that gives other items from the second time on, and wrong values by every other method."""

    times = 0

    def items(self) -> Any:
        type(self).times += 1
        return dict(self).items() if self.times == 1 else {"type": "", "title": "", "description": ""}.items()

    def __getitem__(self, key: str) -> str:
        return "other"

    def __len__(self) -> int:
        return 0


def test_a_memory_holds_plain_text() -> None:
    front = TwiceDifferentMapping({"type": text("T"), "title": text("A"), "description": text("d")})
    entry = MemoryEntry(text("name"), cast("Mapping[str, str]", front), text("section"))
    for value in (entry.concept_name, entry.section_markdown, *entry.frontmatter_if_creating.items()):
        for one in value if isinstance(value, tuple) else (value,):
            only_plain(one)
    assert entry == MemoryEntry("name", {"type": "T", "title": "A", "description": "d"}, "section")
    for wrong in ("a/b", "..", "", "a\0"):
        with pytest.raises(RefusedValueError):
            MemoryEntry(Turning(wrong), {"type": "T", "title": "A", "description": "d"}, "section")


def test_a_catalog_takes_plain_options(shelf: Path) -> None:
    with open_knowledge(
        text(str(shelf / "catalog.json")),
        catalog_root=text(str(shelf)),
        reload_debounce=LyingDelta(seconds=1),
        max_file_bytes=number(1 << 20),
        max_threads=number(2),
        max_question_bytes=number(100),
        default_fairness_quota=number(1),
        default_strategy=text("merged"),
    ) as knowledge:
        assert type(knowledge.max_question_bytes) is int
        assert [passage.source_id for passage in knowledge.search(text("word")).passages][:2] == [
            "low",
            "high",
        ]
        assert len(knowledge.search_batch([text("word")], limit=number(1))[0].passages) == 1
        for wrong in ({"max_threads": number(0)}, {"reload_debounce": LyingDelta(seconds=-1)}):
            with pytest.raises(RefusedValueError):
                FileKnowledgeCatalog(shelf / "catalog.json", **cast("Any", wrong))


def test_a_path_is_read_once(shelf: Path) -> None:
    class Changing:
        times = 0

        def __fspath__(self) -> str:
            self.times += 1
            return cast("str", text(str(shelf / "catalog.json"))) if self.times == 1 else "/etc/catalog.json"

    path = Changing()
    with FileKnowledgeCatalog(path, watch_for_changes=False) as catalog:
        assert catalog.current.generation == 1
        assert path.times == 1


def test_a_manifest_can_be_any_subclass_of_text() -> None:
    parsed = parse_manifest(
        text('{"version": 1, "sources": [{"id": "a", "path": "b"}]}'), manifest_directory="."
    )
    assert not isinstance(parsed, tuple)


def test_a_provider_takes_plain_numbers(catalog: FileKnowledgeCatalog) -> None:
    provider = KnowledgeContextProvider(
        GroupedKnowledgeResolver(catalog),
        token_budget=number(500),
        knowledge_budget_share=LyingFloat(0.5),
        memory_budget_share=number(0),
        count_tokens=lambda given: number(len(given)),
        on_internal_error=lies,
    )
    assert provider.provide([ChatMessage(text("user"), text("word"))]).blocks
    with pytest.raises(RefusedValueError, match="together"):
        KnowledgeContextProvider(
            GroupedKnowledgeResolver(catalog), knowledge_budget_share=LyingFloat(0.7), memory_budget_share=0.4
        )


def test_a_store_takes_ids_as_plain_text(notes: Knowledge) -> None:
    store = notes.memory
    assert isinstance(store, FileMemoryStore)
    scope = KnowledgeAccessScope.LOCAL
    front = {"type": "T", "title": "A", "description": "d"}
    assert store.write(scope, MemoryEntry(text("name"), front, text("section")), MemoryTier.USER).written
    (concept,) = store.enumerate(scope)
    assert store.text(scope, text(concept.concept_id)) == "section"
    assert store.text(scope, Turning("memory-user/_local/_local/other")) is None
    assert len(store.read(scope, text("section")).passages) == 1


class LyingTime(datetime):
    """A datetime subclass whose methods hide its time zone."""

    def utcoffset(self) -> Any:
        return None

    def __sub__(self, other: Any) -> Any:
        return timedelta(0)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def astimezone(self, tz: Any = None) -> Any:
        lies()


def test_a_clock_result_is_taken_by_its_time_and_not_by_its_methods(shelf: Path) -> None:
    (shelf / "low" / "old.md").write_text("---\nstale_after: 2026-01-01\n---\nonce")
    query = KnowledgeQuery("once", stale_policy=StalePolicy.STRICT)
    for year, found in ((2025, 1), (2027, 0)):
        with FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False) as catalog:
            resolver = MergedKnowledgeResolver(
                catalog, clock=partial(LyingTime, year, 6, 1, tzinfo=timezone.utc)
            )
            assert len(resolver.search(query).passages) == found
    with FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False) as catalog:
        resolver = MergedKnowledgeResolver(catalog, clock=lambda: LyingTime(2026, 1, 1))
        with pytest.raises(RefusedValueError, match="time zone"):
            resolver.search(query)


@pytest.mark.parametrize("kind", [str, KnowledgeQuery])
def test_an_object_that_only_claims_to_be_a_question_is_refused(
    catalog: FileKnowledgeCatalog, kind: type
) -> None:
    claim = Mock(spec=kind)
    assert isinstance(claim, kind)
    for make in RESOLVERS.values():
        resolver = make(catalog)
        with pytest.raises(RefusedTypeError, match="not Mock"):
            resolver.search(claim)
        with pytest.raises(RefusedTypeError, match="not Mock"):
            resolver.search_batch([claim])


def test_an_object_that_only_claims_a_type_is_refused(shelf: Path, catalog: FileKnowledgeCatalog) -> None:
    path = shelf / "catalog.json"
    claims: list[tuple[str, Any]] = [
        ("text", lambda: KnowledgeQuery(Mock(spec=str))),
        ("tag", lambda: KnowledgeQuery("word", Mock(spec=str))),
        ("fairness_quota", lambda: KnowledgeQuery("word", fairness_quota=Mock(spec=int))),
        ("stale_policy", lambda: KnowledgeQuery("word", stale_policy=Mock(spec=StalePolicy))),
        ("scope", lambda: KnowledgeQuery("word", scope=Mock(spec=KnowledgeAccessScope))),
        ("permitted_source_ids", lambda: KnowledgeQuery("word", permitted_source_ids=[Mock(spec=str)])),
        ("tenant_id", lambda: KnowledgeAccessScope(Mock(spec=str))),
        ("scoring", lambda: KnowledgeQuery("word", scoring=Mock(spec=str))),
        ("unit", lambda: KnowledgeQuery("word", unit=Mock(spec=KnowledgeUnit))),
        ("text", lambda: KnowledgeSection((), Mock(spec=str), 1, 1)),
        ("grace_days", lambda: StalePolicy.tolerate(Mock(spec=int))),
        ("role", lambda: ChatMessage(Mock(spec=str), "")),
        ("catalog_file_path", lambda: FileKnowledgeCatalog(Mock(spec=str))),
        ("max_threads", lambda: FileKnowledgeCatalog(path, max_threads=Mock(spec=int))),
        ("watch_for_changes", lambda: FileKnowledgeCatalog(path, watch_for_changes=Mock(spec=bool))),
        ("freshness", lambda: FileKnowledgeCatalog(path, freshness=Mock(spec=Freshness))),
        ("catalog", lambda: GroupedKnowledgeResolver(Mock(spec=FileKnowledgeCatalog))),
        ("default_strategy", lambda: KnowledgeResolverRouter(catalog, default_strategy=Mock(spec=str))),
        ("default_scoring", lambda: GroupedKnowledgeResolver(catalog, default_scoring=Mock(spec=str))),
    ]
    for field, make in claims:
        with pytest.raises(RefusedTypeError, match=field):
            make()


@pytest.mark.parametrize("wrong", [True, False])
def test_a_bool_is_refused_as_a_number(shelf: Path, catalog: FileKnowledgeCatalog, wrong: bool) -> None:
    makes: list[Any] = [
        lambda: KnowledgeQuery("word", fairness_quota=wrong),
        lambda: StalePolicy.tolerate(wrong),
        lambda: GroupedKnowledgeResolver(catalog).search_batch([], limit=wrong),
        lambda: FileKnowledgeCatalog(shelf / "catalog.json", max_question_bytes=wrong),
        lambda: FileKnowledgeCatalog(shelf / "catalog.json", max_file_bytes=wrong),
        lambda: KnowledgeContextProvider(GroupedKnowledgeResolver(catalog), token_budget=wrong),
        lambda: KnowledgeContextProvider(GroupedKnowledgeResolver(catalog), memory_budget_share=wrong),
    ]
    for make in makes:
        with pytest.raises(RefusedTypeError):
            make()
