"""Compares how the package and PyYAML read frontmatter: ``python -m benches.frontmatter DIR...``.

Both read every ``.md`` file below the folders. Where PyYAML finds a mapping, the package must find the same
mapping, node by node: scalars as they are written, and lists and mappings with everything in them. PyYAML is
used as common readers use it, with libyaml if it is installed. What libyaml refuses is tried with PyYAML's
own parser.

The script counts values (all scalars below the root), and files by who reads their frontmatter:

- equal, different: both read it as one mapping
- only here: only the package reads it; "in parts" means entry by entry
- only PyYAML: only PyYAML reads it
- neither: it is text for both

Some differences are intended. PyYAML follows YAML 1.1, where U+0085, U+2028 and U+2029 end lines (counted
separately). PyYAML accepts ``[? ]``, and block text whose ``|`` is at column 0 below its key; the package
leaves these out with a remark. PyYAML refuses a file with control characters; the package reads such text as
it stands. PyYAML does not join the halves of UTF-16 pairs, so the script joins them. The script finds the
start and the end of a block in the same way for both.
"""

from __future__ import annotations

import argparse
import codecs
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from okf_catalog._engine import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Nodes = list[tuple[str, str]]
"""A mapping as pairs (kind, text): text, null, alias, list, mapping, or the end of a list or mapping."""

LOADERS: list[type[yaml.CSafeLoader | yaml.SafeLoader]] = [yaml.SafeLoader]
if yaml.__with_libyaml__:
    LOADERS.insert(0, yaml.CSafeLoader)
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
LINE_ENDS_OF_1_1 = re.compile("[\u0085\u2028\u2029]")
EXAMPLES = 10
"""At most this many files of each kind are shown."""


@dataclass
class Counts:
    files: Counter[str] = field(default_factory=Counter[str])
    values: Counter[str] = field(default_factory=Counter[str])
    remarks: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, kind: str, path: Path, what: str = "") -> None:
        self.files[kind] += 1
        examples = self.examples.setdefault(kind, [])
        if len(examples) < EXAMPLES:
            examples.append(f"{path}{what and f': {what}'}")


def block_of(text: str) -> str | None:
    """The lines between the first two ``---`` lines, if there are two."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    fences = [number for number in range(start, len(lines)) if lines[number].rstrip() == "---"]
    if not fences or fences[0] != start or len(fences) == 1:
        return None
    return "".join(f"{line}\n" for line in lines[start + 1 : fences[1]])


def nodes_of(block: str) -> Nodes | None:
    """The mapping that PyYAML reads in a block; the empty list if the block is empty; otherwise ``None``."""
    for loader in LOADERS:
        try:
            nodes = list(_nodes(yaml.parse(block, Loader=loader)))
        except (yaml.YAMLError, ValueError):
            continue
        return nodes if nodes[:1] in ([], [("mapping", "")], [("null", "")]) else None
    return None


def _nodes(events: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for event in events:
        match event:
            case yaml.DocumentEndEvent():
                return
            case yaml.ScalarEvent():
                is_null = event.implicit[0] and event.value in NULLS
                yield ("null", "") if is_null else ("text", _joined(event.value))
            case yaml.AliasEvent():
                yield "alias", ""
            case yaml.SequenceStartEvent():
                yield "list", ""
            case yaml.MappingStartEvent():
                yield "mapping", ""
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                yield "end", ""
            case _:
                pass


def _joined(text: str) -> str:
    """The text with the halves of UTF-16 pairs joined, which PyYAML leaves separate."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def compare(path: Path, counts: Counts) -> None:
    data = path.read_bytes()
    try:
        read = read_document(data)
    except ValueError:
        counts.add("binary", path)
        return
    body, remarks, ours = read["body"], read["remarks"], read["nodes"]
    counts.remarks.update(remark["code"] for remark in remarks)
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    block = block_of(data.decode("utf-16" if is_utf16 else "utf-8", "replace"))
    if block is None:
        counts.add(
            "no frontmatter" if not ours else "ONLY HERE A BLOCK", path, "" if not ours else repr(body[:60])
        )
        return
    theirs = nodes_of(block)
    lost = [
        f"line {remark['line']}: {remark['sentence']}"
        for remark in remarks
        if remark["code"] == "FIELD_NOT_READ"
    ]
    if theirs is None:
        kind = "neither" if not ours else "only here, in parts" if lost else "only here"
        counts.add(kind, path, "; ".join(lost))
        return
    if not ours and theirs and theirs != [("null", "")]:
        counts.add("ONLY PYYAML", path)
        return
    count = sum(kind == "text" for kind, _ in theirs)
    if (ours or [("null", "")]) == (theirs or [("null", "")]) or not ours:
        counts.add("equal", path)
        counts.values["equal"] += count
        return
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
    kind = "different by line ends of YAML 1.1" if LINE_ENDS_OF_1_1.search(block) else "DIFFERENT"
    counts.add(kind, path, f"{pairs[:1]} {lost}")
    counts.values["equal"] += count - len(pairs)
    counts.values[kind] += len(pairs)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    folders: list[Path] = parser.parse_args(arguments).folders
    counts = Counts()
    for folder in folders:
        for directory, directories, names in os.walk(folder):
            directories.sort()
            for name in sorted(names):
                path = Path(directory, name)
                if name.endswith(".md") and path.is_file() and not path.is_symlink():
                    compare(path, counts)
    print_counts(counts)
    return int(any(kind.isupper() for kind in counts.files))


def print_counts(counts: Counts) -> None:
    for title, counter in (("files", counts.files), ("values", counts.values), ("remarks", counts.remarks)):
        print(f"{title}: {counter.total():,}")
        for kind, count in counter.most_common():
            print(f"  {count:>9,} {kind}")
    for kind, examples in counts.examples.items():
        if kind not in ("equal", "no frontmatter"):
            print(f"{kind}:")
            print("".join(f"  {example}\n" for example in examples), end="")


if __name__ == "__main__":
    sys.exit(main())
