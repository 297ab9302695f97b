"""Values compare by value, have a repr that can be typed, pickle, and never change."""

from __future__ import annotations

import copy
import dataclasses
import json
import operator
import pickle
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any

import okf_catalog
import pytest
from okf_catalog import (
    CatalogDiagnostic,
    CatalogDiagnosticCode,
    CatalogReport,
    ChatMessage,
    ConceptStatus,
    ContextBlock,
    Freshness,
    InMemorySource,
    KnowledgeAccessScope,
    KnowledgeCatalogSnapshot,
    KnowledgeCatalogSource,
    KnowledgeContext,
    KnowledgeDiagnostic,
    KnowledgeDiagnosticCode,
    KnowledgePassage,
    KnowledgeQuery,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeSection,
    KnowledgeUnit,
    MemoryCaptureMode,
    MemoryConcept,
    MemoryConcepts,
    MemoryDeleteResult,
    MemoryEntry,
    MemoryReadResult,
    MemoryTier,
    MemoryWriteResult,
    ProvidedContext,
    RemarkCode,
    RemarkCount,
    SourceProblem,
    SourceRemark,
    SourceReport,
    SourceRole,
    StalePolicy,
    TrustTier,
)
from okf_catalog._engine import enum_names
from okf_catalog.choice import Choice, TextChoice

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable


@pytest.mark.parametrize(("name", "values"), enum_names())
def test_an_enum_has_exactly_the_values_that_the_engine_knows(name: str, values: list[str]) -> None:
    assert [member.value for member in getattr(okf_catalog, name)] == values


def test_the_engine_knows_the_values_of_every_enum_that_crosses_to_it() -> None:
    kinds = {name for name in okf_catalog.__all__ if issubclass_of_choice(getattr(okf_catalog, name))}
    assert kinds - {name for name, _ in enum_names()} == {"MemoryCaptureMode"}


def issubclass_of_choice(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Choice)


def section(**changes: Any) -> KnowledgeSection:
    fields: dict[str, Any] = {
        "heading": ("A 'title'", "\U00010400 > \u2028"),
        "text": "## It\n\nthe line",
        "first_line": 7,
        "last_line": 9,
    }
    return KnowledgeSection(**{**fields, **changes})


def passage(**changes: Any) -> KnowledgePassage:
    fields: dict[str, Any] = {
        "source_id": "s",
        "concept_id": "a/b",
        "title": "A 'title' with \"quotes\"\n",
        "excerpt": "the \U00010400 line\u2028",
        "score": 2**32 - 1,
        "bundle_relative_path": "a/b.md",
        "trust_tier": TrustTier.HUMAN_REVIEWED,
        "status": ConceptStatus.DRAFT,
        "stale_after": "2026-01-01",
        "concept_type": "Metric",
        "description": "what it is",
        "snippet": "the line",
        "is_stale": True,
        "section": section(),
    }
    return KnowledgePassage(**{**fields, **changes})


def context() -> KnowledgeContext:
    none = KnowledgeDiagnostic(KnowledgeDiagnosticCode.NO_MATCHES, None, "nothing")
    return KnowledgeContext(KnowledgeQuery("word"), 3, (passage(),), (none,))


def concepts() -> MemoryConcepts:
    unavailable = KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "memory:user", "gone")
    return MemoryConcepts([MemoryConcept(MemoryTier.USER, "memory-user/_local/_local/a", "A")], [unavailable])


def block() -> ContextBlock:
    return ContextBlock(SourceRole.KNOWLEDGE, "s", "a/b", "<okf-context>\n…", truncated=True)


def snapshot() -> KnowledgeCatalogSnapshot:
    return KnowledgeCatalogSnapshot(1, (KnowledgeCatalogSource("a", "b"),), Path("/somewhere"), 2)


def report() -> SourceReport:
    problems = (SourceProblem("a.md", "not UTF-8"),)
    return SourceReport(
        KnowledgeCatalogSource("a", "b"),
        Path("/somewhere/b"),
        3,
        problems,
        "c",
        None,
        "it holds links",
        (remark(),),
        5000,
        (RemarkCount(RemarkCode.MISSING_TYPE, 5000),),
    )


