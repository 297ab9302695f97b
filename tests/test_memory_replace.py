"""A memory that is replaced: the whole concept, with the safety of every other write (Y13, Y5, Y6)."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from making.memory import (
    ALICE,
    BELOW,
    BOB,
    LOCAL,
    MARK,
    ROOTS,
    SESSION,
    TENANT,
    USER,
    entry,
    locked,
    names_in,
    open_memories,
    place,
    put,
    reads,
    wrote,
)
from making.processes import fork, start_python
from okf_catalog import FileMemoryStore, MemoryStore, MemoryWriteResult, RefusedTypeError

if TYPE_CHECKING:
    from pathlib import Path

CONCEPT = f"{BELOW}/monday"
DONE = MemoryWriteResult(written=True, error=None)
PATIENCE = 60
PROCESSES, THREADS, WRITES = 4, 4, 40
KILLS = 40


def replaced(store: FileMemoryStore, section: str, name: str = "monday", **front: str) -> None:
    assert store.write(ALICE, entry(section, name, **front), USER, replace=True) == DONE


def test_the_whole_concept_is_replaced(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "old words", "older words")
    replaced(store, "a word", title="Corrected", description="Once more", tags="x")
    written = place(tmp_path, USER, ALICE) / "monday.md"
    assert written.read_text("utf-8") == (
        '---\ntype: "AgentMemory"\ntitle: "Corrected"\ndescription: "Once more"\ntags: "x"\n---\n\na word'
    )
    assert reads(store, ALICE) == [("memory:user", "a word")]
    assert reads(store, ALICE, "old") == []
    assert [concept.title for concept in store.enumerate(ALICE)] == ["Corrected"]


def test_a_concept_that_is_not_there_is_created(store: FileMemoryStore) -> None:
    replaced(store, "a word")
    assert store.text(ALICE, CONCEPT) == "a word"
    wrote(store, ALICE, USER, "more")
    assert store.text(ALICE, CONCEPT) == "a word\n\nmore"


def test_only_the_concept_of_that_name_tier_and_scope_is_replaced(store: FileMemoryStore) -> None:
    for scope, tier, name in ((ALICE, TENANT, "monday"), (ALICE, SESSION, "monday"), (BOB, USER, "monday")):
        assert store.write(scope, entry("a word", name), tier).written
    for name in ("mondays", "Monday", "monday.md", "monda"):
        assert store.write(ALICE, entry("a word", name), USER).written
    wrote(store, ALICE, USER, "a word")
    replaced(store, "gone")
    assert sorted(source for source, _ in reads(store, ALICE)) == [
        "memory:session",
        "memory:tenant",
        *["memory:user"] * 4,
    ]
    assert sorted(source for source, _ in reads(store, BOB)) == ["memory:tenant", "memory:user"]


def test_the_same_text_may_be_written_again(store: FileMemoryStore) -> None:
    for _ in range(3):
        replaced(store, "a word")
        assert store.text(ALICE, CONCEPT) == "a word"


def test_mode_and_owner_are_kept_and_the_mark_stays(store: FileMemoryStore, tmp_path: Path) -> None:
    written = put(tmp_path, USER, "old")
    written.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(written, 65534, 65533)
    before = written.stat()
    replaced(store, "a word")
    after = written.stat()
    assert after.st_ino != before.st_ino, "readers of the old file keep it"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert {path.name for path in written.parent.iterdir()} == {"monday.md", MARK}


def test_a_new_concept_is_readable_by_its_owner_only(store: FileMemoryStore, tmp_path: Path) -> None:
    replaced(store, "a word")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / ROOTS[USER]).rglob("*")} == {0o700, 0o600}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"old\0binary",
        b"---\ntitle: [\nnot closed",
        b"caf\xe9",
        "---\ntitle: a\n---\nold".encode("utf-16"),
        b"\xef\xbb\xbf---\ntitle: a\n---\nold",
        b"x" * 1000,
    ],
)
def test_a_file_is_replaced_whatever_it_holds(tmp_path: Path, content: bytes) -> None:
    with open_memories(tmp_path, max_file_bytes=500) as catalog:
        store = FileMemoryStore(catalog)
        put(tmp_path, USER, content)
        replaced(store, "a word")
        assert reads(store, ALICE) == [("memory:user", "a word")]
        assert [concept.title for concept in store.enumerate(ALICE)] == ["Monday"]


def test_what_could_not_be_read_back_replaces_nothing(tmp_path: Path) -> None:
    with open_memories(tmp_path, max_file_bytes=300) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word")
        result = store.write(ALICE, entry("x" * 300), USER, replace=True)
        assert not result.written
        assert '/monday.md" would have more than 300 bytes' in (result.error or "")
        assert reads(store, ALICE) == [("memory:user", "a word")]


@pytest.mark.parametrize("kind", ["link to a file", "link to nothing", "directory", "pipe", "link above"])
def test_what_is_no_file_is_not_replaced(store: FileMemoryStore, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target.md"
    target.write_text("a secret")
    directory = place(tmp_path, USER, ALICE)
    concept = directory / "monday.md"
    if kind == "link above":
        directory.parent.mkdir(parents=True)
        (tmp_path / "elsewhere").mkdir()
        directory.symlink_to(tmp_path / "elsewhere")
    else:
        directory.mkdir(parents=True)
    if kind == "link to a file":
        concept.symlink_to(target)
    elif kind == "link to nothing":
        concept.symlink_to("nothing.md")
    elif kind == "directory":
        concept.mkdir()
    elif kind == "pipe":
        os.mkfifo(concept)
    result = store.write(ALICE, entry(), USER, replace=True)
    assert not result.written
    assert ("is a link" if "link" in kind else "is not a regular file") in (result.error or "")
    assert str(tmp_path) not in (result.error or "")
    assert target.read_text() == "a secret"
    assert (
        names_in(tmp_path / "elsewhere") == []
        if kind == "link above"
        else names_in(directory) == ["monday.md"]
    )


def test_a_tier_that_does_not_apply_is_an_error(store: FileMemoryStore) -> None:
    wrote(store, LOCAL, USER, "a word")
    result = store.write(type(ALICE)("acme"), entry("new"), USER, replace=True)
    assert "the tier 'user' does not apply" in (result.error or "")
    assert reads(store, LOCAL) == [("memory:user", "a word")]


@pytest.mark.parametrize("wrong", [None, 1, "yes"])
def test_replace_is_true_or_false(store: FileMemoryStore, wrong: Any) -> None:
    with pytest.raises(RefusedTypeError, match="replace is a bool"):
        store.write(ALICE, entry(), USER, replace=wrong)
    with pytest.raises(RefusedTypeError, match="replace is a bool"):
        asyncio.run(store.write_async(ALICE, entry(), USER, replace=wrong))
    assert store.enumerate(ALICE) == ()


def test_the_async_twin_and_the_protocol_replace_too(store: FileMemoryStore) -> None:
    by_protocol: MemoryStore = store
    wrote(store, ALICE, USER, "old")
    assert asyncio.run(by_protocol.write_async(ALICE, entry("new"), USER, replace=True)) == DONE
    assert store.text(ALICE, CONCEPT) == "new"
    assert by_protocol.write(ALICE, entry("newer"), USER, replace=True) == DONE
    assert store.text(ALICE, CONCEPT) == "newer"


# Concurrent and killed writers: Y5


def text(name: str) -> str:
    """Many lines that each hold the name, so that half a text shows."""
    return f"# {name}\n" + f"said by {name}\n" * 500 + f"end {name}"


def name_in(body: str) -> str:
    found = re.match(r"# (\S+)\n", body)
    assert found
    assert body == text(found[1])
    return found[1]


REPLACER = f"""
import sys
from concurrent.futures import ThreadPoolExecutor
from making.memory import ALICE, USER, entry
from okf_catalog import FileKnowledgeCatalog, FileMemoryStore
from test_memory_replace import text

