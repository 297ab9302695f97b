"""Small corpora on which the tests run every bench once, so that each bench keeps working."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benches import corpus, documents
from benches.ours import Ours, Positions
from benches.queries import QueryMaker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benches.documents import Corpus


@pytest.fixture(scope="session")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus.write(tmp_path_factory.mktemp("corpus"), count=200, sources=3, body_bytes=1_000)


@pytest.fixture(scope="session")
def concepts(manifest: Path) -> Corpus:
    return documents.read(manifest)


@pytest.fixture(scope="session")
def maker(concepts: Corpus) -> QueryMaker:
    return QueryMaker(concepts)


@pytest.fixture(scope="session")
def positions(concepts: Corpus) -> Positions:
    return Positions(concepts)


@pytest.fixture(scope="session")
def ours(manifest: Path) -> Iterator[Ours]:
    with Ours(manifest) as opened:
        yield opened
