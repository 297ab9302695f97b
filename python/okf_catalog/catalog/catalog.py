"""What every kind of catalog can do."""

from typing import Protocol, runtime_checkable

from okf_catalog.catalog.report import CatalogReport
from okf_catalog.catalog.source import KnowledgeCatalogSnapshot

__all__ = ["KnowledgeCatalog"]


@runtime_checkable
class KnowledgeCatalog(Protocol):
    """An open catalog, wherever its sources come from. Resolvers take any catalog of this package.

    The protocol names what all kinds of catalogs have in common. A class of your own cannot be searched, even
    if it has these members: a search needs the compiled engine.
    """

    @property
    def current(self) -> KnowledgeCatalogSnapshot:
        """The snapshot in force; the same object until another snapshot replaces it."""
        ...

    @property
    def closed(self) -> bool:
        """Whether ``close()`` was called."""
        ...

    def report(self) -> CatalogReport:
        """What is known about every source: concepts, problem files, remarks, duplicates, failures."""
        ...

    def refresh(self) -> None:
        """Brings every source up to date now, so that later searches see what is complete at this moment."""
        ...

    def close(self) -> None:
        """Closes the catalog; may be called twice. Later searches raise ``CatalogClosedError``."""
        ...
