"""Where the memories of a scope lie."""

from okf_catalog import _engine
from okf_catalog.checks import check_kind
from okf_catalog.manifest import MemoryTier
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["memory_path"]


def memory_path(tier: MemoryTier, scope: KnowledgeAccessScope) -> str:
    """The directory of a scope below the root of a tier's memory source, with ``/`` between parts (Y1).

    Ids that differ in any way, if only in case, never share a directory on any file system: each part is
    the id in lower case and the first 16 hexadecimal digits of its SHA-256. ``None`` is ``_local``.

    Example:
        >>> memory_path(MemoryTier.USER, KnowledgeAccessScope("acme", "alice"))
        'memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af'

    Raises:
        RefusedTypeError: ``tier`` is no ``MemoryTier``, or ``scope`` no ``KnowledgeAccessScope``.
    """
    check_kind("tier", tier, MemoryTier, "a MemoryTier")
    check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
    return _engine.memory_path(tier.value, scope)


def applies(tier: MemoryTier, scope: KnowledgeAccessScope) -> bool:
    """Whether a tier holds memories of a scope (Y2): the scope is local, or has the tier's own id."""
    return _engine.tier_applies(tier.value, scope)


def own_tier(scope: KnowledgeAccessScope) -> MemoryTier | None:
    """The tier that only this scope uses: that of its last id. ``None`` for the local scope."""
    tier = _engine.own_tier(scope)
    return None if tier is None else MemoryTier(tier)
