"""Freshness by events of the kernel (F1): a search sees every change that was complete before it."""

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
from making.changes import FILES, OpenBundle, watches, write
from okf_catalog import (
    FileKnowledgeCatalog,
    Freshness,
    GroupedKnowledgeResolver,
    KnowledgeDiagnosticCode,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux queues events in time")


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
def test_a_change_is_seen_by_the_next_search(place: OpenBundle, name: str) -> None:
    CHANGES[name](place.bundle)
    first = place.same()
    assert place.same() == first


def test_changes_inside_what_was_moved_are_seen(place: OpenBundle) -> None:
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
        place = OpenBundle(catalog, tmp_path)
        write(tmp_path / "elsewhere", "other")
        assert place.same() == [("a", "other")]


def test_a_search_follows_changes_of_directories_above_a_bundle(tmp_path: Path) -> None:
    source = {"kb": {"path": "way/in/kb", "files": FILES}}
    with make_catalog(tmp_path, source) as catalog:
        place = OpenBundle(catalog, tmp_path)
        assert len(place.same()) == 4
        (tmp_path / "way").rename(tmp_path / "away")
        answer = place.resolver.search("word")
        assert [d.code for d in answer.diagnostics] == [KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE]
        write(tmp_path / "way/in/kb/x.md", "word")
        assert place.same() == [("x", "word")]
        (tmp_path / "way/in").rename(tmp_path / "in")
        (tmp_path / "way/in").symlink_to("../in")
        assert place.resolver.search("word").passages == ()


def test_a_search_follows_a_replaced_catalog_root(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with make_catalog(tmp_path / "root", {"kb": {"files": FILES}}) as catalog:
        place = OpenBundle(catalog, tmp_path / "root")
        (tmp_path / "root").rename(tmp_path / "old")
        shutil.copytree(tmp_path / "old", tmp_path / "root")
        write(tmp_path / "root/kb/a.md", "other")
        assert ("a", "other") in place.same()
        write(tmp_path / "old/kb/a.md", "nothing")
        assert ("a", "other") in place.same()


def test_a_search_follows_a_changed_link_above_the_manifest(tmp_path: Path) -> None:
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


def test_a_replaced_bundle_is_no_longer_watched(place: OpenBundle) -> None:
    before = watches()
    for number in range(30):
        shutil.copytree(place.bundle, place.root / "next")
        place.bundle.rename(place.root / f"old{number}")
        (place.root / "next").rename(place.bundle)
        assert len(place.found()) == 4
    assert watches() <= before + 2


def test_more_changes_than_the_kernel_can_queue_are_seen(place: OpenBundle) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text(encoding="ascii"))
    if limit > 20_000:
        pytest.skip("the queue is too long to be filled here")
    for number in range(limit // 2 + 10):
        path = place.bundle / f"q{number % 7}.md"
        path.write_text(f"word {number}", encoding="utf-8")
        path.unlink()
    write(place.bundle / "f/g.md", "other")
    assert ("f/g", "other") in place.same()


def test_after_random_changes_a_search_finds_what_a_new_catalog_finds(place: OpenBundle) -> None:
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
        place = OpenBundle(catalog, tmp_path)
        for number in range(2000):
            write(bundle / f"{number % 40}/{number}.md", f"other {number}")
        shutil.rmtree(bundle / "7")
        commit()
        place.same()
        for target in ("HEAD~1", "-"):
            subprocess.run([*git, "checkout", "-q", target], check=True)
            assert len(place.same()) == (2000 if target == "HEAD~1" else 1950)


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


def test_a_bundle_with_links_is_compared_and_says_so(place: OpenBundle) -> None:
    (place.bundle / "link.md").symlink_to("a.md")
    place.same()
    assert place.report().compared_because == "it contains links"
