"""The exceptions of this package.

::

    Exception
    └── OkfCatalogError
        ├── CatalogError              the catalog cannot open; lists everything that is wrong with it
        ├── CatalogClosedError        the catalog is closed               (also RuntimeError)
        ├── RefusedValueError         an argument has a value not allowed (also ValueError)
        │   └── MemoryOverlapError    memories would be published; names the sources that overlap
        └── RefusedTypeError          an argument has the wrong type      (also TypeError)

If one of several sources fails, a search does not raise: the answer has a diagnostic (S4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from okf_catalog.diagnostics import CatalogDiagnostic

__all__ = [
    "CatalogClosedError",
    "CatalogError",
    "MemoryOverlapError",
    "OkfCatalogError",
    "RefusedTypeError",
    "RefusedValueError",
]


class OkfCatalogError(Exception):
    """The base class of every exception of this package."""


SHOWN_FAULTS = 100
"""The text of a ``CatalogError`` shows at most this many faults, and the last one."""


class CatalogError(OkfCatalogError):
    """The catalog cannot open; ``diagnostics`` lists everything that is wrong with it (C2).

    If there are more than a thousand faults, ``diagnostics`` has the first thousand, and the last of these
    says how many there are. The text of the error shows the first hundred and the last one.
    """

    def __init__(self, diagnostics: tuple[CatalogDiagnostic, ...]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        lines = [f"[{d.code.value}] {d.message}" for d in self.diagnostics]
        hidden = len(lines) - SHOWN_FAULTS - 1
        if hidden > 0:
            lines[SHOWN_FAULTS:-1] = [f"({hidden} more in diagnostics)"]
        return "\n".join(lines)


class CatalogClosedError(OkfCatalogError, RuntimeError):
    """The catalog was closed; a search needs an open one."""


class RefusedValueError(OkfCatalogError, ValueError):
    """An argument has a value that is not allowed; the message names the field and what would be right."""


class MemoryOverlapError(RefusedValueError):
    """The directories of a memory source and of another source overlap, so others could read memories (Y8).

    ``memory_source_id`` is the memory source. ``other_source_id`` is one of these:

    - a knowledge source: the two directories are equal, or one contains the other;
    - another memory source whose directory lies inside a scope of the first one;
    - the memory source itself, if its directory lies among other memories that no source names.
    """

    def __init__(self, memory_source_id: str, other_source_id: str) -> None:
        super().__init__(memory_source_id, other_source_id)
        self.memory_source_id = memory_source_id
        self.other_source_id = other_source_id

    def __str__(self) -> str:
        if self.memory_source_id == self.other_source_id:
            return (
                f"the directory of the memory source {self.memory_source_id!r} lies among other memories, in "
                "or below a directory that has an entry .okf-memory; give it a directory outside"
            )
        return (
            f"the directories of the memory source {self.memory_source_id!r} and of the source "
            f"{self.other_source_id!r} overlap, so that others would see what is remembered; "
            "give them directories that do not lie inside each other"
        )


class RefusedTypeError(OkfCatalogError, TypeError):
    """An argument has the wrong type; the message names the field and what would be right."""
