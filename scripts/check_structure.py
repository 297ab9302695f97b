"""Fails on import circles, on imports that break the rules of the rooms, and on code that is too long.

A room is a folder together with its `x.rs`, or a file that has no folder. Rooms of one folder must not
import each other in a circle; the rooms inside a room are checked in the same way. Run from anywhere:

    python scripts/check_structure.py [DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from structure import python, rust
from structure.imports import ANY, Imports, circle_faults, rule_faults
from structure.sizes import size_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GROUND = {
    "checks",
    "choice",
    "clock",
    "diagnostics",
    "errors",
    "mapping",
    "rows",
    "scope",
    "section",
    "values",
}
"""The modules of the package beside its folders, without the engine and waiting for it."""

RULES: dict[str, dict[str, set[str]]] = {
    "python/okf_catalog": {
        "choice": set(),
        "rows": set(),
        "values": {"choice"},
        "diagnostics": {"choice", "rows"},
        "errors": {"diagnostics"},
        "checks": {"choice", "errors"},
        "mapping": {"checks", "errors"},
        "scope": {"checks", "errors"},
        "section": {"checks", "errors"},
        "clock": {"checks", "errors"},
        "_engine": {"rows", "scope", "section", "values"},
        "waiting": {"_engine"},
        "catalog": GROUND | {"_engine", "waiting"},
        "ask": GROUND | {"_engine", "catalog", "waiting"},
        "memory": GROUND | {"_engine", "ask", "catalog", "waiting"},
        "provider": GROUND | {"_engine", "ask", "catalog", "memory", "waiting"},
        "host": GROUND | {"ask", "catalog", "memory", "waiting"},
        "adapters": GROUND | {"_engine", "ask", "catalog", "memory", "provider"},
        "__init__": GROUND | {"_engine", "ask", "catalog", "host", "memory", "provider"},
        "cli": GROUND | {"_engine", "ask", "catalog", "host", "memory", "provider"},
    },
    "rust/engine/src": {
        "named_enum": set(),
        "work": set(),
        "text": {"work"},
        "document": {"named_enum", "text"},
        "manifest": {"named_enum"},
        "search": {"document", "text", "work"},
        "disk": {"document", "manifest", "text", "work"},
        "bundle": {"disk", "document", "search", "work"},
        "ask": {"document", "manifest", "named_enum", "search", "text", "work"},
        "error": {"manifest", "work"},
        "memory": {"ask", "bundle", "disk", "document", "error", "manifest", "search", "text", "work"},
        "catalog": {
            "ask",
            "bundle",
            "disk",
            "document",
            "error",
            "manifest",
            "memory",
            "search",
            "text",
            "work",
        },
        "lib": {ANY},
    },
    "rust/python/src": {},
}
"""For each tree which rooms a room may import; ``docs/architecture.md`` explains them.

``ANY`` allows every import, and so does an empty table. Any other table must name every room at the top of
the tree (``lib`` for ``lib.rs``, ``__init__`` for ``__init__.py``).
"""

CODE = ("rust", "python", "tests", "benches", "scripts", "examples")
NO_CODE_OF_OURS = {"target", "__pycache__", "node_modules"}


def main() -> int:
    """Prints every fault; the exit code says whether there are any."""
    if len(sys.argv) > 1:
        # Another project has other rooms.
        root, rules = Path(sys.argv[1]), {tree: dict[str, set[str]]() for tree in RULES}
    else:
        root, rules = Path(__file__).parent.parent, RULES
    found = list(faults(root, rules))
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"structure: {len(found) or 'no'} {'fault' if len(found) == 1 else 'faults'}")
    return 1 if found else 0


def faults(root: Path, rules: Mapping[str, Mapping[str, set[str]]]) -> Iterator[str]:
    """Every fault of the trees that `rules` names, and of the sizes of all code, each as one text."""
    for tree, allowed in rules.items():
        imports: Imports = (python if tree.startswith("python/") else rust).imports(root / tree)
        yield from circle_faults(tree, imports)
        yield from rule_faults(tree, imports, allowed)
    for path in code(root):
        yield from size_faults(path, path.relative_to(root).as_posix())


def code(root: Path) -> Iterator[Path]:
    """Every file of code, in order."""
    for folder in CODE:
        for path in sorted((root / folder).rglob("*")):
            hidden = any(
                part.startswith(".") or part in NO_CODE_OF_OURS for part in path.relative_to(root).parts
            )
            if path.suffix in {".py", ".pyi", ".rs"} and not hidden:
                yield path


if __name__ == "__main__":
    sys.exit(main())
