"""One concept is forgotten, and nothing else (Y12)."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.memory import (
    ALICE,
    ALICES_DIRECTORY,
    BELOW,
    BOB,
    LOCAL,
    SESSION,
    TENANT,
    USER,
    USER_ALICE,
    entry,
    files_in,
    gone,
    locked,
    memory_sources,
    open_memories,
    reads,
    wrote,
)
from making.processes import without_privileges
from making.visibility import ACME
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeAccessScope,
    MemoryDeleteResult,
    MemoryTier,
    RefusedTypeError,
    RefusedValueError,
    memory_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def memory_options() -> dict[str, Any]:
    return {"max_file_bytes": 2000}


@pytest.mark.parametrize("by", ["monday", f"{BELOW}/monday"])
def test_a_store_forgets_one_concept_and_no_other(store: FileMemoryStore, tmp_path: Path, by: str) -> None:
    for scope in (ALICE, BOB):
        for tier in MemoryTier:
            for name in ("monday", "tuesday"):
                assert store.write(scope, entry(f"word {name}", name), tier).written
    before = files_in(tmp_path)
    assert store.delete(ALICE, USER, by) == gone(0, 1)
    assert files_in(tmp_path) == [name for name in before if name != f"{ALICES_DIRECTORY}/monday.md"]
    assert store.text(ALICE, f"{BELOW}/monday") is None
    assert [one.concept_id for one in store.enumerate(ALICE) if one.tier is USER] == [f"{BELOW}/tuesday"]
    assert ("memory:user", "word monday") not in reads(store, ALICE)
    # Deleting it again is no error.
    assert store.delete(ALICE, USER, by) == gone(0, 0)
    assert store.write(ALICE, entry("word again", "monday"), USER).written
    assert store.text(ALICE, f"{BELOW}/monday") == "word again"


@pytest.mark.parametrize("name", ["a b", "数字", "é" * 126, "x.md", "Index", "-", "CON", "a\\b", "~", "*"])
def test_every_concept_that_was_written_can_be_forgotten(
    store: FileMemoryStore, tmp_path: Path, name: str
) -> None:
    assert store.write(ALICE, entry("a word", name), USER).written
    assert store.delete(ALICE, USER, name) == gone(0, 1)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("name", ["a/b", "a/b/c", "line\nbreak", " ", "a b/ c"])
def test_every_concept_that_is_listed_can_be_forgotten(
    store: FileMemoryStore, tmp_path: Path, name: str
) -> None:
    write_tree(tmp_path / ALICES_DIRECTORY, {f"{name}.md": "a word", "kept.md": "a word"})
    listed = [one.concept_id for one in store.enumerate(ALICE)]
    assert f"{BELOW}/{name}" in listed
    assert store.delete(ALICE, USER, f"{BELOW}/{name}") == gone(0, 1)
    assert files_in(tmp_path) == [f"{ALICES_DIRECTORY}/kept.md"]


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        (ALICE, "monday"),
        (ALICE, "a/monday"),
        (ALICE, "kept/monday"),
        (ALICE, "x" * 300),
        (ALICE, "/".join(["x" * 250] * 50)),
        (ALICE, memory_path(USER, BOB) + "/kept"),
        (BOB, f"{BELOW}/kept"),
        (KnowledgeAccessScope("x" * 300, "x"), "monday"),
    ],
)
def test_forgetting_a_missing_concept_is_no_error(
    store: FileMemoryStore, tmp_path: Path, scope: KnowledgeAccessScope, name: str
) -> None:
    for who in (ALICE, BOB):
        assert store.write(who, entry("a word", "kept"), USER).written
    before = files_in(tmp_path)
    assert store.delete(scope, USER, name) == gone(0, 0)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["", "/", "a/", "/a", "a//b", ".", "..", "../x", "a/../b", ".x", "index", "a\0"]
)
def test_an_invalid_concept_name_is_refused(store: FileMemoryStore, tmp_path: Path, name: str) -> None:
    wrote(store, BOB, USER, "a word")
    with pytest.raises(RefusedValueError, match=r"^concept_name is the name or the id of a concept, not "):
        store.delete(ALICE, USER, name)
    with pytest.raises(RefusedValueError, match="lone surrogate"):
        store.delete(ALICE, USER, "\ud800")
    assert len(files_in(tmp_path)) == 1


def test_a_store_refuses_arguments_of_the_wrong_type(store: FileMemoryStore) -> None:
    wrong: Any = "user"
    refusals: list[tuple[Callable[[], object], str]] = [
        (lambda: store.delete(wrong, USER, "a"), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.delete(ALICE, wrong, "a"), "tier is a MemoryTier, not str"),
        (lambda: store.delete(ALICE, USER, wrong.encode()), "concept_name is a str, not bytes"),
        (lambda: store.delete_scope(ALICE, below=wrong), "below is a bool, not str"),
    ]
    for act, message in refusals:
        with pytest.raises(RefusedTypeError) as raised:
            act()
        assert str(raised.value) == message


def test_an_unreadable_memory_can_be_forgotten(store: FileMemoryStore, tmp_path: Path) -> None:
    write_tree(tmp_path / ALICES_DIRECTORY, {"large.md": "x" * 3000, "bytes.md": b"\xff\0", "empty.md": ""})
    for name in ("large", "bytes", "empty"):
        assert store.delete(ALICE, USER, name) == gone(0, 1)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("name", ["monday", "linked/monday"])
def test_forgetting_follows_no_link(store: FileMemoryStore, tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {"outside/monday.md": "kept", f"{ALICES_DIRECTORY}/kept.md": "kept"})
    (tmp_path / ALICES_DIRECTORY / "monday.md").symlink_to(tmp_path / "outside" / "monday.md")
    (tmp_path / ALICES_DIRECTORY / "linked").symlink_to(tmp_path / "outside")
    result = store.delete(ALICE, USER, name)
    assert result.concepts_deleted == 0
    assert result.error is not None
    assert result.error.startswith("memory:user: ")
    assert "is a link; no memory is" in result.error
    assert str(tmp_path) not in result.error
    assert (tmp_path / "outside" / "monday.md").read_text("utf-8") == "kept"
    assert (tmp_path / ALICES_DIRECTORY / "monday.md").is_symlink()


def test_forgetting_refuses_anything_but_a_file(store: FileMemoryStore, tmp_path: Path) -> None:
    (tmp_path / ALICES_DIRECTORY / "monday.md").mkdir(parents=True)
    os.mkfifo(tmp_path / ALICES_DIRECTORY / "pipe.md")
    for name in ("monday", "pipe"):
        assert store.delete(ALICE, USER, name) == MemoryDeleteResult(
            0, f'memory:user: "{BELOW}/{name}.md" is not a regular file'
        )


def test_a_tier_that_does_not_apply_forgets_nothing(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, LOCAL, USER, "a word")
    result = store.delete(ACME, USER, "monday")
    assert result.concepts_deleted == 0
    assert "'user' does not apply" in (result.error or "")
    write_manifest(tmp_path, memory_sources([TENANT]))
    with FileKnowledgeCatalog(tmp_path / "catalog.json", watch_for_changes=False) as fewer:
        for below in (False, True):
            result = FileMemoryStore(fewer).delete_scope(USER_ALICE, USER, below=below)
            assert result.error == "the catalog has no enabled memory source of the tier 'user'"
        result = FileMemoryStore(fewer).delete(ALICE, USER, "monday")
        assert result.error == "the catalog has no enabled memory source of the tier 'user'"
    assert len(files_in(tmp_path)) == 1


def test_the_temporary_file_of_a_killed_writer_is_forgotten_with_the_concept(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    wrote(store, ALICE, USER, "a secret")
    (tmp_path / ALICES_DIRECTORY / ".okf-catalog.tmp").write_text("a secret and more", encoding="utf-8")
    assert store.delete(ALICE, USER, "monday") == gone(0, 1)
    assert files_in(tmp_path) == []


def test_forgetting_waits_for_a_writer(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    results = list[MemoryDeleteResult]()
    forgetting = threading.Thread(target=lambda: results.append(store.delete(ALICE, USER, "monday")))
    with locked(tmp_path / ALICES_DIRECTORY):
        forgetting.start()
        forgetting.join(0.1)
        assert forgetting.is_alive()
        assert len(files_in(tmp_path)) == 1
    forgetting.join(30)
    assert results == [gone(0, 1)]


def test_forgetting_while_appending_loses_no_later_section(store: FileMemoryStore) -> None:
    done = threading.Event()
    errors = list[str | None]()

    def forget() -> None:
        while not done.is_set():
            errors.append(store.delete(ALICE, USER, "monday").error)

    forgetting = threading.Thread(target=forget)
    forgetting.start()
    try:
        for number in range(200):
            assert store.write(ALICE, entry(f"section {number}"), USER).written
            body = store.text(ALICE, f"{BELOW}/monday") or f"section {number}"
            sections = [int(line.removeprefix("section ")) for line in body.split("\n\n")]
            assert sections == list(range(sections[0], number + 1))
    finally:
        done.set()
        forgetting.join()
    assert {*errors} <= {None}


def test_a_refusal_of_the_operating_system_is_an_error_result() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        with open_memories(directory) as catalog:
            store = FileMemoryStore(catalog)
            wrote(store, ALICE, USER, "a word")
            for path in directory.rglob("*"):
                path.chmod(0o755 if path.is_dir() else 0o644)
            result = without_privileges(lambda: store.delete(ALICE, USER, "monday"))
            assert result == MemoryDeleteResult(
                0, f'memory:user: "{BELOW}/monday.md" cannot be deleted: permission denied'
            )
            assert files_in(directory) == [f"{ALICES_DIRECTORY}/monday.md"]


def test_the_async_methods_forget_the_same(store: FileMemoryStore) -> None:
    async def act() -> None:
        wrote(store, ALICE, USER, "a word")
        wrote(store, ALICE, SESSION, "a word")
        assert await store.delete_async(ALICE, USER, "monday") == gone(0, 1)
        assert await store.delete_scope_async(USER_ALICE, below=True) == gone(2, 1)

    asyncio.run(act())
