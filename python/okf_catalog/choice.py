"""The base classes of every enum in this package."""

from enum import Enum

__all__ = ["Choice", "TextChoice"]


class Choice(Enum):
    """An enum whose members print as they are typed in code: ``TrustTier.UNVERIFIED``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class TextChoice(str, Choice):
    """An enum whose members equal their values, which are accepted wherever a member is."""

    __str__ = str.__str__
