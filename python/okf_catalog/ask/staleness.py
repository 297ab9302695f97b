"""What a search does with stale concepts."""

from dataclasses import dataclass
from typing import ClassVar, final

from okf_catalog.checks import check_count, keep_plain

__all__ = ["StalePolicy"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class StalePolicy:
    """Which stale concepts an answer admits (L3). Policies compare by value.

    ``grace_days`` is how many days a concept is still admitted after it became stale. With ``None`` it is
    always admitted.

    Example:
        >>> StalePolicy.tolerate(0) == StalePolicy.STRICT
        True

    Raises:
        RefusedTypeError: ``grace_days`` is neither ``None`` nor an ``int``.
        RefusedValueError: it is negative.
    """

    grace_days: int | None

    USE: ClassVar["StalePolicy"]
    """Admits stale concepts."""
    STRICT: ClassVar["StalePolicy"]
    """Refuses stale concepts."""

    def __post_init__(self) -> None:
        if self.grace_days is not None:
            keep_plain(self, "grace_days", check_count("grace_days", self.grace_days, least=0))

    @classmethod
    def tolerate(cls, grace_days: int) -> "StalePolicy":
        """Admits a concept that became stale less than ``grace_days`` days ago; 0 is ``STRICT``."""
        return cls(check_count("grace_days", grace_days, least=0))

    def __repr__(self) -> str:
        if self.grace_days is None:
            return "StalePolicy.USE"
        return f"StalePolicy.tolerate({self.grace_days})" if self.grace_days else "StalePolicy.STRICT"


StalePolicy.USE = StalePolicy(None)
StalePolicy.STRICT = StalePolicy(0)
