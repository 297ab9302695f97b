"""The directories of memories: one for each tier and scope."""

from okf_catalog.ask.scope import KnowledgeAccessScope
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.checks import check_kind

__all__ = ["memory_path"]

LOCAL = "_local"
"""The part of a path that stands for an id that is ``None``. No id can be this word (A1)."""
DIGITS = 16
"""How many hexadecimal digits of an id's SHA-256 are in its part of a path."""


def memory_path(tier: MemoryTier, scope: KnowledgeAccessScope) -> str:
    """The directory of a scope, below the root of the tier's memory source, with ``/`` between parts (Y1).

    Each part is the id in lower case and the first 16 hexadecimal digits of its SHA-256, so that different
    ids never share a directory, not even ids that differ only in case, on no file system. For ``None`` the
    part is ``_local``.

    Example:
        >>> memory_path(MemoryTier.USER, KnowledgeAccessScope("acme", "alice"))
        'memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af'

    Raises:
        RefusedTypeError: ``tier`` is not a ``MemoryTier``, or ``scope`` not a ``KnowledgeAccessScope``.
    """
    check_kind("tier", tier, MemoryTier, "a MemoryTier")
    check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
    return "/".join((f"memory-{tier.value}", *map(_part, _ids(tier, scope))))


def applies(tier: MemoryTier, scope: KnowledgeAccessScope) -> bool:
    """Whether a tier applies to a scope (Y2): the scope is local, or has the id of the tier."""
    return scope.is_local or _ids(tier, scope)[-1] is not None


def places_below(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str, int] | None:
    """Where a tier keeps the memories of a scope and of all scopes below it.

    Returns a directory, and how many levels down in it the directories of scopes are. ``None`` if the tier is
    shared with other scopes, because this scope has more ids than the tier distinguishes. No scope is below
    the local scope: a user without a tenant is a different user.
    """
    own = own_tier(scope)
    if own is None:
        return memory_path(tier, scope), 0
    levels = len(_ids(tier, scope)) - len(_ids(own, scope))
    if levels < 0:
        return None
    return "/".join((f"memory-{tier.value}", *map(_part, _ids(own, scope)))), levels


def own_tier(scope: KnowledgeAccessScope) -> MemoryTier | None:
    """The tier of the scope's last id, which only this scope uses. ``None`` for the local scope."""
    return next((tier for tier in MemoryTier if _ids(tier, scope)[-1] is not None), None)


def _ids(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str | None, ...]:
    """The ids that distinguish the scopes of a tier. The tier's own id is the last."""
    if tier is MemoryTier.TENANT:
        return (scope.tenant_id,)
    if tier is MemoryTier.USER:
        return (scope.tenant_id, scope.user_id)
    return (scope.tenant_id, scope.user_id, scope.session_id)


def _part(value: str | None) -> str:
    if value is None:
        return LOCAL
    # Imported here, because a process that only searches does not need it.
    from hashlib import sha256  # noqa: PLC0415

    return f"{value.lower()}-{sha256(value.encode()).hexdigest()[:DIGITS]}"
