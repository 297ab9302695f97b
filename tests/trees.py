"""Directories to test on, and answers in the words of the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import naive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from okf_catalog import FileKnowledgeCatalog, KnowledgeContext, KnowledgePassage


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes ``files`` below ``root``, text as it stands: no line end is translated."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def write_manifest(directory: Path, sources: Sequence[Mapping[str, Any]]) -> Path:
    manifest = directory / "catalog.json"
    manifest.write_text(json.dumps({"version": 1, "sources": [*sources]}), encoding="utf-8")
    return manifest


def passage_of(passage: KnowledgePassage) -> naive.Passage:
    return naive.Passage(
        source_id=passage.source_id,
        concept_id=passage.concept_id,
        title=passage.title,
        excerpt=passage.excerpt,
        score=passage.score,
        bundle_relative_path=passage.bundle_relative_path,
        trust_tier=passage.trust_tier.name.lower(),
        status=passage.status.name.lower(),
        stale_after=passage.stale_after,
        concept_type=passage.concept_type,
        description=passage.description,
        snippet=passage.snippet,
        is_stale=passage.is_stale,
    )


def answer_of(context: KnowledgeContext) -> naive.Answer:
    """What the engine answered, as the model would say it."""
    return naive.Answer(
        tuple(passage_of(passage) for passage in context.passages),
        tuple((diagnostic.code.name, diagnostic.source_id) for diagnostic in context.diagnostics),
    )


def problems_of(catalog: FileKnowledgeCatalog) -> dict[str, dict[str, str]]:
    """Reasons by path below the bundle root, by source id (B7)."""
    return {
        source.source.id: {problem.path: problem.reason for problem in source.problems}
        for source in catalog.report().sources
    }
