"""Manifests, and catalogs that are open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from okf_catalog import FileKnowledgeCatalog

from making.bundles import write_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SHELF_SOURCES = (
    {"id": "low", "path": "low", "priority": 1},
    {"id": "off", "path": "off", "priority": 20, "enabled": False},
    {"id": "high", "path": "high", "priority": 10},
    {"id": "diary", "path": "diary", "priority": 30, "role": "memory", "tier": "user"},
    {"id": "also", "path": "also", "priority": 1},
)
"""In order S1: high, also, low; the others are never searched."""

SHELF_FILES = {
    "high/strong.md": "---\ntitle: word\n---\nword",
    "high/weak.md": "word",
    "low/strong.md": "---\ntitle: word\ntags: [word]\n---\nword",
    "low/weak.md": "word",
    "also/middle.md": "---\ndescription: word\n---\nword",
    "off/strong.md": "---\ntitle: word\n---\nword",
    "diary/strong.md": "---\ntitle: word\n---\nword",
}
"""For ``word``, strong scores 6 in low and 4 in high, middle 3, and weak 1."""


def manifest_text(*sources: object, **root: object) -> str:
    """A manifest as text; ``root`` replaces or adds properties beside ``sources``."""
    return json.dumps({"version": 1, "sources": [*sources], **root})


def write_manifest(directory: Path, sources: Sequence[Mapping[str, Any]]) -> Path:
    """Writes ``catalog.json``; gives its path."""
    manifest = directory / "catalog.json"
    manifest.write_text(manifest_text(*sources), encoding="utf-8")
    return manifest


def write_shelf(directory: Path) -> Path:
    """Writes the small catalog that most tests search; gives its directory."""
    write_tree(directory, SHELF_FILES)
    write_manifest(directory, SHELF_SOURCES)
    return directory


def open_catalog(manifest: Path, **options: Any) -> FileKnowledgeCatalog:
    """Opens a catalog that does not watch its manifest, unless ``options`` say so."""
    options.setdefault("watch_for_changes", False)
    return FileKnowledgeCatalog(manifest, **options)


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
    return open_catalog(write_manifest(directory, entries), **options)


def make_bundle(directory: Path, files: Mapping[str, str | bytes], **options: Any) -> FileKnowledgeCatalog:
    """Writes a catalog of one source, ``s``, whose files lie in ``bundle``, and opens it."""
    return make_catalog(directory, {"s": {"path": "bundle", "files": files}}, **options)


def problems_of(catalog: FileKnowledgeCatalog) -> dict[str, dict[str, str]]:
    """For each source id, the reason of each problem by its path below the bundle root (B7)."""
    return {
        source.source.id: {problem.path: problem.reason for problem in source.problems}
        for source in catalog.report().sources
    }
