"""On whose behalf each session was last provided for (X11)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Callable

    from okf_catalog.ask.scope import KnowledgeAccessScope

__all__ = ["SessionScopes"]


@final
class _Identity(weakref.ref[Any]):
    """Stands for one object, whatever the object calls equal; when that is gone, only for itself."""

    __slots__ = ("_hash",)

    _hash: int

    def __new__(cls, thing: object, callback: Callable[[_Identity], object] | None = None) -> _Identity:
        identity = super().__new__(cls, thing, callback)
        identity._hash = id(thing)
        return identity

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        thing = self()
        return thing is not None and isinstance(other, _Identity) and other() is thing


class _Taken:
    """The first scope that was taken, and whether it was the only one."""

    __slots__ = ("ambiguous", "scope")

    def __init__(self, scope: KnowledgeAccessScope) -> None:
        self.scope = scope
        self.ambiguous = False


class SessionScopes:
    """Remembers, for as long as a session lives, which scope was taken for it.

    There is no lock that a forked process could find taken, or that a collected session could wait for:
    ``setdefault`` is all or nothing, and ambiguity is only ever set.
    """

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: dict[_Identity, _Taken] = {}

    def remember(self, session: object, scope: KnowledgeAccessScope) -> None:
        """Notes the scope; a session of which no weak reference can be made is passed over."""
        taken = self._taken
        try:
            session_id = _Identity(session, lambda dead: taken.pop(dead, None))
        except TypeError:
            return
        noted = taken.setdefault(session_id, _Taken(scope))
        if noted.scope != scope:
            noted.ambiguous = True

    def recall(self, session: object) -> KnowledgeAccessScope | str:
        """The one scope that was taken for a session, or why there is none."""
        if session is None:
            return "a scope accessor is set, but no session was given"
        try:
            noted = self._taken.get(_Identity(session))
        except TypeError:
            return f"no weak reference to the session, a {type(session).__name__}, can be made"
        if noted is None:
            return "nothing was provided for this session before"
        return "this session was provided for under two scopes" if noted.ambiguous else noted.scope
