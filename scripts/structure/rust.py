"""Who imports whom among the modules of a Rust crate: by `use`, and by paths in the code.

A path leads to the file that defines what it names: a name that a module only passes on (`pub use`) leads to
where it comes from. A parent does not import a child by declaring it (`mod child;`), only by using what is in
it. Code for tests is passed over.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from structure.tokens import Token, closing, is_name, tokens, without_tests

if TYPE_CHECKING:
    from collections.abc import Iterator

Names = tuple[str, ...]
DEFINES = {"fn", "struct", "enum", "union", "trait", "type", "const", "static"}


@dataclass
class Module:
    """One module: a file, or an inline `mod x { … }` of it."""

    file: PurePosixPath
    path: Names
    items: set[str] = field(default_factory=set[str])
    # Name in this module -> what it stands for. Two imports can share a name, one for each system (`cfg`).
    uses: dict[str, set[Names]] = field(default_factory=lambda: defaultdict[str, set[Names]](set))
    globs: set[Names] = field(default_factory=set[Names])
    # Paths with `::` in the code, other than in `use`.
    mentions: set[Names] = field(default_factory=set[Names])


Modules = dict[Names, Module]
# Where a path leads: a module, and the item in it or nothing.
Target = tuple[Names, str]


def imports(root: Path) -> dict[PurePosixPath, dict[PurePosixPath, set[str]]]:
    """Each file of the crate at `root` -> each file of it that this one imports -> the names used."""
    modules = read(root)
    found: dict[PurePosixPath, dict[PurePosixPath, set[str]]] = {
        module.file: {} for module in modules.values()
    }
    for module in modules.values():
        used = {path for paths in module.uses.values() for path in paths} | module.mentions
        targets = [target for path in used for target in resolved(path, module, modules)]
        everything = [(path, "*") for glob in module.globs for path, _ in resolved(glob, module, modules)]
        for path, item in [*targets, *everything]:
            file = modules[path].file
            # A module alone is a name to reach things by. What is reached is a mention of its own.
            if item and file != module.file:
                found[module.file].setdefault(file, set()).add(item)
    return found


def read(root: Path) -> Modules:
    """Every module of the crate that is not for tests only."""
    modules: Modules = {}
    for_tests: set[Names] = set()
    for path in sorted(root.rglob("*.rs")):
        file = PurePosixPath(path.relative_to(root).as_posix())
        name = module_path(file)
        found, child_files = without_tests(tokens(path.read_text(encoding="utf-8")))
        for_tests |= {(*name, child) for child in child_files}
        Reader(found, modules).read(Module(file, name))
    return {
        path: module
        for path, module in modules.items()
        if "tests" not in path and not any(path[:end] in for_tests for end in range(1, len(path) + 1))
    }


def module_path(file: PurePosixPath) -> Names:
    """The module that a file holds: `x/y.rs` and `x/y/mod.rs` hold `x::y`; `lib.rs` holds the crate root."""
    parts = file.with_suffix("").parts
    return parts[:-1] if parts[-1] == "mod" or parts in {("lib",), ("main",)} else parts


class Reader:
    """Reads the tokens of one file into modules."""

    def __init__(self, found: list[Token], modules: Modules) -> None:
        self.words = [token.text for token in found]
        self.closing = closing(found)
        self.modules = modules

    def read(self, module: Module, start: int = 0, end: int | None = None) -> None:
        """Reads what stands between two places as the content of `module`."""
        self.modules[module.path] = module
        end = len(self.words) if end is None else end
        depth = 0
        at = start
        while at < end:
            word = self.words[at]
            following = self.words[at + 1] if at + 1 < end else ""
            if word == "mod" and at + 2 < end and self.words[at + 2] == "{":
                close = self.closing[at + 2]
                self.read(Module(module.file, (*module.path, following)), at + 3, close)
                at = close
            elif word == "use" and following != "<":
                at = self.read_use(module, at + 1)
            elif word == "pub" and following == "(":
                at = self.closing[at + 1]
            elif depth == 0 and word in DEFINES and is_name(following) and following not in DEFINES:
                module.items.add(following)
            elif depth == 0 and word == "macro_rules":
                module.items.add(self.words[at + 2])
            elif is_name(word) and following == "::":
                at = self.read_mention(module, at)
            depth += (word == "{") - (word == "}")
            at += 1

    def read_use(self, module: Module, at: int) -> int:
        """Reads one `use`; gives the place of its semicolon."""
        end = at
        while self.words[end] != ";":
            end = self.closing.get(end, end) + 1
        for path, name in self.leaves(at, end, ()):
            if path[-1:] == ("*",):
                module.globs.add(path[:-1])
            elif path[-1:] == ("self",) and len(path) > 1:
                module.uses[path[-2] if name == "self" else name].add(path[:-1])
            else:
                module.uses[name].add(path)
        return end

    def leaves(self, at: int, end: int, path: Names) -> Iterator[tuple[Names, str]]:
        """The paths of one tree of a `use`, each with the name it gets."""
        while at < end:
            word = self.words[at]
            if word == "{":
                inner = at + 1
                while inner < self.closing[at]:
                    comma = self.comma(inner, self.closing[at])
                    yield from self.leaves(inner, comma, path)
                    inner = comma + 1
                return
            if word == "as":
                yield path, self.words[at + 1]
                return
            if word == "::" and not path:
                return  # `::name` is another crate.
            if word != "::":
                path = (*path, word)
            at += 1
        if path:
            yield path, path[-1]

    def comma(self, at: int, end: int) -> int:
        """The next comma that stands in no inner braces, or `end`."""
        while at < end and self.words[at] != ",":
            at = self.closing.get(at, at) + 1
        return at

    def read_mention(self, module: Module, at: int) -> int:
        """Reads a path such as `crate::x::y`; gives the place of its last name."""
        last = at
        while last + 2 < len(self.words) and self.words[last + 1] == "::" and is_name(self.words[last + 2]):
            last += 2
        if last > at and self.words[at - 1 : at] not in (["::"], ["."]):
            module.mentions.add(tuple(self.words[at : last + 1 : 2]))
        return last


def resolved(
    path: Names, module: Module, modules: Modules, seen: frozenset[Target] = frozenset()
) -> set[Target]:
    """Where `path`, written in `module`, leads in this crate; nothing if it leads to another one."""
    start = module.path
    rest = path
    if rest[0] == "crate":
        start, rest = (), rest[1:]
    elif rest[0] in {"self", "super"}:
        while rest and rest[0] in {"self", "super"}:
            start, rest = (start[:-1] if rest[0] == "super" else start), rest[1:]
    elif not looked_up(start, rest[0], modules, seen, last=len(rest) == 1):
        return set()
    targets: set[Target] = {(start, "")} if start in modules else set()
    for place, name in enumerate(rest):
        last = place == len(rest) - 1
        targets = {
            deeper
            for inner, item in targets
            for deeper in (
                {(inner, item)}
                if item
                else looked_up(inner, name, modules, seen, last=last) or {(inner, name)}
            )
        }
    return targets


def looked_up(
    path: Names, name: str, modules: Modules, seen: frozenset[Target], *, last: bool
) -> set[Target]:
    """What `name` is in the module at `path`.

    An item and a module can share a name; only the last name of a path can mean the item.
    """
    module = modules[path]
    child: set[Target] = {((*path, name), "")} if (*path, name) in modules else set()
    if child and not last:
        return child
    if name in module.items:
        return {(path, name)}
    if (path, name) in seen:
        return child
    seen |= {(path, name)}
    found = {target for use in module.uses.get(name, ()) for target in resolved(use, module, modules, seen)}
    if found or child:
        return found or child
    for glob in module.globs:
        for target, item in resolved(glob, module, modules, seen):
            if not item and target != path:
                found |= looked_up(target, name, modules, seen, last=last)
    return found
