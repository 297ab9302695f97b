"""A bundle whose files change while its catalog is open."""

from __future__ import annotations

from pathlib import Path

from okf_catalog import (
    CatalogError,
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeDiagnosticCode,
    SourceReport,
)

from making.catalogs import open_catalog

FILES = {"a.md": "word one", "d/b.md": "word two", "d/e/c.md": "word three", "f/g.md": "word four"}


class OpenBundle:
    """A catalog that stays open, compared with a catalog that is opened anew."""

    def __init__(self, catalog: FileKnowledgeCatalog, root: Path) -> None:
        self.catalog = catalog
        self.root = root
        self.bundle = root / "kb"
        self.resolver = GroupedKnowledgeResolver(catalog)
        self.same()

    def found(self) -> list[tuple[str, str]]:
        passages = self.resolver.search("word other").passages
        return [(passage.concept_id, passage.excerpt) for passage in passages]

    def same(self) -> list[tuple[str, str]]:
        """What is found; a catalog that is opened anew finds the same."""
        answer = self.resolver.search("word other")
        found = [(passage.concept_id, passage.excerpt) for passage in answer.passages]
        try:
            fresh = open_catalog(self.root / "catalog.json")
        except CatalogError:
            assert [d.code for d in answer.diagnostics] == [KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE]
            return found
        with fresh:
            expected = GroupedKnowledgeResolver(fresh).search("word other")
            assert found == [(p.concept_id, p.excerpt) for p in expected.passages]
            assert [d.code for d in answer.diagnostics] == [d.code for d in expected.diagnostics]
            assert self.report().problems == fresh.report().sources[0].problems
        return found

    def report(self) -> SourceReport:
        return self.catalog.report().sources[0]


def write(path: Path, text: str) -> None:
    """Writes one file, in place if it is there already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def watches() -> int:
    """How many inotify watches this process has."""
    infos = [path for path in Path("/proc/self/fdinfo").iterdir() if path.exists()]
    return sum(path.read_text(encoding="ascii").count("inotify wd") for path in infos)
