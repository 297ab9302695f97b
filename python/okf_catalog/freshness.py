"""When what is in memory is compared with the files."""

from dataclasses import dataclass
from typing import ClassVar, final

__all__ = ["Freshness"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Freshness:
    """When a catalog compares its bundles with the disk. Values compare by value.

    ``EXACT``, the default, promises F1: a search sees every change to a bundle's files that was complete
    before it began. Where the kernel tells of every change (Linux, local file systems, no links in the
    bundle) an unchanged catalog costs two system calls; elsewhere the tree is compared before each search,
    and ``report()`` says why. Three kinds of change come without a word from the kernel, and are found within
    half a minute by a comparison in the background: writing through memory (``mmap``), writing by
    asynchronous kernel I/O, and writing by a name or an open descriptor outside the bundle that the file did
    not have when it was read.

    ``manual()`` promises only that a search sees what was complete before the source was first searched, or
    before the last ``refresh()``. The disk is not touched in between.

    Example:
        >>> Freshness.manual() == Freshness.EXACT
        False
    """

    is_exact: bool

    EXACT: ClassVar["Freshness"]
    """Every search sees every change that was complete before it."""

    @classmethod
    def manual(cls) -> "Freshness":
        """A search sees what the last ``refresh()`` saw."""
        return cls(is_exact=False)

    def __repr__(self) -> str:
        return "Freshness.EXACT" if self.is_exact else "Freshness.manual()"


Freshness.EXACT = Freshness(is_exact=True)
