"""Which directories a store marks, and what is sealed where no mark can be written (Y10)."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest
from making.leaks import (
    ALL,
    DIARY,
    KB,
    MOUNTED,
    PLACES,
    QUESTION,
    SCOPE,
    SECRET,
    TIER,
    USER_TENANT,
    check_nothing_leaks,
    diaries,
    forget_marks,
    linked,
    mark_again,
    mount,
)
from making.memory import ALICE, BOB, MARK, SESSION, USER, entry
from making.processes import in_child, without_privileges
from making.waiting import SOON, wait_until
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeDiagnosticCode,
    KnowledgeResolverRouter,
    MemoryDeleteResult,
    MemoryOverlapError,
    open_knowledge,
)
from okf_catalog.cli.app import app
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okf_catalog import KnowledgePassage


def passages(catalog: FileKnowledgeCatalog, question: str) -> Sequence[KnowledgePassage]:
    return KnowledgeResolverRouter(catalog).search(question).passages


def let_others_in(directory: Path) -> None:
    for path in (directory, *directory.rglob("*"), *directory.parents):
        if directory.is_relative_to("/tmp") and path.is_relative_to("/tmp") and not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def unmarked(directory: Path) -> list[str]:
    """Directories of memories without a marker file."""
    tiers = [path for path in directory.glob("memory-*") if path.is_dir() and not path.is_symlink()]
    below = [Path(path) for tier in tiers for path, _, _ in os.walk(tier)]
    return [str(path.relative_to(directory)) for path in below if not (path / MARK).is_file()]


def test_a_store_puts_an_empty_marker_into_every_directory_of_memories(marked: Path) -> None:
    diary = marked.parent / DIARY
    assert unmarked(diary) == []
    marks = [*diary.rglob(MARK)]
    assert len(marks) == 2 + 3 + 4 + 1
    assert all(mark.read_bytes() == b"" for mark in marks)
    assert not (diary / MARK).exists(), "the source's own directory holds no memory"


@pytest.mark.parametrize("enabled", [True, False])
def test_a_new_store_marks_existing_memories_and_follows_no_link(marked: Path, *, enabled: bool) -> None:
    directory = marked.parent
    forget_marks(directory)
    write_tree(directory, {"elsewhere/a.md": QUESTION})
    linked(directory, f"{SCOPE}/linked", "elsewhere")
    linked(directory, f"{DIARY}/memory-linked", "elsewhere")
    shutil.rmtree(directory / DIARY / "memory-tenant")
    linked(directory, f"{DIARY}/memory-tenant", "elsewhere")
    write_manifest(directory, [KB, *diaries(enabled=enabled)])
    mark_again(marked)
    assert unmarked(directory / DIARY) == []
    assert [*(directory / "elsewhere").iterdir()] == [directory / "elsewhere" / "a.md"]


def test_a_refused_store_has_marked_existing_memories(marked: Path) -> None:
    forget_marks(marked.parent)
    write_manifest(marked.parent, [ALL, *diaries(enabled=False)])
    with open_catalog(marked) as catalog, pytest.raises(MemoryOverlapError, match=r"diary-session.*kb"):
        FileMemoryStore(catalog)
    write_manifest(marked.parent, [ALL])
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)


def test_a_disabled_memory_source_among_knowledge_stops_a_running_store(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        write_manifest(marked.parent, [ALL, *diaries(enabled=False)])
        catalog.reload()
        result = store.read(ALICE, QUESTION)
        assert result.passages == ()
        assert [diagnostic.code for diagnostic in result.diagnostics] == [
            KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE
        ]
        assert not store.write(ALICE, entry("a word"), USER).written
        assert store.delete_scope(ALICE).tiers_deleted == 0
        check_nothing_leaks(catalog, known=2)
        write_manifest(marked.parent, [KB, *diaries()])
        catalog.reload()
        assert len(store.read(ALICE, QUESTION).passages) == 4


@pytest.mark.parametrize("watch", [False, True])
def test_a_reload_marks_memories_that_come_or_go(marked: Path, *, watch: bool) -> None:
    directory = marked.parent
    shutil.copytree(directory / DIARY, directory / "older")
    new = [source | {"path": "older"} for source in diaries()]
    with open_catalog(marked, watch_for_changes=watch, reload_debounce=SOON) as catalog:
        FileMemoryStore(catalog)
        forget_marks(directory)
        generation = catalog.current.generation
        write_manifest(directory, [KB, *new])
        if watch:
            wait_until(lambda: catalog.current.generation > generation)
        else:
            catalog.reload()
        assert unmarked(directory / "older") == unmarked(directory / DIARY) == []


def test_a_catalog_without_a_store_writes_no_file_while_its_memory_sources_stay(marked: Path) -> None:
    forget_marks(marked.parent)
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)
        write_manifest(marked.parent, [KB | {"priority": 1}, *diaries()])
        catalog.reload()
        check_nothing_leaks(catalog, known=2)
    assert [*marked.parent.rglob(MARK)] == []


@pytest.mark.parametrize("after", ["removed", "disabled", "moved", "another tier"])
@pytest.mark.parametrize("before", ["enabled", "disabled"])
def test_a_reload_marks_the_memory_sources_of_a_catalog_without_a_store(
    marked: Path, before: str, after: str
) -> None:
    directory = marked.parent
    forget_marks(directory)
    shutil.copytree(directory / DIARY, directory / "older")
    write_manifest(directory, [KB, *diaries(enabled=before == "enabled")])
    following = {
        "removed": [],
        "disabled": diaries(enabled=False),
        "moved": [source | {"path": "older"} for source in diaries()],
        "another tier": diaries()[:1],
    }
    with open_catalog(marked) as catalog:
        write_manifest(directory, [ALL, *following[after]])
        catalog.reload()
        assert before == after == "disabled" or unmarked(directory / DIARY) == []
        assert (unmarked(directory / "older") == []) == (after == "moved")
        known = {"moved": 2}.get(after)
        if known is not None:
            check_nothing_leaks(catalog, known=known)
        assert [p.concept_id for p in passages(catalog, SECRET) if not p.concept_id.startswith("older")] == []
        assert in_child(lambda: [p.concept_id for p in passages(catalog, SECRET)]) == [
            p.concept_id for p in passages(catalog, SECRET)
        ]


@pytest.mark.parametrize("searched", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("level", [DIARY, TIER, USER_TENANT, SCOPE, f"{SCOPE}/deeper"])
def test_memories_from_before_marks_stay_sealed_wherever_they_are_moved(
    marked: Path, level: str, *, enabled: bool, searched: bool
) -> None:
    """No store is open, and the catalog learns of the move only from the disk."""
    directory = marked.parent
    forget_marks(directory)
    write_manifest(directory, [KB, *diaries(enabled=enabled)])
    with open_catalog(marked) as catalog:
        if searched:
            check_nothing_leaks(catalog, known=2)
        (directory / level).rename(directory / "kb" / "moved")
        check_nothing_leaks(catalog, known=2)
        assert in_child(lambda: check_nothing_leaks(catalog)) == 2
        write_manifest(directory, [ALL])
        catalog.reload()
        check_nothing_leaks(catalog, known=2)


@pytest.mark.parametrize("bound", ["tier", "tenant", "scope", "below a scope"])
def test_memories_from_before_marks_stay_sealed_wherever_they_are_mounted(marked: Path, bound: str) -> None:
    directory = marked.parent
    forget_marks(directory)
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)
        with mount(directory / MOUNTED[bound][0], directory / "kb" / "mounted") as allowed:
            if not allowed:
                pytest.skip("only some may mount")
            check_nothing_leaks(catalog, known=2)


@pytest.mark.parametrize("linked_at", [DIARY, TIER])
@pytest.mark.parametrize("store", [True, False])
def test_the_target_of_a_linked_memory_source_is_sealed(
    marked: Path, linked_at: str, *, store: bool, caplog: pytest.LogCaptureFixture
) -> None:
    directory = marked.parent
    forget_marks(directory)
    (directory / linked_at).rename(directory / "kb" / "moved")
    linked(directory, linked_at, "kb/moved")
    write_manifest(directory, [KB, *diaries(enabled=False)])
    with open_catalog(marked) as catalog:
        if store:
            with contextlib.suppress(MemoryOverlapError):
                FileMemoryStore(catalog)
            told = [
                record.getMessage() for record in caplog.records if "cannot be marked" in record.getMessage()
            ]
            assert len(told) == (3 if linked_at == DIARY else 0)
        check_nothing_leaks(catalog, known=2)


@pytest.mark.parametrize("mode", [0o711, 0o700])
def test_a_memory_source_that_may_not_be_entered_is_sealed_by_name(
    marked: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    directory = marked.parent
    forget_marks(directory)
    let_others_in(directory)
    (directory / DIARY).chmod(mode)
    inside = [
        KB | {"id": "tier", "path": TIER},
        KB | {"id": "scope", "path": SCOPE},
        KB | {"id": "shouted", "path": f"{DIARY}/./memory-user"},
    ]
    write_manifest(directory, [KB, *(inside if mode == 0o711 else []), *diaries(enabled=False)])

    def act() -> object:
        with open_catalog(marked) as catalog:
            with contextlib.suppress(MemoryOverlapError):
                FileMemoryStore(catalog)
            said = [record.getMessage() for record in caplog.records]
            return said, check_nothing_leaks(catalog)

    said, known = without_privileges(act)
    assert known == 2
    assert [text for text in said if "diary-user" in text and "cannot be marked as memories" in text]


@pytest.mark.parametrize("by", ["knowledge", "command"])
def test_disabled_memory_sources_are_marked_without_a_store(marked: Path, by: str) -> None:
    directory = marked.parent
    forget_marks(directory)
    write_manifest(directory, [KB, *diaries(enabled=False)])
    if by == "command":
        assert CliRunner().invoke(app, ["memory", "list", "--catalog", str(marked)]).exit_code == 1
    else:
        with open_knowledge(marked, watch_for_changes=False) as knowledge:
            assert unmarked(directory / DIARY) != []
            assert knowledge.memory is None
    assert unmarked(directory / DIARY) == []


@pytest.mark.parametrize("act", ["read", "enumerate", "text", "write"])
def test_directories_made_by_the_host_are_marked_when_their_scope_is_used(
    marked: Path, tmp_path: Path, act: str
) -> None:
    write_manifest(tmp_path, [KB, *diaries()])
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        (listed,) = (c for c in store.enumerate(ALICE) if c.tier is USER and c.concept_id.endswith("monday"))
        inner = tmp_path / SCOPE / "archive" / "2020"
        write_tree(inner, {"old.md": f"{QUESTION} {SECRET}"})
        for level in (TIER, USER_TENANT, SCOPE):
            (tmp_path / level / MARK).unlink()
        acts: dict[str, Callable[[], object]] = {
            "read": lambda: store.read(ALICE, QUESTION),
            "enumerate": lambda: store.enumerate(ALICE),
            "text": lambda: store.text(ALICE, listed.concept_id),
            "write": lambda: store.write(ALICE, entry("a word"), USER),
        }
        acts[act]()
        assert unmarked(tmp_path / DIARY) == []
        with mount(inner, tmp_path / "kb" / "mounted") as allowed:
            if allowed:
                check_nothing_leaks(catalog, known=2)
        inner.rename(tmp_path / "kb" / "moved")
        check_nothing_leaks(catalog, known=2)


def test_memories_that_cannot_be_marked_are_still_read(marked: Path) -> None:
    directory = marked.parent
    write_tree(directory, {f"{SCOPE}/archive/old.md": f"{QUESTION} {SECRET}"})
    let_others_in(directory)

    def act() -> object:
        with open_catalog(marked) as catalog:
            result = FileMemoryStore(catalog).read(ALICE, SECRET)
            return len(result.passages), [diagnostic.message for diagnostic in result.diagnostics]

    assert without_privileges(act) == (5, [])
    assert unmarked(directory / DIARY) == [f"{SCOPE.removeprefix(DIARY + '/')}/archive"]


def test_a_marker_in_another_case_is_renamed(marked: Path) -> None:
    """A linked file is checked by the exact name of the marker."""
    directory = marked.parent
    for mark in directory.rglob(MARK):
        mark.rename(mark.with_name(MARK.upper()))
    mark_again(marked)
    assert unmarked(directory / DIARY) == []
    write_manifest(directory, PLACES["file_link"](directory))
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)
    for mark in directory.rglob(MARK):
        mark.unlink()
    write_manifest(directory, [KB, *diaries()])
    with open_catalog(marked) as catalog:
        FileMemoryStore(catalog).read(ALICE, QUESTION)
    assert unmarked(directory / DIARY) == []


def test_a_write_restores_the_markers_on_its_path(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        forget_marks(marked.parent)
        assert store.write(ALICE, entry("a word"), USER).written
        for level in (TIER, USER_TENANT, SCOPE):
            assert (marked.parent / level / MARK).is_file()


def test_forgetting_a_scope_removes_its_marker_and_no_other(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        assert store.write(BOB, entry("a word"), USER).written
        assert store.delete_scope(ALICE, USER) == MemoryDeleteResult(
            1, None, concepts_deleted=2, scopes_deleted=1
        )
        assert not (marked.parent / SCOPE).exists()
        assert (marked.parent / USER_TENANT / MARK).is_file()
        assert unmarked(marked.parent / DIARY) == []
        assert store.read(BOB, "word").passages


def test_writers_and_deleters_leave_no_memory_without_a_mark(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store, errors, bare = FileMemoryStore(catalog), list[str](), list[str]()
        deadline = time.monotonic() + 2

        def work(act: Callable[[], str | None]) -> None:
            while time.monotonic() < deadline:
                error = act()
                if error is not None:
                    errors.append(error)

        def look() -> None:
            # os.walk skips directories that vanish meanwhile.
            for directory, _, names in os.walk(marked.parent / DIARY):
                for path in (Path(directory, name) for name in names if name.endswith(".md")):
                    is_bare = not (path.parent / MARK).exists()
                    if is_bare and path.exists() and path.parent.name != "deeper":
                        bare.append(str(path))

        acts: list[Callable[[], str | None]] = [
            *[lambda: store.write(ALICE, entry("a word"), SESSION).error] * 3,
            *[lambda: store.delete_scope(ALICE, SESSION).error] * 2,
            lambda: mark_again(marked),
            look,
        ]
        threads = [threading.Thread(target=work, args=(act,)) for act in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert bare == []


def test_directories_that_cannot_be_marked_stay_sealed_while_the_catalog_is_open(
    marked: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = marked.parent
    forget_marks(directory)
    for path in (directory, *directory.rglob("*"), *directory.parents):
        if directory.is_relative_to("/tmp") and path.is_relative_to("/tmp") and path.is_dir():
            path.chmod(path.stat().st_mode | 0o555)

    def act() -> object:
        with open_catalog(marked) as catalog:
            FileMemoryStore(catalog)
            said = [record.getMessage() for record in caplog.records]
            os.write(writing, b"go")
            os.read(reading, 2)
            catalog.reload()
            catalog.reload()
            return said, check_nothing_leaks(catalog)

    # The host, which may write, changes the manifest meanwhile.
    (reading, told), (asked, writing) = os.pipe(), os.pipe()

    def host() -> None:
        os.read(asked, 2)
        write_manifest(directory, [ALL])
        os.write(told, b"go")

    thread = threading.Thread(target=host)
    thread.start()
    said, known = without_privileges(act)
    thread.join()
    for descriptor in (reading, told, asked, writing):
        os.close(descriptor)
    assert known == 2
    assert [text for text in said if "cannot be marked as memories" in text and "permission" in text]
    assert [*directory.rglob(MARK)] == []
