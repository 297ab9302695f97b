"""Links and odd files on the path of a memory are refused (Y6); errors of the system are results (Y9)."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making.bundles import write_tree
from making.memory import (
    ALICE,
    ALICES_DIRECTORY,
    BELOW,
    BOB,
    MARK,
    ROOTS,
    USER,
    entry,
    gone,
    open_memories,
    reads,
    wrote,
)
from making.processes import fork, in_child, without_privileges
from okf_catalog import (
    FileMemoryStore,
    KnowledgeDiagnosticCode,
    MemoryDeleteResult,
    MemoryWriteResult,
    memory_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LEVELS = list(itertools.accumulate([ROOTS[USER], *BELOW.split("/")], lambda above, part: f"{above}/{part}"))
"""Every directory from the memory root down to Alice's."""
FILE = f"{ALICES_DIRECTORY}/monday.md"
TEMPORARY = ".okf-catalog.tmp"


def contents(directory: Path) -> dict[str, bytes]:
    """Every regular file below a directory, without marker files."""
    files = (
        path
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != MARK
    )
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def refused(store: FileMemoryStore, directory: Path, *, delete: bool = True) -> list[str]:
    """The reasons why nothing is read, written or deleted; none of them holds the path of the catalog."""
    result = store.read(ALICE, "word")
    assert [*result.passages] == []
    assert {(one.code, one.source_id) for one in result.diagnostics} == {
        (KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "memory:user")
    }
    reasons = [one.message for one in result.diagnostics]
    assert store.enumerate(ALICE) == ()
    for name in ("monday", "tuesday") if delete else ("monday",):
        written = store.write(ALICE, entry("new", name), USER)
        assert not written.written
        assert written.error is not None
        reasons.append(written.error)
    if delete:
        for tier in (USER, None):
            deleted = store.delete_scope(ALICE, tier)
            assert deleted.tiers_deleted == 0
            assert deleted.error is not None
            reasons.append(deleted.error)
    assert not [reason for reason in reasons if str(directory) in reason]
    return reasons


# Links, and wrong kinds of files


@pytest.mark.parametrize("level", LEVELS, ids=range(len(LEVELS)))
def test_a_link_on_the_path_to_a_memory_is_refused(
    store: FileMemoryStore, tmp_path: Path, level: str
) -> None:
    wrote(store, ALICE, USER, "a word")
    moved = tmp_path / "moved"
    (tmp_path / level).rename(moved)
    (tmp_path / level).symlink_to(moved)
    before = contents(moved)
    assert all("link" in reason for reason in refused(store, tmp_path))
    assert contents(moved) == before != {}
    (tmp_path / level).unlink()
    moved.rename(tmp_path / level)
    assert reads(store, ALICE) == [("memory:user", "a word")]


@pytest.mark.parametrize("level", LEVELS[1:], ids=range(1, len(LEVELS)))
@pytest.mark.parametrize("target", ["nowhere", "memories", "/etc", "."])
def test_a_memory_that_is_a_link_to_anything_is_refused(
    store: FileMemoryStore, tmp_path: Path, level: str, target: str
) -> None:
    (tmp_path / level).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / level).symlink_to(target)
    assert all("is a link" in reason for reason in refused(store, tmp_path))
    assert (tmp_path / level).is_symlink()


@pytest.mark.parametrize("level", LEVELS[1:], ids=range(1, len(LEVELS)))
def test_a_file_in_place_of_a_directory_is_refused(
    store: FileMemoryStore, tmp_path: Path, level: str
) -> None:
    (tmp_path / level).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / level).write_bytes(b"old")
    assert all("is not a directory" in reason for reason in refused(store, tmp_path))
    assert (tmp_path / level).read_bytes() == b"old"


