"""Every way that memories come to lie where knowledge is read, and every entrance that could show them."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
from typing import TYPE_CHECKING, Any

from okf_catalog import (
    ChatMessage,
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeContextProvider,
    KnowledgeResolverRouter,
    MemoryTier,
    memory_path,
)

from making.asking import RESOLVERS, WAYS
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.commands import result_of
from making.memory import ALICE, MARK, SESSION, TENANT, USER, entry, memory_source

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from okf_catalog import KnowledgeContext, KnowledgeResolver

QUESTION = "harbour"
SECRET = "zanzibar"
"""Occurs with the question in every memory, and in no knowledge."""
OPEN = "lighthouse"
"""Occurs with the question in all knowledge, and in no memory."""

DIARY = "diary"
KB: dict[str, Any] = {"id": "kb", "path": "kb"}
ALL: dict[str, Any] = {"id": "kb", "path": "."}
SCOPE = f"{DIARY}/{memory_path(USER, ALICE)}"
TIER = f"{DIARY}/memory-user"
USER_TENANT = SCOPE.rpartition("/")[0]


def diaries(**more: Any) -> list[dict[str, Any]]:
    """A memory source for each tier, all of one directory."""
    return [memory_source(tier, f"diary-{tier.value}", DIARY, **more) for tier in MemoryTier]


def remember(directory: Path) -> Path:
    """Writes a catalog whose knowledge lies apart from memories of every tier; gives its manifest."""
    write_tree(directory, {"kb/own.md": f"{QUESTION} {OPEN}", "kb/deeper/own.md": f"{QUESTION} {OPEN}"})
    (directory / DIARY).mkdir()
    manifest = write_manifest(directory, [KB, *diaries()])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        store = FileMemoryStore(catalog)
        for tier in (SESSION, USER, TENANT):
            result = store.write(ALICE, entry(f"the {QUESTION} of {SECRET}", title=SECRET), tier)
            assert (result.written, result.error) == (True, None)
    # A directory that the host made inside a scope holds memories too.
    (directory / SCOPE / "deeper").mkdir()
    (directory / SCOPE / "deeper" / "own.md").write_text(f"{QUESTION} {SECRET}")
    mark_again(manifest)
    return manifest


def forget_marks(directory: Path) -> int:
    """Removes all markers, as in memories of older releases; gives how many there were."""
    marks = [*directory.rglob(MARK)]
    for mark in marks:
        mark.unlink()
    return len(marks)


def mark_again(manifest: Path) -> None:
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        FileMemoryStore(catalog)


Sources = list[dict[str, Any]]


def linked(directory: Path, name: str, target: str) -> None:
    (directory / name).symlink_to(os.path.relpath(directory / target, (directory / name).parent))


def disabled(directory: Path) -> Sources:
    return [ALL, *diaries(enabled=False)]


def still_named(directory: Path) -> Sources:
    return [ALL, *diaries()]


def removed(directory: Path) -> Sources:
    return [ALL]


def only_the_directory(directory: Path) -> Sources:
    return [{"id": "kb", "path": DIARY}]


def moved_below(directory: Path) -> Sources:
    (directory / DIARY).rename(directory / "kb" / "deeper" / "old")
    return [KB]


def moved_below_under_another_name(directory: Path) -> Sources:
    (directory / TIER).rename(directory / "kb" / "people")
    return [KB]


def a_scope_moved_below(directory: Path) -> Sources:
    (directory / SCOPE).rename(directory / "kb" / "notes")
    return [KB]


def moved_below_and_named_elsewhere(directory: Path) -> Sources:
    (directory / DIARY).rename(directory / "kb" / "old")
    (directory / DIARY).mkdir()
    return [KB | {"priority": 1}, *diaries()]


def moved_beside(directory: Path) -> Sources:
    (directory / "shelf").mkdir()
    (directory / DIARY).rename(directory / "shelf" / "old")
    write_tree(directory, {"shelf/own.md": f"{QUESTION} {OPEN}"})
    return [{"id": "kb", "path": "shelf"}]


def knowledge_moved_into_a_tier(directory: Path) -> Sources:
    (directory / "kb").rename(directory / TIER / "kb")
    return [{"id": "kb", "path": f"{TIER}/kb"}]


def knowledge_moved_into_a_scope(directory: Path) -> Sources:
    (directory / "kb").rename(directory / SCOPE / "kb")
    return [{"id": "kb", "path": f"{SCOPE}/kb"}]


def tier(directory: Path) -> Sources:
    return [{"id": "kb", "path": TIER}]


def tenant(directory: Path) -> Sources:
    return [{"id": "kb", "path": USER_TENANT}]


def scope(directory: Path) -> Sources:
    return [{"id": "kb", "path": SCOPE}]


def below_a_scope(directory: Path) -> Sources:
    return [{"id": "kb", "path": f"{SCOPE}/deeper"}]


def spelled_around(directory: Path) -> Sources:
    return [{"id": "kb", "path": f"kb/../{TIER}/./"}]


def file_link(directory: Path) -> Sources:
    linked(directory, "kb/linked.md", f"{SCOPE}/monday.md")
    linked(directory, "kb/deeper/linked.md", f"{SCOPE}/deeper/own.md")
    return [ALL]


def link_to_a_link(directory: Path) -> Sources:
    linked(directory, "kb/first.md", "kb/deeper/second.md")
    linked(directory, "kb/deeper/second.md", f"{SCOPE}/monday.md")
    return [ALL]


def link_by_a_linked_directory(directory: Path) -> Sources:
    linked(directory, "kb/.hidden", SCOPE)
    (directory / "kb" / "linked.md").symlink_to(".hidden/monday.md")
    return [ALL]


def link_out_of_the_bundle(directory: Path) -> Sources:
    linked(directory, "kb/linked.md", f"{SCOPE}/monday.md")
    return [KB]


def directory_link(directory: Path) -> Sources:
    linked(directory, "kb/people", TIER)
    linked(directory, "kb/deeper/scope", SCOPE)
    return [ALL]


PLACES: dict[str, Callable[[Path], Sources]] = {
    place.__name__: place
    for place in (
        disabled,
        still_named,
        removed,
        only_the_directory,
        moved_below,
        moved_below_under_another_name,
        a_scope_moved_below,
        moved_below_and_named_elsewhere,
        moved_beside,
        knowledge_moved_into_a_tier,
        knowledge_moved_into_a_scope,
        tier,
        tenant,
        scope,
        below_a_scope,
        spelled_around,
        file_link,
        link_to_a_link,
        link_by_a_linked_directory,
        link_out_of_the_bundle,
        directory_link,
    )
}

KNOWN = {
    "only_the_directory": 0,
    "moved_beside": 1,
    **dict.fromkeys(("tier", "tenant", "scope", "below_a_scope", "spelled_around"), 0),
    **dict.fromkeys(("knowledge_moved_into_a_tier", "knowledge_moved_into_a_scope"), 0),
}
"""How many concepts can be found, for each way in ``PLACES`` after which it is not two."""

MOUNTED = {
    "source": (DIARY, "kb/mounted"),
    "tier": (TIER, "kb/mounted"),
    "tenant": (USER_TENANT, "kb/mounted"),
    "scope": (SCOPE, "kb/mounted"),
    "scope over knowledge": (SCOPE, "kb/deeper"),
    "scope over all knowledge": (SCOPE, "kb"),
    "below a scope": (f"{SCOPE}/deeper", "kb/deeper"),
}
"""The directory that is mounted, and where."""


@contextlib.contextmanager
def mount(source: Path, place: Path) -> Generator[bool]:
    """Bind-mounts a directory at a place; yields whether the system allowed it."""
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "--bind", source, place], capture_output=True, check=False)
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", place], check=True)


def _contexts(catalog: FileKnowledgeCatalog) -> Iterator[tuple[str, KnowledgeContext]]:
    for name, kind in RESOLVERS.items():
        resolver = kind(catalog)
        for way, ask in WAYS.items():
            yield f"{name} {way}", ask(resolver, QUESTION)
        streaming: Any = resolver
        for context in streaming.search_stream([QUESTION]):
            yield f"{name} search_stream", context


def _columns(resolver: KnowledgeResolver) -> str:
    try:
        pyarrow: Any = importlib.import_module("pyarrow")
    except ImportError:
        return ""
    table: Any = pyarrow.table(resolver.search_batch([QUESTION]).to_arrow())
    return str(table.to_pylist())


def _retrieved(resolver: KnowledgeResolver) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(ImportError):
        from okf_catalog.adapters import langchain

        yield "langchain", str(langchain.OkfRetriever(resolver).invoke(QUESTION))
    with contextlib.suppress(ImportError):
        from okf_catalog.adapters import llama_index

        yield "llama_index", str(llama_index.OkfRetriever(resolver).retrieve(QUESTION))


def _commands(manifest: Path) -> Iterator[tuple[str, str]]:
    for command in (
        ("search", QUESTION, "--json"),
        ("search", QUESTION),
        ("context", QUESTION),
        ("context", QUESTION, "--json"),
        ("check",),
        ("check", "--json"),
    ):
        yield " ".join(command), result_of(*command, "--catalog", manifest).stdout


def everything(catalog: FileKnowledgeCatalog, manifest: Path | None = None) -> Iterator[tuple[str, str]]:
    """The output of each entrance for the question, of the command line too if there is a manifest."""
    for way, context in _contexts(catalog):
        yield way, repr([*context.passages])
    resolver = KnowledgeResolverRouter(catalog)
    yield "to_arrow", _columns(resolver)
    provided = KnowledgeContextProvider(resolver).provide([ChatMessage("user", QUESTION)])
    yield "provider", "".join(message.text or "" for message in provided.messages)
    yield from _retrieved(resolver)
    if manifest is not None:
        yield from _commands(manifest)


def concepts(catalog: FileKnowledgeCatalog) -> dict[str, int]:
    """The number of concepts in each readable source of knowledge, by the report."""
    return {
        report.source.id: report.concepts
        for report in catalog.report().sources
        if report.source.tier is None and report.directory is not None
    }


def check_nothing_leaks(
    catalog: FileKnowledgeCatalog, manifest: Path | None = None, *, known: int | None = None
) -> int:
    """Checks that no entrance shows a memory; gives the number of concepts found, which must be ``known``."""
    counts = concepts(catalog)
    expected = sum(counts.values())
    assert known in (None, expected), counts
    for entrance, said in everything(catalog, manifest):
        assert SECRET not in said, entrance
        assert "monday" not in said, entrance
        if not entrance.startswith("check"):
            assert (OPEN in said) == (expected > 0) or said == "", (entrance, said)
    found = KnowledgeResolverRouter(catalog).search(f"{QUESTION} {SECRET}").passages
    assert len(found) == expected, "what is found is all that is counted"
    assert KnowledgeResolverRouter(catalog).search(SECRET).passages == ()
    return expected


def found(catalog: FileKnowledgeCatalog) -> set[str]:
    """The concepts that a question finds."""
    return {passage.concept_id for passage in KnowledgeResolverRouter(catalog).search(QUESTION).passages}
