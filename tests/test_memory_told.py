"""Reading and listing report every memory that could not be read; no diagnostic means that all were (Y11)."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.memory import (
    ALICE,
    ALICES_DIRECTORY,
    BELOW,
    BOB,
    ROOTS,
    SESSION,
    TENANT,
    USER,
    entry,
    open_memories,
    reads,
    wrote,
)
from making.processes import without_privileges
from making.providing import unexpected, user
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeContextProvider,
    KnowledgeDiagnosticCode,
    MemoryConcepts,
    MergedKnowledgeResolver,
    memory_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 2000
NAMED = 20


@pytest.fixture
def memory_options() -> dict[str, Any]:
    return {"max_file_bytes": MOST_BYTES}


def told(store: FileMemoryStore, directory: Path, *, tier: str = "user") -> list[str]:
    """The messages of reading and of listing Alice's memories, which must be the same."""
    result = store.read(ALICE, "word")
    listed = store.enumerate(ALICE)
    assert isinstance(listed, MemoryConcepts)
    assert listed.diagnostics == result.diagnostics
    assert [one.concept_id for one in listed] == [one.concept_id for one in result.passages]
    for diagnostic in listed.diagnostics:
        assert diagnostic.code is KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE
        assert diagnostic.source_id == f"memory:{tier}"
        assert str(directory) not in diagnostic.message
        assert "remembers-" not in diagnostic.message
    return [one.message for one in listed.diagnostics]


def too_large(path: Path) -> None:
    path.write_bytes(b"word " * MOST_BYTES)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def plug(path: Path) -> None:
    # The path of a socket has at most 108 bytes.
    with socket.socket(socket.AF_UNIX) as listener, tempfile.TemporaryDirectory() as short:
        listener.bind(f"{short}/s")
        Path(f"{short}/s").rename(path)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "too large": (too_large, f"it has more than {MOST_BYTES} bytes"),
    "a pipe": (pipe, "it is not a regular file"),
    "a socket": (plug, "it is not a regular file"),
    "a link to another memory": (lambda path: path.symlink_to("kept.md"), "it is a link"),
    "a link that leads out": (lambda path: path.symlink_to("/etc/hostname"), "it is a link"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "it is a link"),
    "a link to itself": (lambda path: path.symlink_to("broken.md"), "it is a link"),
    "a link to a directory": (
        lambda path: path.symlink_to("/etc"),
        "a directory that is a link is not entered",
    ),
}


@pytest.mark.parametrize("below", ["broken.md", "deeper/broken.md"])
@pytest.mark.parametrize("kind", BROKEN)
def test_an_unreadable_memory_is_reported(
    store: FileMemoryStore, tmp_path: Path, kind: str, below: str
) -> None:
    wrote(store, ALICE, USER, "a word")
    assert told(store, tmp_path) == []
    make, reason = BROKEN[kind]
    path = tmp_path / ALICES_DIRECTORY / below
    path.parent.mkdir(exist_ok=True)
    make(path)
    # Every read reports it, not only the first.
    for _ in range(2):
        assert told(store, tmp_path) == [f'"{BELOW}/{below}" is left out: {reason}']
        assert len(store.enumerate(ALICE)) == 1
    path.unlink()
    assert told(store, tmp_path) == []


def test_a_memory_whose_name_is_not_utf8_is_reported(store: FileMemoryStore, tmp_path: Path) -> None:
    write_tree(tmp_path / ALICES_DIRECTORY, {"kept.md": "a word"})
    for name in (b"caf\xe9.md", b"\xff"):
        path = tmp_path / ALICES_DIRECTORY / os.fsdecode(name)
        if name.endswith(b".md"):
            path.write_text("a word", encoding="utf-8")
        else:
            path.mkdir()
    assert told(store, tmp_path) == [
        f'"{BELOW}/caf\ufffd.md" is left out: its name is not UTF-8',
        f'"{BELOW}/\ufffd" is left out: its name is not UTF-8',
    ]


