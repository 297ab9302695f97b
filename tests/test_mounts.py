"""One directory, mounted at several paths: a mount inside one of them is not visible in the others."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import names
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.leaks import mount
from making.memory import ALICE, BOB, MARK, SESSION, USER, entry, memory_source
from making.processes import in_child
from okf_catalog import (
    ChatMessage,
    FileKnowledgeCatalog,
    FileMemoryStore,
    Freshness,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MemoryOverlapError,
    memory_path,
    open_knowledge,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STAFF = "zanzibar"
"""Occurs only in the directory that is mounted inside the staff's."""
ALL = "harbour"
"""Occurs in every file."""
SOURCES: list[dict[str, Any]] = [{"id": "staff", "path": "staff"}, {"id": "public", "path": "public"}]
STRATEGIES = sorted(strategy.value for strategy in KnowledgeResolverStrategy)


@pytest.fixture
def mounts() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def bind(mounts: ExitStack, source: Path, place: Path) -> None:
    if not mounts.enter_context(mount(source, place)):
        pytest.skip("only some may mount")


@pytest.fixture
def volume(tmp_path: Path, mounts: ExitStack) -> Path:
    """The manifest of a catalog in which two sources are one volume, mounted twice; inside the mount of the
    staff, another is mounted."""
    write_tree(tmp_path, {"vol/a.md": ALL, "vol2/s.md": f"{ALL} {STAFF}"})
    (tmp_path / "vol" / "internal").mkdir()
    bind(mounts, tmp_path / "vol", tmp_path / "staff")
    bind(mounts, tmp_path / "vol", tmp_path / "public")
    bind(mounts, tmp_path / "vol2", tmp_path / "staff" / "internal")
    assert [*(tmp_path / "public" / "internal").iterdir()] == []
    return write_manifest(tmp_path, SOURCES)


def found(catalog: FileKnowledgeCatalog, sources: set[str], strategy: str = "grouped_by_source") -> list[str]:
    query = KnowledgeQuery(
        ALL, permitted_source_ids=sources, resolver_strategy=KnowledgeResolverStrategy(strategy)
    )
    return names(KnowledgeResolverRouter(catalog).search(query))


