"""Hostile files and questions: the other documents are still found, in linear time (B5, B7, B9)."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.bundles import write_tree
from making.catalogs import problems_of, write_manifest
from okf_catalog import FileKnowledgeCatalog, KnowledgeQuery, KnowledgeResolverRouter

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

MIB = 1024 * 1024
SOON = 30
"""Seconds. A slow machine needs far less; quadratic time would take far more."""


@contextmanager
def opened(directory: Path, **options: Any) -> Generator[KnowledgeResolverRouter]:
    manifest = write_manifest(directory, [{"id": "s", "path": "bundle"}])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False, **options) as catalog:
        yield KnowledgeResolverRouter(catalog)


def answer(
    directory: Path, files: Mapping[str, str | bytes], text: str = "word"
) -> tuple[set[str], dict[str, str]]:
    """The concepts found, and the problems; fails when reading takes too long."""
    write_tree(directory / "bundle", files)
    started = time.monotonic()
    manifest = write_manifest(directory, [{"id": "s", "path": "bundle"}])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        context = KnowledgeResolverRouter(catalog).search(text)
        assert {diagnostic.code.name for diagnostic in context.diagnostics} <= {"NO_MATCHES"}
        ids = {passage.concept_id for passage in context.passages}
        problems = problems_of(catalog)["s"]
    assert time.monotonic() - started < SOON
    for reason in problems.values():
        assert reason
        assert len(reason) < 1000
        assert str(directory) not in reason
    return ids, problems


def laughs(shape: str) -> str:
    """Ten anchors, each of which names the one before ten times."""
    lines = [f"a0: &a0 {shape.replace('*', 'x')}"]
    lines += [f"a{n}: &a{n} {shape.replace('*', f'*a{n - 1} ')}" for n in range(1, 10)]
    return "\n".join([*lines, "tags: *a9", "verified: *a9", ""])


def filled(part: str, size: int) -> str:
    return part * (size // len(part))


FRONTMATTERS: dict[str, Callable[[int], str]] = {
    "open brackets": lambda size: "a: " + "[" * size,
    "open braces": lambda size: "a: " + "{" * size,
    "open braces with keys": lambda size: "a: " + filled("{a: ", size),
    "closed brackets": lambda size: "a: " + "[" * (size // 2) + "]" * (size // 2),
    "closing brackets": lambda size: "a: " + "]" * size,
    "nested dashes": lambda size: filled("- ", size),
    "nested questions": lambda size: filled("? ", size),
    "nested in lines": lambda size: "".join(f"{' ' * depth}a:\n" for depth in range(int((2 * size) ** 0.5))),
    "colons": lambda size: filled("a: ", size),
    "an open quote": lambda size: 'a: "' + "x" * size,
    "an open quote of lines": lambda size: "a: '" + filled("x\n", size),
    "escapes": lambda size: 'a: "' + filled("\\u0041", size) + '"',
    "one long key": lambda size: "x" * size + ": a",
    "one long plain text": lambda size: "title: " + filled("x ", size),
    "plain text in lines": lambda size: "title: x\n" + filled("  x\n", size),
    "many keys": lambda size: "".join(f"k{n}: v\n" for n in range(size // 12)),
    "one key again and again": lambda size: filled("title: x\n", size),
    "many items": lambda size: "tags:\n" + filled("- x\n", size),
    "many items in a line": lambda size: "tags: [" + filled("x, ", size) + "]",
    "many mappings in a line": lambda size: "verified: [" + filled("{by: x}, ", size) + "]",
    "commas": lambda size: "tags: '" + "," * size + "'",
    "anchors": lambda size: "".join(f"- &a{n} x\n" for n in range(size // 12)),
    "many anchors on keys": lambda size: "".join(f"&a{n} k{n}: v\n" for n in range(size // 18)),
    "one long text named often": lambda size: (
        f"a: &a {'x' * (size // 2)}\ntags: [" + filled("*a, ", size // 2) + "]"
    ),
    "one long mapping named often": lambda size: (
        "a: &a {" + filled("by: x, ", size // 2) + "}\nverified: [" + filled("*a, ", size // 2) + "]"
    ),
    "tags with long prefixes": lambda size: (
        f"%TAG !e! tag:{'x' * (size // 2)}:\n--- \na: [" + filled("!e!x y, ", size // 2) + "]"
    ),
    "a tag without end": lambda size: "a: !<" + "x" * size,
    "spaces": lambda size: "a:" + " " * size,
    "tabs": lambda size: "a:" + "\t" * size,
    "empty lines": lambda size: "a: |\n" + "\n" * size,
    "comments": lambda size: filled("# x\n", size),
    "documents": lambda size: filled("--- x\n", size),
    "document ends": lambda size: filled("...\n", size),
    "percent signs": lambda size: filled("%x\n", size),
    "marks": lambda size: "a: " + "\ufeff" * (size // 3),
    "marks on lines": lambda size: filled("\ufeff\n", size // 3),
    "carriage returns": lambda size: filled("a:\r", size),
    "brackets that never close": lambda size: filled("a: [\n", size),
    "quotes that never close": lambda size: filled("a: '\n", size // 2) + "b: '",
    "quotes that close at once": lambda size: filled('a: "b" c\n', size),
    "brackets that close in the next line": lambda size: filled("a: [b\n] c\n", size),
    "broken entries": lambda size: filled("title: @\n", size),
    "stray lines": lambda size: "title: @\n" + filled("x\n", size),
    "lines below a broken entry": lambda size: "title: @\n" + filled(" x\n", size),
    "anchors in entries": lambda size: (
        "x: @\n" + "".join(f"a{n}: &a{n} [*a{n}, *a{n // 2}, *a0]\n" for n in range(size // 32))
    ),
    "many names in an entry": lambda size: (
        "x: @\n"
        + "".join(f"a: &a{n} x\n" for n in range(size // 24))
        + f"b: [{', '.join(f'*a{n}' for n in range(size // 24))}]\n"
    ),
    "lines of brackets in a deep key": lambda size: (
        "".join(f"{' ' * depth}a:\n" for depth in range(500))
        + " " * 500
        + "b: [\n"
        + filled("c,\n", size)
        + "]"
    ),
    "halves of pairs": lambda size: 'title: "' + filled("\\ud83d", size) + '"',
    "invalid escapes": lambda size: filled('title: "\\q"\n', size),
}


@pytest.mark.parametrize("shape", FRONTMATTERS)
def test_no_frontmatter_is_slow_to_read(tmp_path: Path, shape: str) -> None:
    """At 10 MB, where a size limit may help, and below 1 MiB, where only linear time helps."""
    for size in (10_000_000, 900_000):
        front = FRONTMATTERS[shape](size)
        ids, problems = answer(tmp_path, {"bad.md": f"---\n{front}\n---\n", "good.md": "word"})
        assert ids == {"good"}
        assert problems.keys() <= {"bad.md"}


@pytest.mark.parametrize("shape", ["[*, *, *, *, *, *, *, *, *, *]", "{a: *, b: *, c: *, d: *}"])
def test_aliases_of_aliases_are_read_in_linear_time(tmp_path: Path, shape: str) -> None:
    ids, problems = answer(tmp_path, {"bad.md": f"---\n{laughs(shape)}---\nword", "good.md": "word"})
    assert "good" in ids
    assert problems.keys() <= {"bad.md"}


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [*a]",
        "tags: &a [*a, word]",
        "verified: &a {by: *a}",
        "verified: &a [*a, {by: x}]",
        "title: &a {title: *a}",
        "&a a: *a",
    ],
)
def test_a_yaml_node_that_holds_itself_is_read(tmp_path: Path, front: str) -> None:
    ids, problems = answer(tmp_path, {"odd.md": f"---\n{front}\n---\nword", "good.md": "word"})
    assert "good" in ids
    assert ("odd" in ids) == (not problems)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("brackets", "[" * 10_000_000),
        ("one word", "x" * 10_000_000),
        ("many words", " ".join(map(str, range(1_000_000)))),
        ("many lines", "\n" * 10_000_000),
        ("rules", "---\n" * 2_000_000),
        ("combining marks", "\u0301" * 5_000_000),
    ],
)
def test_no_body_is_slow_to_read(tmp_path: Path, name: str, body: str) -> None:
    ids, problems = answer(tmp_path, {"large.md": f"first\n{body}\nword", "good.md": "word"})
    assert ids == {"large", "good"}, name
    assert not problems


def test_no_question_is_slow_to_answer(tmp_path: Path) -> None:
    write_tree(tmp_path / "bundle", {f"{n}.md": f"---\ntitle: word\n---\nword {n}" for n in range(50)})
    with opened(tmp_path, max_question_bytes=1 << 30) as resolver:
        started = time.monotonic()
        assert resolver.search("word " * 200_000).passages[0].score == 4 * 200_000
        assert len(resolver.search(" ".join(map(str, range(100_000)))).passages) == 50
        assert len(resolver.search("x" * 5_000_000).passages) == 0
        assert len(resolver.search("word" + " " * 5_000_000).passages) == 50
        assert len(resolver.search(KnowledgeQuery("word", "x" * 5_000_000)).passages) == 0
        assert time.monotonic() - started < SOON


def test_scores_do_not_overflow(tmp_path: Path) -> None:
    """Each term scores six, and there are more terms than 16 bits can count."""
    write_tree(tmp_path / "bundle", {"a.md": "---\ntitle: a\ndescription: a\n---\na"})
    with opened(tmp_path, max_question_bytes=1 << 30) as resolver:
        assert resolver.search("a " * 1_000_000).passages[0].score == 6_000_000


@pytest.mark.parametrize("text", ["\ud800", "a \udcff b", "\udfff\ud800"])
def test_a_question_with_half_a_surrogate_pair_is_refused(tmp_path: Path, text: str) -> None:
    """Python strings can hold one, Unicode text cannot: no file can match it."""
    write_tree(tmp_path / "bundle", {"a.md": "a"})
    with opened(tmp_path) as resolver, pytest.raises(ValueError, match=r"text|surrogate"):
        resolver.search(text)


def test_a_nul_in_a_question_matches_like_any_character(tmp_path: Path) -> None:
    write_tree(tmp_path / "bundle", {"a.md": '---\ntitle: "a\\0b"\n---\n', "b.md": "a b"})
    with opened(tmp_path) as resolver:
        assert [passage.concept_id for passage in resolver.search("a\0").passages] == ["a"]


@pytest.mark.parametrize("name", ["a\nb", "\x01", "\x7f", "x" * 250, "\u202e", "..a"[2:], " ", "a.md"])
def test_files_with_unusual_names_are_concepts(tmp_path: Path, name: str) -> None:
    ids, problems = answer(tmp_path, {f"{name}.md": "word", f"d{name}/x.md"[-250:]: "word"})
    assert name in ids
    assert len(ids) == 2
    assert not problems


@contextmanager
def unprivileged() -> Generator[Path]:
    """A directory, as a user that is not root: file modes do not stop root."""
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        try:
            directory = Path(tempfile.mkdtemp())
        except PermissionError:
            pytest.skip("an unprivileged user may not write where temporary files go")
        try:
            yield directory
        finally:
            for path in [directory, *directory.rglob("*")]:
                if not path.is_symlink():
                    path.chmod(0o700)
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        if was_root:
            os.seteuid(0)


def test_files_and_directories_that_may_not_be_read_are_problems() -> None:
    with unprivileged() as directory:
        files = ["file.md", "listed/a.md", "entered/a.md", "closed/a.md", "good.md"]
        bundle = write_tree(directory / "bundle", dict.fromkeys(files, "word"))
        (bundle / "file.md").chmod(0)
        (bundle / "listed").chmod(0o400)
        (bundle / "entered").chmod(0o300)
        (bundle / "closed").chmod(0)
        (bundle / "link.md").symlink_to("closed/a.md")
        ids, problems = answer(directory, {})
        assert ids == {"good"}
        # Problems may be listed for each name or once for the directory.
        told = {path.removesuffix("/a.md") for path in problems}
        assert told == {"file.md", "listed", "entered", "closed", "link.md"}


def test_a_file_that_becomes_readable_is_read() -> None:
    with unprivileged() as directory:
        bundle = write_tree(directory / "bundle", {"a.md": "word", "d/b.md": "word"})
        with opened(directory) as resolver:
            for mode, ids in ((0, []), (0o700, ["a", "d/b"]), (0, []), (0o700, ["a", "d/b"])):
                (bundle / "a.md").chmod(mode)
                (bundle / "d").chmod(mode)
                assert [passage.concept_id for passage in resolver.search("word").passages] == ids


@pytest.mark.parametrize("mode", [0, 0o100, 0o300])
def test_a_root_that_may_not_be_listed_is_a_source_failure(mode: int) -> None:
    with unprivileged() as directory:
        bundle = write_tree(directory / "bundle", {"a.md": "word"})
        with opened(directory) as resolver:
            assert len(resolver.search("word").passages) == 1
            bundle.chmod(mode)
            context = resolver.search("word")
            assert len(context.passages) == 0
            (diagnostic,) = context.diagnostics
            assert (diagnostic.code.name, diagnostic.source_id) == ("SOURCE_UNAVAILABLE", "s")
            assert str(directory) not in diagnostic.message
            bundle.chmod(0o700)
            assert len(resolver.search("word").passages) == 1


def test_directories_deeper_than_the_longest_path_are_read(tmp_path: Path) -> None:
    depth = 5000
    bundle = write_tree(tmp_path / "bundle", {"good.md": "word"})
    here = os.open(bundle, os.O_RDONLY)
    try:
        for _ in range(depth):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    try:
        ids, problems = answer(tmp_path, {})
        assert ids == {"good"}
        assert len(problems) <= 1
    finally:
        # From the top, level by level: shutil.rmtree recurses, and this tree is too deep for it.
        for _ in range(depth - 1):
            (bundle / "d" / "d").rename(bundle / "e")
            (bundle / "d").rmdir()
            (bundle / "e").rename(bundle / "d")


def test_files_that_vanish_between_listing_and_reading_are_left_out(tmp_path: Path) -> None:
    """No search fails, and files that stay are always found."""
    bundle = write_tree(tmp_path / "bundle", {f"stays{n}.md": "word" for n in range(20)})
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            write_tree(bundle, {f"d/goes{n}.md": "word" for n in range(20)})
            (bundle / "d").rename(bundle / "e")
            shutil.rmtree(bundle / "e")
            (bundle / "link.md").symlink_to("stays1.md")
            (bundle / "link.md").unlink()

    thread = threading.Thread(target=churn)
    with opened(tmp_path) as resolver:
        thread.start()
        try:
            until = time.monotonic() + 1.5
            while time.monotonic() < until:
                context = resolver.search("word")
                assert not context.diagnostics
                ids = {passage.concept_id for passage in context.passages}
                assert ids >= {f"stays{n}" for n in range(20)}
        finally:
            stop.set()
            thread.join()
        assert len(resolver.search("word").passages) == 20


YAML_PIECES = st.sampled_from(
    [
        *"abc -:?[]{},&*!|>'\"%@`#~\n\t\\\0\r.é\u2028\x85\ufeff",
        *("\n- ", ": ", "title: ", "tags: ", "verified: ", "by: human:a", "&a ", "*a", "---", "..."),
        *("\n  ", "!!str ", "<<: ", "|2\n", ">-\n", "%TAG ! x\n"),
    ]
)


@given(st.lists(st.lists(YAML_PIECES, max_size=30).map("".join), min_size=1, max_size=5))
def test_any_frontmatter_is_a_concept_or_a_problem(fronts: list[str]) -> None:
    # Wherever the drawn frontmatter ends, the word is in the body, or there is no body.
    every_file_is_accounted_for([f"---\n{front}\n---\nword".encode() for front in fronts])


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5))
def test_any_bytes_are_a_concept_or_a_problem(contents: list[bytes]) -> None:
    every_file_is_accounted_for([b"word\n" + content for content in contents])


def every_file_is_accounted_for(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        ids, problems = answer(Path(directory), {f"{n}.md": content for n, content in enumerate(contents)})
    assert ids | {name.removesuffix(".md") for name in problems} == {str(n) for n in range(len(contents))}
    assert len(ids) + len(problems) == len(contents)


MEASURE = """
import re, sys
from pathlib import Path
from okf_catalog import open_knowledge
with open_knowledge(sys.argv[1], watch_for_changes=False) as knowledge:
    assert knowledge.search("ab").passages
print(re.search("VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_the_index_of_many_distinct_words_stays_small(tmp_path: Path) -> None:
    """A set of character pairs for each word would take hundreds of times the memory."""
    letters = [chr(code) for code in (*range(33, 97), *range(0xA1, 0x800, 40))]
    pairs = "".join(a + b for a in letters for b in letters)
    rich = " ".join(pairs[start : start + 200] for start in range(0, len(pairs), 200))
    many = " ".join(map("".join, itertools.islice(itertools.product(letters[:64], repeat=4), 400_000)))
    files = {f"rich{number}.md": rich for number in range(40)}
    files |= {f"plain{number}.md": "ab" for number in range(100)}
    write_tree(tmp_path / "bundle", {**files, "many.md": many})
    manifest = write_manifest(tmp_path, [{"id": "s", "path": "bundle"}])
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, manifest], capture_output=True, text=True, check=True, timeout=120
    )
    assert int(run.stdout) * 1024 < 200 * MIB
