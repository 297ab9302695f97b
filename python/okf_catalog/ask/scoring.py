"""The scorings: what makes one concept a better match than another."""

from typing import final

from okf_catalog.choice import TextChoice

__all__ = ["KnowledgeScoring"]


@final
class KnowledgeScoring(TextChoice):
    """How concepts are scored (V1). Everything else about a search is the same under both.

    ``WEIGHTED_TERMS`` adds up the weights of the fields that contain a term (K1 to K5). It suits key words,
    and its scores compare across answers. ``BM25F`` also counts how rare a term is, how often it stands in a
    field, and how long the field is (V2 to V8). It suits questions in sentences, and its scores compare only
    within one answer.
    """

    WEIGHTED_TERMS = "weighted_terms"
    BM25F = "bm25f"
