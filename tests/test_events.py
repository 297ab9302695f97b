"""Fresh by what the kernel tells (F1): every change that was complete before a search, at no cost."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making.catalogs import make_catalog
from okf_catalog import (
    CatalogError,
    FileKnowledgeCatalog,
    Freshness,
    GroupedKnowledgeResolver,
    KnowledgeDiagnosticCode,
    SourceReport,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux queues events in time")

FILES = {"a.md": "word one", "d/b.md": "word two", "d/e/c.md": "word three", "f/g.md": "word four"}


class Place:
    """A catalog that stays open, and whatever a new one says beside it."""

    def __init__(self, catalog: FileKnowledgeCatalog, root: Path) -> None:
        self.catalog = catalog
        self.root = root
        self.bundle = root / "kb"
        self.resolver = GroupedKnowledgeResolver(catalog)
        self.same()

    def found(self) -> list[tuple[str, str]]:
        passages = self.resolver.search("word other").passages
        return [(passage.concept_id, passage.excerpt) for passage in passages]

    def same(self) -> list[tuple[str, str]]:
        """What is found, which is what a new catalog finds too."""
        answer = self.resolver.search("word other")
        found = [(passage.concept_id, passage.excerpt) for passage in answer.passages]
        try:
            fresh = FileKnowledgeCatalog(self.root / "catalog.json", watch_for_changes=False)
        except CatalogError:
            assert [d.code for d in answer.diagnostics] == [KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE]
            return found
        with fresh:
            expected = GroupedKnowledgeResolver(fresh).search("word other")
            assert found == [(p.concept_id, p.excerpt) for p in expected.passages]
            assert [d.code for d in answer.diagnostics] == [d.code for d in expected.diagnostics]
            assert self.report().problems == fresh.report().sources[0].problems
        return found

    def report(self) -> SourceReport:
        return self.catalog.report().sources[0]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with make_catalog(tmp_path, {"kb": {"files": FILES}}) as catalog:
        yield Place(catalog, tmp_path)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def dated_back(path: Path) -> None:
    before = path.stat()
    write(path, "other")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - 3_600_000_000_000))


def become_directory(path: Path) -> None:
    path.unlink()
    write(path / "x.md", "word")


def replace(bundle: Path) -> None:
    bundle.rename(bundle.parent / "old")
    write(bundle / "n.md", "word")


def exchange(bundle: Path) -> None:
    write(bundle.parent / "old/n.md", "word")
    renamed_at = ctypes.CDLL(None, use_errno=True).renameat2
    exchanging = 2
    assert renamed_at(-100, bytes(bundle), -100, bytes(bundle.parent / "old"), exchanging) == 0


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit": lambda kb: write(kb / "d/b.md", "other"),
    "an edit of the same size": lambda kb: write(kb / "d/b.md", "word 2wo"),
    "an append": lambda kb: append(kb / "a.md", " other"),
    "a truncation": lambda kb: os.truncate(kb / "a.md", 2),
    "a new file": lambda kb: write(kb / "d/new.md", "word"),
    "a new directory": lambda kb: write(kb / "n/e/w.md", "word"),
    "a removed file": lambda kb: (kb / "d/b.md").unlink(),
    "a removed directory": lambda kb: shutil.rmtree(kb / "d"),
    "a renamed file": lambda kb: (kb / "d/b.md").rename(kb / "f/b.md"),
    "a replaced file": lambda kb: (kb / "d/b.md").rename(kb / "a.md"),
    "a renamed directory": lambda kb: (kb / "d").rename(kb / "z"),
    "a directory moved into another": lambda kb: (kb / "d").rename(kb / "f/d"),
    "a directory moved out": lambda kb: (kb / "d").rename(kb.parent / "out"),
    "two directories that change places": lambda kb: (
        (kb / "d").rename(kb / "x"),
        (kb / "f").rename(kb / "d"),
        (kb / "x").rename(kb / "f"),
    ),
    "a directory hidden by a dot": lambda kb: (kb / "d").rename(kb / ".d"),
    "a file that becomes a directory": lambda kb: become_directory(kb / "a.md"),
    "a link that comes": lambda kb: (kb / "link.md").symlink_to("a.md"),
    "a link out of the bundle": lambda kb: (kb / "link.md").symlink_to("/etc/passwd"),
    "the bundle replaced": replace,
    "the bundle and another directory that change places": exchange,
    "the bundle gone": lambda kb: kb.rename(kb.parent / "old"),
    "the bundle a link": lambda kb: kb.rename(kb.parent / "old").parent.joinpath("kb").symlink_to("old"),
    "the bundle a file": lambda kb: write(kb.rename(kb.parent / "old").parent / "kb", "word"),
    "an edit dated an hour back": lambda kb: dated_back(kb / "d/b.md"),
    "an edit by a second writer that never closed": lambda kb: os.write(
        os.open(kb / "a.md", os.O_WRONLY | os.O_APPEND), b" other"
    ),
    "a binary file": lambda kb: (kb / "a.md").write_bytes(b"word \0"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_by_the_next_search(place: Place, name: str) -> None:
    CHANGES[name](place.bundle)
    first = place.same()
    assert place.same() == first


def test_changes_inside_what_was_moved_are_seen(place: Place) -> None:
    (place.bundle / "d").rename(place.bundle / "f/d")
    place.same()
    write(place.bundle / "f/d/e/c.md", "other")
    assert ("f/d/e/c", "other") in place.same()
    shutil.rmtree(place.bundle / "f")
    assert place.same() == [("a", "word one")]


def test_a_file_edited_by_another_name_is_seen(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "word")
    (tmp_path / "kb").mkdir()
    os.link(tmp_path / "elsewhere", tmp_path / "kb/a.md")
    with make_catalog(tmp_path, {"kb": {}}) as catalog:
        place = Place(catalog, tmp_path)
        write(tmp_path / "elsewhere", "other")
        assert place.same() == [("a", "other")]


class Held:
    """A file of the bundle, and a descriptor that was opened by another name."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor


