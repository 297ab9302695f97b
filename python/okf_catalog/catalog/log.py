"""What the package logs, all of it to the logger ``okf_catalog``."""

import logging
from collections.abc import Iterable, Sequence

from okf_catalog.rows import CatalogDiagnosticRow, MarkedRow, ProblemRow

__all__ = ["log", "log_failed_reload", "log_overlap", "log_problems", "log_unmarked"]

log = logging.getLogger("okf_catalog")

LOGGED_FAULTS = 20
"""At most this many faults of one failed reload are logged, and the last one."""


def log_problems(rows: Iterable[ProblemRow]) -> None:
    """Logs files that are not served (B7). The engine reports each of them once."""
    for source_id, path, reason in rows:
        log.warning("source %r: %r is left out: %s", source_id, path, reason)


def log_failed_reload(faults: Sequence[CatalogDiagnosticRow]) -> None:
    """Logs why a reload failed: the first faults, and the last one, which says how many there are."""
    hidden = len(faults) - LOGGED_FAULTS - 1
    shown = faults if hidden <= 0 else (*faults[:LOGGED_FAULTS], faults[-1])
    for code, message in shown:
        log.warning("the catalog was not reloaded: [%s] %s", code, message)
    if hidden > 0:
        log.warning("the catalog was not reloaded: %d more faults in last_reload_diagnostics", hidden)


def log_overlap(overlap: tuple[str, str] | None) -> None:
    """Logs that the memory sources cannot be used, because one overlaps with another source (Y8)."""
    if overlap is None:
        return
    memory, other = overlap
    if memory == other:
        fault = f"memory source {memory!r} lies among other memories: nothing is remembered until it does not"
    else:
        fault = f"memory source {memory!r} and source {other!r} overlap: nothing is remembered "
        fault += "until they lie apart"
    log.warning("%s", fault)


def log_unmarked(source_id: str, row: MarkedRow) -> None:
    """Logs that some directories of memories have no mark and cannot be given one (Y10)."""
    _, _, failed, first = row
    if first is not None:
        log.warning(
            "memory source %r: %d directories cannot be marked as memories, the first is %r: %s; they "
            "are kept from searches only by this catalog, and only while it is open",
            source_id,
            failed,
            *first,
        )
