"""The base class of every enum in this package."""

from enum import Enum

__all__ = ["Choice"]


class Choice(Enum):
    """An enum whose members print as they are typed in code: ``TrustTier.UNVERIFIED``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"
