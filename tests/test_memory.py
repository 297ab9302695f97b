"""What is written is found again by its scope, where the catalog says now, apart from the rest (Y2 to Y8)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from making.asking import RESOLVERS
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.memory import (
    ALICE,
    BOB,
    LOCAL,
    MARK,
    ROOTS,
    SESSION,
    TENANT,
    USER,
    entry,
    gone,
    memory_sources,
    open_memories,
    place,
    put,
    reads,
    wrote,
)
from making.processes import in_child
from okf_catalog import (
    CatalogClosedError,
    FileKnowledgeCatalog,
    FileMemoryStore,
    Freshness,
    KnowledgeAccessScope,
    KnowledgeDiagnostic,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    MemoryConcept,
    MemoryDeleteResult,
    MemoryEntry,
    MemoryOverlapError,
    MemoryReadResult,
    MemoryStore,
    MemoryTier,
    MemoryWriteResult,
    RefusedTypeError,
    RefusedValueError,
    StalePolicy,
    memory_path,
    open_knowledge,
)


def names(directory: Path) -> list[str]:
    """What is in a directory besides a mark."""
    return [path.name for path in directory.iterdir() if path.name != MARK]


# How it is written: Y4


def test_a_store_is_one(store: FileMemoryStore) -> None:
    checked_by_types: MemoryStore = store
    assert isinstance(checked_by_types, MemoryStore)
    assert repr(store).startswith("<FileMemoryStore of <FileKnowledgeCatalog ")


def test_a_concept_is_created_with_its_frontmatter(store: FileMemoryStore, tmp_path: Path) -> None:
    result = store.write(ALICE, entry("## Said\n\n- a word", tags="a, b"), USER)
    assert result == MemoryWriteResult(written=True, error=None)
    written = place(tmp_path, USER, ALICE) / "monday.md"
    assert written.read_text("utf-8") == (
        '---\ntype: "AgentMemory"\ntitle: "Monday"\ndescription: "What was said"\ntags: "a, b"\n---\n'
        "\n## Said\n\n- a word"
    )
    (passage,) = store.read(ALICE, KnowledgeQuery("word", "b")).passages
    assert passage.concept_type == "AgentMemory"
    assert (passage.title, passage.description) == ("Monday", "What was said")
    assert passage.bundle_relative_path == f"{memory_path(USER, ALICE)}/monday.md"
    assert passage.concept_id == f"{memory_path(USER, ALICE)}/monday"


def test_what_is_new_is_for_its_account_alone(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    below = (tmp_path / ROOTS[USER]).rglob("*")
    assert {path.stat().st_mode & 0o777 for path in below} == {0o700, 0o600}


def test_a_section_is_appended_after_a_blank_line(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "one\n\n\n", "two", "\nthree\n")
    assert store.write(ALICE, entry("four", title="Another", description="x"), USER).written
    text = (place(tmp_path, USER, ALICE) / "monday.md").read_text("utf-8")
    assert text.endswith("---\n\none\n\ntwo\n\n\nthree\n\nfour")
    assert text.count("title") == 1
    assert store.text(ALICE, f"{memory_path(USER, ALICE)}/monday") == "one\n\ntwo\n\n\nthree\n\nfour"


def test_what_somebody_edited_is_kept_as_it_is(store: FileMemoryStore, tmp_path: Path) -> None:
    front = "---\n# mine\ntype: Note\ntitle: Mine\nverified: {by: human:ada}\n---\n\n"
    written = put(tmp_path, USER, f"{front}old\r\nlines\n\n")
    written.chmod(0o640)
    wrote(store, ALICE, USER, "new")
    assert written.read_bytes() == f"{front}old\r\nlines\n\nnew".encode()
    assert written.stat().st_mode & 0o777 == 0o640
    assert [passage.title for passage in store.read(ALICE, "new").passages] == ["Mine"]


def test_a_concept_stays_with_its_owner(store: FileMemoryStore, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only some may give files away")
    written = put(tmp_path, USER, "old")
    os.chown(written, 65534, 65533)
    wrote(store, ALICE, USER, "new")
    assert (written.stat().st_uid, written.stat().st_gid) == (65534, 65533)


def test_a_file_that_says_nothing_is_created_anew(store: FileMemoryStore, tmp_path: Path) -> None:
    for nothing in ("", "\n\r\n", "\ufeff\n"):
        written = put(tmp_path, USER, nothing)
        wrote(store, ALICE, USER, "---\ntitle: not this\n---\na word")
        assert written.read_text("utf-8").startswith('---\ntype: "AgentMemory"\n')
        assert [passage.title for passage in store.read(ALICE, "word").passages] == ["Monday"]


@pytest.mark.parametrize(
    "section", ["---", "---\ntitle: x\n---\n", "\n---\n", "...", "", " ", "a\x01b", "\ufeff"]
)
def test_a_section_is_body_whatever_it_looks_like(store: FileMemoryStore, section: str) -> None:
    concept = f"{memory_path(USER, ALICE)}/monday"
    wrote(store, ALICE, USER, section)
    assert store.text(ALICE, concept) == section
    wrote(store, ALICE, USER, "last")
    assert [concept.title for concept in store.enumerate(ALICE)] == ["Monday"]
    body = section.rstrip("\n")
    assert store.text(ALICE, concept) == (f"{body}\n\nlast" if body else "last")


SLIPS = {
    "not closed": b"---\ntitle: a\nold",
    "broken YAML": b"---\ntitle: [\n---\nold",
    "a colon in a title": b"---\ntype: Note\ntitle: ADR-1: Use X\n---\nold\n",
    "a key twice": b"---\ntitle: a\ntitle: b\n---\nold",
    "no mapping": b"---\nDear Alice\n---\nold",
    "TOML": b"+++\ntitle = 'a'\n+++\nold",
    "a blank line first": b"\n\n---\ntitle: a\n---\nold",
    "Latin-1": b"---\ntitle: caf\xe9\n---\ncaf\xe9 old\n\n",
    "a cut character": b"old \xe2\x82",
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbf---\ntitle: a\n---\nold",
    "old line ends": b"---\rtitle: a\r---\rold\r\r",
    "UTF-16, little": b"\xff\xfe" + "---\ntitle: a\n---\nold é\n\n".encode("utf-16-le"),
    "UTF-16, big": b"\xfe\xff" + "---\ntitle: a\n---\nold é\n\n".encode("utf-16-be"),
    "half a unit": b"\xff\xfea\0b",
    "a NUL": b"---\ntitle: a\n---\nold\0",
}


@pytest.mark.parametrize("section", ["new", "---\ntitle: new\n---\nnew"])
@pytest.mark.parametrize("slip", SLIPS)
def test_appending_keeps_every_byte_of_what_somebody_edited(
    store: FileMemoryStore, tmp_path: Path, slip: str, section: str
) -> None:
    """Whatever slipped: either the section is added at the end, or nothing is done and the reason is told."""
    content = SLIPS[slip]
    written = put(tmp_path, USER, content)
    concept = f"{memory_path(USER, ALICE)}/monday"
    before, title = store.text(ALICE, concept), [one.title for one in store.enumerate(ALICE)]
    result = store.write(ALICE, entry(section), USER)
    assert names(written.parent) == ["monday.md"]
    if not result.written:
        assert '/monday.md" cannot be appended to' in (result.error or "")
        assert written.read_bytes() == content
        return
    assert before is not None
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(content[:2], "utf-8")
    added = written.read_bytes()[-len(f"\n\n{section}".encode(encoding)) :]
    assert added.decode(encoding) == f"\n\n{section}"
    kept = written.read_bytes()[: -len(added)]
    assert content.startswith(kept)
    assert content[len(kept) :].replace(b"\0", b"").strip(b"\r\n") == b""
    body = before.rstrip("\r\n")
    assert store.text(ALICE, concept) == f"{body}\n\n{section}"
    assert [one.title for one in store.enumerate(ALICE)] == title


def test_a_nul_is_refused_because_no_file_that_holds_one_is_read(store: FileMemoryStore) -> None:
    with pytest.raises(RefusedValueError, match="section_markdown holds a NUL at index 1"):
        entry("a\0b")
    assert store.write(ALICE, entry(other="a\0b"), USER).written


def test_a_concept_never_outgrows_what_is_read(tmp_path: Path) -> None:
    with open_memories(tmp_path, max_file_bytes=300) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word", "x" * 150)
        for name, section in (("monday", "y" * 100), ("new", "y" * 300)):
            result = store.write(ALICE, entry(section, name), USER)
            assert not result.written
            assert f'/{name}.md" would have more than 300 bytes' in (result.error or "")
        assert reads(store, ALICE) == [("memory:user", "a word")]
        put(tmp_path, USER, "z" * 301)
        error = store.write(ALICE, entry(), USER).error
        assert error is not None
        assert "has more than 300 bytes, and is not read" in error


def test_frontmatter_that_would_not_be_read_is_not_written(store: FileMemoryStore, tmp_path: Path) -> None:
    result = store.write(ALICE, entry("a word", other="x" * (1 << 20)), USER)
    assert not result.written
    assert "the frontmatter is too long" in (result.error or "")
    assert names(place(tmp_path, USER, ALICE)) == []


anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text(
    st.sampled_from("a'\"\\:#-{}[]&*!|>%@` \t\n\r\x00\x07\x85\u2028\u2029\ufeff\U00010400"), max_size=12
)


@given(title=anything, description=anything, key=anything, section=anything)
@example(title="---", description="...", key="---", section="---")
def test_what_is_written_reads_back_as_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, title: str, description: str, key: str, section: str
) -> None:
    directory = tmp_path_factory.mktemp("memories")
    front: dict[str, Any] = {"type": f"t{title}", "title": f"t{title}", "description": f"d{description}"}
    front.setdefault(f"k{key}", description)
    front["generated"] = {f"k{key}": description, "by": title}
    section = section.replace("\0", "")
    with open_memories(directory) as catalog:
        store = FileMemoryStore(catalog)
        assert store.write(LOCAL, MemoryEntry("it", front, f"w {section}"), USER).written
        (passage,) = store.read(LOCAL, "w").passages
        assert (passage.concept_type, passage.title) == (front["type"], front["title"])
        assert passage.description == front["description"]
        concept = f"{memory_path(USER, LOCAL)}/it"
        assert store.text(LOCAL, concept) == f"w {section}".replace("\r\n", "\n").replace("\r", "\n")
    # Another reader of YAML finds the same, in a mapping too.
    text = (place(directory, USER, LOCAL) / "it.md").read_bytes().decode()
    assert yaml.safe_load(text.split("---\n", 2)[1]) == front


@pytest.mark.parametrize("name", ["a b", "数字", "é" * 126, "x.md", "Index", "-", "CON", "a\\b", "~", "*"])
def test_every_name_is_found_again(store: FileMemoryStore, name: str) -> None:
    assert store.write(ALICE, entry("one", name), USER) == MemoryWriteResult(written=True, error=None)
    assert store.write(ALICE, entry("two", name), USER).written
    concept = f"{memory_path(USER, ALICE)}/{name}"
    assert store.enumerate(ALICE) == (MemoryConcept(USER, concept, "Monday"),)
    assert store.text(ALICE, concept) == "one\n\ntwo"


# Which tiers: Y2


@pytest.mark.parametrize(
    ("scope", "tiers"),
    [
        (LOCAL, [SESSION, USER, TENANT]),
        (ALICE, [SESSION, USER, TENANT]),
        (KnowledgeAccessScope("acme"), [TENANT]),
        (KnowledgeAccessScope("acme", "alice"), [USER, TENANT]),
        (KnowledgeAccessScope(user_id="alice"), [USER]),
        (KnowledgeAccessScope(session_id="1"), [SESSION]),
        (KnowledgeAccessScope("acme", session_id="1"), [SESSION, TENANT]),
    ],
)
def test_a_tier_applies_to_scopes_that_carry_its_id(
    store: FileMemoryStore, tmp_path: Path, scope: KnowledgeAccessScope, tiers: list[MemoryTier]
) -> None:
    for tier in MemoryTier:
        result = store.write(scope, entry(f"word {tier.value}"), tier)
        assert result.written == (tier in tiers)
        if tier not in tiers:
            assert result.error is not None
            assert f"{tier.value!r} does not apply" in result.error
            assert store.delete_scope(scope, tier) == MemoryDeleteResult(0, result.error)
            # Not even by accident is anything of nobody's touched.
            assert names(tmp_path / ROOTS[tier]) == []
    assert reads(store, scope) == [(f"memory:{tier.value}", f"word {tier.value}") for tier in tiers]
    assert [concept.tier for concept in store.enumerate(scope)] == tiers
    assert store.delete_scope(scope) == gone(len(tiers), len(tiers))
    assert store.delete_scope(scope) == MemoryDeleteResult(0, None)
    assert store.enumerate(scope) == ()


def test_what_does_not_apply_is_never_read_or_deleted(store: FileMemoryStore) -> None:
    for tier in MemoryTier:
        wrote(store, LOCAL, tier, "a word")
    acme = KnowledgeAccessScope("acme")
    assert reads(store, acme) == []
    assert store.enumerate(acme) == ()
    assert store.delete_scope(acme) == MemoryDeleteResult(0, None)
    assert len(reads(store, LOCAL)) == 3


# How it is found: Y3


def test_tiers_come_in_order_each_ranked_by_itself(store: FileMemoryStore) -> None:
    for tier in (TENANT, SESSION, USER):
        for name, title, section in (("b-c", "word", ""), ("a", "x", "a word")):
            assert store.write(ALICE, entry(section, name, title=title), tier).written
    assert [
        (passage.source_id, passage.concept_id.rpartition("/")[2], passage.score)
        for passage in store.read(ALICE, "word").passages
    ] == [
        (f"memory:{tier}", name, score)
        for tier in ("session", "user", "tenant")
        for name, score in (("b-c", 3), ("a", 1))
    ]


def test_ids_are_those_of_enumerate_and_ties_go_part_by_part(store: FileMemoryStore, tmp_path: Path) -> None:
    for name in ("a-b.md", "a/b.md", "a.md", "index.md", ".hidden.md", "notes.txt"):
        put(tmp_path, USER, "word", name)
    below = memory_path(USER, ALICE)
    found = [passage.concept_id for passage in store.read(ALICE, "word").passages]
    assert found == [f"{below}/a", f"{below}/a/b", f"{below}/a-b"]
    assert [concept.concept_id for concept in store.enumerate(ALICE)] == found
    assert {concept.title for concept in store.enumerate(ALICE)} == {None}


def test_nothing_remembered_is_nothing_to_be_told_of(store: FileMemoryStore, tmp_path: Path) -> None:
    empty = MemoryReadResult((), ())
    assert store.read(ALICE, "word") == empty
    wrote(store, ALICE, USER, "other")
    assert store.read(ALICE, "word") == empty
    assert names(tmp_path / ROOTS[TENANT]) == []
    long = KnowledgeAccessScope("x" * 300)
    assert store.read(long, "word") == empty
    assert store.enumerate(long) == ()
    assert store.delete_scope(long) == MemoryDeleteResult(0, None)
    error = store.write(long, entry(), TENANT).error
    assert error is not None
    assert "file name too long" in error


def test_the_text_tag_and_stale_policy_of_a_question_count(memories: FileKnowledgeCatalog) -> None:
    now = datetime(2026, 3, 1, tzinfo=timezone.utc)
    store = FileMemoryStore(memories, clock=lambda: now)
    assert store.write(ALICE, entry("a word", "old", stale_after="2026-02-28", tags="x"), USER).written
    assert store.write(ALICE, entry("a word", "new", stale_after="2026-03-02"), USER).written

    def found(query: KnowledgeQuery) -> list[str]:
        return [passage.concept_id.rpartition("/")[2] for passage in store.read(ALICE, query).passages]

    assert found(KnowledgeQuery("word")) == ["new", "old"]
    assert found(KnowledgeQuery("word", "X")) == ["old"]
    assert found(KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)) == ["new"]
    assert found(KnowledgeQuery("word", stale_policy=StalePolicy.tolerate(2))) == ["new", "old"]
    assert found(KnowledgeQuery("nothing")) == []


def test_the_scope_decides_and_nothing_else_of_the_question(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word of alice")
    wrote(store, BOB, USER, "a word of bob")

    def never(*arguments: object) -> bool:
        pytest.fail(f"called with {arguments}")

    for query in (
        KnowledgeQuery("word", scope=BOB),
        KnowledgeQuery("word", permitted_source_ids=()),
        KnowledgeQuery("word", source_visibility_policy=never),
        KnowledgeQuery("word", resolver_strategy="merged", fairness_quota=1),
    ):
        assert [passage.excerpt for passage in store.read(ALICE, query).passages] == ["a word of alice"]


def test_every_change_to_the_files_is_seen(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    assert reads(store, ALICE) == [("memory:user", "a word")]
    written = put(tmp_path, USER, "one word")
    assert reads(store, ALICE) == [("memory:user", "one word")]
    written.write_text("two word", encoding="utf-8")
    assert reads(store, ALICE) == [("memory:user", "two word")]
    written.unlink()
    assert reads(store, ALICE) == []
    put(tmp_path, USER, "deep word", "a/b/c.md")
    assert reads(store, ALICE) == [("memory:user", "deep word")]
    assert store.delete_scope(ALICE, USER) == gone(1, 1)
    assert reads(store, ALICE) == []
    wrote(store, ALICE, USER, "word again")
    assert reads(store, ALICE) == [("memory:user", "word again")]


def test_a_host_reads_what_it_wrote_whatever_the_freshness(tmp_path: Path) -> None:
    with open_memories(tmp_path, freshness=Freshness.manual()) as catalog:
        store = FileMemoryStore(catalog)
        for text in ("one word", "two word"):
            wrote(store, ALICE, USER, text)
            assert reads(store, ALICE, text.split()[0]) == [("memory:user", text)]


def test_one_bad_file_takes_nothing_along(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_memories(tmp_path, max_file_bytes=300) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word")
        put(tmp_path, USER, "word " * 100, "bad.md")
        for _ in range(2):
            assert [passage.excerpt for passage in store.read(ALICE, "word").passages] == ["a word"]
            assert len(store.enumerate(ALICE)) == 1
    # It is logged once, and told whenever anybody asks.
    assert [record.getMessage() for record in caplog.records] == [
        f"source 'memory:user': '{memory_path(USER, ALICE)}/bad.md' is left out: it has more than 300 bytes"
    ]


def test_thousands_of_scopes_are_remembered(store: FileMemoryStore, tmp_path: Path) -> None:
    """More than are kept in mind at a time."""
    scopes = [KnowledgeAccessScope("acme", f"user{n}") for n in range(1000)]
    for n, scope in enumerate(scopes):
        write_tree(place(tmp_path, USER, scope), {"it.md": f"word {n}"})
    for _ in range(2):
        for n, scope in enumerate(scopes):
            assert reads(store, scope) == [("memory:user", f"word {n}")]


def test_questions_are_refused_as_resolvers_do(
    memories: FileKnowledgeCatalog, store: FileMemoryStore
) -> None:
    resolver = RESOLVERS["router"](memories)
    for query in ("", " \u3000", "\ud800", None, 1, b"word", ["word"]):
        wrong: Any = query
        with pytest.raises((RefusedValueError, RefusedTypeError)) as expected:
            resolver.search(wrong)
        with pytest.raises(type(expected.value)) as raised:
            store.read(ALICE, wrong)
        assert str(raised.value) == str(expected.value)


def test_arguments_of_the_wrong_kind_are_refused(
    memories: FileKnowledgeCatalog, store: FileMemoryStore
) -> None:
    wrong: Any = "user"
    for act, message in (
        (lambda: store.read(wrong, "word"), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.enumerate(wrong), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.delete_scope(wrong), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.text(wrong, "a"), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.write(wrong, entry(), USER), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.write(ALICE, wrong, USER), "entry is a MemoryEntry, not str"),
        (lambda: store.write(ALICE, entry(), wrong), "tier is a MemoryTier, not str"),
        (lambda: store.delete_scope(ALICE, wrong), "tier is a MemoryTier or None, not str"),
        (lambda: FileMemoryStore(wrong), "catalog is a FileKnowledgeCatalog, not str"),
        (
            lambda: FileMemoryStore(memories, clock=wrong),
            "clock is called without arguments; str is not callable",
        ),
    ):
        with pytest.raises(RefusedTypeError) as raised:
            act()
        assert str(raised.value) == message


def test_text_is_shown_to_its_scope_alone(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word")
    (concept,) = store.enumerate(ALICE)
    assert store.text(ALICE, concept.concept_id) == "a word"
    assert store.text(BOB, concept.concept_id) is None
    for other in ("monday", "", f"{memory_path(USER, ALICE)}/../x", f"{memory_path(USER, ALICE)}/tuesday"):
        assert store.text(ALICE, other) is None
    with pytest.raises(RefusedValueError, match="concept_id holds a lone surrogate"):
        store.text(ALICE, "\ud800")


# Without holding up anybody


def test_the_async_twins_answer_alike(store: FileMemoryStore) -> None:
    async def act() -> None:
        assert await store.write_async(ALICE, entry(), USER) == MemoryWriteResult(written=True, error=None)
        assert await store.read_async(ALICE, "word") == store.read(ALICE, "word")
        assert await store.enumerate_async(ALICE) == store.enumerate(ALICE) != ()
        assert await store.delete_scope_async(ALICE, USER) == gone(1, 1)

    asyncio.run(act())


def test_a_closed_catalog_says_so(memories: FileKnowledgeCatalog, store: FileMemoryStore) -> None:
    memories.close()
    for act in (
        lambda: store.read(ALICE, "word"),
        lambda: store.write(ALICE, entry(), USER),
        lambda: store.delete_scope(ALICE),
        lambda: store.enumerate(ALICE),
        lambda: store.text(ALICE, "a"),
        lambda: FileMemoryStore(memories),
    ):
        with pytest.raises(CatalogClosedError, match="is closed; open it again"):
            act()


def test_a_forked_child_remembers(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word")
    assert reads(store, ALICE) == [("memory:user", "a word")]

    def act() -> object:
        wrote(store, ALICE, USER, "from the child")
        return store.delete_scope(BOB), reads(store, ALICE, "child")

    assert in_child(act) == (MemoryDeleteResult(0, None), [("memory:user", "from the child")])
    assert reads(store, ALICE, "child") == [("memory:user", "from the child")]


# The catalog, live: Y7


def test_tiers_come_and_go_with_the_manifest(
    memories: FileKnowledgeCatalog, store: FileMemoryStore, tmp_path: Path
) -> None:
    wrote(store, ALICE, USER, "a word")
    wrote(store, ALICE, TENANT, "a word")
    docs = {"id": "docs", "path": "docs"}
    write_manifest(tmp_path, [docs, *memory_sources([TENANT])])
    assert len(reads(store, ALICE)) == 2
    memories.reload()
    assert reads(store, ALICE) == [("memory:tenant", "a word")]
    assert store.write(ALICE, entry(), USER) == MemoryWriteResult(
        written=False, error="the catalog has no enabled memory source of the tier 'user'"
    )
    assert (
        store.delete_scope(ALICE, USER).error == "the catalog has no enabled memory source of the tier 'user'"
    )
    (tenant,) = memory_sources([TENANT])
    write_manifest(tmp_path, [docs, {**tenant, "enabled": False}, *memory_sources([USER])])
    memories.reload()
    assert [concept.tier for concept in store.enumerate(ALICE)] == [USER]
    write_manifest(tmp_path, [docs])
    memories.reload()
    assert store.read(ALICE, "word") == MemoryReadResult((), ())
    assert store.enumerate(ALICE) == ()
    assert store.delete_scope(ALICE) == MemoryDeleteResult(0, None)


def test_a_host_has_a_memory_while_its_catalog_has_one(tmp_path: Path) -> None:
    open_memories(tmp_path).close()
    manifest = write_manifest(tmp_path, [{"id": "docs", "path": "docs"}])
    later = datetime(2030, 1, 1, tzinfo=timezone.utc)
    with open_knowledge(manifest, watch_for_changes=False, clock=lambda: later) as knowledge:

        def has_memory() -> bool:
            return knowledge.memory is not None

        assert not has_memory()
        write_manifest(tmp_path, [{"id": "docs", "path": "docs"}, *memory_sources()])
        knowledge.catalog.reload()
        memory = knowledge.memory
        assert memory is not None
        assert memory is knowledge.memory
        assert memory.write(ALICE, entry(stale_after="2029-01-01"), USER).written
        assert memory.read(ALICE, KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)).passages == ()
        write_manifest(tmp_path, [{"id": "docs", "path": "docs"}])
        knowledge.catalog.reload()
        assert not has_memory()
        assert memory.read(ALICE, "word") == MemoryReadResult((), ())


# Apart from what others see: Y8


@pytest.mark.parametrize(
    ("docs", "memory"),
    [
        ("a/b", "a/b"),
        ("a/b", "a"),
        ("a", "a/b"),
        (".", "a"),
        ("a", "."),
        ("a/b", "A/B"),
        ("a/B/c", "A/b"),
        ("ä", "Ä/x"),
        ("a/../a", "./a/"),
    ],
)
def test_memories_that_would_be_published_are_refused(tmp_path: Path, docs: str, memory: str) -> None:
    sources = [
        {"id": "docs", "path": docs},
        {"id": "apart", "path": "apart"},
        {"id": "diary", "path": memory, "role": "memory", "tier": "user"},
    ]
    for source in sources:
        (tmp_path / source["path"]).mkdir(parents=True, exist_ok=True)
    manifest = write_manifest(tmp_path, sources)
    with open_knowledge(manifest, watch_for_changes=False) as knowledge:
        with pytest.raises(MemoryOverlapError) as raised:
            FileMemoryStore(knowledge.catalog)
        assert (raised.value.memory_source_id, raised.value.other_source_id) == ("diary", "docs")
        assert "'diary'" in str(raised.value)
        assert "'docs'" in str(raised.value)
        assert str(tmp_path) not in str(raised.value)
        with pytest.raises(MemoryOverlapError):
            _ = knowledge.memory


def test_memories_that_lie_apart_are_taken(tmp_path: Path) -> None:
    sources: list[dict[str, Any]] = [
        {"id": "docs", "path": "a/docs"},
        {"id": "off", "path": "a", "enabled": False},
        {"id": "user", "path": "a/docs2", "role": "memory", "tier": "user"},
        {"id": "tenant", "path": "a/docs2", "role": "memory", "tier": "tenant"},
        {"id": "session", "path": "a/docs2/session", "role": "memory", "tier": "session"},
    ]
    for source in sources:
        (tmp_path / source["path"]).mkdir(parents=True, exist_ok=True)
    with FileKnowledgeCatalog(write_manifest(tmp_path, sources), watch_for_changes=False) as catalog:
        store = FileMemoryStore(catalog)
        for tier in MemoryTier:
            wrote(store, ALICE, tier, f"word {tier.value}")
        assert [source for source, _ in reads(store, ALICE)] == [
            "memory:session",
            "memory:user",
            "memory:tenant",
        ]
        assert store.delete_scope(ALICE, TENANT) == gone(1, 1)
        assert len(reads(store, ALICE)) == 2


def test_no_memory_source_lies_among_the_scopes_of_another(tmp_path: Path) -> None:
    sources = [
        {"id": "tenants", "path": "a", "role": "memory", "tier": "tenant"},
        {"id": "users", "path": "a/Memory-Tenant/acme", "role": "memory", "tier": "user"},
    ]
    (tmp_path / "a" / "Memory-Tenant" / "acme").mkdir(parents=True)
    with FileKnowledgeCatalog(write_manifest(tmp_path, sources), watch_for_changes=False) as catalog:
        with pytest.raises(MemoryOverlapError) as raised:
            FileMemoryStore(catalog)
        assert raised.value.args == ("tenants", "users")


def test_the_real_location_is_what_counts(tmp_path: Path) -> None:
    """The same directory, mounted elsewhere, has no name in common."""
    for name in ("a/docs/below", "b"):
        (tmp_path / name).mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "--bind", tmp_path / "a/docs/below", tmp_path / "b"], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only some may mount")
    try:
        sources = [
            {"id": "docs", "path": "b"},
            {"id": "diary", "path": "a/docs", "role": "memory", "tier": "user"},
            {"id": "same", "path": "a/docs/below", "role": "memory", "tier": "tenant"},
        ]
        with FileKnowledgeCatalog(write_manifest(tmp_path, sources), watch_for_changes=False) as catalog:
            with pytest.raises(MemoryOverlapError) as raised:
                FileMemoryStore(catalog)
            assert raised.value.args == ("same", "docs")
    finally:
        subprocess.run(["umount", tmp_path / "b"], check=True)


def test_a_reload_that_publishes_memories_closes_them(
    memories: FileKnowledgeCatalog, store: FileMemoryStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wrote(store, ALICE, USER, "a word")
    before = (place(tmp_path, USER, ALICE) / "monday.md").read_bytes()
    docs = {"id": "docs", "path": "docs"}
    write_manifest(tmp_path, [docs, {"id": "all", "path": "memories"}, *memory_sources()])
    memories.reload()
    (record,) = caplog.records
    assert record.getMessage().startswith("memory source 'remembers-session' and source 'all' overlap: ")
    result = store.read(ALICE, "word")
    message = result.diagnostics[0].message
    assert message.startswith("memory is unavailable: ")
    # Nobody is told which sources there are, nor which of the tiers it is.
    assert not [
        word for word in ("remembers", "'", "all ", "docs", "memories", str(tmp_path)) if word in message
    ]
    unavailable = tuple(
        KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, f"memory:{tier.value}", message)
        for tier in MemoryTier
    )
    assert result == MemoryReadResult((), unavailable)
    listed = store.enumerate(ALICE)
    assert (listed, listed.diagnostics) == ((), unavailable)
    acme = store.enumerate(KnowledgeAccessScope("acme"))
    assert [one.source_id for one in acme.diagnostics] == ["memory:tenant"]
    assert store.text(ALICE, f"{memory_path(USER, ALICE)}/monday") is None
    assert store.write(ALICE, entry(), USER) == MemoryWriteResult(written=False, error=message)
    assert store.delete_scope(ALICE) == MemoryDeleteResult(0, message)
    assert store.delete_scope(ALICE, below=True) == MemoryDeleteResult(0, message)
    assert store.delete(ALICE, USER, "monday") == MemoryDeleteResult(0, message)
    assert (place(tmp_path, USER, ALICE) / "monday.md").read_bytes() == before
    write_manifest(tmp_path, [docs, *memory_sources()])
    memories.reload()
    assert reads(store, ALICE) == [("memory:user", "a word")]


@pytest.mark.parametrize("touched", [True, False])
def test_a_host_whose_memories_a_reload_publishes_is_told_by_results(
    tmp_path: Path, *, touched: bool
) -> None:
    """Whether the store was used before makes no difference."""
    open_memories(tmp_path).close()
    docs = {"id": "docs", "path": "docs"}
    manifest = write_manifest(tmp_path, [docs, *memory_sources()])
    with open_knowledge(manifest, watch_for_changes=False) as knowledge:
        if touched:
            assert knowledge.memory is not None
        write_manifest(tmp_path, [docs, {"id": "all", "path": "memories"}, *memory_sources()])
        knowledge.catalog.reload()
        memory = knowledge.memory
        assert memory is not None
        assert [one.source_id for one in memory.read(ALICE, "word").diagnostics] == [
            "memory:session",
            "memory:user",
            "memory:tenant",
        ]
        assert not memory.write(ALICE, entry(), USER).written
        # Who makes another one hears the names: that is the host.
        with pytest.raises(MemoryOverlapError, match="'all'"):
            FileMemoryStore(knowledge.catalog)
        write_manifest(tmp_path, [docs, *memory_sources()])
        knowledge.catalog.reload()
        wrote(memory, ALICE, USER, "a word")


def test_nothing_expires_by_itself(memories: FileKnowledgeCatalog) -> None:
    later = datetime.now(timezone.utc) + timedelta(days=36500)
    store = FileMemoryStore(memories, clock=lambda: later)
    wrote(store, ALICE, USER, "a word")
    assert store.write(ALICE, entry("stale word", "b", stale_after="2000-01-01"), USER).written
    assert len(reads(store, ALICE)) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_report_counts_all_memories_and_neither_watches_nor_logs_them(
    tmp_path: Path, memories: FileKnowledgeCatalog, store: FileMemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    def watched() -> int:
        notes = Path("/proc/self/fdinfo").iterdir()
        return sum(note.read_text().count("inotify wd:") for note in notes if note.exists())

    memories.report()
    before = watched()
    for number in range(20):
        wrote(store, KnowledgeAccessScope("acme", f"user{number}"), USER, "a word")
    (tmp_path / ROOTS[USER] / "broken.md").write_bytes(b"a word\0")
    for _ in range(2):
        sources = {report.source.id: report for report in memories.report().sources}
        report = sources[f"remembers-{USER.value}"]
        assert (report.concepts, [problem.path for problem in report.problems]) == (20, ["broken.md"])
        assert report.compared_because is None
    assert watched() == before
    assert not caplog.records
