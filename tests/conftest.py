"""Fixtures of all tests: a small catalog, resolvers over it, and memories."""

from __future__ import annotations

import itertools
import socket
from typing import TYPE_CHECKING, Any, NoReturn

import making.profiles  # noqa: F401  # pyright: ignore[reportUnusedImport]  (importing it loads the profile)
import pytest
from making import providing
from making.asking import RESOLVERS, WAYS, Entrance
from making.catalogs import make_catalog, open_catalog, write_manifest, write_shelf
from making.changes import FILES, OpenBundle
from making.commands import write_sales
from making.leaks import remember
from making.memory import memory_source, open_memories
from making.model import COMPARED
from making.visibility import guarded_catalog, own_tenant
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    Knowledge,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    open_knowledge,
)
from okf_catalog._engine import Question
from okf_catalog.ask import question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how many answers were compared with the plain-Python model."""
    counts = ", ".join(f"{count:,} of {scoring}" for scoring, count in sorted(COMPARED.items()))
    if counts:
        terminalreporter.write_line(f"answers compared with the model: {counts}")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A directory with a manifest and its bundles."""
    return write_shelf(tmp_path)


@pytest.fixture
def catalog(shelf: Path) -> Iterator[FileKnowledgeCatalog]:
    """The catalog on the shelf, open."""
    with open_catalog(shelf / "catalog.json") as catalog:
        yield catalog


@pytest.fixture(params=itertools.product(RESOLVERS, WAYS), ids="-".join)
def ask(request: pytest.FixtureRequest, catalog: FileKnowledgeCatalog) -> Entrance:
    """Each way to ask each kind of resolver: all of them check, refuse and restrict alike."""
    resolver, way = request.param
    return Entrance(catalog, resolver, way)


@pytest.fixture
def resolver(tmp_path: Path) -> Iterator[KnowledgeResolver]:
    """Gives each tenant what is for everybody and what is for that tenant (``making.visibility``)."""
    with guarded_catalog(tmp_path) as catalog:
        yield KnowledgeResolverRouter(catalog, default_source_visibility_policy=own_tenant)


@pytest.fixture
def memory_options() -> dict[str, Any]:
    """Options of the catalog that ``memories`` opens; a test file may define its own."""
    return {}


@pytest.fixture
def memories(tmp_path: Path, memory_options: dict[str, Any]) -> Iterator[FileKnowledgeCatalog]:
    """A catalog with a memory source for each tier (``making.memory.open_memories``)."""
    with open_memories(tmp_path, **memory_options) as memories:
        yield memories


@pytest.fixture
def store(memories: FileKnowledgeCatalog) -> FileMemoryStore:
    """The memory of ``memories``."""
    return FileMemoryStore(memories)


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """The manifest of a catalog whose knowledge lies apart from marked memories (``making.leaks``)."""
    return remember(tmp_path)


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """The manifest of two sources, ``sales`` above ``archive`` (``making.commands``)."""
    return write_sales(tmp_path)


@pytest.fixture
def empty_bundle(tmp_path: Path) -> Path:
    """The manifest of one source with an empty directory ``bundle``, to be filled by the test."""
    (tmp_path / "bundle").mkdir()
    return write_manifest(tmp_path, [{"id": "bundle", "path": "bundle"}])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[OpenBundle]:
    """A bundle whose files the test changes."""
    with make_catalog(tmp_path, {"kb": {"files": FILES}}) as catalog:
        yield OpenBundle(catalog, tmp_path)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Knowledge]:
    """An open host whose catalog has one memory source, and one empty source of knowledge."""
    directory = tmp_path / "with-memory"
    for name in ("empty", "notes"):
        (directory / name).mkdir(parents=True)
    write_manifest(directory, [{"id": "empty", "path": "empty"}, memory_source("user", "notes")])
    with open_knowledge(directory / "catalog.json", watch_for_changes=False) as knowledge:
        yield knowledge


@pytest.fixture(params=[*providing.WAYS])
def provide(request: pytest.FixtureRequest) -> providing.Way:
    """Each way to ask a provider for context: ``provide(provider, messages, session=None)``."""
    return providing.WAYS[request.param]


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether an agent's answer is streamed."""
    return request.param is True


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any use of the network fails the test."""

    def refuse(*arguments: object, **_: object) -> NoReturn:
        raise AssertionError(f"the network was asked for {arguments[1:]!r}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Scoring and unit of every question that is made for the engine, in order."""
    made: list[tuple[str, str]] = []

    def record(*arguments: Any) -> Question:
        made.append(arguments[3:5])
        return Question(*arguments)

    monkeypatch.setattr(question, "Question", record)
    return made