def opened(path: Path) -> int:
    return os.open(path, os.O_RDWR)


def linked_in_and_unlinked(kb: Path) -> Held:
    write(kb.parent / "out", "word")
    held = Held(kb / "t.md", opened(kb.parent / "out"))
    os.link(kb.parent / "out", held.path)
    (kb.parent / "out").unlink()
    return held


def linked_in(kb: Path) -> Held:
    write(kb.parent / "out", "word")
    os.link(kb.parent / "out", kb / "t.md")
    return Held(kb / "t.md", opened(kb.parent / "out"))


def linked_into_another_directory(kb: Path) -> Held:
    held = Held(kb / "d/t.md", opened(kb / "a.md"))
    os.link(kb / "a.md", held.path)
    (kb / "a.md").unlink()
    return held


def linked_out(kb: Path) -> Held:
    os.link(kb / "a.md", kb.parent / "out")
    return Held(kb / "a.md", opened(kb.parent / "out"))


def linked_out_and_moved(kb: Path) -> Held:
    held = Held(kb / "d/t.md", linked_out(kb).descriptor)
    (kb / "a.md").rename(held.path)
    return held


def out_and_back_into_another_directory(kb: Path) -> Held:
    held = Held(kb / "d/t.md", opened(kb / "a.md"))
    os.link(kb / "a.md", kb.parent / "out")
    (kb / "a.md").unlink()
    (kb.parent / "out").rename(held.path)
    return held


def made_without_a_name(kb: Path) -> Held:
    try:
        descriptor = os.open(kb.parent, os.O_TMPFILE | os.O_RDWR)
    except OSError:
        pytest.skip("this file system makes no files without names")
    held = Held(kb / "t.md", descriptor)
    os.write(descriptor, b"word")
    link = ctypes.CDLL(None, use_errno=True).linkat
    follow = 0x400
    assert link(-100, f"/proc/self/fd/{descriptor}".encode(), -100, bytes(held.path), follow) == 0
    return held


def renamed_in(kb: Path) -> Held:
    write(kb.parent / "out", "word")
    held = Held(kb / "t.md", opened(kb.parent / "out"))
    (kb.parent / "out").rename(held.path)
    return held


