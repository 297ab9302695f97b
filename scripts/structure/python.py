"""Who imports whom in a Python package.

Imports inside functions and under `TYPE_CHECKING` count like all others.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Dotted = tuple[str, ...]


@dataclass
class Module:
    """One file of the package: what it imports, and by which name."""

    file: PurePosixPath
    name: Dotted
    tree: ast.Module
    # Name in this module -> (module, name in that module); the second is empty for a whole module.
    imported: dict[str, tuple[Dotted, str]] = field(default_factory=dict[str, tuple[Dotted, str]])

    @property
    def package(self) -> Dotted:
        """The package that a relative import starts from."""
        return self.name if self.file.stem == "__init__" else self.name[:-1]


def imports(root: Path) -> dict[PurePosixPath, dict[PurePosixPath, set[str]]]:
    """Each file of the package at `root` -> each file of it that this one imports -> the names used."""
    modules = {module.name: module for module in read(root)}
    for module in modules.values():
        for origin, name, alias in imported_names(module):
            module.imported.setdefault(alias, (origin, name))
    found: dict[PurePosixPath, dict[PurePosixPath, set[str]]] = {}
    for module in modules.values():
        targets: dict[PurePosixPath, set[str]] = defaultdict(set)
        for origin, name, _ in imported_names(module):
            target = defining(origin, name, modules)
            if target is not None and target is not module:
                targets[target.file].add(name if name and (*origin, name) != target.name else target.name[-1])
        found[module.file] = dict(targets)
    return found


def read(root: Path) -> Iterator[Module]:
    """Every module below `root`. A stub stands for the compiled module that it describes."""
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.pyi")]):
        file = PurePosixPath(path.relative_to(root).as_posix())
        parts = (root.name, *file.with_suffix("").parts)
        name = parts[:-1] if file.stem == "__init__" else parts
        yield Module(file, name, ast.parse(path.read_bytes(), filename=str(path)))


def imported_names(module: Module) -> Iterator[tuple[Dotted, str, str]]:
    """Each import of `module` as (module, name in it or nothing, name in the importer)."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                dotted = tuple(alias.name.split("."))
                yield dotted, "", alias.asname or dotted[0]
        elif isinstance(node, ast.ImportFrom):
            package = module.package[: len(module.package) - node.level + 1] if node.level else ()
            origin = (*package, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield origin, alias.name, alias.asname or alias.name


def defining(origin: Dotted, name: str, modules: dict[Dotted, Module]) -> Module | None:
    """The module that an import leads to, or nothing outside the package.

    A name that an `__init__.py` only passes on leads to the module that it comes from.
    """
    seen: set[tuple[Dotted, str]] = set()
    while (origin, name) not in seen:
        seen.add((origin, name))
        if name and (*origin, name) in modules and name not in defined(modules.get(origin)):
            return modules[(*origin, name)]
        module = modules.get(origin)
        if module is None or module.file.stem != "__init__" or name not in module.imported:
            return module
        if module.imported[name][0][:1] != module.name[:1]:
            return module
        origin, name = module.imported[name]
    return modules.get(origin)


def defined(module: Module | None) -> set[str]:
    """The functions and classes of a module."""
    if module is None:
        return set()
    return {
        node.name
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