def remark() -> SourceRemark:
    return SourceRemark("a.md", 3, RemarkCode.MISSING_TYPE, "no 'type'\u2028")


EXAMPLES: dict[str, Callable[[], object]] = {
    "source of texts": lambda: InMemorySource("s", {"a/b": "text\n", "c": "---\n---\n"}, -1, enabled=False),
    "query": lambda: KnowledgeQuery("word"),
    "query with everything": lambda: KnowledgeQuery(
        "Some 'words'\n\U00010400",
        "tag",
        stale_policy=StalePolicy.tolerate(3),
        resolver_strategy="merged",
        fairness_quota=10**30,
        scope=KnowledgeAccessScope("acme", "alice", "s-1"),
        permitted_source_ids=["a"],
        scoring="bm25f",
        unit="section",
    ),
    "query that permits nothing": lambda: KnowledgeQuery("word", permitted_source_ids=()),
    "query with a policy": lambda: KnowledgeQuery("word", source_visibility_policy=operator.is_),
    "scope": lambda: KnowledgeAccessScope("acme", session_id="1.2-3_4"),
    "local scope": KnowledgeAccessScope,
    "use": lambda: StalePolicy(None),
    "strict": lambda: StalePolicy(0),
    "tolerate": lambda: StalePolicy.tolerate(10**30),
    "exact": lambda: Freshness(is_exact=True),
    "manual": Freshness.manual,
    "passage": passage,
    "bare passage": lambda: passage(title=None, stale_after=None, concept_type=None, description=None),
    "passage of a whole concept": lambda: passage(section=None),
    "section": section,
    "section below no heading": lambda: section(heading=(), first_line=1, last_line=2**32 - 1),
    "context": context,
    "message": lambda: ChatMessage("user", "word"),
    "message of something else": lambda: ChatMessage("tool", None),
    "block": block,
    "provided": lambda: ProvidedContext(
        "instructions", (ChatMessage("user", "word"),), (block(),), 3, 10**9, context().diagnostics
    ),
    "nothing provided": ProvidedContext,
    "diagnostic": lambda: KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "a", "gone"),
    "catalog diagnostic": lambda: CatalogDiagnostic(CatalogDiagnosticCode.EMPTY_PATH, "sources[0]"),
    "source": lambda: KnowledgeCatalogSource("a", "b"),
    "memory source": lambda: KnowledgeCatalogSource(
        "a", "b", priority=-1, enabled=False, role=SourceRole.MEMORY, tier=MemoryTier.TENANT
    ),
    "snapshot": snapshot,
    "problem": lambda: SourceProblem("a.md", "not UTF-8"),
    "remark": remark,
    "remark on no line": lambda: dataclasses.replace(remark(), line=None),
    "remark count": lambda: RemarkCount(RemarkCode.NAME_NOT_READ, 10**9),
    "source report": report,
    "memory entry": lambda: MemoryEntry(
        "2026-11-30", {"type": "a", "title": "b: 'c'", "description": "\n\U00010400"}, "## section\u2028"
    ),
    "memory entry with a mapping": lambda: MemoryEntry(
        "a",
        {"type": "a", "title": "b", "description": "c", "generated": {"by": "d", "at": "2026-11-30"}},
        "e",
    ),
    "memory concept": lambda: MemoryConcept(MemoryTier.USER, "memory-user/_local/_local/a", None),
    "memory read": lambda: MemoryReadResult((passage(),), context().diagnostics),
    "memory write": lambda: MemoryWriteResult(written=False, error="the disk is full"),
    "memory delete": lambda: MemoryDeleteResult(2, None),
    "memory delete below": lambda: MemoryDeleteResult(2, "locked", 10**9, 7),
    "memory concepts": concepts,
    "report": lambda: CatalogReport(1, (report(),)),
}

MERGED = KnowledgeResolverStrategy.MERGED

examples = pytest.mark.parametrize("make", EXAMPLES.values(), ids=EXAMPLES.keys())
protocols = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))

CHOICES = (
    CatalogDiagnosticCode,
    ConceptStatus,
    KnowledgeDiagnosticCode,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeUnit,
    MemoryCaptureMode,
    MemoryTier,
    RemarkCode,
    SourceRole,
    TrustTier,
)
members = pytest.mark.parametrize("member", [member for choice in CHOICES for member in choice], ids=repr)


