"""A scope is forgotten with all scopes below it, and nothing else (Y12)."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from making.bundles import write_tree
from making.memory import (
    ALICE,
    ALICES_DIRECTORY,
    BOB,
    LOCAL,
    MARK,
    OWN_IDS,
    ROOTS,
    SESSION,
    TENANT,
    USER,
    USER_ALICE,
    entry,
    files_in,
    gone,
    locked,
    open_memories,
    own_ids,
    place,
    reads,
    wrote,
)
from making.processes import without_privileges
from making.profiles import FEWER
from making.visibility import ACME
from okf_catalog import (
    FileMemoryStore,
    KnowledgeAccessScope,
    MemoryDeleteResult,
    MemoryTier,
    memory_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


# A scope, and what lies below it


def test_a_users_sessions_are_forgotten_with_the_user(store: FileMemoryStore, tmp_path: Path) -> None:
    sessions = [KnowledgeAccessScope("acme", "alice", str(number)) for number in range(3)]
    for scope in (*sessions, BOB):
        for tier in MemoryTier:
            wrote(store, scope, tier, "a word")
    assert store.delete_scope(USER_ALICE, below=True) == gone(2, 4, scopes=4)
    for scope in sessions:
        assert reads(store, scope) == [("memory:tenant", "a word")]
    assert [source for source, _ in reads(store, BOB)] == ["memory:session", "memory:user", "memory:tenant"]
    assert not place(tmp_path, SESSION, sessions[0]).parent.exists()
    assert store.delete_scope(USER_ALICE, below=True) == gone(0, 0)


def test_a_tenants_users_and_sessions_are_forgotten_with_the_tenant(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    without_user = KnowledgeAccessScope("acme", session_id="9")
    other = KnowledgeAccessScope("other", "alice", "1")
    for scope in (ALICE, BOB, without_user, other, LOCAL):
        for tier in MemoryTier:
            store.write(scope, entry("a word"), tier)
    others = [name for name in files_in(tmp_path) if "acme-" not in name]
    # One directory of the tenant, two of users, three of sessions.
    assert store.delete_scope(ACME, below=True) == gone(3, 6, scopes=6)
    assert files_in(tmp_path) == others
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("acme-")]


@pytest.mark.parametrize(
    ("tier", "left"),
    [(SESSION, {TENANT, USER}), (USER, {TENANT}), (TENANT, set[MemoryTier]()), (None, set[MemoryTier]())],
)
def test_a_given_tier_limits_forgetting_to_that_tier_and_below(
    store: FileMemoryStore, tier: MemoryTier | None, left: set[MemoryTier]
) -> None:
    for one in MemoryTier:
        wrote(store, ALICE, one, "a word")
    assert store.delete_scope(ACME, tier, below=True) == gone(3 - len(left), 3 - len(left))
    assert {one.tier for one in store.enumerate(ALICE)} == left


@pytest.mark.parametrize(("scope", "tier"), [(USER_ALICE, TENANT), (ALICE, USER), (ALICE, TENANT)])
def test_forgetting_a_scope_keeps_what_it_shares_with_others(
    store: FileMemoryStore, tmp_path: Path, scope: KnowledgeAccessScope, tier: MemoryTier
) -> None:
    for one in MemoryTier:
        wrote(store, ALICE, one, "a word")
    before = files_in(tmp_path)
    result = store.delete_scope(scope, tier, below=True)
    assert (result.tiers_deleted, result.scopes_deleted, result.concepts_deleted) == (0, 0, 0)
    assert f"the tier {tier.value!r} is shared with other scopes than this one" in (result.error or "")
    assert files_in(tmp_path) == before


def test_nothing_lies_below_the_local_scope(store: FileMemoryStore) -> None:
    alone = KnowledgeAccessScope(user_id="alice"), KnowledgeAccessScope(session_id="1")
    for scope in (LOCAL, ALICE, *alone):
        for tier in MemoryTier:
            store.write(scope, entry("a word"), tier)
    assert store.delete_scope(LOCAL, USER, below=True) == gone(1, 1)
    assert store.delete_scope(LOCAL, below=True) == gone(2, 2)
    assert len(reads(store, ALICE)) == 3
    for scope in alone:
        assert len(reads(store, scope)) == 1


IDS = ("a", "A", "ab", "b")
scopes = st.builds(KnowledgeAccessScope, *[st.none() | st.sampled_from(IDS)] * 3)


def below(scope: KnowledgeAccessScope, tier: MemoryTier | None) -> set[tuple[MemoryTier, Any]] | None:
    """Every scope at or below ``scope``, made of ``IDS``, in every tier; ``None`` if the tier is refused."""
    everything = {
        (one, own_ids(one, KnowledgeAccessScope(*three)))
        for three in ((t, u, s) for t in (None, *IDS) for u in (None, *IDS) for s in (None, *IDS))
        for one in MemoryTier
    }
    if scope == LOCAL:
        return {(one, own_ids(one, LOCAL)) for one in MemoryTier if tier in (None, one)}
    own = next(one for one in (SESSION, USER, TENANT) if own_ids(one, scope)[-1] is not None)
    first = own if tier is None else tier
    if OWN_IDS[first] < OWN_IDS[own]:
        return None
    prefix = own_ids(own, scope)
    return {
        (one, who)
        for one, who in everything
        if OWN_IDS[one] >= OWN_IDS[first] and who[: OWN_IDS[own]] == prefix
    }


@settings(max_examples=FEWER)
@given(
    writers=st.lists(scopes, max_size=6),
    scope=scopes,
    tier=st.none() | st.sampled_from(MemoryTier),
)
@example(writers=[KnowledgeAccessScope("a", "b", "a")], scope=KnowledgeAccessScope("a"), tier=None)
@example(writers=[KnowledgeAccessScope("a", "b", "a")], scope=KnowledgeAccessScope("A"), tier=None)
@example(writers=[KnowledgeAccessScope("ab", "b", "a")], scope=KnowledgeAccessScope("a"), tier=None)
def test_the_scopes_below_are_those_with_the_same_ids_and_more(
    writers: list[KnowledgeAccessScope], scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> None:
    with tempfile.TemporaryDirectory() as name, open_memories(Path(name)) as catalog:
        store = FileMemoryStore(catalog)
        written = {
            (one, own_ids(one, writer))
            for writer in writers
            for one in MemoryTier
            if store.write(writer, entry("a word"), one).written
        }
        expected = below(scope, tier)
        result = store.delete_scope(scope, tier, below=True)
        left = {
            (one, own_ids(one, writer))
            for writer in writers
            for one in MemoryTier
            if any(found.tier is one for found in store.enumerate(writer))
        }
        assert left == written - (expected or set())
        lost = written & (expected or set())
        assert (result.error is None) == (expected is not None)
        assert (result.scopes_deleted, result.concepts_deleted) == (len(lost), len(lost))
        assert result.tiers_deleted == len({one for one, _ in lost})


def test_files_beside_the_scopes_below_are_forgotten_and_no_link_is_followed(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    outside = write_tree(tmp_path / "outside", {"a.md": "a", "alice/1/b.md": "b"})
    for tier in MemoryTier:
        wrote(store, ALICE, tier, "a word")
    for level in (place(tmp_path, SESSION, ALICE).parent.parent, place(tmp_path, SESSION, ALICE).parent):
        write_tree(level, {"notes.md": "x", ".hidden/x.md": "x", MARK: ""})
        (level / os.fsdecode(b"\xff")).mkdir()
        (level / os.fsdecode(b"\xff") / "x").write_text("x", encoding="utf-8")
        (level / "linked").symlink_to(outside)
        (level / "file.md").symlink_to(outside / "a.md")
    result = store.delete_scope(ACME, below=True)
    assert (result.tiers_deleted, result.error) == (3, None)
    assert files_in(tmp_path) == []
    assert [path.read_text("utf-8") for path in sorted(outside.rglob("*.md"))] == ["a", "b"]


@pytest.mark.parametrize("level", [1, 2])
def test_a_link_on_the_path_to_the_scopes_below_is_refused(
    store: FileMemoryStore, tmp_path: Path, level: int
) -> None:
    wrote(store, ALICE, SESSION, "a word")
    wrote(store, ALICE, USER, "a word")
    path = Path(*memory_path(SESSION, ALICE).split("/")[:level])
    (tmp_path / ROOTS[SESSION] / path).rename(tmp_path / "moved")
    (tmp_path / ROOTS[SESSION] / path).symlink_to(tmp_path / "moved")
    result = store.delete_scope(ACME, below=True)
    assert (result.tiers_deleted, result.concepts_deleted) == (1, 1)
    link = "is a link; no memory is read, written or deleted through one"
    assert result.error == f'memory:session: "{path}" {link}'
    assert len([*(tmp_path / "moved").rglob("*.md")]) == 1


def test_a_failure_to_forget_is_reported_and_the_rest_is_forgotten(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        with open_memories(directory) as catalog:
            store = FileMemoryStore(catalog)
            for scope in (ALICE, BOB):
                for tier in MemoryTier:
                    wrote(store, scope, tier, "a word")
            for path in directory.rglob("*"):
                path.chmod(0o777 if path.is_dir() else 0o666)
            closed = place(directory, SESSION, ALICE)
            (closed / MARK).touch()
            closed.chmod(0o555)
            result = without_privileges(lambda: store.delete_scope(ACME, below=True))
            assert (result.tiers_deleted, result.concepts_deleted, result.scopes_deleted) == (2, 4, 4)
            assert result.error == (
                f'memory:session: "{memory_path(SESSION, ALICE)}" cannot be deleted: permission denied'
            )
            assert files_in(directory) == [f"{ROOTS[SESSION]}/{memory_path(SESSION, ALICE)}/monday.md"]
            closed.chmod(0o777)
            assert without_privileges(lambda: store.delete_scope(ACME, below=True)) == gone(1, 1)
            assert files_in(directory) == []


def test_many_failures_are_counted(store: FileMemoryStore, tmp_path: Path) -> None:
    """Failures of different kinds are counted together."""
    sessions = [KnowledgeAccessScope("acme", "alice", str(number)) for number in range(30)]
    for scope in sessions:
        wrote(store, scope, SESSION, "a word")
        # Nested deeper than the limit of deletion.
        deep = place(tmp_path, SESSION, scope) / "/".join(["d"] * 200)
        deep.mkdir(parents=True)
    result = store.delete_scope(USER_ALICE, below=True)
    assert (result.tiers_deleted, result.scopes_deleted) == (0, 0)
    assert result.error is not None
    assert result.error.count("directories are nested deeper than") == 10
    assert result.error.endswith("; and 20 more could not be deleted")


# Markers, mounts, concurrent writers


def marks(directory: Path) -> set[Path]:
    return {path.parent for path in (directory / "memories").rglob(MARK)}


def mark_all(directory: Path) -> None:
    for root in ROOTS.values():
        for path in (directory / root).rglob("*"):
            if path.is_dir():
                (path / MARK).touch()


def test_forgetting_removes_markers_with_their_directories(store: FileMemoryStore, tmp_path: Path) -> None:
    for tier in MemoryTier:
        wrote(store, ALICE, tier, "a word")
    (tmp_path / ALICES_DIRECTORY / "deeper").mkdir()
    mark_all(tmp_path)
    assert store.delete_scope(ACME, below=True) == gone(3, 3)
    assert files_in(tmp_path) == []
    assert {path.name for path in marks(tmp_path)} == {f"memory-{tier.value}" for tier in MemoryTier}


@pytest.mark.parametrize("bound", [True, False])
def test_a_mounted_directory_is_kept_and_stays_marked(
    store: FileMemoryStore, tmp_path: Path, *, bound: bool
) -> None:
    """Also a directory of the same file system, whose device number does not show that it is mounted."""
    wrote(store, ALICE, USER, "a word")
    inner = tmp_path / ALICES_DIRECTORY / "deeper" / "inner"
    inner.mkdir(parents=True)
    kept = tmp_path / "kept"
    kept.mkdir()
    mark_all(tmp_path)
    before = marks(tmp_path)
    what = ["--bind", str(kept)] if bound else ["-t", "tmpfs", "tmpfs"]
    if subprocess.run(["mount", *what, inner], capture_output=True, check=False).returncode:
        pytest.skip("only some may mount")
    try:
        (inner / "kept.md").write_text("kept", encoding="utf-8")
        for scope, below in ((USER_ALICE, False), (ACME, True)):
            result = store.delete_scope(scope, USER, below=below)
            assert (result.tiers_deleted, result.scopes_deleted) == (0, 0)
            assert "something is mounted inside" in (result.error or "")
        assert (inner / "kept.md").read_text("utf-8") == "kept"
        assert before - {inner} <= marks(tmp_path)
    finally:
        subprocess.run(["umount", inner], check=True)
    assert store.delete_scope(ACME, below=True).error is None
    assert files_in(tmp_path) == []


def test_a_directory_mounted_among_the_scopes_below_is_kept(store: FileMemoryStore, tmp_path: Path) -> None:
    for scope in (ALICE, BOB):
        wrote(store, scope, SESSION, "a word")
    kept = write_tree(tmp_path / "kept", {"kept.md": "kept"})
    inner = place(tmp_path, SESSION, KnowledgeAccessScope("acme", "carol", "1"))
    inner.mkdir(parents=True)
    if subprocess.run(["mount", "--bind", kept, inner], capture_output=True, check=False).returncode:
        pytest.skip("only some may mount")
    try:
        result = store.delete_scope(ACME, below=True)
        assert (result.tiers_deleted, result.scopes_deleted) == (0, 2)
        assert "something is mounted inside" in (result.error or "")
        assert (inner / "kept.md").read_text("utf-8") == "kept"
    finally:
        subprocess.run(["umount", inner], check=True)


def test_forgetting_waits_for_a_writer_in_a_scope_below(store: FileMemoryStore, tmp_path: Path) -> None:
    for scope in (ALICE, BOB):
        wrote(store, scope, SESSION, "a word")
    results = list[MemoryDeleteResult]()
    forgetting = threading.Thread(target=lambda: results.append(store.delete_scope(ACME, below=True)))
    with locked(place(tmp_path, SESSION, ALICE)):
        forgetting.start()
        forgetting.join(0.1)
        assert forgetting.is_alive()
        assert (place(tmp_path, SESSION, ALICE) / "monday.md").exists()
    forgetting.join(30)
    assert results == [gone(1, 2, scopes=2)]


def test_concurrent_writers_below_and_forgetting_never_fail(store: FileMemoryStore, tmp_path: Path) -> None:
    """A directory on the path of a writer can be deleted while it is entered; the writer makes it again."""
    errors = list[str | None]()
    done = threading.Event()

    def write(who: Iterable[KnowledgeAccessScope]) -> None:
        for number in range(100):
            for scope in who:
                errors.append(store.write(scope, entry(f"word {number}"), SESSION).error)

    def forget(scope: KnowledgeAccessScope) -> None:
        while not done.is_set():
            error = store.delete_scope(scope, below=True).error
            # A writer can win the race each time.
            if error is None or "written to again and again" not in error:
                errors.append(error)

    writers = [
        threading.Thread(target=write, args=([KnowledgeAccessScope("acme", user, "1"), ALICE],))
        for user in ("alice", "bob", "carol")
    ]
    forgetters = [threading.Thread(target=forget, args=(scope,)) for scope in (ACME, USER_ALICE)]
    for thread in (*writers, *forgetters):
        thread.start()
    for writer in writers:
        writer.join()
    done.set()
    for forgetter in forgetters:
        forgetter.join()
    assert {*errors} == {None}
    wrote(store, ALICE, SESSION, "a last word")
    assert store.delete_scope(ACME, below=True).error is None
    assert files_in(tmp_path) == []
