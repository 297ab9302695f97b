"""Acknowledged sections are stored once and whole, with concurrent and killed writers (Y5)."""

from __future__ import annotations

import asyncio
import os
import random
import re
import select
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest
from making.memory import (
    ALICE,
    BELOW,
    FRONT,
    MARK,
    ROOTS,
    USER,
    entry,
    gone,
    locked,
    reads,
    wrote,
)
from making.processes import fork, start_python

if TYPE_CHECKING:
    from pathlib import Path

    from okf_catalog import FileMemoryStore


THREADS, PROCESSES, APPENDS = 8, 4, 50
KILLS = 100
PATIENCE = 60

CONCEPT = f"{BELOW}/monday"


@pytest.fixture
def scope_directory(tmp_path: Path) -> Path:
    return tmp_path / ROOTS[USER] / BELOW


def section(name: str) -> str:
    """Several lines that each hold the name, so that a half-written section shows."""
    return f"## {name}\n" + f"said by {name}\n" * 3 + f"end {name}"


def names(body: str) -> list[str]:
    """The names of the sections of a body; fails if a section is not whole."""
    found = re.findall(r"^## (.+)$", body, re.MULTILINE)
    assert body == "\n\n".join(map(section, found))
    return found


def body_of(content: bytes) -> str:
    front, _, body = content.decode().partition("\n---\n\n")
    assert front == "---\n" + "\n".join(f'{key}: "{value}"' for key, value in FRONT.items())
    return body


WRITER = f"""
import sys
from concurrent.futures import ThreadPoolExecutor
from making.memory import ALICE, USER, entry
from okf_catalog import FileKnowledgeCatalog, FileMemoryStore
from test_memory_crash import section

manifest, process = sys.argv[1:]
with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
    store = FileMemoryStore(catalog)

    def write(thread):
        acknowledged = []
        for n in range({APPENDS}):
            name = f"{{process}}-{{thread}}-{{n}}"
            if store.write(ALICE, entry(section(name)), USER).written:
                acknowledged.append(name)
        return acknowledged

    with ThreadPoolExecutor({THREADS}) as pool:
        for acknowledged in pool.map(write, range({THREADS})):
            print(*acknowledged)
"""


def test_appends_of_threads_and_processes_lose_nothing(
    store: FileMemoryStore, tmp_path: Path, scope_directory: Path
) -> None:
    seen = list[int]()
    done = threading.Event()
    failures = list[BaseException]()

    def read() -> None:
        """The file and the store show whole sections only, and their number never falls."""
        try:
            while not done.is_set():
                file = scope_directory / "monday.md"
                if file.exists():
                    seen.append(len(names(body_of(file.read_bytes()))))
                    seen.append(len(names(store.text(ALICE, CONCEPT) or "")))
                    assert len(store.read(ALICE, "end").passages) == 1
        except BaseException as error:  # noqa: BLE001  (it fails the test below)
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        writers = [start_python(WRITER, tmp_path / "catalog.json", str(n)) for n in range(PROCESSES)]
        acknowledged = list[str]()
        for writer in writers:
            out, err = writer.communicate(timeout=PATIENCE)
            assert (writer.returncode, err) == (0, "")
            acknowledged += out.split()
    finally:
        done.set()
        reader.join()
    assert not failures, failures
    assert seen == sorted(seen)
    assert len(set(seen)) > 10
    assert len(acknowledged) == THREADS * PROCESSES * APPENDS
    written = names(store.text(ALICE, CONCEPT) or "")
    assert sorted(written) == sorted(acknowledged)
    for process in range(PROCESSES):
        for thread in range(THREADS):
            own = [name for name in written if name.startswith(f"{process}-{thread}-")]
            assert own == [f"{process}-{thread}-{n}" for n in range(APPENDS)]
    assert {path.name for path in scope_directory.iterdir()} == {"monday.md", MARK}


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(
    store: FileMemoryStore, scope_directory: Path
) -> None:
    chance = random.Random(5)
    wrote(store, ALICE, USER, section("first"))
    known = ["first"]
    left = 0
    for kill in range(KILLS):

        def write_on(writing: int, kill: int = kill) -> None:
            for n in range(1_000_000):
                name = f"{kill}-{n}"
                assert store.write(ALICE, entry(section(name)), USER).written
                os.write(writing, f"{name}\n".encode())

        pid, reading = fork(write_on)
        assert select.select([reading], [], [], PATIENCE)[0]
        time.sleep(chance.uniform(0, 0.01))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        acknowledged = b""
        while part := os.read(reading, 1 << 16):
            acknowledged += part
        os.close(reading)
        known += acknowledged.decode().split()
        written = names(body_of((scope_directory / "monday.md").read_bytes()))
        # The last section may have been written without being acknowledged.
        assert written[: len(known)] == known
        assert len(written) - len(known) in (0, 1)
        known = written
        visible = [path.name for path in scope_directory.iterdir() if not path.name.startswith(".")]
        assert visible == ["monday.md"]
        # Files other than the concept and the marker of its directory.
        left += len([*scope_directory.iterdir()]) - 2
        assert [concept.concept_id for concept in store.enumerate(ALICE)] == [CONCEPT]
        assert names(store.text(ALICE, CONCEPT) or "") == known
    # Some writers were killed in the middle, and the next writer removes their temporary files.
    assert left > 0
    wrote(store, ALICE, USER, section("last"))
    assert names(store.text(ALICE, CONCEPT) or "") == [*known, "last"]
    assert {path.name for path in scope_directory.iterdir()} == {"monday.md", MARK}


