"""What a question may be, and what is refused when it is made (Q1, S2, S3, A1)."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.visibility import never
from okf_catalog import (
    KnowledgeAccessScope,
    KnowledgeQuery,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeUnit,
    OkfCatalogError,
    RefusedTypeError,
    RefusedValueError,
    SourceRole,
    SourceVisibilityPolicy,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def yes(*_: object) -> bool:
    return True


VALUES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("text empty", {"text": ""}, ["text", "empty"]),
    ("text one space", {"text": " "}, ["text", "white space"]),
    ("text all white space there is", {"text": naive.WHITE_SPACE}, ["text", "white space"]),
    ("text half a surrogate pair", {"text": "word \udc80"}, ["text", "surrogate", "5"]),
    ("tag half a surrogate pair", {"tag": "\ud800"}, ["tag", "surrogate"]),
    ("strategy unknown", {"resolver_strategy": "best"}, ["resolver_strategy", "'merged'", "'best'"]),
    ("strategy by its name", {"resolver_strategy": "MERGED"}, ["resolver_strategy", "'merged'", "'MERGED'"]),
    ("strategy empty", {"resolver_strategy": ""}, ["resolver_strategy", "'merged'"]),
    ("scoring unknown", {"scoring": "bm25"}, ["scoring", "'weighted_terms', 'bm25f'", "'bm25'"]),
    ("scoring by its name", {"scoring": "BM25F"}, ["scoring", "'bm25f'", "'BM25F'"]),
    ("scoring empty", {"scoring": ""}, ["scoring", "'bm25f'"]),
    ("scoring that is a unit", {"scoring": KnowledgeUnit.SECTION}, ["scoring", "'bm25f'", "'section'"]),
    ("unit unknown", {"unit": "chunk"}, ["unit", "'concept', 'section'", "'chunk'"]),
    ("unit by its name", {"unit": "SECTION"}, ["unit", "'section'", "'SECTION'"]),
    ("unit empty", {"unit": ""}, ["unit", "'section'"]),
    ("unit that is a scoring", {"unit": KnowledgeScoring.BM25F}, ["unit", "'section'", "'bm25f'"]),
    ("quota 0", {"fairness_quota": 0}, ["fairness_quota", "1", "0"]),
    ("quota below 0", {"fairness_quota": -(10**30)}, ["fairness_quota", "1"]),
    (
        "two ways to restrict",
        {"permitted_source_ids": ["a"], "source_visibility_policy": never},
        ["permitted_source_ids", "source_visibility_policy"],
    ),
    (
        "two ways to restrict, one of them to nothing",
        {"permitted_source_ids": [], "source_visibility_policy": never},
        ["permitted_source_ids", "source_visibility_policy"],
    ),
]

TYPES: list[tuple[str, dict[str, Any], list[str]]] = [
    *((f"text {text!r}", {"text": text}, ["text", "str"]) for text in (None, 1, b"word", ["word"])),
    *((f"tag {tag!r}", {"tag": tag}, ["tag", "str"]) for tag in (1, b"tag", ["tag"], False)),
    *(
        (f"stale_policy {policy!r}", {"stale_policy": policy}, ["stale_policy", "StalePolicy"])
        for policy in (None, 0, "strict", StalePolicy)
    ),
    *(
        (f"strategy {strategy!r}", {"resolver_strategy": strategy}, ["resolver_strategy", "Strategy"])
        for strategy in (1, b"merged", SourceRole.KNOWLEDGE, KnowledgeResolverStrategy)
    ),
    *(
        (
            f"scoring {scoring!r}",
            {"scoring": scoring},
            ["scoring", "KnowledgeScoring", type(scoring).__name__],
        )
        for scoring in (1, True, b"bm25f", ["bm25f"], SourceRole.KNOWLEDGE, KnowledgeScoring)
    ),
    *(
        (f"unit {unit!r}", {"unit": unit}, ["unit", "KnowledgeUnit", type(unit).__name__])
        for unit in (None, 1, False, b"section", ["section"], SourceRole.KNOWLEDGE, KnowledgeUnit)
    ),
    *(
        (f"quota {quota!r}", {"fairness_quota": quota}, ["fairness_quota", "int", type(quota).__name__])
        for quota in (True, 1.0, "1")
    ),
    *(
        (f"scope {scope!r}", {"scope": scope}, ["scope", "KnowledgeAccessScope"])
        for scope in (None, "acme", {"tenant_id": "acme"}, KnowledgeAccessScope)
    ),
    ("one id", {"permitted_source_ids": "ab"}, ["permitted_source_ids", "one str", "{'ab'}"]),
    ("no id", {"permitted_source_ids": ""}, ["permitted_source_ids", "one str"]),
    ("one id in bytes", {"permitted_source_ids": b"ab"}, ["permitted_source_ids", "one bytes"]),
    *(
        (f"permitted {ids!r}", {"permitted_source_ids": ids}, ["permitted_source_ids", "str"])
        for ids in (1, True, [1], ["a", None], [["a"]], [b"a"])
    ),
    *(
        (f"policy {policy!r}", {"source_visibility_policy": policy}, ["source_visibility_policy", "call"])
        for policy in (1, "yes", True, {"a": True})
    ),
]


def make_query(**fields: Any) -> KnowledgeQuery:
    """A query for ``word``, unless ``fields`` say otherwise."""
    fields.setdefault("text", "word")
    return KnowledgeQuery(**fields)


def refusal(kind: type[OkfCatalogError], **fields: Any) -> str:
    with pytest.raises(kind) as raised:
        make_query(**fields)
    assert type(raised.value) is kind
    return str(raised.value)


@pytest.mark.parametrize(("fields", "words"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES])
def test_a_query_refuses_invalid_values_and_names_the_field(fields: dict[str, Any], words: list[str]) -> None:
    text = refusal(RefusedValueError, **fields)
    assert [word for word in words if word not in text] == []
    assert "\n" not in text


@pytest.mark.parametrize(("fields", "words"), [case[1:] for case in TYPES], ids=[case[0] for case in TYPES])
def test_a_query_refuses_wrong_types_and_names_the_field(fields: dict[str, Any], words: list[str]) -> None:
    text = refusal(RefusedTypeError, **fields)
    assert [word for word in words if word not in text] == []
    assert "\n" not in text


@pytest.mark.parametrize(
    "fields", [case[1] for case in VALUES + TYPES if "resolver_strategy" not in case[1]], ids=str
)
def test_a_refusal_has_the_same_message_under_every_strategy(fields: dict[str, Any]) -> None:
    texts = set[str]()
    for strategy in (None, *KnowledgeResolverStrategy, "merged"):
        with pytest.raises(OkfCatalogError) as raised:
            make_query(resolver_strategy=strategy, **fields)
        texts.add(f"{type(raised.value)} {raised.value}")
    assert len(texts) == 1


def test_a_refusal_shows_no_chained_exception() -> None:
    for fields in ({"resolver_strategy": "best"}, {"scoring": "best"}, {"unit": "best"}, {"text": "\ud800"}):
        with pytest.raises(RefusedValueError) as raised:
            make_query(**fields)
        assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_a_query_takes_all_but_text_and_tag_by_keyword() -> None:
    make: Any = KnowledgeQuery
    assert make("word", "tag") == KnowledgeQuery(text="word", tag="tag")
    with pytest.raises(TypeError):
        make("word", "tag", StalePolicy.USE)
    with pytest.raises(TypeError):
        make("word", quota=1)
    with pytest.raises(TypeError):
        make()


def test_a_query_leaves_unset_fields_to_the_host() -> None:
    query = KnowledgeQuery("word")
    assert query.tag is None
    assert query.stale_policy == StalePolicy.USE
    assert query.resolver_strategy is None
    assert query.fairness_quota is None
    assert query.scope is KnowledgeAccessScope.LOCAL
    assert query.permitted_source_ids is None
    assert query.source_visibility_policy is None
    assert query.scoring is None
    assert query.unit is KnowledgeUnit.CONCEPT


@pytest.mark.parametrize("text", ["\x1c", "\x1f", "\u200b", "\ufeff", "\0", "'", "\U0010ffff", "a\nb"])
def test_any_text_that_is_not_blank_is_a_question(text: str) -> None:
    assert KnowledgeQuery(text).text == text
    assert KnowledgeQuery(f" {text}\n").text == f" {text}\n"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_query_refuses_exactly_the_white_space_of_the_contract(text: str) -> None:
    if naive.trim(text):
        assert KnowledgeQuery(text).text == text
    else:
        assert "text" in refusal(RefusedValueError, text=text)


@pytest.mark.parametrize("tag", ["", " ", "\u3000", "a b", "\0"])
def test_a_tag_can_be_any_text(tag: str) -> None:
    assert KnowledgeQuery("word", tag).tag == tag


@pytest.mark.parametrize("strategy", KnowledgeResolverStrategy)
def test_a_query_takes_a_strategy_by_its_value(strategy: KnowledgeResolverStrategy) -> None:
    query = KnowledgeQuery("word", resolver_strategy=strategy.value)
    assert query.resolver_strategy is strategy
    assert query == KnowledgeQuery("word", resolver_strategy=strategy)


@pytest.mark.parametrize("scoring", KnowledgeScoring)
def test_a_query_takes_a_scoring_by_its_value(scoring: KnowledgeScoring) -> None:
    query = KnowledgeQuery("word", scoring=scoring.value)
    assert query.scoring is scoring
    assert query == KnowledgeQuery("word", scoring=scoring) != KnowledgeQuery("word")


@pytest.mark.parametrize("unit", KnowledgeUnit)
def test_a_query_takes_a_unit_by_its_value(unit: KnowledgeUnit) -> None:
    query = KnowledgeQuery("word", unit=unit.value)
    assert query.unit is unit
    assert query == KnowledgeQuery("word", unit=unit)


@pytest.mark.parametrize(
    "ids",
    [
        ["a", "b"],
        ("b", "a", "b"),
        {"a", "b"},
        frozenset({"a", "b"}),
        {"a": 1, "b": 2},
        {"a": 1, "b": 2}.keys(),
        iter("ab"),
        (letter for letter in "ab"),
        map(str, "ab"),
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_a_query_takes_permitted_ids_from_any_collection(ids: Any) -> None:
    query = KnowledgeQuery("word", permitted_source_ids=ids)
    assert type(query.permitted_source_ids) is frozenset
    assert query == KnowledgeQuery("word", permitted_source_ids=["a", "b"])


def test_a_query_copies_the_permitted_ids() -> None:
    ids = {"a"}
    query = KnowledgeQuery("word", permitted_source_ids=ids)
    ids.add("b")
    assert query == KnowledgeQuery("word", permitted_source_ids=["a"])


def test_an_empty_set_of_permitted_ids_differs_from_none() -> None:
    assert KnowledgeQuery("word", permitted_source_ids=[]).permitted_source_ids == frozenset()
    assert KnowledgeQuery("word", permitted_source_ids=[]) != KnowledgeQuery("word")


def test_an_error_of_the_collection_of_permitted_ids_passes_unchanged() -> None:
    error = KeyError("mine")

    def ids() -> Iterator[str]:
        yield "a"
        raise error

    with pytest.raises(KeyError) as raised:
        KnowledgeQuery("word", permitted_source_ids=ids())
    assert raised.value is error


def test_any_callable_is_a_policy() -> None:
    class Policy:
        def __call__(self, scope: object, source: object) -> bool:
            return True

    policies: list[SourceVisibilityPolicy] = [yes, Policy(), lambda scope, source: True, Policy().__call__]
    for policy in policies:
        assert KnowledgeQuery("word", source_visibility_policy=policy).source_visibility_policy is policy


def test_a_quota_can_be_large() -> None:
    assert KnowledgeQuery("word", fairness_quota=10**30).fairness_quota == 10**30


@pytest.mark.parametrize("days", [-1, -(10**30)])
def test_a_grace_period_must_not_be_negative(days: int) -> None:
    for make in (StalePolicy, StalePolicy.tolerate):
        with pytest.raises(RefusedValueError, match="grace_days"):
            make(days)


@pytest.mark.parametrize("days", [True, 1.0, "1", b"1"])
def test_a_grace_period_must_be_a_whole_number(days: Any) -> None:
    for make in (StalePolicy, StalePolicy.tolerate):
        with pytest.raises(RefusedTypeError, match=r"grace_days.*int"):
            make(days)


def test_tolerate_needs_a_number() -> None:
    tolerate: Any = StalePolicy.tolerate
    with pytest.raises(RefusedTypeError, match="grace_days"):
        tolerate(None)


# Scopes

FIELDS = ("tenant_id", "user_id", "session_id")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("id", ["a", "_", "0", "A.b-c_9", "_LOCAL", "_local_", "a" * 300])
def test_a_scope_id_is_one_segment(field: str, id: str) -> None:
    scope = KnowledgeAccessScope(**{field: id})
    assert getattr(scope, field) == id
    assert not scope.is_local


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "id", ["", " ", "a b", "a/b", "..", ".a", "-a", "a\n", "\na", "é", "a\u0661", "a\0", "\ud800", "*"]
)
def test_a_scope_refuses_ids_that_are_no_segment(field: str, id: str) -> None:
    with pytest.raises(RefusedValueError) as raised:
        KnowledgeAccessScope(**{field: id})
    assert field in str(raised.value)
    assert repr(id) in str(raised.value)


@pytest.mark.parametrize("field", FIELDS)
def test_a_scope_refuses_the_reserved_id(field: str) -> None:
    with pytest.raises(RefusedValueError, match=f"{field}.*'_local'.*None"):
        KnowledgeAccessScope(**{field: "_local"})


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("id", [1, b"a", True, ["a"]])
def test_a_scope_id_must_be_text(field: str, id: Any) -> None:
    with pytest.raises(RefusedTypeError, match=f"{field}.*str.*{type(id).__name__}"):
        KnowledgeAccessScope(**{field: id})


def test_a_scope_without_ids_is_local() -> None:
    assert KnowledgeAccessScope.LOCAL.is_local
    assert KnowledgeAccessScope(None, None, None).is_local


@given(st.text(string.printable, max_size=4))
def test_a_scope_accepts_exactly_the_segments_of_the_contract(id: str) -> None:
    letters = string.ascii_letters + string.digits + "_"
    is_segment = id[:1] in letters and id != "" and all(letter in letters + ".-" for letter in id)
    try:
        KnowledgeAccessScope(id)
    except RefusedValueError:
        assert not is_segment
    else:
        assert is_segment
