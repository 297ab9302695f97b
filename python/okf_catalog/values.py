"""The enums that a passage carries: its trust tier and its status."""

from __future__ import annotations

from typing import final

from okf_catalog.choice import Choice

__all__ = ["ConceptStatus", "TrustTier"]


@final
class TrustTier(Choice):
    """Who has checked a concept (L5). Tiers are ordered from no check to a check by a person."""

    UNVERIFIED = "unverified"
    MACHINE_CONFIRMED = "machine_confirmed"
    HUMAN_REVIEWED = "human_reviewed"

    @property
    def _rank(self) -> int:
        return list(TrustTier).index(self)

    def __lt__(self, other: object) -> bool:
        return self._rank < other._rank if isinstance(other, TrustTier) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._rank <= other._rank if isinstance(other, TrustTier) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._rank > other._rank if isinstance(other, TrustTier) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._rank >= other._rank if isinstance(other, TrustTier) else NotImplemented


@final
class ConceptStatus(Choice):
    """The stage of a concept's life: draft, stable or deprecated (L1)."""

    DRAFT = "draft"
    STABLE = "stable"
    DEPRECATED = "deprecated"
