"""Small catalogs, written in words."""

from collections.abc import Mapping
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeGuard

from okf_catalog import FileKnowledgeCatalog, KnowledgeContext
from trees import write_manifest, write_tree


def make_catalog(
    directory: Path, sources: Mapping[str, Mapping[str, Any]], **options: Any
) -> FileKnowledgeCatalog:
    """Writes a catalog and opens it.

    ``sources`` maps an id to what its manifest entry says besides the id; ``path`` is the id unless it is
    given, and ``files``, if any, are written there.
    """
    entries: list[dict[str, Any]] = []
    for name, source in sources.items():
        entry: dict[str, Any] = {"id": name, "path": name, **source}
        files = entry.pop("files", None)
        if files is not None:
            (directory / entry["path"]).mkdir(parents=True, exist_ok=True)
            write_tree(directory / entry["path"], files)
        entries.append(entry)
    manifest = write_manifest(directory, entries)
    options.setdefault("watch_for_changes", False)
    return FileKnowledgeCatalog(manifest, **options)


def is_class(thing: object) -> TypeGuard[type[object]]:
    """Whether it is one; in Python 3.10 ``Callable[...]`` claims to be."""
    return isinstance(thing, type) and not isinstance(thing, GenericAlias)


def found(context: KnowledgeContext) -> list[str]:
    """The passages of an answer as ``source/concept``, best first."""
    return [f"{passage.source_id}/{passage.concept_id}" for passage in context.passages]


def scored(context: KnowledgeContext) -> list[tuple[str, int]]:
    """The passages of an answer with their scores, best first."""
    return [(f"{passage.source_id}/{passage.concept_id}", passage.score) for passage in context.passages]


def codes(context: KnowledgeContext) -> list[tuple[str, str | None]]:
    """The diagnostics of an answer, without their words."""
    return [(diagnostic.code.value, diagnostic.source_id) for diagnostic in context.diagnostics]


TITLED = "---\ntitle: word\n---\nnothing else"
"""Scores 3 for ``word``."""
DESCRIBED = "---\ndescription: word\n---\nnothing else"
"""Scores 2 for ``word``."""
MENTIONED = "a word in the body"
"""Scores 1 for ``word``."""