manifest, process = sys.argv[1:]
with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
    store = FileMemoryStore(catalog)

    def write(thread):
        for n in range({WRITES}):
            name = f"{{process}}-{{thread}}-{{n}}"
            assert store.write(ALICE, entry(text(name), title=name), USER, replace=True).written
            assert store.write(ALICE, entry(name, "diary"), USER).written
    with ThreadPoolExecutor({THREADS}) as pool:
        list(pool.map(write, range({THREADS})))
"""


def test_readers_see_one_whole_text_while_threads_and_processes_replace_it(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    replaced(store, text("first"), title="first")
    seen = set[str]()
    done = threading.Event()
    failures = list[BaseException]()

    def read() -> None:
        try:
            while not done.is_set():
                seen.add(name_in(store.text(ALICE, CONCEPT) or ""))
                (passage,) = [one for one in store.read(ALICE, "end").passages if one.concept_id == CONCEPT]
                # Frontmatter and body are of one write.
                assert passage.excerpt == f"end {passage.title}"
        except BaseException as error:  # noqa: BLE001  (it fails the test below)
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        writers = [start_python(REPLACER, tmp_path / "catalog.json", str(n)) for n in range(PROCESSES)]
        for writer in writers:
            _, err = writer.communicate(timeout=PATIENCE)
            assert (writer.returncode, err) == (0, "")
    finally:
        done.set()
        reader.join()
    assert not failures, failures
    assert len(seen) > 5
    last = name_in(store.text(ALICE, CONCEPT) or "")
    # The last text is the last one of a thread: later texts of the same thread would have replaced it.
    assert last.endswith(f"-{WRITES - 1}")
    logged = (store.text(ALICE, f"{BELOW}/diary") or "").split()
    assert len(set(logged)) == len(logged) == PROCESSES * THREADS * WRITES, "appends beside it lose nothing"
    assert sorted(names_in(place(tmp_path, USER, ALICE))) == ["diary.md", "monday.md"]


def test_appends_and_replacements_of_one_concept_take_turns(store: FileMemoryStore) -> None:
    """What is appended after the last replacement is there, once, in order."""
    errors = list[str | None]()

    def append(thread: int) -> None:
        for n in range(50):
            errors.append(store.write(ALICE, entry(f"append {thread}-{n}"), USER).error)

    def replace() -> None:
        for n in range(50):
            errors.append(store.write(ALICE, entry(f"replace {n}"), USER, replace=True).error)

    threads = [
        *(threading.Thread(target=append, args=(n,)) for n in range(3)),
        threading.Thread(target=replace),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(errors) == {None}
    first, *rest = (store.text(ALICE, CONCEPT) or "").split("\n\n")
    assert first == "replace 49"
    for number in range(3):
        own = [int(one.rpartition("-")[2]) for one in rest if one.startswith(f"append {number}-")]
        assert own == [*range(50 - len(own), 50)]
    assert all(one.startswith("append ") for one in rest)


def test_a_killed_writer_leaves_the_old_text_or_the_new_one(store: FileMemoryStore, tmp_path: Path) -> None:
    replaced(store, text("0-0"))
    for kill in range(1, KILLS):

        def write_on(writing: int, kill: int = kill) -> None:
            for n in range(1_000_000):
                name = f"{kill}-{n}"
                assert store.write(ALICE, entry(text(name)), USER, replace=True).written
                os.write(writing, f"{name}\n".encode())

        pid, reading = fork(write_on)
        assert select.select([reading], [], [], PATIENCE)[0]
        time.sleep(0.0003 * kill)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        acknowledged = b""
        while part := os.read(reading, 1 << 16):
            acknowledged += part
        os.close(reading)
        last = acknowledged.decode().split()[-1]
        found = name_in(store.text(ALICE, CONCEPT) or "")
        assert int(found.removeprefix(f"{kill}-")) - int(last.removeprefix(f"{kill}-")) in (0, 1)
    replaced(store, "last")
    assert {path.name for path in place(tmp_path, USER, ALICE).iterdir()} == {"monday.md", MARK}


def test_a_replacement_waits_for_another_writer(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "old")
    results = list[MemoryWriteResult]()
    writer = threading.Thread(
        target=lambda: results.append(store.write(ALICE, entry("new"), USER, replace=True))
    )
    with locked(place(tmp_path, USER, ALICE)):
        writer.start()
        writer.join(0.2)
        assert writer.is_alive()
        assert store.text(ALICE, CONCEPT) == "old"
    writer.join(PATIENCE)
    assert results == [DONE]
    assert store.text(ALICE, CONCEPT) == "new"
