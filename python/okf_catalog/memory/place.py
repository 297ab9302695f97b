"""Where the memories of a scope lie."""

from okf_catalog.checks import check_kind
from okf_catalog.manifest import MemoryTier
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["memory_path"]

LOCAL = "_local"
DIGITS = 16


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
    return "/".join((f"memory-{tier.value}", *map(_part, _ids(tier, scope))))


def applies(tier: MemoryTier, scope: KnowledgeAccessScope) -> bool:
    """Whether a tier has something to do with a scope (Y2): the scope is local, or carries the tier's id."""
    return scope.is_local or _ids(tier, scope)[-1] is not None


def places_below(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str, int] | None:
    """Where a tier keeps a scope and all below it: a directory, and how many levels down scopes lie in it.

    ``None`` if the tier is shared with other scopes: this one carries more ids than the tier tells apart.
    Nothing lies below the local scope: a user without a tenant is somebody else.
    """
    own = own_tier(scope)
    if own is None:
        return memory_path(tier, scope), 0
    levels = len(_ids(tier, scope)) - len(_ids(own, scope))
    if levels < 0:
        return None
    return "/".join((f"memory-{tier.value}", *map(_part, _ids(own, scope)))), levels


def own_tier(scope: KnowledgeAccessScope) -> MemoryTier | None:
    """The tier that remembers for this scope alone: that of its last id. ``None`` for the local scope."""
    return next((tier for tier in MemoryTier if _ids(tier, scope)[-1] is not None), None)


def _ids(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str | None, ...]:
    """The ids that tell a tier's scopes apart, its own last."""
    if tier is MemoryTier.TENANT:
        return (scope.tenant_id,)
    if tier is MemoryTier.USER:
        return (scope.tenant_id, scope.user_id)
    return (scope.tenant_id, scope.user_id, scope.session_id)


def _part(value: str | None) -> str:
    if value is None:
        return LOCAL
    # Not above: who only searches does without it.
    from hashlib import sha256  # noqa: PLC0415

    return f"{value.lower()}-{sha256(value.encode()).hexdigest()[:DIGITS]}"
