"""The order in which passages are taken."""

from collections import deque
from collections.abc import Iterator, Sequence

from okf_catalog._engine import KnowledgePassage

__all__ = ["rotated"]


def rotated(passages: Sequence[KnowledgePassage]) -> Iterator[KnowledgePassage]:
    """The passages, family after family, one of each in every round (X7).

    The first segment of the concept id, within its source, names a family. Families come in the order they
    first appear, and the order within one is kept.

    The first round is handed out while it is found, so that whoever stops early looks at few passages. Only
    places are kept: a passage is made again when its turn comes.
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
