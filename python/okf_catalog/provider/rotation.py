"""Rotation: passages are taken from each part of a source in turn."""

from collections import deque
from collections.abc import Iterator, Sequence

from okf_catalog._engine import KnowledgePassage

__all__ = ["rotated"]


def rotated(passages: Sequence[KnowledgePassage]) -> Iterator[KnowledgePassage]:
    """The passages in rounds: each round has one passage of every family (X7).

    A family is all passages of one source whose concept ids have the same first segment. Families are in the
    order in which they first appear, and the order inside a family is kept.

    The first round is yielded while the families are found, so a caller that stops early has looked at few
    passages. For later rounds only the index of a passage is stored, and the passage is made again.
    """
    families: dict[tuple[str, str], deque[int]] = {}
    for place, passage in enumerate(passages):
        family = (passage.source_id, passage.concept_id.partition("/")[0])
        waiting = families.get(family)
        if waiting is None:
            families[family] = deque()
            yield passage
        else:
            waiting.append(place)
    queues = [waiting for waiting in families.values() if waiting]
    while queues:
        for waiting in queues:
            yield passages[waiting.popleft()]
        queues = [waiting for waiting in queues if waiting]