def test_concurrent_writers_and_deleters_never_fail(store: FileMemoryStore, scope_directory: Path) -> None:
    """A directory can be deleted while a writer waits for its lock; the writer makes it again."""
    errors = list[str | None]()
    done = threading.Event()

    def write(thread: int) -> None:
        for n in range(60):
            errors.append(store.write(ALICE, entry(section(f"{thread}-{n}")), USER).error)

    def delete() -> None:
        while not done.is_set():
            errors.append(store.delete_scope(ALICE, USER).error)
            names(store.text(ALICE, CONCEPT) or "")

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    deleter = threading.Thread(target=delete)
    for thread in (*writers, deleter):
        thread.start()
    for writer in writers:
        writer.join()
    done.set()
    deleter.join()
    assert {*errors} == {None}
    wrote(store, ALICE, USER, section("last"))
    assert names(store.text(ALICE, CONCEPT) or "")[-1] == "last"
    assert store.delete_scope(ALICE, USER) == gone(1, 1)
    assert not scope_directory.exists()


def test_a_writer_waits_for_the_lock_without_blocking_readers(
    store: FileMemoryStore, scope_directory: Path
) -> None:
    wrote(store, ALICE, USER, "a word")

    async def act() -> bool:
        with locked(scope_directory):
            writing = asyncio.create_task(store.write_async(ALICE, entry("more"), USER))
            for _ in range(20):
                await asyncio.sleep(0.005)
            assert not writing.done()
            # Readers take no lock.
            assert await asyncio.to_thread(reads, store, ALICE) == [("memory:user", "a word")]
            assert store.enumerate(ALICE) != ()
        return (await asyncio.wait_for(writing, PATIENCE)).written

    assert asyncio.run(act())
    assert store.text(ALICE, CONCEPT) == "a word\n\nmore"


INTERRUPTED = """
import sys
from making.memory import ALICE, USER, entry
from okf_catalog import FileKnowledgeCatalog, FileMemoryStore
with FileKnowledgeCatalog(sys.argv[1], watch_for_changes=False) as catalog:
    store = FileMemoryStore(catalog)
    try:
        print("writing", flush=True)
        store.write(ALICE, entry("more"), USER)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_a_writer_that_waits_for_the_lock_can_be_interrupted(
    store: FileMemoryStore, tmp_path: Path, scope_directory: Path
) -> None:
    wrote(store, ALICE, USER, "a word")
    with locked(scope_directory):
        writer = start_python(INTERRUPTED, tmp_path / "catalog.json")
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        writer.send_signal(signal.SIGINT)
        out, err = writer.communicate(timeout=PATIENCE)
        assert (out, err, writer.returncode) == ("interrupted\n", "", 0)
    assert store.text(ALICE, CONCEPT) == "a word"
    wrote(store, ALICE, USER, "more")


def test_a_child_forked_during_a_write_does_not_keep_the_lock(store: FileMemoryStore) -> None:
    """The child inherits the locked descriptor, and outlives the write."""
    wrote(store, ALICE, USER, section("first"))
    done = threading.Event()
    written = ["first"]

    def write() -> None:
        while not done.is_set():
            name = str(len(written))
            wrote(store, ALICE, USER, section(name))
            written.append(name)

    writer = threading.Thread(target=write)
    writer.start()
    children = list[int]()
    try:
        for _ in range(20):
            before = len(written)
            pid, reading = fork(lambda _: signal.pause())
            os.close(reading)
            children.append(pid)
            deadline = time.monotonic() + PATIENCE
            while len(written) < before + 2:
                assert time.monotonic() < deadline
                time.sleep(0.001)
    finally:
        done.set()
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        writer.join()
    assert names(store.text(ALICE, CONCEPT) or "") == written