@pytest.mark.parametrize(
    "target", ["{0}/moved.md", "{0}/" + ALICES_DIRECTORY + "/kept.md", "kept.md", "nowhere", "{0}/docs"]
)
def test_a_concept_that_is_a_link_is_refused(store: FileMemoryStore, tmp_path: Path, target: str) -> None:
    """Even a link to another memory of the same scope."""
    write_tree(tmp_path, {"moved.md": "a word", f"{ALICES_DIRECTORY}/kept.md": "kept"})
    (tmp_path / FILE).symlink_to(target.format(tmp_path))
    before = contents(tmp_path)
    result = store.read(ALICE, "word kept")
    assert [passage.excerpt for passage in result.passages] == ["kept"]
    (diagnostic,) = result.diagnostics
    assert diagnostic.source_id == "memory:user"
    assert f"{BELOW}/monday.md" in diagnostic.message
    assert "link" in diagnostic.message
    written = store.write(ALICE, entry(), USER)
    assert not written.written
    assert f'"{BELOW}/monday.md" is a link' in (written.error or "")
    assert [concept.concept_id for concept in store.enumerate(ALICE)] == [f"{BELOW}/kept"]
    assert contents(tmp_path) == before
    assert (tmp_path / FILE).is_symlink()


def test_a_concept_that_is_no_regular_file_is_refused(store: FileMemoryStore, tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir(parents=True)
    assert "is not a regular file" in (store.write(ALICE, entry(), USER).error or "")
    # By now it has a marker, like every directory among memories.
    shutil.rmtree(tmp_path / FILE)
    os.mkfifo(tmp_path / FILE)
    assert "is not a regular file" in (store.write(ALICE, entry(), USER).error or "")
    (diagnostic,) = store.read(ALICE, "word").diagnostics
    assert diagnostic.message == f'"{BELOW}/monday.md" is left out: it is not a regular file'


def test_deleting_follows_no_link(store: FileMemoryStore, tmp_path: Path) -> None:
    outside = write_tree(tmp_path / "outside", {"a.md": "a", "b/c.md": "c"})
    wrote(store, ALICE, USER, "a word")
    wrote(store, BOB, USER, "a word")
    write_tree(tmp_path / ALICES_DIRECTORY, {"a/b/c.md": "c", ".hidden/x": "x", "notes.txt": "x"})
    for name, target in (
        ("link.md", outside / "a.md"),
        ("a/link", outside),
        ("bob", tmp_path / ROOTS[USER] / memory_path(USER, BOB)),
        ("nowhere", tmp_path / "nowhere"),
        ("up", Path("..")),
    ):
        (tmp_path / ALICES_DIRECTORY / name).symlink_to(target)
    (tmp_path / ALICES_DIRECTORY / os.fsdecode(b"\xff")).mkdir()
    # Files that are no concepts are deleted too, and not counted.
    assert store.delete_scope(ALICE) == gone(1, 2)
    assert not (tmp_path / ALICES_DIRECTORY).exists()
    assert contents(outside) == {"a.md": b"a", "b/c.md": b"c"}
    assert reads(store, BOB) == [("memory:user", "a word")]


def test_deleting_keeps_mounted_directories(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    inner = tmp_path / ALICES_DIRECTORY / "inner"
    inner.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", inner], capture_output=True, check=False).returncode:
        pytest.skip("only some may mount")
    try:
        (inner / "kept.md").write_text("kept", encoding="utf-8")
        result = store.delete_scope(ALICE)
        assert result.tiers_deleted == 0
        assert "something is mounted inside" in (result.error or "")
        assert (inner / "kept.md").read_text("utf-8") == "kept"
    finally:
        subprocess.run(["umount", inner], check=True)
    assert store.delete_scope(ALICE).tiers_deleted == 1


def test_a_missing_memory_root_is_an_error_and_not_created(store: FileMemoryStore, tmp_path: Path) -> None:
    (tmp_path / ROOTS[USER]).rmdir()
    reasons = refused(store, tmp_path)
    assert all("does not exist below the catalog root" in reason for reason in reasons)
    assert not (tmp_path / ROOTS[USER]).exists()


def test_a_missing_tier_does_not_hide_the_others(store: FileMemoryStore, tmp_path: Path) -> None:
    for tier in ROOTS:
        wrote(store, ALICE, tier, f"word {tier.value}")
    shutil.rmtree(tmp_path / ALICES_DIRECTORY)
    (tmp_path / ALICES_DIRECTORY).symlink_to(tmp_path)
    result = store.read(ALICE, "word")
    assert [passage.source_id for passage in result.passages] == ["memory:session", "memory:tenant"]
    assert [one.source_id for one in result.diagnostics] == ["memory:user"]
    assert len(store.enumerate(ALICE)) == 2
    deleted = store.delete_scope(ALICE)
    assert deleted.tiers_deleted == 2
    assert deleted.error is not None
    assert deleted.error.startswith("memory:user: ")


def test_links_that_appear_during_a_write_are_never_followed(store: FileMemoryStore, tmp_path: Path) -> None:
    """Links replace directories while memories are written and deleted; no file outside is touched."""
    outside = tmp_path / "outside"
    write_tree(outside, {"monday.md": "old", "x/y.md": "old"})
    scope, aside = tmp_path / ALICES_DIRECTORY, tmp_path / "aside"
    wrote(store, ALICE, USER, "a word")

    def swap(_: int) -> None:
        while True:
            with suppress(OSError):
                scope.rename(aside)
            with suppress(OSError):
                scope.symlink_to(outside)
            with suppress(OSError):
                scope.unlink()
            with suppress(OSError):
                aside.rename(scope)

    child, reading = fork(swap)
    try:
        outcomes = set[bool]()
        for n in range(300):
            outcomes.add(store.write(ALICE, entry(f"word {n}"), USER).written)
            assert {passage.excerpt for passage in store.read(ALICE, "old").passages} == set()
            if n % 10 == 0:
                store.delete_scope(ALICE)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert contents(outside) == {"monday.md": b"old", "x/y.md": b"old"}
    assert True in outcomes


# The disk


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every user can enter, unlike the temporary directories of pytest."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        yield directory


def make_anybodys(directory: Path) -> None:
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)


def test_a_read_only_directory_is_an_error(open_directory: Path) -> None:
    with open_memories(open_directory) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word")
        make_anybodys(open_directory)
        before = contents(open_directory)
        for level, act in (
            (ALICES_DIRECTORY, lambda: store.write(ALICE, entry("more"), USER)),
            (ALICES_DIRECTORY, lambda: store.write(ALICE, entry("more", "tuesday"), USER)),
            (LEVELS[2], lambda: store.write(BOB, entry(), USER)),
            (ALICES_DIRECTORY, lambda: store.delete_scope(ALICE)),
        ):
            (open_directory / level).chmod(0o555)
            result = without_privileges(act)
            assert "permission denied" in result.error
            assert str(open_directory) not in result.error
            assert result in (
                MemoryWriteResult(written=False, error=result.error),
                MemoryDeleteResult(0, result.error),
            )
            assert without_privileges(lambda: reads(store, ALICE)) == [("memory:user", "a word")]
            assert contents(open_directory) == before
            (open_directory / level).chmod(0o777)


def test_a_directory_that_cannot_be_entered_is_refused(open_directory: Path) -> None:
    with open_memories(open_directory) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word")
        make_anybodys(open_directory)
        for level in LEVELS[1:]:
            (open_directory / level).chmod(0)
            reasons = without_privileges(lambda: refused(store, open_directory))
            assert all("permission denied" in reason for reason in reasons)
            (open_directory / level).chmod(0o777)
        assert without_privileges(lambda: reads(store, ALICE)) == [("memory:user", "a word")]


def test_a_file_size_limit_is_an_error(store: FileMemoryStore, tmp_path: Path) -> None:
    """The limit on the size of a file stands in for a full disk; it applies to root too."""
    wrote(store, ALICE, USER, "a word" * 500)
    before = contents(tmp_path)

    def act() -> object:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        appended = store.write(ALICE, entry("x" * 8192), USER)
        created = store.write(BOB, entry("x" * 8192), USER)
        return appended, created, len(store.read(ALICE, "word").passages)

    appended, created, found = in_child(act)
    for result in (appended, created):
        assert not result.written
        assert '/monday.md" cannot be written: file too large' in result.error
        assert str(tmp_path) not in result.error
    assert found == 1
    assert contents(tmp_path) == before


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only some may mount")
    try:
        with open_memories(tmp_path) as catalog:
            store = FileMemoryStore(catalog)
            sections = list[str]()
            for n in range(1000):
                section = f"word {n} {'x' * 9000} end"
                result = store.write(ALICE, entry(section), USER)
                if not result.written:
                    assert "no space left" in (result.error or "")
                    break
                sections.append(section)
            assert sections
            assert store.text(ALICE, f"{BELOW}/monday") == "\n\n".join(sections)
            assert {path.name for path in (tmp_path / ALICES_DIRECTORY).iterdir()} == {"monday.md", MARK}
            assert store.delete_scope(ALICE) == gone(1, 1)
            wrote(store, ALICE, USER, "a word")
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_read_only_file_system_is_an_error(tmp_path: Path) -> None:
    if subprocess.run(
        ["mount", "-t", "tmpfs", "tmpfs", tmp_path], capture_output=True, check=False
    ).returncode:
        pytest.skip("only some may mount")
    try:
        with open_memories(tmp_path) as catalog:
            store = FileMemoryStore(catalog)
            wrote(store, ALICE, USER, "a word")
            before = contents(tmp_path)
            subprocess.run(["mount", "-o", "remount,ro", tmp_path], check=True)
            for scope in (ALICE, BOB):
                result = store.write(scope, entry(), USER)
                assert not result.written
                assert "read-only file" in (result.error or "")
            assert "read-only file" in (store.delete_scope(ALICE).error or "")
            assert reads(store, ALICE) == [("memory:user", "a word")]
            assert contents(tmp_path) == before
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("plant", ["file", "link", "directory"])
def test_anything_at_the_path_of_the_temporary_file_does_no_harm(
    store: FileMemoryStore, tmp_path: Path, plant: str
) -> None:
    wrote(store, ALICE, USER, "a word")
    (tmp_path / "outside").write_bytes(b"outside")
    planted = tmp_path / ALICES_DIRECTORY / TEMPORARY
    plants: dict[str, Callable[[], object]] = {
        "file": lambda: planted.write_bytes(b"left by a killed writer"),
        "link": lambda: planted.symlink_to(tmp_path / "outside"),
        "directory": planted.mkdir,
    }
    plants[plant]()
    result = store.write(ALICE, entry("more"), USER)
    assert (tmp_path / "outside").read_bytes() == b"outside"
    assert result.written == (plant != "directory")
    assert result.written == (not planted.exists())
    assert reads(store, ALICE) == [("memory:user", "a word")]


def test_out_of_descriptors_is_an_error(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word")

    def act() -> object:
        taken = list[int]()
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        written = store.write(ALICE, entry("more"), USER)
        told = store.read(ALICE, "word").diagnostics, store.enumerate(ALICE).diagnostics
        deleted = [
            store.delete_scope(ALICE),
            store.delete_scope(ALICE, below=True),
            store.delete(ALICE, USER, "monday"),
        ]
        text = store.text(ALICE, f"{BELOW}/monday")
        for descriptor in taken:
            os.close(descriptor)
        return written, told, deleted, text, reads(store, ALICE)

    def with_few() -> object:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        return act()

    written, told, deleted, text, after = in_child(with_few)
    assert not written.written
    assert "too many open files" in written.error
    assert [len(diagnostics) for diagnostics in told] == [3, 3]
    assert {one.message.partition(" is unavailable: ")[1] for one in told[1]} == {" is unavailable: "}
    for result in deleted:
        assert result == MemoryDeleteResult(0, result.error)
        assert result.error is not None
    assert text is None
    assert after == [("memory:user", "a word")]
