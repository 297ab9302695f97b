"""A memory store that keeps everything in a list, for tests of those who have something written to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okf_catalog import KnowledgeAccessScope, KnowledgeQuery, MemoryReadResult
from providing import Store, passage

if TYPE_CHECKING:
    from pathlib import Path


class Notebook(Store):
    """Reads back whatever the scope wrote."""

    def sections(self, scope: KnowledgeAccessScope) -> list[str]:
        """What was written for a scope, oldest first."""
        return [entry.section_markdown for owner, entry, _ in self.writes if owner == scope]

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        notes = self.sections(scope)
        return MemoryReadResult(tuple(passage("note", None, note, "memory:user") for note in notes), ())


def files_below(directory: Path) -> list[str]:
    """The texts of all concepts that a file memory keeps in a directory."""
    return [path.read_text(encoding="utf-8") for path in sorted(directory.rglob("*.md"))]