@pytest.mark.parametrize("freshness", [Freshness.EXACT, Freshness.manual()], ids=["exact", "manual"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_source_serves_what_its_own_mount_shows(
    volume: Path, strategy: str, freshness: Freshness
) -> None:
    staff, public = {"staff/a", "staff/internal/s"}, {"public/a"}
    for order in (("staff", "public"), ("public", "staff")):
        with FileKnowledgeCatalog(volume, watch_for_changes=False, freshness=freshness) as catalog:
            for _ in range(3):
                for source in order:
                    expected = staff if source == "staff" else public
                    assert set(found(catalog, {source}, strategy)) == expected
            # Both sources are read within one call.
            catalog.refresh()
            queries = [KnowledgeQuery(ALL, permitted_source_ids={one}) for one in order]
            contexts = KnowledgeResolverRouter(catalog).search_batch(queries)
            for source, context in zip(order, contexts, strict=True):
                expected = staff if source == "staff" else public
                assert set(names(context)) == expected
            reported = {report.source.id: report.concepts for report in catalog.report().sources}
            assert reported == {"staff": 2, "public": 1}
            # A forked process uses what its parent has read.
            assert in_child(lambda: [found(catalog, {one}, strategy) for one in ("public", "staff")]) == [
                ["public/a"],
                found(catalog, {"staff"}, strategy),
            ]


@pytest.mark.parametrize("first", ["staff", "public"])
def test_the_first_source_of_a_directory_answers_with_what_its_mount_shows(volume: Path, first: str) -> None:
    """R4: the directory is the same; the first in order S1 survives, with what it has."""
    write_manifest(volume.parent, [source | {"priority": int(source["id"] == first)} for source in SOURCES])
    expected = {"staff/a", "staff/internal/s"} if first == "staff" else {"public/a"}
    with FileKnowledgeCatalog(volume, watch_for_changes=False) as catalog:
        for _ in range(2):
            assert set(found(catalog, {"staff", "public"}, "merged")) == expected
            assert set(found(catalog, {"staff", "public"})) == {"staff/a", "staff/internal/s", "public/a"}
            for sources in ({"staff"}, {"public"}):
                found(catalog, sources, "merged")


def test_a_customer_is_given_nothing_that_only_the_mount_of_the_staff_shows(volume: Path) -> None:
    def sees(scope: Any, source: Any) -> bool:
        return bool(source.id == ("staff" if scope.tenant_id == "staff" else "public"))

    for _ in range(5):
        with open_knowledge(volume, default_source_visibility_policy=sees) as knowledge:
            staff = KnowledgeAccessScope("staff")
            assert knowledge.search(KnowledgeQuery(STAFF, scope=staff)).passages
            customer = KnowledgeContextProvider(
                knowledge, scope_accessor=lambda: KnowledgeAccessScope("customer")
            )
            assert customer.provide([ChatMessage("user", STAFF)]).messages == ()


def test_a_mount_while_a_catalog_is_open_changes_its_own_source_only(
    tmp_path: Path, mounts: ExitStack
) -> None:
    write_tree(tmp_path, {"staff/a.md": ALL, "vol2/s.md": f"{ALL} {STAFF}"})
    (tmp_path / "staff" / "internal").mkdir()
    bind(mounts, tmp_path / "staff", tmp_path / "public")
    with FileKnowledgeCatalog(write_manifest(tmp_path, SOURCES), watch_for_changes=False) as catalog:
        for _ in range(2):
            assert found(catalog, {"staff"}) == ["staff/a"]
            assert found(catalog, {"public"}) == ["public/a"]
            with mount(tmp_path / "vol2", tmp_path / "staff" / "internal"):
                assert found(catalog, {"public"}) == ["public/a"]
                assert found(catalog, {"staff"}) == ["staff/a", "staff/internal/s"]
                assert found(catalog, {"public"}) == ["public/a"]
                # Another mount of the same directory in the same place.
                with mount(tmp_path / "public", tmp_path / "staff"):
                    assert found(catalog, {"staff"}) == ["staff/a"]
                assert found(catalog, {"staff"}) == ["staff/a", "staff/internal/s"]


def test_sources_of_one_directory_in_one_mount_share_what_is_read(tmp_path: Path) -> None:
    write_tree(tmp_path, {"kb/a.md": ALL})
    read = list[str]()
    manifest = write_manifest(tmp_path, [{"id": "one", "path": "kb"}, {"id": "two", "path": "./kb/"}])
    with FileKnowledgeCatalog(
        manifest, watch_for_changes=False, on_progress=lambda source, _done, _all: read.append(source)
    ) as catalog:
        assert found(catalog, {"one", "two"}) == ["one/a", "two/a"]
        os.utime(tmp_path / "kb" / "a.md")
        assert found(catalog, {"one", "two"}, "merged") == ["one/a"]
    assert set(read) <= {"one"}


# Mounts among memories


@pytest.fixture
def diary_catalog(tmp_path: Path) -> Iterator[FileKnowledgeCatalog]:
    for name in ("kb", "diary", "other"):
        (tmp_path / name).mkdir()
    manifest = write_manifest(tmp_path, [KB, DIARY])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        yield catalog


@pytest.fixture
def diary(diary_catalog: FileKnowledgeCatalog) -> FileMemoryStore:
    store = FileMemoryStore(diary_catalog)
    for scope, text in ((ALICE, "alice"), (BOB, "bob")):
        assert store.write(scope, entry(f"{ALL} {text}"), USER).written
    return store


KB = {"id": "kb", "path": "kb"}
DIARY = memory_source(USER, "diary-user", "diary")
OTHER = memory_source(SESSION, "diary-session", "other")
A, B = (f"diary/{memory_path(USER, scope)}" for scope in (ALICE, BOB))


def remembered(store: FileMemoryStore, scope: KnowledgeAccessScope) -> list[str]:
    return sorted(passage.excerpt for passage in store.read(scope, ALL).passages)


@pytest.mark.parametrize("inner", ["x", "x/y"])
@pytest.mark.parametrize("what", [B, "kb", "other"])
def test_a_directory_mounted_inside_a_scope_is_no_memory_of_it(
    diary: FileMemoryStore, tmp_path: Path, mounts: ExitStack, what: str, inner: str
) -> None:
    write_tree(tmp_path, {"kb/n.md": f"{ALL} knowledge", "other/n.md": f"{ALL} elsewhere"})
    (tmp_path / A / inner).mkdir(parents=True)
    bind(mounts, tmp_path / what, tmp_path / A / inner)
    files = sorted(str(path.relative_to(tmp_path / what)) for path in (tmp_path / what).rglob("*"))
    for _ in range(2):
        result = diary.read(ALICE, ALL)
        assert [passage.excerpt for passage in result.passages] == [f"{ALL} alice"]
        [diagnostic] = result.diagnostics
        assert "something is mounted there" in diagnostic.message
        assert f"/{inner}" in diagnostic.message
        listed = diary.enumerate(ALICE)
        assert len(listed) == 1
        assert "something is mounted there" in listed.diagnostics[0].message
    assert diary.write(ALICE, entry("more"), USER).written
    deleted = diary.delete(ALICE, USER, f"{inner}/{'n' if what != B else 'monday'}")
    assert deleted.concepts_deleted == 0
    assert "something is mounted" in (deleted.error or "")
    for below in (False, True):
        deleted = diary.delete_scope(KnowledgeAccessScope("acme", "alice"), USER, below=below)
        assert deleted.tiers_deleted == 0
        assert "something is mounted inside" in (deleted.error or "")
    assert files == sorted(str(path.relative_to(tmp_path / what)) for path in (tmp_path / what).rglob("*"))
    assert remembered(diary, BOB) == [f"{ALL} bob"]


def test_a_file_mounted_inside_a_scope_is_no_memory_of_it(
    diary: FileMemoryStore, tmp_path: Path, mounts: ExitStack
) -> None:
    (tmp_path / A / "other.md").write_text(f"{ALL} own")
    assert remembered(diary, ALICE) == [f"{ALL} alice", f"{ALL} own"]
    done = subprocess.run(
        ["mount", "--bind", tmp_path / B / "monday.md", tmp_path / A / "other.md"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("only some may mount")
    try:
        result = diary.read(ALICE, ALL)
        assert [passage.excerpt for passage in result.passages] == [f"{ALL} alice"]
        assert "something is mounted there" in result.diagnostics[0].message
    finally:
        subprocess.run(["umount", tmp_path / A / "other.md"], check=True)
    assert remembered(diary, ALICE) == [f"{ALL} alice", f"{ALL} own"]


def test_a_tier_can_be_a_mounted_volume(diary: FileMemoryStore, tmp_path: Path, mounts: ExitStack) -> None:
    (tmp_path / "volume").mkdir()
    bind(mounts, tmp_path / "volume", tmp_path / "diary" / "memory-user")
    assert remembered(diary, ALICE) == []
    assert diary.write(ALICE, entry(f"{ALL} there"), USER).written
    assert diary.read(ALICE, ALL).diagnostics == ()
    assert remembered(diary, ALICE) == [f"{ALL} there"]
    assert diary.delete_scope(ALICE, USER).tiers_deleted == 1


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("at", [A, A.rpartition("/")[0], "diary/memory-user"])
def test_a_memory_source_among_the_memories_of_another_is_refused(
    diary_catalog: FileKnowledgeCatalog,
    diary: FileMemoryStore,
    tmp_path: Path,
    mounts: ExitStack,
    at: str,
    *,
    named: bool,
) -> None:
    bind(mounts, tmp_path / at, tmp_path / "other")
    sources = [KB, *([DIARY] if named else []), OTHER]
    manifest = write_manifest(tmp_path, sources)
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        with pytest.raises(MemoryOverlapError, match=r"diary-session") as refused:
            FileMemoryStore(catalog)
        by_name = named and at == "diary/memory-user"
        expected = ("diary-user" if by_name else "diary-session", "diary-session")
        assert (refused.value.memory_source_id, refused.value.other_source_id) == expected
        assert str(tmp_path) not in str(refused.value)
    # The results of a running store name no source.
    diary_catalog.reload()
    session = KnowledgeAccessScope("acme", "bob", "s1")
    result = diary.write(session, entry("a word"), SESSION)
    assert not result.written
    assert "diary" not in (result.error or "")
    assert diary.read(session, ALL).passages == ()
    assert all("diary" not in diagnostic.message for diagnostic in diary.read(session, ALL).diagnostics)


def test_a_memory_source_that_is_mounted_among_memories_is_not_used(
    diary_catalog: FileKnowledgeCatalog, diary: FileMemoryStore, tmp_path: Path, mounts: ExitStack
) -> None:
    write_manifest(tmp_path, [KB, DIARY, OTHER])
    diary_catalog.reload()
    session = KnowledgeAccessScope("acme", "bob", "s1")
    assert diary.write(session, entry(f"{ALL} session"), SESSION).written
    bind(mounts, tmp_path / A, tmp_path / "other")
    result = diary.write(session, entry("a word"), SESSION)
    assert not result.written
    assert "lies among other memories" in (result.error or "")
    assert not [*(tmp_path / A).glob("memory-session")]
    [diagnostic] = diary.read(session, ALL).diagnostics
    assert "lies among other memories" in diagnostic.message
    assert "diary" not in diagnostic.message
    assert "lies among" in (diary.delete_scope(session, SESSION).error or "")
    mounts.close()
    assert remembered(diary, session) == [f"{ALL} bob", f"{ALL} session"]


# Directories above the catalog root


def test_a_catalog_root_that_a_mount_puts_below_a_marker_is_seen(tmp_path: Path, mounts: ExitStack) -> None:
    """The root is the same directory, but its parent is another one."""
    write_tree(tmp_path, {"here/root/kb/a.md": ALL, f"memories/{MARK}": ""})
    (tmp_path / "memories" / "here").mkdir()
    bind(mounts, tmp_path / "here", tmp_path / "memories" / "here")
    manifest = write_manifest(tmp_path / "here" / "root", [KB])
    way = tmp_path / "way"
    way.symlink_to("here")
    with FileKnowledgeCatalog(way / "root" / manifest.name, watch_for_changes=False) as catalog:
        for _ in range(3):
            for _ in range(3):
                assert found(catalog, {"kb"}) == ["kb/a"]
            way.unlink()
            way.symlink_to("memories/here")
            assert found(catalog, {"kb"}) == []
            way.unlink()
            way.symlink_to("here")


@pytest.mark.parametrize("many", [10, 2000, 20000])
def test_a_marker_is_seen_among_many_changes_above_the_catalog_root(tmp_path: Path, many: int) -> None:
    write_tree(tmp_path, {"root/kb/a.md": ALL})
    (tmp_path / "one").touch()
    with FileKnowledgeCatalog(write_manifest(tmp_path / "root", [KB]), watch_for_changes=False) as catalog:
        for _ in range(2):
            assert found(catalog, {"kb"}) == found(catalog, {"kb"}) == ["kb/a"]
            for at in range(many):
                (tmp_path / ("one" if at % 2 == 0 else "other")).rename(
                    tmp_path / ("other" if at % 2 == 0 else "one")
                )
            assert found(catalog, {"kb"}) == ["kb/a"]
            (tmp_path / MARK).touch()
            assert found(catalog, {"kb"}) == found(catalog, {"kb"}) == []
            (tmp_path / MARK).unlink()
