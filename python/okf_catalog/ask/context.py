"""The answer to one query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from okf_catalog._engine import Answer, KnowledgePassage
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.diagnostics import KnowledgeDiagnostic, knowledge_diagnostics

__all__ = ["KnowledgeContext"]


@final
@dataclass(frozen=True, slots=True)
class KnowledgeContext:
    """The answer to one query (D5).

    ``passages`` behaves as a tuple in every way, but makes a passage only when it is accessed. ``generation``
    is the number of the one catalog snapshot that the answer comes from.
    """

    query: KnowledgeQuery
    generation: int
    passages: Sequence[KnowledgePassage]
    diagnostics: tuple[KnowledgeDiagnostic, ...]


def context_of(query: KnowledgeQuery, generation: int, answer: Answer) -> KnowledgeContext:
    """The value for the engine's answer to ``query``."""
    return KnowledgeContext(query, generation, answer.passages, knowledge_diagnostics(answer.diagnostics))
