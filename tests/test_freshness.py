"""F1: a search sees every change that was complete before it began."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from making.bundles import write_tree
from making.catalogs import problems_of, write_manifest
from okf_catalog import (
    FileKnowledgeCatalog,
    Freshness,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    KnowledgeResolverRouter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Watched:
    """One bundle under an open catalog."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "bundle"
        self.root.mkdir()
        self.catalog = FileKnowledgeCatalog(
            write_manifest(directory, [{"id": "s", "path": "bundle"}]), watch_for_changes=False
        )
        self.resolver = KnowledgeResolverRouter(self.catalog)

    def write(self, **files: str) -> None:
        write_tree(self.root, {f"{name}.md": text for name, text in files.items()})

    def found(self, text: str) -> list[str]:
        return [passage.concept_id for passage in self.resolver.search(text).passages]

    def excerpts(self, text: str) -> list[str]:
        return [passage.excerpt for passage in self.resolver.search(text).passages]


@pytest.fixture
def bundle(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path)
    with watched.catalog:
        yield watched


def test_added_documents_are_found(bundle: Watched) -> None:
    assert bundle.found("word") == []
    bundle.write(a="word")
    assert bundle.found("word") == ["a"]
    write_tree(bundle.root, {"new/deep/b.md": "word"})
    assert bundle.found("word") == ["a", "new/deep/b"]


def test_removed_documents_are_not_found(bundle: Watched) -> None:
    bundle.write(a="word", b="word")
    assert bundle.found("word") == ["a", "b"]
    (bundle.root / "a.md").unlink()
    assert bundle.found("word") == ["b"]


def test_edited_documents_are_found_by_their_new_text(bundle: Watched) -> None:
    bundle.write(a="word one")
    assert bundle.excerpts("word") == ["word one"]
    bundle.write(a="word two, and longer")
    assert bundle.excerpts("word") == ["word two, and longer"]


def test_renamed_documents_are_found_under_the_new_name(bundle: Watched) -> None:
    bundle.write(a="word")
    assert bundle.found("word") == ["a"]
    (bundle.root / "a.md").rename(bundle.root / "b.md")
    assert bundle.found("word") == ["b"]
    (bundle.root / "b.md").rename(bundle.root / "b.txt")
    assert bundle.found("word") == []


def test_documents_of_renamed_directories_are_found_under_the_new_name(bundle: Watched) -> None:
    write_tree(bundle.root, {"x/a.md": "word", "y/b.md": "word"})
    assert bundle.found("word") == ["x/a", "y/b"]
    (bundle.root / "x").rename(bundle.root / "y" / "z")
    assert bundle.found("word") == ["y/b", "y/z/a"]


def test_two_swapped_documents_are_found_under_each_others_name(bundle: Watched) -> None:
    bundle.write(a="word 1", b="word 2")
    assert bundle.excerpts("word") == ["word 1", "word 2"]
    (bundle.root / "a.md").rename(bundle.root / "c")
    (bundle.root / "b.md").rename(bundle.root / "a.md")
    (bundle.root / "c").rename(bundle.root / "b.md")
    assert bundle.excerpts("word") == ["word 2", "word 1"]


