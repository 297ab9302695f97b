"""Entries of memories (Y4), and the directories of scopes (Y1)."""

from __future__ import annotations

import itertools
from collections import ChainMap
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.memory import FRONT, SESSION, TENANT, USER
from okf_catalog import (
    KnowledgeAccessScope,
    MemoryEntry,
    MemoryTier,
    RefusedTypeError,
    RefusedValueError,
    memory_path,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


scopes = st.builds(
    KnowledgeAccessScope,
    *[st.none() | st.sampled_from(["ann", "Ann", "ANN", "anna", "an", "_", "local"])] * 3,
)


def entry(**changes: Any) -> MemoryEntry:
    fields: dict[str, Any] = {
        "concept_name": "monday",
        "frontmatter_if_creating": FRONT,
        "section_markdown": "said",
    }
    return MemoryEntry(**{**fields, **changes})


# Directories


@pytest.mark.parametrize(
    ("tier", "scope", "path"),
    [
        (
            USER,
            KnowledgeAccessScope("acme", "alice"),
            "memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af",
        ),
        (USER, KnowledgeAccessScope.LOCAL, "memory-user/_local/_local"),
        (TENANT, KnowledgeAccessScope.LOCAL, "memory-tenant/_local"),
        (SESSION, KnowledgeAccessScope.LOCAL, "memory-session/_local/_local/_local"),
        (TENANT, KnowledgeAccessScope("acme", "alice", "1"), "memory-tenant/acme-822b33ad87c148a0"),
        (USER, KnowledgeAccessScope(user_id="alice"), "memory-user/_local/alice-2bd806c97f0e00af"),
    ],
)
def test_a_scope_has_one_directory(tier: MemoryTier, scope: KnowledgeAccessScope, path: str) -> None:
    assert memory_path(tier, scope) == path


def test_ids_are_lower_cased_and_told_apart_by_their_hash() -> None:
    for name in ("Alice", "ALICE", "alice"):
        digits = sha256(name.encode()).hexdigest()[:16]
        assert memory_path(TENANT, KnowledgeAccessScope(name)) == f"memory-tenant/alice-{digits}"


@given(one=scopes, other=scopes)
def test_scopes_share_a_directory_only_if_their_ids_of_the_tier_are_equal(
    one: KnowledgeAccessScope, other: KnowledgeAccessScope
) -> None:
    def ids(scope: KnowledgeAccessScope) -> tuple[str | None, ...]:
        return (scope.tenant_id, scope.user_id, scope.session_id)

    for tier, count in ((TENANT, 1), (USER, 2), (SESSION, 3)):
        # Also on a file system that ignores case.
        same = memory_path(tier, one).casefold() == memory_path(tier, other).casefold()
        assert same == (ids(one)[:count] == ids(other)[:count])


@given(one=scopes, other=scopes)
def test_no_directory_of_a_scope_is_inside_another(
    one: KnowledgeAccessScope, other: KnowledgeAccessScope
) -> None:
    for tier, beside in itertools.product(MemoryTier, repeat=2):
        assert not memory_path(tier, one).startswith(memory_path(beside, other) + "/")


def test_memory_path_takes_a_tier_and_a_scope() -> None:
    wrong: Any = "user"
    with pytest.raises(RefusedTypeError, match=r"^tier is a MemoryTier, not str$"):
        memory_path(wrong, KnowledgeAccessScope.LOCAL)
    with pytest.raises(RefusedTypeError, match=r"^scope is a KnowledgeAccessScope, not str$"):
        memory_path(USER, wrong)


# Entries


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it is empty or only white space"),
        (" \u3000", "it is empty or only white space"),
        ("index", "that name is reserved"),
        ("log", "that name is reserved"),
        (".hidden", "start with a dot"),
        ("..", "start with a dot"),
        ("a/b", "it holds a '/'"),
        ("/etc/passwd", "it holds a '/'"),
        ("a\0b", "it holds a control character"),
        ("a\nb", "it holds a control character"),
        ("a\x9bb", "it holds a control character"),
        ("é" * 127, "it has more than 252 bytes"),
    ],
)
def test_a_concept_name_that_could_not_be_found_again_is_refused(name: str, reason: str) -> None:
    with pytest.raises(RefusedValueError, match=r"^concept_name is one segment") as raised:
        entry(concept_name=name)
    assert reason in str(raised.value)


def test_half_a_surrogate_pair_is_refused_in_every_field() -> None:
    for changes in (
        {"concept_name": "\ud800"},
        {"section_markdown": "a\udfff"},
        {"frontmatter_if_creating": {**FRONT, "title": "\ud800"}},
        {"frontmatter_if_creating": {**FRONT, "\ud800": "a"}},
    ):
        with pytest.raises(RefusedValueError, match="lone surrogate"):
            entry(**changes)


@pytest.mark.parametrize("name", ["a", "2026-11-30", "a.md", "Index", "a b", "数字", "é" * 126, "-", "~"])
def test_other_concept_names_are_accepted(name: str) -> None:
    assert entry(concept_name=name).concept_name == name


