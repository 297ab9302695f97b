"""The scope of each session, as the provider has seen it (X11)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Callable

    from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["SessionScopes"]


@final
class _Identity(weakref.ref[Any]):
    """A weak reference that compares by the identity of its object, and not by the object's ``__eq__``.

    After the object is collected, a reference equals only itself.
    """

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


class _Noted:
    """The first scope of a session, and whether another one came later."""

    __slots__ = ("ambiguous", "scope")

    def __init__(self, scope: KnowledgeAccessScope) -> None:
        self.scope = scope
        self.ambiguous = False


class SessionScopes:
    """Remembers the scope of each session as long as the session object exists.

    There is no lock, which a forked process could find locked, or on which the callback of a collected
    session could wait. None is needed: ``setdefault`` is atomic, and ``ambiguous`` changes only once.
    """

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: dict[_Identity, _Noted] = {}

    def remember(self, session: object, scope: KnowledgeAccessScope) -> None:
        """Notes the scope of a session. A session that allows no weak reference is passed over."""
        taken = self._taken
        try:
            session_id = _Identity(session, lambda dead: taken.pop(dead, None))
        except TypeError:
            return
        noted = taken.setdefault(session_id, _Noted(scope))
        if noted.scope != scope:
            noted.ambiguous = True

    def recall(self, session: object) -> KnowledgeAccessScope | str:
        """The one scope of a session; a ``str`` says why there is none."""
        if session is None:
            return "a scope accessor is set, but no session was given"
        try:
            noted = self._taken.get(_Identity(session))
        except TypeError:
            return f"no weak reference to the session, a {type(session).__name__}, can be made"
        if noted is None:
            return "nothing was provided for this session before"
        return "this session was provided for under two scopes" if noted.ambiguous else noted.scope