def a_directory_moved_with_it(kb: Path) -> Held:
    held = Held(kb / "f/z/b.md", linked_in_and_unlinked(kb).descriptor)
    (kb / "t.md").replace(kb / "d/b.md")
    (kb / "d").rename(kb / "f/z")
    return held


HOLDS = [
    linked_in_and_unlinked,
    linked_in,
    linked_into_another_directory,
    linked_out,
    linked_out_and_moved,
    out_and_back_into_another_directory,
    made_without_a_name,
    renamed_in,
    a_directory_moved_with_it,
]


def by_pipe(descriptor: int) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"other")
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.splice(reading, None, descriptor, ctypes.byref(ctypes.c_int64(0)), 5, 0) == 5
    os.close(reading)
    os.close(writing)


def by_copy(descriptor: int) -> None:
    source = os.memfd_create("other")
    os.write(source, b"other")
    os.lseek(source, 0, os.SEEK_SET)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.sendfile(descriptor, source, None, 5)
    os.close(source)


def by_many_small_writes(descriptor: int) -> None:
    for at in range(5):
        os.pwrite(descriptor, b"other"[at : at + 1], at)


WRITES: dict[str, Callable[[int], object]] = {
    "a write": lambda descriptor: os.pwrite(descriptor, b"other", 0),
    "small writes": by_many_small_writes,
    "a truncation": lambda descriptor: os.ftruncate(descriptor, 0),
    "a file made longer": lambda descriptor: os.posix_fallocate(descriptor, 0, 100),
    "a splice": by_pipe,
    "a copy inside the kernel": by_copy,
}


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("held_before", [True, False], ids=["held before reading", "held after reading"])
def test_a_write_by_a_name_or_descriptor_from_outside_the_directory_is_seen(
    tmp_path: Path, hold: Callable[[Path], Held], held_before: bool
) -> None:
    with make_catalog(tmp_path, {"kb": {"files": FILES}}) as catalog:
        held = hold(tmp_path / "kb") if held_before else None
        place = Place(catalog, tmp_path)
        held = held or hold(place.bundle)
        try:
            place.same()
            for write_by in WRITES.values():
                os.pwrite(held.descriptor, b"word", 0)
                place.same()
                before = held.path.read_bytes()
                write_by(held.descriptor)
                assert held.path.read_bytes() != before
                place.same()
            assert place.report().compared_because is None
        finally:
            os.close(held.descriptor)


@pytest.mark.parametrize("hold", [linked_out, linked_into_another_directory])
def test_a_change_just_after_the_name_is_made_is_seen(place: Place, hold: Callable[[Path], Held]) -> None:
    held = hold(place.bundle)
    os.pwrite(held.descriptor, b"other", 0)
    os.close(held.descriptor)
    assert any(excerpt.startswith("other") for _, excerpt in place.same())


def test_files_that_come_later_are_watched_too(place: Place) -> None:
    for number in range(40):
        path = place.bundle / f"d/n{number}.md"
        write(path, "word")
        place.found()
        out = place.root / f"out{number}"
        os.link(path, out)
        write(out, f"other {number}")
        assert (f"d/n{number}", f"other {number}") in place.found()
        path.unlink()
        write(out, "nobody's")
    place.same()


def test_a_file_that_left_the_bundle_is_watched_no_more(place: Place) -> None:
    before = watches()
    for number in range(20):
        write(place.bundle / "n.md", "word")
        place.found()
        (place.bundle / "n.md").rename(place.root / f"left{number}")
        place.found()
    assert watches() == before


def test_the_way_to_a_bundle_may_change(tmp_path: Path) -> None:
    source = {"kb": {"path": "way/in/kb", "files": FILES}}
    with make_catalog(tmp_path, source) as catalog:
        place = Place(catalog, tmp_path)
        assert len(place.same()) == 4
        (tmp_path / "way").rename(tmp_path / "away")
        answer = place.resolver.search("word")
        assert [d.code for d in answer.diagnostics] == [KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE]
        write(tmp_path / "way/in/kb/x.md", "word")
        assert place.same() == [("x", "word")]
        (tmp_path / "way/in").rename(tmp_path / "in")
        (tmp_path / "way/in").symlink_to("../in")
        assert place.resolver.search("word").passages == ()


