"""A new manifest: ids and paths for directories, and a file that takes the place of no other."""

import errno
import json
import os
import re
import secrets
import unicodedata
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["UnfitDirectoryError", "draft_of", "ids_of", "manifest_text", "path_below"]

VERSION = 1
NAMELESS = "source"
"""The id of a directory whose name has nothing that an id may have."""
NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
"""How a file system says that a file has only one name there."""


class UnfitDirectoryError(Exception):
    """A directory that a catalog would refuse; says what is wrong with it and what to do."""


def ids_of(names: Sequence[str]) -> list[str]:
    """An id for each name, in order: as much of the name as an id may hold (M2), and no id twice.

    Accents are dropped, and other characters that no id may have become ``-``. Of several equal ids, that of
    a name which is an id itself stays as it is, or else the first; the others get a number that makes no
    other id.
    """
    wished = [_segment(name) for name in names]
    taken = set(wished)
    keeps = dict[str, int]()
    for at, wish in enumerate(wished):
        if wish not in keeps or (names[at] == wish != names[keeps[wish]]):
            keeps[wish] = at
    numbers = dict[str, int]()
    ids = list[str]()
    for at, wish in enumerate(wished):
        unique, number = wish, numbers.get(wish, 1)
        while keeps[wish] != at and unique in taken:
            number += 1
            unique = f"{wish}-{number}"
        numbers[wish] = number
        taken.add(unique)
        ids.append(unique)
    return ids


def _segment(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", bare).lstrip("-.").rstrip("-") or NAMELESS


def path_below(directory: str, base: str) -> str:
    """The path of a directory as a manifest in ``base`` writes it: relative, with ``/``.

    Raises:
        UnfitDirectoryError: no source may lie there (C1).
    """
    try:
        directory.encode()
    except UnicodeEncodeError as error:
        raise UnfitDirectoryError("its name is not UTF-8, and no manifest can hold it; rename it") from error
    if not os.path.lexists(directory):
        raise UnfitDirectoryError("it does not exist; create it, or name another directory")
    if not os.path.exists(directory):  # noqa: PTH110
        raise UnfitDirectoryError("it is a link to nothing; name a real directory")
    if not os.path.isdir(directory):  # noqa: PTH112
        raise UnfitDirectoryError("it is no directory; name the directory that holds it")
    below = _inside(os.path.abspath(directory), os.path.abspath(base))  # noqa: PTH100
    if below is None or not _is_same(Path(base, below), directory):
        # It may be spelled by way of a link that leads here, or of `..` behind a link.
        below = _inside(os.path.realpath(directory), os.path.realpath(base))
    if below is None:
        raise UnfitDirectoryError(f"it lies outside the manifest's directory; {_higher(directory, base)}")
    _refuse_links(below, base)
    try:
        below.encode()
    except UnicodeEncodeError as error:
        raise UnfitDirectoryError("its path is not UTF-8, and no manifest can hold it; rename it") from error
    # What looks like a path of Windows counts as absolute, on every system.
    return f"./{below}" if re.match(r"[A-Za-z]:|\\", below) else below


def _inside(path: str, base: str) -> str | None:
    """The path as it reads from ``base``, on names alone; ``None`` if it leads out."""
    relative = Path(os.path.relpath(path, base))
    return None if relative.parts[:1] == ("..",) else relative.as_posix()


def _is_same(one: Path, other: str) -> bool:
    return one.exists() and one.samefile(other)


def _higher(directory: str, base: str) -> str:
    common = os.path.commonpath([os.path.realpath(directory), os.path.realpath(base)])
    return f"write the manifest further up, with --output {Path(os.path.relpath(common)) / 'catalog.json'}"


def _refuse_links(below: str, base: str) -> None:
    passed = Path(base)
    # The manifest's own directory may be one.
    for part in Path(below).parts:
        passed /= part
        if passed.is_symlink():
            real = _inside(os.path.realpath(os.path.join(base, below)), os.path.realpath(base))  # noqa: PTH118
            cure = "copy or mount what it leads to" if real is None else f"name {Path(base, real)}"
            raise UnfitDirectoryError(f"{passed} is a link, and no source lies behind a link; {cure}")


def manifest_text(sources: Iterable[tuple[str, str]]) -> str:
    """A manifest of sources, given as id and path."""
    rows = [{"id": source_id, "path": path} for source_id, path in sources]
    return json.dumps({"version": VERSION, "sources": rows}, indent=2, ensure_ascii=False) + "\n"


class _Draft:
    """A manifest that is whole on the disk, under another name in the same directory."""

    def __init__(self, path: Path, target: Path) -> None:
        self.path = path
        self._target = target

    def publish(self) -> None:
        """Gives it its name, all at once.

        Raises:
            FileExistsError: something has that name; it is left as it is.
        """
        try:
            os.link(self.path, self._target)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # Taking the name first is the other way to replace nothing.
            os.close(os.open(self._target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            self.path.replace(self._target)
        _flush_directory(self._target.parent)


@contextmanager
def draft_of(target: Path, text: str) -> Generator[_Draft]:
    """Writes a manifest that can be tried before it is published; it is gone afterwards if it is not."""
    path = target.with_name(f".okf-catalog-{secrets.token_hex(8)}.tmp")
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        yield _Draft(path, target)
    finally:
        path.unlink(missing_ok=True)


def _flush_directory(directory: Path) -> None:
    # Not every file system lets a directory be flushed; the file itself is on the disk.
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
