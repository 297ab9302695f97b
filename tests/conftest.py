"""What the tests have in common: how hard hypothesis tries, and one small catalog."""

from __future__ import annotations

import itertools
import socket
from typing import TYPE_CHECKING, NoReturn

import profiles  # noqa: F401  # pyright: ignore[reportUnusedImport]  (importing it loads the profile)
import pytest
from asking import RESOLVERS, WAYS, Entrance
from guarded import guarded_catalog, own_tenant
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    Knowledge,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    open_knowledge,
)
from trees import write_manifest, write_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCES = (
    {"id": "low", "path": "low", "priority": 1},
    {"id": "off", "path": "off", "priority": 20, "enabled": False},
    {"id": "high", "path": "high", "priority": 10},
    {"id": "diary", "path": "diary", "priority": 30, "role": "memory", "tier": "user"},
    {"id": "also", "path": "also", "priority": 1},
)
"""In order S1: high, also, low; the rest is never searched."""

FILES = {
    "high/strong.md": "---\ntitle: word\n---\nword",
    "high/weak.md": "word",
    "low/strong.md": "---\ntitle: word\ntags: [word]\n---\nword",
    "low/weak.md": "word",
    "also/middle.md": "---\ndescription: word\n---\nword",
    "off/strong.md": "---\ntitle: word\n---\nword",
    "diary/strong.md": "---\ntitle: word\n---\nword",
}
"""For ``word``, strong scores 6 in low and 4 in high, middle 3, and weak 1."""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A directory with a manifest and its bundles."""
    write_tree(tmp_path, FILES)
    write_manifest(tmp_path, SOURCES)
    return tmp_path


@pytest.fixture
def catalog(shelf: Path) -> Iterator[FileKnowledgeCatalog]:
    with FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False) as catalog:
        yield catalog


@pytest.fixture(params=itertools.product(RESOLVERS, WAYS), ids="-".join)
def ask(request: pytest.FixtureRequest, catalog: FileKnowledgeCatalog) -> Entrance:
    """Each way to ask each kind of resolver: all of them check, refuse and restrict alike."""
    resolver, way = request.param
    return Entrance(catalog, resolver, way)


@pytest.fixture
def resolver(tmp_path: Path) -> Iterator[KnowledgeResolver]:
    """Answers each tenant with what is for everybody and for that tenant (``guarded``)."""
    with guarded_catalog(tmp_path) as catalog:
        yield KnowledgeResolverRouter(catalog, default_source_visibility_policy=own_tenant)


@pytest.fixture
def store(catalog: FileKnowledgeCatalog) -> FileMemoryStore:
    """The memory of a catalog; files about memory have a catalog of their own."""
    return FileMemoryStore(catalog)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Knowledge]:
    """A catalog that has a memory, and nothing else to find."""
    directory = tmp_path / "with-memory"
    for name in ("empty", "notes"):
        (directory / name).mkdir(parents=True)
    write_manifest(
        directory,
        [
            {"id": "empty", "path": "empty"},
            {"id": "notes", "path": "notes", "role": "memory", "tier": "user"},
        ],
    )
    with open_knowledge(directory / "catalog.json", watch_for_changes=False) as knowledge:
        yield knowledge


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reaches for the network fails the test."""

    def refuse(*arguments: object, **_: object) -> NoReturn:
        raise AssertionError(f"the network was asked for {arguments[1:]!r}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
