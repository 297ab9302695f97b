"""Who is asking: tenant, user and session."""

from dataclasses import dataclass
from typing import ClassVar, final

from okf_catalog.checks import check_segment, check_str, keep_plain
from okf_catalog.errors import RefusedValueError

__all__ = ["KnowledgeAccessScope"]

_RESERVED = "_local"


@final
@dataclass(frozen=True, slots=True)
class KnowledgeAccessScope:
    """The tenant, user and session for which something is asked or remembered (A1).

    A scope comes from the host, never from a message or a tool argument.

    Example:
        >>> KnowledgeAccessScope("acme", user_id="alice").is_local
        False

    Raises:
        RefusedTypeError: an id is not a ``str``.
        RefusedValueError: an id is not one segment (M2), or is the reserved ``_local``.
    """

    tenant_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    LOCAL: ClassVar["KnowledgeAccessScope"]
    """The scope without any id: all three are ``None``."""

    def __post_init__(self) -> None:
        for field in ("tenant_id", "user_id", "session_id"):
            given: object = getattr(self, field)
            if given is None:
                continue
            value = check_str(field, given, "a str or None")
            keep_plain(self, field, value)
            if value == _RESERVED:
                raise RefusedValueError(f"{field} cannot be {_RESERVED!r}, which stands for no id; use None")
            check_segment(field, value)

    @property
    def is_local(self) -> bool:
        """Whether all ids are ``None``."""
        return self.tenant_id is None and self.user_id is None and self.session_id is None


KnowledgeAccessScope.LOCAL = KnowledgeAccessScope()