@pytest.mark.parametrize("key", ["type", "title", "description"])
def test_type_title_and_description_must_not_be_blank(key: str) -> None:
    with pytest.raises(RefusedValueError, match=f"^frontmatter_if_creating says .*; '{key}' is missing$"):
        entry(frontmatter_if_creating={other: FRONT[other] for other in FRONT if other != key})
    for blank in ("", " \n\u3000"):
        with pytest.raises(RefusedValueError, match=rf"\['{key}'\] is empty or only white space"):
            entry(frontmatter_if_creating={**FRONT, key: blank})


def test_other_frontmatter_keys_take_any_text() -> None:
    front = {**FRONT, "tags": "", "a key\nof: two lines": "\0"}
    assert entry(frontmatter_if_creating=front).frontmatter_if_creating == front
    for key in ("", " ", "a" * 129):
        with pytest.raises(RefusedValueError, match=r"^each key of frontmatter_if_creating has 1 to 128"):
            entry(frontmatter_if_creating={**FRONT, key: "a"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"concept_name": 1}, "concept_name is a str, not int"),
        ({"section_markdown": b"a"}, "section_markdown is a str, not bytes"),
        ({"frontmatter_if_creating": "a"}, "frontmatter_if_creating is a mapping of str to str, not str"),
        (
            {"frontmatter_if_creating": {1: "a"}},
            "each key of frontmatter_if_creating is a str, not int",
        ),
        ({"frontmatter_if_creating": {**FRONT, "a": 1}}, "frontmatter_if_creating['a'] is a str, not int"),
    ],
)
def test_an_entry_refuses_fields_of_the_wrong_type(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RefusedTypeError) as raised:
        entry(**changes)
    assert str(raised.value) == message


def test_an_entry_copies_its_frontmatter() -> None:
    front = dict(FRONT)
    made = entry(frontmatter_if_creating=front)
    front["title"] = "Tuesday"
    assert made == entry()
    assert list(made.frontmatter_if_creating) == ["type", "title", "description"]
    written: Any = made.frontmatter_if_creating
    with pytest.raises(TypeError):
        written["title"] = "Tuesday"


def test_an_entry_accepts_any_mapping() -> None:
    others: list[Mapping[str, str]] = [MappingProxyType(FRONT), ChainMap(dict[str, str](), FRONT)]
    for other in others:
        made = entry(frontmatter_if_creating=other)
        assert made == entry()
        assert hash(made) == hash(entry())


def test_a_frontmatter_value_can_be_a_mapping_of_texts() -> None:
    generated = {"by": "me", "at": "2026-11-30"}
    front: dict[str, Any] = {**FRONT, "generated": generated}
    made = entry(frontmatter_if_creating=front)
    assert made.frontmatter_if_creating == front
    assert front == made.frontmatter_if_creating
    generated["by"] = "somebody else"
    nested: Any = made.frontmatter_if_creating["generated"]
    assert dict(nested) == {"by": "me", "at": "2026-11-30"}
    with pytest.raises(TypeError):
        nested["by"] = "somebody else"
    again = entry(frontmatter_if_creating=made.frontmatter_if_creating)
    assert (again, hash(again)) == (made, hash(made))
    assert made != entry(frontmatter_if_creating=front)
    assert made != entry()
    assert entry(frontmatter_if_creating={**FRONT, "a": {}}).frontmatter_if_creating["a"] == {}


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ({**FRONT, "title": {"a": "b"}}, "frontmatter_if_creating['title'] is a str, not dict"),
        ({**FRONT, "a": {"b": 1}}, "frontmatter_if_creating['a']['b'] is a str, not int"),
        ({**FRONT, "a": {"b": {"c": "d"}}}, "frontmatter_if_creating['a']['b'] is a str, not dict"),
        ({**FRONT, "a": {1: "b"}}, "each key of frontmatter_if_creating['a'] is a str, not int"),
        ({**FRONT, "a": {"": "b"}}, "each key of frontmatter_if_creating['a'] has 1 to 128 characters"),
        ({**FRONT, "a": {"b": "\ud800"}}, "frontmatter_if_creating['a']['b'] holds a lone surrogate"),
        ({**FRONT, "a": ["b"]}, "frontmatter_if_creating['a'] is a str, not list"),
        ({**FRONT, "a": None}, "frontmatter_if_creating['a'] is a str, not NoneType"),
    ],
)
def test_other_frontmatter_values_are_refused(front: dict[str, Any], message: str) -> None:
    with pytest.raises((RefusedTypeError, RefusedValueError)) as raised:
        entry(frontmatter_if_creating=front)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("text", ["a\0b", "\0", "a\n\0"])
def test_a_section_with_a_nul_is_refused(text: str) -> None:
    with pytest.raises(
        RefusedValueError, match=r"^section_markdown holds a NUL at index [0-9]; a file that holds"
    ):
        entry(section_markdown=text)
