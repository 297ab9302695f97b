"""Writes by another name or an open descriptor are seen by the next search (F1)."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

import pytest
from making.catalogs import make_catalog
from making.changes import FILES, OpenBundle, watches, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux queues events in time")


class Held:
    """A file of the bundle, and a file descriptor that was opened by another name."""

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
        place = OpenBundle(catalog, tmp_path)
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
def test_a_change_just_after_the_name_is_made_is_seen(
    place: OpenBundle, hold: Callable[[Path], Held]
) -> None:
    held = hold(place.bundle)
    os.pwrite(held.descriptor, b"other", 0)
    os.close(held.descriptor)
    assert any(excerpt.startswith("other") for _, excerpt in place.same())


def test_files_added_later_are_watched(place: OpenBundle) -> None:
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


def test_a_file_moved_out_of_the_bundle_is_no_longer_watched(place: OpenBundle) -> None:
    before = watches()
    for number in range(20):
        write(place.bundle / "n.md", "word")
        place.found()
        (place.bundle / "n.md").rename(place.root / f"left{number}")
        place.found()
    assert watches() == before