def in_place(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def by_replacement(path: Path, content: bytes) -> None:
    scratch = path.with_name("scratch")
    scratch.write_bytes(content)
    scratch.replace(path)


def within(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.write(content)


def with_its_old_time(path: Path, content: bytes) -> None:
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def with_a_time_long_ago(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    os.utime(path, ns=(0, 0))


@pytest.mark.parametrize("edit", [in_place, by_replacement, within, with_its_old_time, with_a_time_long_ago])
def test_quick_edits_that_keep_the_size_are_seen(
    bundle: Watched, edit: Callable[[Path, bytes], None]
) -> None:
    path = bundle.root / "a.md"
    path.write_bytes(b"word 000")
    for number in range(300):
        content = f"word {number:03}"
        edit(path, content.encode())
        assert bundle.excerpts("word") == [content]


def test_an_edit_of_an_old_document_is_seen(bundle: Watched) -> None:
    path = bundle.root / "a.md"
    bundle.write(a="word 1")
    os.utime(path, ns=(0, 0))
    for _ in range(3):
        assert bundle.excerpts("word") == ["word 1"]
    with_a_time_long_ago(path, b"word 2")
    assert bundle.excerpts("word") == ["word 2"]


def test_a_document_that_breaks_and_is_repaired_is_served_again(bundle: Watched) -> None:
    for _ in range(3):
        bundle.write(a="---\ntitle: a\n---\nword", b="word")
        assert bundle.found("word") == ["a", "b"]
        assert problems_of(bundle.catalog)["s"] == {}
        bundle.write(a="---\ntitle: a\n---\nword\0")
        assert bundle.found("word") == ["b"]
        assert problems_of(bundle.catalog)["s"].keys() == {"a.md"}


def test_a_document_that_becomes_a_directory_and_back_is_served_again(bundle: Watched) -> None:
    for _ in range(2):
        bundle.write(a="word")
        assert bundle.found("word") == ["a"]
        (bundle.root / "a.md").unlink()
        write_tree(bundle.root, {"a.md/b.md": "word"})
        assert bundle.found("word") == ["a.md/b"]
        shutil.rmtree(bundle.root / "a.md")
        assert bundle.found("word") == []


def test_a_search_follows_a_link_to_its_new_target(bundle: Watched) -> None:
    """As in a mounted configuration map: one link changes, and every file with it."""
    write_tree(bundle.root, {"..v1/a.md": "word 1", "..v2/a.md": "word 2"})
    (bundle.root / "..data").symlink_to("..v1")
    (bundle.root / "a.md").symlink_to("..data/a.md")
    assert bundle.excerpts("word") == ["word 1"]
    (bundle.root / "..data.new").symlink_to("..v2")
    (bundle.root / "..data.new").rename(bundle.root / "..data")
    assert bundle.excerpts("word") == ["word 2"]
    write_tree(bundle.root, {"..v2/a.md": "word 3"})
    assert bundle.excerpts("word") == ["word 3"]
    shutil.rmtree(bundle.root / "..v2")
    assert bundle.excerpts("word") == []
    assert problems_of(bundle.catalog)["s"].keys() == {"a.md"}


def test_a_removed_bundle_is_unavailable_until_it_is_back(bundle: Watched) -> None:
    bundle.write(a="word 1")
    assert bundle.excerpts("word") == ["word 1"]
    away = bundle.root.rename(bundle.root.with_name("away"))
    context = bundle.resolver.search("word")
    assert list(context.passages) == []
    assert [(d.code, d.source_id) for d in context.diagnostics] == [
        (KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "s")
    ]
    write_tree(away, {"a.md": "word 2"})
    away.rename(bundle.root)
    assert bundle.excerpts("word") == ["word 2"]


def test_a_directory_that_replaces_a_bundle_is_read(bundle: Watched, tmp_path: Path) -> None:
    bundle.write(a="word 1")
    assert bundle.excerpts("word") == ["word 1"]
    write_tree(tmp_path / "other", {"a.md": "word 2"})
    bundle.root.rename(tmp_path / "away")
    (tmp_path / "other").rename(bundle.root)
    assert bundle.excerpts("word") == ["word 2"]


def test_a_batch_sees_the_files_as_they_were_when_it_began(bundle: Watched) -> None:
    bundle.write(a="word 1")
    before = bundle.resolver.search_batch(["word", "word 1"])
    bundle.write(a="word 2")
    after = bundle.resolver.search_batch(["word", "word 1"])
    assert [context.passages[0].excerpt for context in before] == ["word 1", "word 1"]
    assert [context.passages[0].excerpt for context in after] == ["word 2", "word 2"]


def test_an_answer_keeps_what_it_found_after_the_files_changed(bundle: Watched) -> None:
    """Passages are made when they are read, from the state of the search."""
    bundle.write(a="---\ntitle: one\n---\nword 1")
    context = bundle.resolver.search("word")
    bundle.write(a="---\ntitle: two\n---\nword 2")
    assert bundle.excerpts("word") == ["word 2"]
    bundle.catalog.close()
    shutil.rmtree(bundle.root)
    assert [(passage.title, passage.excerpt) for passage in context.passages] == [("one", "word 1")]


@pytest.mark.parametrize("freshness", [Freshness.EXACT, Freshness.manual()])
@pytest.mark.parametrize("swapped", [True, False])
def test_a_source_never_answers_with_what_another_one_had_at_its_path(
    tmp_path: Path, freshness: Freshness, *, swapped: bool
) -> None:
    write_tree(tmp_path, {"x/s.md": "word of the staff", "y/p.md": "word for all"})
    staff, public = {"id": "staff", "path": "x"}, {"id": "public", "path": "y"}
    manifest = write_manifest(tmp_path, [staff, public] if swapped else [staff])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False, freshness=freshness) as catalog:
        resolver = KnowledgeResolverRouter(catalog)
        assert resolver.search("word").passages
        (tmp_path / "x").rename(tmp_path / "z")
        (tmp_path / "y").rename(tmp_path / "x")
        (tmp_path / "z").rename(tmp_path / "y")
        write_manifest(tmp_path, [staff | {"path": "y"}, public | {"path": "x"}])
        catalog.reload()
        seen = resolver.search(KnowledgeQuery("word", permitted_source_ids=["public"])).passages
        assert [passage.excerpt for passage in seen] == ["word for all"]
        seen = resolver.search(KnowledgeQuery("word", permitted_source_ids=["staff"])).passages
        assert [passage.excerpt for passage in seen] == ["word of the staff"]
