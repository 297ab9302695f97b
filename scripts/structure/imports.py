"""Imports between the files of one tree, the rooms these files form, and the faults such imports can have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

# In a table of rules: a room that may import every other room.
ANY = "*"

# A file of the tree -> a file that it imports -> the names that it uses from there. Paths start at the tree's
# root.
Imports = Mapping[PurePosixPath, Mapping[PurePosixPath, set[str]]]
Edge = tuple[PurePosixPath, PurePosixPath]


def room_of(file: PurePosixPath, folder: PurePosixPath) -> str:
    """The room of `folder` that holds `file`: a folder in it together with its `x.rs`, or a single file."""
    return file.relative_to(folder).parts[0].removesuffix(".rs").removesuffix(".pyi").removesuffix(".py")


def folders_of(files: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Every folder that holds some of `files`, the root first."""
    found = {folder for file in files for folder in file.parents}
    return sorted(found, key=lambda folder: (len(folder.parts), folder))


def inside(file: PurePosixPath, folder: PurePosixPath) -> bool:
    """Whether `file` belongs to the room that `folder` is. `x.rs` belongs to the room `x/`."""
    return folder in file.parents or (file.suffix == ".rs" and file.with_suffix("") == folder)


def edges_between_rooms(imports: Imports, folder: PurePosixPath) -> dict[tuple[str, str], list[Edge]]:
    """The imports that lead from one room of `folder` to another: (room, room) -> the files they join."""
    found: dict[tuple[str, str], list[Edge]] = defaultdict(list)
    for importer, imported in imports.items():
        for target in imported:
            if inside(importer, folder) and inside(target, folder):
                pair = (named(importer, folder), named(target, folder))
                if pair[0] != pair[1]:
                    found[pair].append((importer, target))
    return found


def named(file: PurePosixPath, folder: PurePosixPath) -> str:
    """The room of `folder` that holds `file`; for `x.rs` seen from inside `x/`, the file's own name."""
    return room_of(file, folder) if folder in file.parents else file.name


def circles(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Groups of rooms in which each room reaches every other one, sorted; a room alone is no circle."""
    onward: dict[str, set[str]] = defaultdict(set)
    back: dict[str, set[str]] = defaultdict(set)
    for importer, imported in pairs:
        onward[importer].add(imported)
        back[imported].add(importer)
    found: list[list[str]] = []
    seen: set[str] = set()
    for room in sorted(onward):
        if room not in seen:
            group = reached(room, onward) & reached(room, back)
            seen |= group
            if len(group) > 1:
                found.append(sorted(group))
    return found


def reached(start: str, onward: Mapping[str, set[str]]) -> set[str]:
    """`start` and every room that one can get to from it."""
    found = {start}
    to_visit = [start]
    while to_visit:
        for room in onward.get(to_visit.pop(), ()):
            if room not in found:
                found.add(room)
                to_visit.append(room)
    return found


def rooms_of(imports: Imports) -> set[str]:
    """The rooms at the top of the tree."""
    return {room_of(file, PurePosixPath()) for file in imports}


def circle_faults(root: str, imports: Imports) -> Iterator[str]:
    """One text for each circle between the rooms of one folder, with every import that is part of it."""
    for folder in folders_of([*imports, *(target for targets in imports.values() for target in targets)]):
        edges = edges_between_rooms(imports, folder)
        for group in circles(edges):
            joined = [edge for pair, files in edges.items() if set(pair) <= set(group) for edge in files]
            lines = [f"  {shown(edge, imports)}" for edge in sorted(joined)]
            place = PurePosixPath(root) / folder
            yield "\n".join([f"{place}: import circle between {', '.join(group)}", *lines])


def rule_faults(root: str, imports: Imports, rules: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """One text for each import that `rules` forbids, and for each room without a rule or without a file.

    `rules` says for each room which other rooms it may import. An empty table allows everything.
    """
    if not rules:
        return
    rooms = rooms_of(imports)
    for room in sorted(rooms - set(rules)):
        yield f"{root}: the room {room} has no rule; say which rooms it may import"
    for room in sorted(rules):
        for unknown in sorted({room, *rules[room]} - rooms - {ANY}):
            yield f"{root}: the rule of {room} names {unknown}, which is no room"
    for (importer, imported), files in sorted(edges_between_rooms(imports, PurePosixPath()).items()):
        allowed = set(rules.get(importer, [ANY]))
        if ANY not in allowed and imported not in allowed:
            lines = [f"  {shown(edge, imports)}" for edge in sorted(files)]
            yield "\n".join([f"{root}: {importer} may not import {imported}", *lines])


def shown(edge: Edge, imports: Imports) -> str:
    """One import as text: file -> file (names)."""
    importer, imported = edge
    return f"{importer} -> {imported} ({', '.join(sorted(imports[importer][imported]))})"
