"""A catalog of which one source is for one tenant alone, and policies that say who may see what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from okf_catalog import KnowledgeAccessScope, KnowledgeCatalogSource

from making.bundles import MENTIONED, TITLED
from making.catalogs import make_catalog

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
"""What every caller finds for ``word``, grouped by source."""
ACMES = [*OPEN, "tenant-acme/secret"]
"""What the tenant acme finds."""


def guarded_catalog(directory: Path) -> FileKnowledgeCatalog:
    return make_catalog(directory, SOURCES)


def own_tenant(scope: KnowledgeAccessScope, source: KnowledgeCatalogSource) -> bool:
    """A policy: each tenant sees its own source and those of no tenant."""
    return not source.id.startswith("tenant-") or source.id == f"tenant-{scope.tenant_id}"


def never(*arguments: object) -> NoReturn:
    """A policy, clock or other callable that must not be called."""
    pytest.fail(f"called with {arguments}")
