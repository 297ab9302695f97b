"""Which places of which tiers an operation on memories concerns."""

from typing import TypeAlias

from okf_catalog import _engine
from okf_catalog.catalog.generation import Generation
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["applies", "deletions", "deletions_below", "places_of", "refusal_of", "source_id_of"]

MemoryPlace: TypeAlias = tuple[int, KnowledgeAccessScope]
"""Where one tier keeps the memories of one scope: position of the memory source, and the scope."""


def source_id_of(tier: MemoryTier) -> str:
    """The source id that passages and messages show instead of the one in the manifest."""
    return f"memory:{tier.value}"


def places_of(generation: Generation, scope: KnowledgeAccessScope) -> dict[MemoryTier, MemoryPlace]:
    """The places of the tiers that apply to a scope, in the order session, user, tenant."""
    return {
        tier: (generation.memories[tier], scope)
        for tier in MemoryTier
        if tier in generation.memories and applies(tier, scope)
    }


def applies(tier: MemoryTier, scope: KnowledgeAccessScope) -> bool:
    """Whether a tier holds memories of a scope (Y2): the scope is local, or has the id of the tier."""
    return _engine.tier_applies(tier.value, scope)


def refusal_of(generation: Generation, scope: KnowledgeAccessScope, tier: MemoryTier) -> str | None:
    """Why a tier cannot be used for a scope (Y2); ``None`` if it can."""
    if tier not in generation.memories:
        return _unconfigured(tier)
    if not applies(tier, scope):
        return f"the tier {tier.value!r} does not apply: the scope is not local, and has no {tier.value}_id"
    return None


def deletions(
    generation: Generation, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> dict[MemoryTier, MemoryPlace] | str:
    """What is deleted for exactly one scope; a ``str`` says why nothing is."""
    refusal = None if tier is None else refusal_of(generation, scope, tier)
    if refusal is not None:
        return refusal
    places = places_of(generation, scope)
    return {one: place for one, place in places.items() if tier in (None, one)}


def deletions_below(
    generation: Generation, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> dict[MemoryTier, MemoryPlace] | str:
    """What is deleted for a scope and all scopes below it; a ``str`` says why nothing is."""
    if tier is not None and tier not in generation.memories:
        return _unconfigured(tier)
    own = _engine.own_tier(scope)
    if own is None:
        return deletions(generation, scope, tier)
    # In the order session, user, tenant: scopes of a tier lie below those of the tiers after it.
    tiers = list(MemoryTier)
    last = tiers.index(MemoryTier(own) if tier is None else tier)
    if last > tiers.index(MemoryTier(own)):
        first = tiers[last].value
        return (
            f"the tier {first!r} is shared with other scopes than this one; to forget a {first} and all "
            f"below, give a scope of the {first} alone"
        )
    return {one: (generation.memories[one], scope) for one in tiers[: last + 1] if one in generation.memories}


def _unconfigured(tier: MemoryTier) -> str:
    return f"the catalog has no enabled memory source of the tier {tier.value!r}"
