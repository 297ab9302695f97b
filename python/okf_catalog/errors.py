"""What can go wrong.

::

    Exception
    └── OkfCatalogError
        ├── CatalogError              the catalog cannot open; says everything that is wrong with it
        ├── CatalogClosedError        it was closed before            (also RuntimeError)
        ├── RefusedValueError         a value that makes no sense     (also ValueError)
        │   └── MemoryOverlapError    memories would be published; says which sources overlap
        └── RefusedTypeError          a thing of the wrong kind       (also TypeError)

What is wrong with one source of many is no exception but a diagnostic of the answer (S4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from okf_catalog.manifest import CatalogDiagnostic

__all__ = [
    "CatalogClosedError",
    "CatalogError",
    "MemoryOverlapError",
    "OkfCatalogError",
    "RefusedTypeError",
    "RefusedValueError",
]


class OkfCatalogError(Exception):
    """Every exception of this package."""


SHOWN_FAULTS = 100
"""How many faults the text of a ``CatalogError`` says, before the last one."""


class CatalogError(OkfCatalogError):
    """The catalog cannot open; ``diagnostics`` says everything that is wrong with it (C2).

    Of a great many faults it has the first thousand, and the last of these says how many there are. The text
    of the error says the first hundred and the last.
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
    """The catalog was closed; open it again to search it."""


class RefusedValueError(OkfCatalogError, ValueError):
    """A value that makes no sense where it was given; the message names the field and what would be right."""


class MemoryOverlapError(RefusedValueError):
    """A memory source does not lie apart from a source that shows it to others (Y8).

    ``memory_source_id`` is the memory source. ``other_source_id`` is a knowledge source of which one
    directory equals, contains or lies inside the other, or a memory source among the scopes of the first. It
    is the memory source itself if that lies among memories that no source names.
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
            "give them directories of which none lies inside the other"
        )


class RefusedTypeError(OkfCatalogError, TypeError):
    """A thing of the wrong kind; the message names the field and what would be right."""