def test_the_catalog_root_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with make_catalog(tmp_path / "root", {"kb": {"files": FILES}}) as catalog:
        place = Place(catalog, tmp_path / "root")
        (tmp_path / "root").rename(tmp_path / "old")
        shutil.copytree(tmp_path / "old", tmp_path / "root")
        write(tmp_path / "root/kb/a.md", "other")
        assert ("a", "other") in place.same()
        write(tmp_path / "old/kb/a.md", "nothing")
        assert ("a", "other") in place.same()


def test_a_link_above_the_manifest_may_be_turned(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "srv" / name).mkdir(parents=True)
        make_catalog(tmp_path / "srv" / name, {"kb": {"files": {"a.md": f"word {name}"}}}).close()
    (tmp_path / "current").symlink_to("srv/one")
    root = tmp_path / "srv"
    with FileKnowledgeCatalog(tmp_path / "current/catalog.json", catalog_root=root) as catalog:
        resolver = GroupedKnowledgeResolver(catalog)
        for _ in range(3):
            assert [passage.excerpt for passage in resolver.search("word").passages] == ["word one"]
        (tmp_path / "new").symlink_to("srv/two")
        (tmp_path / "new").rename(tmp_path / "current")
        assert [passage.excerpt for passage in resolver.search("word").passages] == ["word two"]


def watches() -> int:
    infos = [path for path in Path("/proc/self/fdinfo").iterdir() if path.exists()]
    return sum(path.read_text(encoding="ascii").count("inotify wd") for path in infos)


def test_a_bundle_that_was_replaced_is_watched_no_more(place: Place) -> None:
    before = watches()
    for number in range(30):
        shutil.copytree(place.bundle, place.root / "next")
        place.bundle.rename(place.root / f"old{number}")
        (place.root / "next").rename(place.bundle)
        assert len(place.found()) == 4
    assert watches() <= before + 2


def test_more_changes_than_the_kernel_can_queue_are_seen(place: Place) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text(encoding="ascii"))
    if limit > 20_000:
        pytest.skip("the queue is too long to be filled here")
    for number in range(limit // 2 + 10):
        path = place.bundle / f"q{number % 7}.md"
        path.write_text(f"word {number}", encoding="utf-8")
        path.unlink()
    write(place.bundle / "f/g.md", "other")
    assert ("f/g", "other") in place.same()


def test_random_changes_leave_the_state_of_a_new_catalog(place: Place) -> None:
    dice = random.Random(7)
    names = ["a.md", "d/b.md", "d/e/c.md", "f/g.md", "d/x.md", "y/z.md", "f/h/i.md"]
    folders = ["d", "d/e", "f", "y", "f/h", "w", "f/v", ".hidden"]
    for step in range(150):
        one, other = dice.choice(folders), dice.choice(folders)
        name = place.bundle / dice.choice(names)
        try:
            match dice.randrange(5):
                case 0:
                    name.unlink()
                case 1:
                    (place.bundle / one).rename(place.bundle / other)
                case 2:
                    name.rename(place.bundle / dice.choice(names))
                case _:
                    write(name, f"word {step}")
        except OSError:
            pass
        place.same()


def test_two_thousand_files_changed_at_once_are_seen(tmp_path: Path) -> None:
    bundle = tmp_path / "kb"
    git = [
        "git",
        "-C",
        str(bundle),
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "core.hooksPath=/dev/null",
    ]

    def commit() -> None:
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "state"], check=True)

    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    with make_catalog(
        tmp_path, {"kb": {"files": {f"{i % 40}/{i}.md": f"word {i}" for i in range(2000)}}}
    ) as catalog:
        subprocess.run([*git, "init", "-q"], check=True)
        commit()
        place = Place(catalog, tmp_path)
        for number in range(2000):
            write(bundle / f"{number % 40}/{number}.md", f"other {number}")
        shutil.rmtree(bundle / "7")
        commit()
        place.same()
        for target in ("HEAD~1", "-"):
            subprocess.run([*git, "checkout", "-q", target], check=True)
            assert len(place.same()) == (2000 if target == "HEAD~1" else 1950)


