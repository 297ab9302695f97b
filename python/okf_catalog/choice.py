"""What every named choice of this package is."""

from enum import Enum

__all__ = ["Choice"]


class Choice(Enum):
    """An enum whose members print as one would type them: ``TrustTier.UNVERIFIED``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"
