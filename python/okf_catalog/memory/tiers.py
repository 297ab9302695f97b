"""Which places of which tiers an operation on memories concerns."""

from typing import NamedTuple

from okf_catalog.ask.scope import KnowledgeAccessScope
from okf_catalog.catalog.generation import Generation
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.memory.paths import applies, memory_path, own_tier, places_below
from okf_catalog.rows import MemoryPlace

__all__ = ["Deletion", "deletions", "deletions_below", "places_of", "refusal_of", "source_id_of"]


class Deletion(NamedTuple):
    """What is deleted in one tier: every scope that is ``levels`` directories below the place."""

    tier: MemoryTier
    place: MemoryPlace
    levels: int


def source_id_of(tier: MemoryTier) -> str:
    """The source id that passages and messages show instead of the one in the manifest."""
    return f"memory:{tier.value}"


def places_of(generation: Generation, scope: KnowledgeAccessScope) -> dict[MemoryTier, MemoryPlace]:
    """The places of the tiers that apply to a scope, in the order session, user, tenant."""
    return {
        tier: (generation.memories[tier], memory_path(tier, scope))
        for tier in MemoryTier
        if tier in generation.memories and applies(tier, scope)
    }


def refusal_of(generation: Generation, scope: KnowledgeAccessScope, tier: MemoryTier) -> str | None:
    """Why a tier cannot be used for a scope (Y2); ``None`` if it can."""
    if tier not in generation.memories:
        return _unconfigured(tier)
    if not applies(tier, scope):
        return f"the tier {tier.value!r} does not apply: the scope is not local, and has no {tier.value}_id"
    return None


def deletions(
    generation: Generation, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> list[Deletion] | str:
    """What is deleted for exactly one scope; a ``str`` says why nothing is."""
    refusal = None if tier is None else refusal_of(generation, scope, tier)
    if refusal is not None:
        return refusal
    places = places_of(generation, scope)
    return [Deletion(one, place, 0) for one, place in places.items() if tier in (None, one)]


def deletions_below(
    generation: Generation, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> list[Deletion] | str:
    """What is deleted for a scope and all scopes below it; a ``str`` says why nothing is."""
    if tier is not None and tier not in generation.memories:
        return _unconfigured(tier)
    own = own_tier(scope)
    if own is None:
        return deletions(generation, scope, tier)
    first = own if tier is None else tier
    if places_below(first, scope) is None:
        return (
            f"the tier {first.value!r} is shared with other scopes than this one; to forget a {first.value} "
            f"and all below, give a scope of the {first.value} alone"
        )
    chosen = list[Deletion]()
    # The tiers are in the order session, user, tenant: scopes further down are deleted first.
    for one in list(MemoryTier)[: list(MemoryTier).index(first) + 1]:
        found = places_below(one, scope)
        if found is not None and one in generation.memories:
            path, levels = found
            chosen.append(Deletion(one, (generation.memories[one], path), levels))
    return chosen


def _unconfigured(tier: MemoryTier) -> str:
    return f"the catalog has no enabled memory source of the tier {tier.value!r}"
