"""Which catalog a command opens without ``--catalog``."""

import os
from pathlib import Path

import typer

from okf_catalog.cli.screen import complain

__all__ = ["MANIFEST", "VARIABLE", "find_catalog"]

MANIFEST = "catalog.json"
VARIABLE = "OKF_CATALOG"
"""The environment variable that names a catalog."""


def find_catalog() -> Path:
    """The catalog that ``OKF_CATALOG`` names, or the nearest ``catalog.json`` in this directory or above it.

    Says on stderr which one it is. An empty ``OKF_CATALOG`` counts as not set. The path of a catalog that was
    found is relative, so that no absolute path is shown.

    Raises:
        BadParameter: there is neither.
    """
    named = os.environ.get(VARIABLE)
    if named:
        complain(f"the catalog is {named}, which {VARIABLE} names")
        return Path(named)
    for up in range(_depth() + 1):
        found = Path(*[".."] * up, MANIFEST)
        # A directory that may not be read counts as one without a catalog.
        if os.path.isfile(found):  # noqa: PTH113
            complain(f"the catalog is {found}, the nearest upward")
            return found
    raise typer.BadParameter(
        f"neither --catalog nor {VARIABLE} names one, and no {MANIFEST} is here or in a directory above; "
        "okf-catalog init DIR writes one"
    )


def _depth() -> int:
    """How many directories are above the current one; -1 if it was deleted."""
    try:
        return len(Path.cwd().parents)
    except OSError:
        return -1
