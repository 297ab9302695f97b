"""Answers of the engine in the words of the plain-Python model (``naive``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import naive

if TYPE_CHECKING:
    from okf_catalog import KnowledgeContext, KnowledgePassage


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
    return naive.Answer(
        tuple(passage_of(passage) for passage in context.passages),
        tuple((diagnostic.code.name, diagnostic.source_id) for diagnostic in context.diagnostics),
    )


def document(front: str, body: str = "") -> naive.Document:
    """What the model reads in a file of this frontmatter and body."""
    return naive.read_document(f"---\n{front}\n---\n{body}".encode())
