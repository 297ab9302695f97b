"""Parsing the text of a ``catalog.json``."""

import os
from pathlib import Path

from okf_catalog import _engine
from okf_catalog.catalog.source import KnowledgeCatalogSnapshot, sources_of
from okf_catalog.checks import check_kind, check_path, check_str
from okf_catalog.diagnostics import CatalogDiagnostic, catalog_diagnostics

__all__ = ["parse_manifest"]

VERSION = 1
"""The only version of the format, so every manifest that parses has it."""


def parse_manifest(
    text: str | bytes, *, manifest_directory: str | os.PathLike[str]
) -> KnowledgeCatalogSnapshot | tuple[CatalogDiagnostic, ...]:
    """The snapshot that a manifest describes, as generation 1, or everything that is wrong with it (M1).

    Only the text is looked at, not the disk. ``manifest_directory`` is stored in the snapshot.

    Raises:
        RefusedTypeError: ``text`` is neither ``str`` nor ``bytes``, or the directory is not a path.
    """
    check_kind("text", text, (str, bytes), "a str or bytes")
    # A lone surrogate becomes bytes that are not UTF-8, which the engine reports as PARSE_ERROR.
    content = check_str("text", text).encode(errors="surrogatepass") if isinstance(text, str) else text
    directory = check_path("manifest_directory", manifest_directory)
    sources, faults = _engine.parse_manifest(content)
    if faults:
        return catalog_diagnostics(faults)
    return KnowledgeCatalogSnapshot(VERSION, sources_of(sources), Path(directory), 1)