def test_a_file_system_mounted_over_a_directory_is_seen(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": FILES}}).close()
    program = (
        "import sys, subprocess, okf_catalog\n"
        "catalog = okf_catalog.FileKnowledgeCatalog(sys.argv[1] + '/catalog.json', watch_for_changes=False)\n"
        "resolver = okf_catalog.GroupedKnowledgeResolver(catalog)\n"
        "count = lambda: len(resolver.search('word').passages)\n"
        "assert count() == 4\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', sys.argv[1] + '/kb/d'], check=True)\n"
        "assert count() == 2\n"
        "open(sys.argv[1] + '/kb/d/new.md', 'w').write('word')\n"
        "assert count() == 3\n"
        "subprocess.run(['umount', sys.argv[1] + '/kb/d'], check=True)\n"
        "assert count() == 4\n"
        "subprocess.run(['mount', '--bind', sys.argv[1] + '/src', sys.argv[1] + '/kb/a.md'], check=True)\n"
        "assert count() == 3\n"
        "open(sys.argv[1] + '/kb/a.md', 'w').write('word')\n"
        "assert count() == 4\n"
        "assert catalog.report().sources[0].compared_because == 'a file is mounted in it'\n"
        "print('seen')\n"
    )
    write(tmp_path / "src", "nothing")
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        sys.executable,
        "-c",
        program,
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.stdout == "seen\n", done.stderr


def outside(program: str, path: Path, *before: str) -> str:
    """What a program prints that may mount what it likes, and lower its limits."""
    shell = " && ".join([*before, f'exec {sys.executable} -c "$0" {path}'])
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell, HEAD + program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if any(refused in done.stderr for refused in ("unshare:", "mount:", "/proc/sys/user")):
        pytest.skip("this system allows no namespaces")
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAD = """
import os, pathlib, subprocess, sys, okf_catalog
root = pathlib.Path(sys.argv[1])
catalog = okf_catalog.FileKnowledgeCatalog(root / "catalog.json", watch_for_changes=False)
resolver = okf_catalog.GroupedKnowledgeResolver(catalog)
count = lambda: len(resolver.search("word").passages)
because = lambda: catalog.report().sources[0].compared_because
run = lambda *command: subprocess.run(command, check=True)
"""


def test_a_file_system_mounted_over_a_bundle_or_the_root_is_seen(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": FILES}}).close()
    program = """
assert count() == 4
run("mount", "-t", "tmpfs", "none", root / "kb")
assert count() == 0
(root / "kb/new.md").write_text("word")
assert count() == 1
run("umount", root / "kb")
assert count() == 4
(root / "kb/a.md").write_text("nothing")
assert count() == 3
run("mount", "-t", "tmpfs", "none", root)
context = resolver.search("word")
assert [d.code.name for d in context.diagnostics] == ["SOURCE_UNAVAILABLE"]
(root / "kb").mkdir()
(root / "kb/new.md").write_text("word")
assert count() == 1
run("umount", root)
assert count() == 3
print(because())
"""
    assert outside(program, tmp_path) == "None\n"


def test_writes_under_another_mount_of_the_bundle_are_seen(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": FILES}}).close()
    (tmp_path / "twin").mkdir()
    program = """
run("mount", "--bind", root / "kb", root / "twin")
assert count() == 4
(root / "twin/a.md").write_text("nothing")
assert count() == 3
(root / "twin/d/new.md").write_text("word")
assert count() == 4
file = open(root / "twin/f/g.md", "w")
run("umount", "-l", root / "twin")
print("nothing", file=file, flush=True)
assert count() == 3
print(because())
"""
    assert outside(program, tmp_path) == "None\n"


LATE = "found within half a minute"


def test_a_bundle_of_too_many_files_says_what_is_found_late(tmp_path: Path) -> None:
    files = {f"d{i}/{i}.md": "word" for i in range(11)}
    make_catalog(tmp_path, {"kb": {"files": files}}).close()
    program = """
assert count() == 11
(root / "kb/d3/3.md").write_text("nothing")
assert count() == 10
(root / "kb/new.md").write_text("word")
assert count() == 11
os.link(root / "kb/d4/4.md", root / "out")
(root / "kb/d4/x.md").write_text("word")
assert count() == 12
(root / "out").write_text("nothing")
assert count() == 11, "a second name was there when it was listed"
print(because())
"""
    said = outside(program, tmp_path, "echo 160 > /proc/sys/user/max_inotify_watches")
    assert said.startswith("it has more files than the 10 that are watched one by one"), said
    assert LATE in said


def test_a_bundle_within_the_limit_finds_nothing_late(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": {f"d{i}/{i}.md": "word" for i in range(10)}}}).close()
    program = """
assert count() == 10
os.link(root / "kb/d4/4.md", root / "out")
(root / "out").write_text("nothing")
assert count() == 9
print(because())
"""
    assert outside(program, tmp_path, "echo 160 > /proc/sys/user/max_inotify_watches") == "None\n"


def test_directories_are_watched_before_files(tmp_path: Path) -> None:
    """Each of 30 directories needs a watch, the bundle and the way to it need two; there are 32."""
    files = {**{f"d{i:02}/x.txt": "" for i in range(30)}, "a.md": "word", "d29/b.md": "word"}
    make_catalog(tmp_path, {"kb": {"files": files}}).close()
    program = """
assert count() == 2
(root / "kb/d29/b.md").write_text("nothing")
assert count() == 1
(root / "kb/d07/new.md").write_text("word")
assert count() == 2
print(because())
"""
    said = outside(program, tmp_path, "echo 32 > /proc/sys/user/max_inotify_watches")
    assert said.startswith("the limit of inotify watches"), said
    assert LATE in said


def test_manual_freshness_sees_what_the_last_refresh_saw(tmp_path: Path) -> None:
    with make_catalog(tmp_path, {"kb": {"files": FILES}}, freshness=Freshness.manual()) as catalog:
        resolver = GroupedKnowledgeResolver(catalog)
        assert len(resolver.search("word").passages) == 4
        write(tmp_path / "kb/new.md", "word")
        shutil.rmtree(tmp_path / "kb/d")
        assert len(resolver.search("word").passages) == 4
        catalog.refresh()
        assert len(resolver.search("word").passages) == 3
        shutil.rmtree(tmp_path / "kb")
        assert len(resolver.search("word").passages) == 3


def test_a_bundle_with_links_is_compared_and_says_so(place: Place) -> None:
    (place.bundle / "link.md").symlink_to("a.md")
    place.same()
    assert place.report().compared_because == "it contains links"


def test_without_events_every_search_compares(tmp_path: Path) -> None:
    """In a user namespace that may have no queue of events."""
    with make_catalog(tmp_path, {"kb": {"files": FILES}}):
        pass
    program = (
        "import sys, pathlib, okf_catalog\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "catalog = okf_catalog.FileKnowledgeCatalog(root / 'catalog.json', watch_for_changes=False)\n"
        "resolver = okf_catalog.GroupedKnowledgeResolver(catalog)\n"
        "assert len(resolver.search('word').passages) == 4\n"
        "(root / 'kb/a.md').write_text('nothing')\n"
        "assert len(resolver.search('word').passages) == 3\n"
        "print(catalog.report().sources[0].compared_because)\n"
    )
    shell = f'echo 0 > /proc/sys/user/$0 && exec {sys.executable} -c "$1" {tmp_path}'
    first = (tmp_path / "kb/a.md").read_text(encoding="utf-8")
    for limit, reason in [("max_inotify_instances", "instances"), ("max_inotify_watches", "watches")]:
        write(tmp_path / "kb/a.md", first)
        command = ["unshare", "--user", "--map-root-user", "sh", "-c", shell, limit, program]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        except FileNotFoundError:
            pytest.skip("there is no unshare here")
        if "/proc/sys/user" in done.stderr or "unshare" in done.stderr:
            pytest.skip("limits cannot be lowered here")
        assert done.returncode == 0, done.stderr
        assert reason in done.stdout
