"""The units of an answer: what one passage is."""

from typing import final

from okf_catalog.choice import TextChoice

__all__ = ["KnowledgeUnit"]


@final
class KnowledgeUnit(TextChoice):
    """What one passage of an answer is (V9): a whole concept, or a section of one that can be read alone.

    A passage that is a section has a :class:`KnowledgeSection` in its field ``section``.
    """

    CONCEPT = "concept"
    SECTION = "section"
