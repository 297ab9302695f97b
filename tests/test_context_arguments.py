"""What a provider refuses when it is made, and when it is asked (X1, X2)."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.memory import USER_ALICE
from making.providing import Resolver, Store, Way, user
from okf_catalog import (
    ChatMessage,
    KnowledgeContextProvider,
    KnowledgeQuery,
    MemoryCaptureMode,
    OkfCatalogError,
)

# Arguments


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token_budget": 1.5}, "token_budget is an int, not float"),
        ({"token_budget": True}, "token_budget is an int, not bool"),
        ({"token_budget": None}, "token_budget is an int, not NoneType"),
        ({"knowledge_budget_share": "0.5"}, "knowledge_budget_share is a number from 0 to 1, not str"),
        ({"knowledge_budget_share": True}, "knowledge_budget_share is a number from 0 to 1, not bool"),
        ({"memory_budget_share": Decimal("0.4")}, "memory_budget_share is a number from 0 to 1, not Decimal"),
        ({"memory_budget_share": None}, "memory_budget_share is a number from 0 to 1, not NoneType"),
        ({"memory_capture": True}, "memory_capture is a MemoryCaptureMode, not bool"),
        ({"memory_capture": "enabled"}, "memory_capture is a MemoryCaptureMode, not str"),
        ({"capture_tier": "user"}, "capture_tier is a MemoryTier, not str"),
        (
            {"scope_accessor": USER_ALICE},
            "scope_accessor is called without arguments; KnowledgeAccessScope is not",
        ),
        ({"count_tokens": 4}, "count_tokens is called with a text; int is not callable"),
        ({"on_internal_error": []}, "on_internal_error is called with an exception; list is not callable"),
        ({"rewrite_query": "refunds"}, "rewrite_query is called with the messages; str is not callable"),
        ({"scoring": 1}, "scoring is a KnowledgeScoring, not int"),
        ({"clock": 0}, "clock is called without arguments; int is not callable"),
        ({"memory_store": "store"}, "memory_store is a MemoryStore or None, not str"),
        ({"resolver": None}, "resolver is a KnowledgeResolver, not NoneType"),
        ({"resolver": "catalog.json"}, "resolver is a KnowledgeResolver, not str"),
        ({"stale_policy": "use"}, "stale_policy"),
        ({"resolver_strategy": 1}, "resolver_strategy is a KnowledgeResolverStrategy, not int"),
        ({"fairness_quota": 1.0}, "fairness_quota is an int of at least 1, not float"),
    ],
)
def test_a_provider_refuses_arguments_of_the_wrong_type(options: dict[str, Any], message: str) -> None:
    options.setdefault("resolver", Resolver())
    with pytest.raises(TypeError, match=message) as raised:
        KnowledgeContextProvider(**options)
    assert isinstance(raised.value, OkfCatalogError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"knowledge_budget_share": -0.1}, r"knowledge_budget_share is a number from 0 to 1, not -0\.1"),
        ({"memory_budget_share": -1}, "memory_budget_share is a number from 0 to 1, not -1"),
        ({"knowledge_budget_share": float("nan")}, "knowledge_budget_share is a number from 0 to 1, not nan"),
        ({"memory_budget_share": float("inf")}, "memory_budget_share is a number from 0 to 1, not inf"),
        ({"knowledge_budget_share": 0.61}, r"are at most 1 together, not 1\.01"),
        ({"knowledge_budget_share": 1, "memory_budget_share": 1}, "are at most 1 together, not 2"),
        ({"resolver_strategy": "best"}, "resolver_strategy is one of 'grouped_by_source', 'merged'"),
        ({"scoring": "bm25"}, "scoring is one of 'weighted_terms', 'bm25f', not 'bm25'"),
        ({"fairness_quota": 0}, "fairness_quota is at least 1, not 0"),
    ],
)
def test_a_provider_refuses_invalid_values(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        KnowledgeContextProvider(Resolver(), **options)
    assert isinstance(raised.value, OkfCatalogError)


@pytest.mark.parametrize("field", ["stale_policy", "resolver_strategy", "fairness_quota", "scoring"])
@pytest.mark.parametrize("value", ["wrong", -1, [], 0.5])
def test_a_provider_refuses_what_a_query_refuses_with_the_same_message(field: str, value: Any) -> None:
    options: dict[str, Any] = {field: value}
    with pytest.raises((TypeError, ValueError)) as expected:
        KnowledgeQuery("word", **options)
    with pytest.raises(type(expected.value)) as raised:
        KnowledgeContextProvider(Resolver(), **options)
    assert str(raised.value) == str(expected.value)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_shares_that_add_up_to_one_in_decimals_are_accepted(part: int, whole: int) -> None:
    if part > whole:
        part, whole = whole, part
    share, rest = part / whole, (whole - part) / whole
    KnowledgeContextProvider(Resolver(), knowledge_budget_share=share, memory_budget_share=rest)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ("word", "messages is an iterable of ChatMessage, not one str"),
        (user("word"), "messages is an iterable of ChatMessage, not one ChatMessage"),
        (None, "messages is an iterable of ChatMessage, not one NoneType"),
        ([user("word"), "word"], r"messages\[1\] is a ChatMessage, not str"),
        ([{"role": "user", "content": "word"}], r"messages\[0\] is a ChatMessage, not dict"),
    ],
)
def test_a_provider_refuses_anything_but_messages(provide: Way, messages: Any, message: str) -> None:
    provider = KnowledgeContextProvider(Resolver(), Store(), memory_capture=MemoryCaptureMode.ENABLED)
    with pytest.raises(TypeError, match=message):
        provide(provider, messages)
    with pytest.raises(TypeError, match=f"request_{message}"):
        provider.store(messages, [])
    with pytest.raises(TypeError, match=f"response_{message}"):
        asyncio.run(provider.store_async([], messages))


def test_a_message_has_a_role_and_a_text_or_none() -> None:
    for role, text in ((1, "x"), (None, "x"), ("user", 1), ("user", b"x")):
        wrong: Any = role, text
        with pytest.raises(TypeError, match="is a str"):
            ChatMessage(*wrong)
