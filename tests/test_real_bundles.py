"""Real bundles, if this machine has them: the engine reads and finds the same as the model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import naive
import pytest
from making.catalogs import problems_of, write_manifest
from making.model import answer_of
from okf_catalog import (
    FileKnowledgeCatalog,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
)

BUNDLES = (Path(__file__).resolve().parents[2] / "shared" / "data" / "bundles").resolve()
NOW = datetime(2026, 8, 1, tzinfo=timezone.utc)

pytestmark = pytest.mark.skipif(not BUNDLES.is_dir(), reason="the real bundles are not here")


@dataclass(frozen=True)
class Place:
    manifest: Path
    root: Path

    def open(self) -> FileKnowledgeCatalog:
        return FileKnowledgeCatalog(self.manifest, catalog_root=self.root, watch_for_changes=False)

    def model(self) -> naive.NaiveCatalog:
        return naive.NaiveCatalog(self.manifest, root=self.root).load()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A catalog in a temporary directory, whose bundles stay at their own paths."""
    directory = tmp_path_factory.mktemp("real").resolve()
    names = sorted(path.name for path in BUNDLES.iterdir() if path.is_dir())
    # Two more sources: a part of a bundle, and one directory a second time.
    part = next(path for path in sorted(BUNDLES.glob("*/*")) if path.is_dir())
    rows = [
        {"id": name, "path": relative(BUNDLES / name, directory), "priority": len(name) % 3} for name in names
    ]
    rows.append({"id": "part", "path": relative(part, directory), "priority": 1})
    rows.append({"id": "again", "path": relative(BUNDLES / names[0], directory) + "/.", "priority": 9})
    return Place(write_manifest(directory, rows), Path(os.path.commonpath([directory, BUNDLES])))


def relative(path: Path, start: Path) -> str:
    return Path(os.path.relpath(path, start)).as_posix()


def words(model: naive.NaiveCatalog) -> list[str]:
    """A sample of the words in the bundles."""
    said = {
        word
        for concept in all_concepts(model)
        for text in (concept.title, concept.description, concept.body)
        for word in text.split()
    }
    return sorted(said)[::17]


def test_every_file_is_read_as_the_model_reads_it(place: Place) -> None:
    model = place.model()
    assert len(all_concepts(model)) > 50
    with place.open() as catalog:
        for report in catalog.report().sources:
            bundle = model.bundle(report.source.id)
            assert bundle is not None
            assert report.concepts == len(bundle.concepts)
        for source_id, problems in problems_of(catalog).items():
            bundle = model.bundle(source_id)
            assert bundle is not None
            assert problems.keys() == bundle.problems


@pytest.mark.parametrize("scoring", KnowledgeScoring)
@pytest.mark.parametrize("strategy", KnowledgeResolverStrategy)
def test_every_question_is_answered_as_the_model_answers(
    place: Place, strategy: KnowledgeResolverStrategy, scoring: KnowledgeScoring
) -> None:
    model = place.model()
    sample = words(model)
    tags = sorted({tag for c in all_concepts(model) for tag in c.document.tags})
    questions = [
        *((word, None, None) for word in sample),
        *((f"{one} {other}", None, 2) for one, other in zip(sample[::3], sample[1::3], strict=False)),
        *((word, tag, 1) for word in ("a", "order") for tag in tags[::3]),
    ]
    if scoring is KnowledgeScoring.BM25F:
        # The model looks at every concept for every term.
        questions = questions[::4]
    with place.open() as catalog:
        router = KnowledgeResolverRouter(catalog, clock=lambda: NOW)
        contexts = router.search_batch(
            KnowledgeQuery(text, tag, resolver_strategy=strategy, scoring=scoring, fairness_quota=quota)
            for text, tag, quota in questions
        )
        for (text, tag, quota), context in zip(questions, contexts, strict=True):
            expected = model.search(
                text, tag=tag, strategy=strategy.value, scoring=scoring.value, quota=quota, now=NOW
            )
            assert answer_of(context) == expected, (text, tag, quota)


def all_concepts(model: naive.NaiveCatalog) -> list[naive.Concept]:
    bundles = [model.bundle(source.id) for source in naive.candidates(model.sources)]
    return [concept for bundle in bundles if bundle is not None for concept in bundle.concepts]