def test_files_that_are_no_memories_are_not_reported(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    write_tree(
        tmp_path / ALICES_DIRECTORY, {"index.md": "x", "log.md": "x", ".hidden.md": "x", "notes.txt": "x"}
    )
    (tmp_path / ALICES_DIRECTORY / "notes").symlink_to("notes.txt")
    (tmp_path / ALICES_DIRECTORY / ".okf-memory").touch()
    (tmp_path / ALICES_DIRECTORY / ".okf-catalog.tmp").write_text("left by a killed writer", encoding="utf-8")
    assert told(store, tmp_path) == []
    assert reads(store, ALICE) == [("memory:user", "a word")]


def test_an_unreadable_memory_is_reported_to_its_own_scope_only(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    wrote(store, ALICE, USER, "a word")
    too_large(tmp_path / ALICES_DIRECTORY / "broken.md")
    for scope in (BOB,):
        assert store.read(scope, "word").diagnostics == ()
        assert store.enumerate(scope).diagnostics == ()


def test_diagnostics_come_tier_by_tier(store: FileMemoryStore, tmp_path: Path) -> None:
    for tier in (SESSION, TENANT):
        wrote(store, ALICE, tier, "a word")
        too_large(tmp_path / ROOTS[tier] / memory_path(tier, ALICE) / "broken.md")
    (tmp_path / ROOTS[USER]).rmdir()
    for diagnostics in (store.read(ALICE, "word").diagnostics, store.enumerate(ALICE).diagnostics):
        assert [one.source_id for one in diagnostics] == ["memory:session", "memory:user", "memory:tenant"]
    assert store.read(ALICE, "word").diagnostics == store.enumerate(ALICE).diagnostics


def test_each_tier_has_its_own_diagnostics(store: FileMemoryStore, tmp_path: Path) -> None:
    for tier in (SESSION, USER, TENANT):
        wrote(store, ALICE, tier, "a word")
        too_large(tmp_path / ROOTS[tier] / memory_path(tier, ALICE) / f"{tier.value}.md")
    expected = [
        (f"memory:{tier.value}", f'"{memory_path(tier, ALICE)}/{tier.value}.md" is left out: ')
        for tier in (SESSION, USER, TENANT)
    ]
    for diagnostics in (store.read(ALICE, "word").diagnostics, store.enumerate(ALICE).diagnostics):
        told = [(one.source_id, one.message.partition("it has")[0]) for one in diagnostics]
        assert told == expected
    assert len(store.enumerate(ALICE)) == 3


@pytest.mark.parametrize("count", [NAMED, NAMED + 1, 10_000])
def test_many_broken_memories_are_counted(store: FileMemoryStore, tmp_path: Path, count: int) -> None:
    wrote(store, ALICE, USER, "a word")
    for number in range(count):
        (tmp_path / ALICES_DIRECTORY / f"{number:05}.md").symlink_to("nowhere")
    messages = told(store, tmp_path)
    named = [f'"{BELOW}/{number:05}.md" is left out: it is a link' for number in range(NAMED)]
    assert messages[:NAMED] == named
    assert messages[NAMED:] == ([f"and {count - NAMED} more are left out"] if count > NAMED else [])


def test_the_path_of_a_broken_memory_is_shown_from_its_end(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    deep = "/".join(["x" * 250] * 8)
    (tmp_path / ALICES_DIRECTORY / deep).mkdir(parents=True)
    (tmp_path / ALICES_DIRECTORY / deep / "broken.md").symlink_to("nowhere")
    (message,) = told(store, tmp_path)
    assert message.startswith('"…xxxx')
    assert message.endswith('xxx/broken.md" is left out: it is a link')
    assert len(message) < 600


def test_a_directory_that_cannot_be_entered_is_reported() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        with open_memories(directory) as catalog:
            store = FileMemoryStore(catalog)
            wrote(store, ALICE, USER, "a word")
            write_tree(directory / ALICES_DIRECTORY, {"secret.md": "a word", "closed/secret.md": "a word"})
            for path in directory.rglob("*"):
                path.chmod(0o755 if path.is_dir() else 0o644)
            (directory / ALICES_DIRECTORY / "secret.md").chmod(0)
            (directory / ALICES_DIRECTORY / "closed").chmod(0)
            assert without_privileges(lambda: told(store, directory)) == [
                f'"{BELOW}/closed" is left out: the directory cannot be listed: permission denied',
                f'"{BELOW}/secret.md" is left out: it cannot be read: permission denied',
            ]
            (directory / ALICES_DIRECTORY / "closed").chmod(0o755)
            (directory / ALICES_DIRECTORY).chmod(0)
            (message,) = without_privileges(lambda: told(store, directory))
            assert message == (
                f'source "memory:user" is unavailable: "{BELOW}" cannot be entered: permission denied'
            )
            (directory / ALICES_DIRECTORY).chmod(0o755)


@pytest.mark.parametrize("level", range(1, len(BELOW.split("/")) + 1))
def test_a_linked_directory_on_the_path_is_reported(
    store: FileMemoryStore, tmp_path: Path, level: int
) -> None:
    wrote(store, ALICE, USER, "a word")
    path = "/".join(BELOW.split("/")[:level])
    (tmp_path / ROOTS[USER] / path).rename(tmp_path / "moved")
    (tmp_path / ROOTS[USER] / path).symlink_to(tmp_path / "moved")
    reason = f'"{path}" is a link; no memory is read, written or deleted through one'
    assert told(store, tmp_path) == [f'source "memory:user" is unavailable: {reason}']
    assert store.text(ALICE, f"{BELOW}/monday") is None


def test_a_missing_memory_source_is_reported(store: FileMemoryStore, tmp_path: Path) -> None:
    (tmp_path / ROOTS[USER]).rmdir()
    reason = "the tier's memory source cannot be used: its directory does not exist below the catalog root"
    assert told(store, tmp_path) == [f'source "memory:user" is unavailable: {reason}']
    assert store.write(ALICE, entry(), USER).error == reason
    assert store.delete(ALICE, USER, "monday").error == f"memory:user: {reason}"
    assert store.delete_scope(ALICE, USER).error == f"memory:user: {reason}"


def test_a_context_is_made_from_the_readable_memories(
    memories: FileKnowledgeCatalog, store: FileMemoryStore, tmp_path: Path
) -> None:
    wrote(store, ALICE, USER, "a word")
    provider = KnowledgeContextProvider(
        MergedKnowledgeResolver(memories),
        store,
        scope_accessor=lambda: ALICE,
        on_internal_error=unexpected,
    )
    too_large(tmp_path / ALICES_DIRECTORY / "broken.md")
    context = provider.provide([user("word")])
    assert [block.source_id for block in context.blocks] == ["memory:user"]
    told = store.read(ALICE, "word").diagnostics
    assert context.diagnostics[-1:] == told
    assert provider.last_memory_error == told[0].message
    # The host gets the diagnostics; the model does not.
    assert "left out" not in (context.messages[0].text or "")
