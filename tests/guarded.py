"""A catalog of which one source is for one tenant alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogs import MENTIONED, TITLED, make_catalog
from okf_catalog import KnowledgeAccessScope, KnowledgeCatalogSource

if TYPE_CHECKING:
    from pathlib import Path

    from okf_catalog import FileKnowledgeCatalog

LOCAL = KnowledgeAccessScope.LOCAL
ACME = KnowledgeAccessScope("acme")

SOURCES: dict[str, dict[str, Any]] = {
    "many": {"priority": 2, "files": {"a.md": MENTIONED, "b.md": MENTIONED, "c.md": MENTIONED}},
    "few": {
        "priority": 1,
        "files": {"best.md": TITLED, "old.md": "---\ndescription: word\nstale_after: 2020-01-01\n---\n"},
    },
    "tenant-acme": {"files": {"secret.md": TITLED}},
}

OPEN = ["many/a", "many/b", "many/c", "few/best", "few/old"]
"""What anybody finds for ``word``, grouped by source."""
ACMES = [*OPEN, "tenant-acme/secret"]
"""What the tenant acme finds."""


def own_tenant(scope: KnowledgeAccessScope, source: KnowledgeCatalogSource) -> bool:
    return not source.id.startswith("tenant-") or source.id == f"tenant-{scope.tenant_id}"


def guarded_catalog(directory: Path) -> FileKnowledgeCatalog:
    return make_catalog(directory, SOURCES)