def fields_of(value: object) -> list[str]:
    if isinstance(value, KnowledgePassage):
        return [name for name in dir(value) if not name.startswith("_")]
    if isinstance(value, MemoryConcepts):
        return ["diagnostics"]
    value_class: Any = type(value)
    return [field.name for field in dataclasses.fields(value_class)]


def typed(text: str) -> object:
    """The value of ``text`` after ``from okf_catalog import *``."""
    names: dict[str, object] = {name: getattr(okf_catalog, name) for name in okf_catalog.__all__}
    return eval(text, {**names, "PosixPath": PosixPath})


def test_the_examples_cover_every_value_type() -> None:
    others = {
        "Clock",
        "CountTokens",
        "FileKnowledgeCatalog",
        "FileMemoryStore",
        "GroupedKnowledgeResolver",
        "InMemoryKnowledgeCatalog",
        "Knowledge",
        "KnowledgeBatch",
        "KnowledgeCatalog",
        "KnowledgeContextProvider",
        "KnowledgeResolver",
        "KnowledgeResolverRouter",
        "MemoryStore",
        "MergedKnowledgeResolver",
        "PriorityWeightedKnowledgeResolver",
        "RewriteQuery",
        "ScopeAccessor",
        "SourceVisibilityPolicy",
    }
    classes: set[object] = {
        value
        for name, value in vars(okf_catalog).items()
        if name in okf_catalog.__all__
        and isinstance(value, type)
        and not issubclass(value, BaseException)
        and name not in others
    }
    assert classes == {type(make()) for make in EXAMPLES.values()} | set(CHOICES)


@examples
def test_values_of_equal_fields_are_equal_and_hash_equally(make: Callable[[], object]) -> None:
    one, other = make(), make()
    assert one == other
    assert hash(one) == hash(other)
    assert {one: 1}[other] == 1


def test_values_of_different_fields_are_not_equal() -> None:
    values = [make() for make in EXAMPLES.values()]
    assert len(set(values)) == len(values)
    for value in values:
        assert sum(value == other for other in values) == 1
        assert value not in (None, 0, "word", ())


@pytest.mark.parametrize("field", fields_of(passage()))
def test_equality_of_passages_includes_every_field(field: str) -> None:
    other: dict[str, object] = {
        "score": 1,
        "trust_tier": TrustTier.UNVERIFIED,
        "status": ConceptStatus.STABLE,
        "is_stale": False,
        "section": None,
    }
    assert passage(**{field: other.get(field, "other")}) != passage()


# The repr of a function cannot be typed.
@pytest.mark.parametrize("name", EXAMPLES.keys() - {"query with a policy"})
def test_the_repr_of_a_value_can_be_typed(name: str) -> None:
    value = EXAMPLES[name]()
    assert typed(repr(value)) == value
    assert str(value) == repr(value)


@protocols
@examples
def test_values_pickle(make: Callable[[], object], protocol: int) -> None:
    value = make()
    loaded = pickle.loads(pickle.dumps(value, protocol))
    assert type(loaded) is type(value)
    assert loaded == value
    assert hash(loaded) == hash(value)


def test_a_pickle_names_the_module_users_import_from() -> None:
    for make in EXAMPLES.values():
        assert b"okf_catalog." not in pickle.dumps(make(), 0)


def test_listed_concepts_are_a_tuple_that_carries_diagnostics() -> None:
    listed = concepts()
    plain = tuple(listed)
    assert type(plain) is tuple
    assert (listed == plain, plain == listed, hash(listed) == hash(plain)) == (True, True, True)
    assert listed == MemoryConcepts(plain)
    assert {plain: 1}[listed] == 1
    for part in (listed[:], listed + plain, plain + listed):
        assert type(part) is tuple
    for made in (pickle.loads(pickle.dumps(listed)), copy.deepcopy(listed), typed(repr(listed))):
        assert isinstance(made, MemoryConcepts)
        assert made.diagnostics == listed.diagnostics != ()
    assert MemoryConcepts().diagnostics == ()
    with pytest.raises(AttributeError, match="does not change"):
        del listed.diagnostics


@examples
def test_values_copy(make: Callable[[], object]) -> None:
    value = make()
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value


