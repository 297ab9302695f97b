"""What a store writes, and what it keeps of files that others edited (Y4)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from making.memory import (
    ALICE,
    LOCAL,
    ROOTS,
    USER,
    entry,
    names_in,
    open_memories,
    place,
    put,
    reads,
    wrote,
)
from okf_catalog import (
    FileMemoryStore,
    KnowledgeQuery,
    MemoryConcept,
    MemoryEntry,
    MemoryStore,
    MemoryWriteResult,
    RefusedValueError,
    memory_path,
)

if TYPE_CHECKING:
    from pathlib import Path

# How it is written: Y4


def test_a_store_implements_the_protocol(store: FileMemoryStore) -> None:
    checked_by_types: MemoryStore = store
    assert isinstance(checked_by_types, MemoryStore)
    assert repr(store).startswith("<FileMemoryStore of <FileKnowledgeCatalog ")


def test_a_concept_is_created_with_its_frontmatter(store: FileMemoryStore, tmp_path: Path) -> None:
    result = store.write(ALICE, entry("## Said\n\n- a word", tags="a, b"), USER)
    assert result == MemoryWriteResult(written=True, error=None)
    written = place(tmp_path, USER, ALICE) / "monday.md"
    assert written.read_text("utf-8") == (
        '---\ntype: "AgentMemory"\ntitle: "Monday"\ndescription: "What was said"\ntags: "a, b"\n---\n'
        "\n## Said\n\n- a word"
    )
    (passage,) = store.read(ALICE, KnowledgeQuery("word", "b")).passages
    assert passage.concept_type == "AgentMemory"
    assert (passage.title, passage.description) == ("Monday", "What was said")
    assert passage.bundle_relative_path == f"{memory_path(USER, ALICE)}/monday.md"
    assert passage.concept_id == f"{memory_path(USER, ALICE)}/monday"


def test_new_files_are_readable_by_their_owner_only(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    below = (tmp_path / ROOTS[USER]).rglob("*")
    assert {path.stat().st_mode & 0o777 for path in below} == {0o700, 0o600}


def test_a_section_is_appended_after_a_blank_line(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "one\n\n\n", "two", "\nthree\n")
    assert store.write(ALICE, entry("four", title="Another", description="x"), USER).written
    text = (place(tmp_path, USER, ALICE) / "monday.md").read_text("utf-8")
    assert text.endswith("---\n\none\n\ntwo\n\n\nthree\n\nfour")
    assert text.count("title") == 1
    assert store.text(ALICE, f"{memory_path(USER, ALICE)}/monday") == "one\n\ntwo\n\n\nthree\n\nfour"


def test_a_write_keeps_the_edits_of_others(store: FileMemoryStore, tmp_path: Path) -> None:
    front = "---\n# mine\ntype: Note\ntitle: Mine\nverified: {by: human:ada}\n---\n\n"
    written = put(tmp_path, USER, f"{front}old\r\nlines\n\n")
    written.chmod(0o640)
    wrote(store, ALICE, USER, "new")
    assert written.read_bytes() == f"{front}old\r\nlines\n\nnew".encode()
    assert written.stat().st_mode & 0o777 == 0o640
    assert [passage.title for passage in store.read(ALICE, "new").passages] == ["Mine"]


def test_a_write_keeps_the_owner_of_a_concept(store: FileMemoryStore, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only some may give files away")
    written = put(tmp_path, USER, "old")
    os.chown(written, 65534, 65533)
    wrote(store, ALICE, USER, "new")
    assert (written.stat().st_uid, written.stat().st_gid) == (65534, 65533)


def test_a_write_creates_a_blank_file_anew(store: FileMemoryStore, tmp_path: Path) -> None:
    for nothing in ("", "\n\r\n", "\ufeff\n"):
        written = put(tmp_path, USER, nothing)
        wrote(store, ALICE, USER, "---\ntitle: not this\n---\na word")
        assert written.read_text("utf-8").startswith('---\ntype: "AgentMemory"\n')
        assert [passage.title for passage in store.read(ALICE, "word").passages] == ["Monday"]


@pytest.mark.parametrize(
    "section", ["---", "---\ntitle: x\n---\n", "\n---\n", "...", "", " ", "a\x01b", "\ufeff"]
)
def test_a_section_is_body_even_if_it_looks_like_frontmatter(store: FileMemoryStore, section: str) -> None:
    concept = f"{memory_path(USER, ALICE)}/monday"
    wrote(store, ALICE, USER, section)
    assert store.text(ALICE, concept) == section
    wrote(store, ALICE, USER, "last")
    assert [concept.title for concept in store.enumerate(ALICE)] == ["Monday"]
    body = section.rstrip("\n")
    assert store.text(ALICE, concept) == (f"{body}\n\nlast" if body else "last")


SLIPS = {
    "not closed": b"---\ntitle: a\nold",
    "broken YAML": b"---\ntitle: [\n---\nold",
    "a colon in a title": b"---\ntype: Note\ntitle: ADR-1: Use X\n---\nold\n",
    "a key twice": b"---\ntitle: a\ntitle: b\n---\nold",
    "no mapping": b"---\nDear Alice\n---\nold",
    "TOML": b"+++\ntitle = 'a'\n+++\nold",
    "a blank line first": b"\n\n---\ntitle: a\n---\nold",
    "Latin-1": b"---\ntitle: caf\xe9\n---\ncaf\xe9 old\n\n",
    "a cut character": b"old \xe2\x82",
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbf---\ntitle: a\n---\nold",
    "old line ends": b"---\rtitle: a\r---\rold\r\r",
    "UTF-16, little": b"\xff\xfe" + "---\ntitle: a\n---\nold é\n\n".encode("utf-16-le"),
    "UTF-16, big": b"\xfe\xff" + "---\ntitle: a\n---\nold é\n\n".encode("utf-16-be"),
    "half a unit": b"\xff\xfea\0b",
    "a NUL": b"---\ntitle: a\n---\nold\0",
}


@pytest.mark.parametrize("section", ["new", "---\ntitle: new\n---\nnew"])
@pytest.mark.parametrize("slip", SLIPS)
def test_appending_keeps_every_byte_of_an_edited_file(
    store: FileMemoryStore, tmp_path: Path, slip: str, section: str
) -> None:
    """For each mistake, the section is appended, or nothing is written and the result says why."""
    content = SLIPS[slip]
    written = put(tmp_path, USER, content)
    concept = f"{memory_path(USER, ALICE)}/monday"
    before, title = store.text(ALICE, concept), [one.title for one in store.enumerate(ALICE)]
    result = store.write(ALICE, entry(section), USER)
    assert names_in(written.parent) == ["monday.md"]
    if not result.written:
        assert '/monday.md" cannot be appended to' in (result.error or "")
        assert written.read_bytes() == content
        return
    assert before is not None
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(content[:2], "utf-8")
    added = written.read_bytes()[-len(f"\n\n{section}".encode(encoding)) :]
    assert added.decode(encoding) == f"\n\n{section}"
    kept = written.read_bytes()[: -len(added)]
    assert content.startswith(kept)
    assert content[len(kept) :].replace(b"\0", b"").strip(b"\r\n") == b""
    body = before.rstrip("\r\n")
    assert store.text(ALICE, concept) == f"{body}\n\n{section}"
    assert [one.title for one in store.enumerate(ALICE)] == title


def test_a_nul_is_refused_because_no_file_that_holds_one_is_read(store: FileMemoryStore) -> None:
    with pytest.raises(RefusedValueError, match="section_markdown holds a NUL at index 1"):
        entry("a\0b")
    assert store.write(ALICE, entry(other="a\0b"), USER).written


def test_a_write_never_makes_a_concept_larger_than_the_read_limit(tmp_path: Path) -> None:
    with open_memories(tmp_path, max_file_bytes=300) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word", "x" * 150)
        for name, section in (("monday", "y" * 100), ("new", "y" * 300)):
            result = store.write(ALICE, entry(section, name), USER)
            assert not result.written
            assert f'/{name}.md" would have more than 300 bytes' in (result.error or "")
        assert reads(store, ALICE) == [("memory:user", "a word")]
        put(tmp_path, USER, "z" * 301)
        error = store.write(ALICE, entry(), USER).error
        assert error is not None
        assert "has more than 300 bytes, and is not read" in error


def test_frontmatter_that_would_not_be_read_is_not_written(store: FileMemoryStore, tmp_path: Path) -> None:
    result = store.write(ALICE, entry("a word", other="x" * (1 << 20)), USER)
    assert not result.written
    assert "the frontmatter is too long" in (result.error or "")
    assert names_in(place(tmp_path, USER, ALICE)) == []


anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text(
    st.sampled_from("a'\"\\:#-{}[]&*!|>%@` \t\n\r\x00\x07\x85\u2028\u2029\ufeff\U00010400"), max_size=12
)


@given(title=anything, description=anything, key=anything, section=anything)
@example(title="---", description="...", key="---", section="---")
def test_frontmatter_reads_back_as_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, title: str, description: str, key: str, section: str
) -> None:
    directory = tmp_path_factory.mktemp("memories")
    front: dict[str, Any] = {"type": f"t{title}", "title": f"t{title}", "description": f"d{description}"}
    front.setdefault(f"k{key}", description)
    front["generated"] = {f"k{key}": description, "by": title}
    section = section.replace("\0", "")
    with open_memories(directory) as catalog:
        store = FileMemoryStore(catalog)
        assert store.write(LOCAL, MemoryEntry("it", front, f"w {section}"), USER).written
        (passage,) = store.read(LOCAL, "w").passages
        assert (passage.concept_type, passage.title) == (front["type"], front["title"])
        assert passage.description == front["description"]
        concept = f"{memory_path(USER, LOCAL)}/it"
        assert store.text(LOCAL, concept) == f"w {section}".replace("\r\n", "\n").replace("\r", "\n")
    # PyYAML reads the same, in a mapping too.
    text = (place(directory, USER, LOCAL) / "it.md").read_bytes().decode()
    assert yaml.safe_load(text.split("---\n", 2)[1]) == front


@pytest.mark.parametrize("name", ["a b", "数字", "é" * 126, "x.md", "Index", "-", "CON", "a\\b", "~", "*"])
def test_a_concept_of_every_name_is_found_again(store: FileMemoryStore, name: str) -> None:
    assert store.write(ALICE, entry("one", name), USER) == MemoryWriteResult(written=True, error=None)
    assert store.write(ALICE, entry("two", name), USER).written
    concept = f"{memory_path(USER, ALICE)}/{name}"
    assert store.enumerate(ALICE) == (MemoryConcept(USER, concept, "Monday"),)
    assert store.text(ALICE, concept) == "one\n\ntwo"
