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
    bundle) an unchanged catalog costs three system calls, however many sources it has, and one more for each
    directory above the catalog root that is too busy to be watched, or cannot be. Elsewhere the tree is
    compared before each search, and ``SourceReport.compared_because`` says why.

    These changes come without a word from the kernel. A comparison in the background finds them within half a
    minute:

    - a write through memory (``mmap``), if the file system gives the file another time for it. Often only the
      first write to a page does that: what is written to the same page after the file was read, and every
      such write on some file systems, is not found before the file changes in another way;
    - a write by the kernel's asynchronous I/O (``io_submit``; not ``io_uring``);
    - in a bundle with more files than a sixteenth of the inotify watches that a user may have
      (``fs.inotify.max_user_watches``), or where none are left: a write to a file by a hard link, or by a
      descriptor opened with a name, that lies outside the directory of the file. In smaller bundles such
      writes are seen by the next search. ``compared_because`` says when this is so;
    - a change by such a link or descriptor of the permissions of a file that this process may not read.

    Whatever is compared relies on the file system: a change that leaves size, inode and both times of a file
    as they are is not seen, nor what a network mount still has in its own cache.

    ``manual()`` promises only that a search sees what was complete before the source was first searched, or
    before the last ``refresh()``. The disk is not touched in between, and a search costs one system call.

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