@examples
def test_values_never_change(make: Callable[[], object]) -> None:
    value = make()
    for name in (*fields_of(value), "other"):
        # TypeError: what a frozen class with slots raises for new names in Python 3.10 and 3.11.
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, name, None)
        with pytest.raises((AttributeError, TypeError)):
            delattr(value, name)
    assert value == make()


@examples
def test_values_have_no_instance_dictionary(make: Callable[[], object]) -> None:
    value = make()
    # A tuple subclass cannot have slots.
    assert isinstance(value, MemoryConcepts) or not hasattr(value, "__dict__")


def test_replace_makes_a_changed_copy_of_a_value() -> None:
    query = KnowledgeQuery("word", permitted_source_ids={"a"})
    other = dataclasses.replace(query, text="other", resolver_strategy=MERGED)
    assert other == KnowledgeQuery("other", resolver_strategy="merged", permitted_source_ids=["a"])
    with pytest.raises(ValueError, match="text"):
        dataclasses.replace(query, text=" ")


@members
def test_the_repr_of_a_choice_can_be_typed(member: enum.Enum) -> None:
    assert repr(member) == f"{type(member).__name__}.{member.name}"
    assert typed(repr(member)) is member


@protocols
@members
def test_choices_pickle_and_copy_to_the_same_object(member: enum.Enum, protocol: int) -> None:
    assert pickle.loads(pickle.dumps(member, protocol)) is member
    assert copy.deepcopy(member) is member
    assert type(member)(member.value) is member
    with pytest.raises(AttributeError):
        setattr(member, "value", "other")  # noqa: B010  (no checker lets it be written plainly)


@pytest.mark.parametrize("choice", [KnowledgeResolverStrategy, KnowledgeScoring, KnowledgeUnit])
def test_a_choice_that_queries_take_equals_its_value(choice: type[TextChoice]) -> None:
    for member in choice:
        assert member == member.value
        assert hash(member) == hash(member.value)
        assert str(member) == f"{member}" == "%s" % member == member.value  # noqa: UP031
        assert json.loads(json.dumps({"member": member})) == {"member": member}


def test_trust_tiers_are_ordered() -> None:
    tiers = [TrustTier.UNVERIFIED, TrustTier.MACHINE_CONFIRMED, TrustTier.HUMAN_REVIEWED]
    assert sorted({*tiers}) == tiers == [*TrustTier]
    assert max(tiers) is TrustTier.HUMAN_REVIEWED
    comparisons: list[Callable[[Any, Any], bool]] = [operator.lt, operator.le, operator.gt, operator.ge]
    for compare in comparisons:
        for i, one in enumerate(tiers):
            assert [compare(one, other) for other in tiers] == [compare(i, j) for j in range(len(tiers))]
        with pytest.raises(TypeError):
            compare(TrustTier.UNVERIFIED, "unverified")
        with pytest.raises(TypeError):
            compare(TrustTier.UNVERIFIED, ConceptStatus.DRAFT)


def test_stale_policies_compare_by_value() -> None:
    assert StalePolicy.tolerate(0) == StalePolicy.STRICT
    assert StalePolicy.tolerate(1) == StalePolicy.tolerate(1) != StalePolicy.STRICT
    assert StalePolicy.USE != StalePolicy.STRICT
    assert [
        repr(policy) for policy in (StalePolicy.USE, StalePolicy.tolerate(0), StalePolicy.tolerate(2))
    ] == [
        "StalePolicy.USE",
        "StalePolicy.STRICT",
        "StalePolicy.tolerate(2)",
    ]


def test_scopes_compare_by_value() -> None:
    assert KnowledgeAccessScope() == KnowledgeAccessScope.LOCAL
    assert KnowledgeAccessScope("a") == KnowledgeAccessScope(tenant_id="a")
    assert (
        len({KnowledgeAccessScope(**{field: "a"}) for field in ("tenant_id", "user_id", "session_id")}) == 3
    )


def test_a_passage_takes_the_values_of_its_choices_too() -> None:
    assert passage(trust_tier="human_reviewed", status="draft") == passage()
    for wrong in ({"trust_tier": "nobody"}, {"status": None}, {"score": -1}, {"score": "1"}, {"title": 1}):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            passage(**wrong)
