"""The strategies that order the passages of an answer."""

from typing import final

from okf_catalog.choice import TextChoice

__all__ = ["KnowledgeResolverStrategy"]


@final
class KnowledgeResolverStrategy(TextChoice):
    """How the passages of several sources are ordered (R1 to R3)."""

    GROUPED_BY_SOURCE = "grouped_by_source"
    MERGED = "merged"
    PRIORITY_WEIGHTED = "priority_weighted"
