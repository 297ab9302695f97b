"""When a catalog compares its bundles with the disk."""

from dataclasses import dataclass
from typing import ClassVar, final

__all__ = ["Freshness"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Freshness:
    """When a catalog compares its bundles with the disk. Values compare by value.

    ``EXACT``, the default, promises F1: a search sees every change to the files of a bundle that was complete
    before the search began. Where the kernel reports every change (Linux, local file systems, no links in the
    bundle), a search of an unchanged catalog costs three system calls, however many sources there are, and
    one more for each directory above the catalog root that cannot be watched, or changes too often to be.
    Elsewhere the tree is compared before each search, and ``SourceReport.compared_because`` says why.

    The kernel does not report the following changes. A comparison in the background finds them within half a
    minute:

    - a write through memory (``mmap``), if the file system then changes a time of the file. Often only the
      first write to a page changes it. A later write to the same page, and every such write on some file
      systems, is not found until the file changes in another way;
    - a write by the kernel's asynchronous I/O (``io_submit``; not ``io_uring``);
    - a write to a file through a hard link outside the file's directory, or through a file descriptor that
      was opened by such a link. This concerns bundles with more files than a sixteenth of the inotify watches
      that a user may have (``fs.inotify.max_user_watches``), and bundles for which no watches are left.
      ``compared_because`` says when this is so. In smaller bundles the next search sees such writes;
    - a change, through such a link or file descriptor, of the permissions of a file that this process may not
      read.

    Every comparison relies on the file system. A change that keeps size, inode and both times of a file is
    not seen, and neither is what a network mount still has in its own cache.

    ``manual()`` promises less: a search sees what was complete before the source was first searched, or
    before the last ``refresh()``. In between the disk is not read, and a search costs one system call.

    Example:
        >>> Freshness.manual() == Freshness.EXACT
        False
    """

    is_exact: bool

    EXACT: ClassVar["Freshness"]
    """Every search sees every change that was complete before the search began."""

    @classmethod
    def manual(cls) -> "Freshness":
        """A search sees what the last ``refresh()`` saw."""
        return cls(is_exact=False)

    def __repr__(self) -> str:
        return "Freshness.EXACT" if self.is_exact else "Freshness.manual()"


Freshness.EXACT = Freshness(is_exact=True)
