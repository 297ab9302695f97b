"""An entry: what a host writes to memory."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast, final

from okf_catalog._engine import is_blank
from okf_catalog.checks import check_text, is_kind, keep_plain
from okf_catalog.errors import RefusedValueError
from okf_catalog.mapping import FrozenMapping, text_items

__all__ = ["MemoryEntry"]

REQUIRED = ("type", "title", "description")
"""The keys that the frontmatter of every memory has (Y4)."""

MOST_BYTES = 252
"""A concept name has at most this many bytes: a file name has at most 255, and ``.md`` takes three."""
MOST_KEY_CHARACTERS = 128
"""A key has at most this many characters: YAML allows 1024 for a key, and each may be escaped as six."""
RESERVED = ("index", "log")
"""The names of files that no bundle takes for concepts (B1)."""


FrontmatterValue: TypeAlias = str | Mapping[str, str]
"""The value of a key in the frontmatter: a text, or a mapping of texts."""


@final
@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A section to write to the concept with this name (Y4).

    If the concept exists, the section is appended, unless the write replaces it (Y13). Otherwise the concept
    is created with the given frontmatter, in its order. A caller cannot know which of the two happens, so
    ``type``, ``title`` and ``description`` are always required. Every value is a text, and is read back as
    the same text, whatever characters it has. The value of any other key may also be a mapping of texts, as
    in ``"generated": {"by": "me"}``; a mapping inside a mapping, or a list, cannot be written.

    ``concept_name`` is one segment of a path. It has at most 252 bytes, no ``/`` and no control character,
    does not start with a dot, and is neither ``index`` nor ``log``, which are not concepts in any bundle.
    ``section_markdown`` is any text without NUL: a file with a NUL is not read (B7).

    Example:
        >>> entry = MemoryEntry(
        ...     "preferences",
        ...     {"type": "AgentMemory", "title": "Preferences", "description": "What Alice likes"},
        ...     "She wants figures first.",
        ... )
        >>> entry.frontmatter_if_creating["title"]
        'Preferences'

    Raises:
        RefusedTypeError: a field has the wrong type.
        RefusedValueError: no concept can have this name, a text has a character that cannot be written, or a
            required key of the frontmatter is missing or blank.
    """

    concept_name: str
    frontmatter_if_creating: Mapping[str, FrontmatterValue]
    section_markdown: str

    def __post_init__(self) -> None:
        keep_plain(self, "concept_name", _check_name(self.concept_name))
        keep_plain(self, "frontmatter_if_creating", _frontmatter(self.frontmatter_if_creating))
        section = check_text("section_markdown", self.section_markdown)
        if "\0" in section:
            raise RefusedValueError(
                f"section_markdown holds a NUL at index {section.index(chr(0))}; "
                "a file that holds one is not read, so replace it, by '\\ufffd' for example"
            )
        keep_plain(self, "section_markdown", section)

    def __reduce__(self) -> tuple[Any, ...]:
        front = {
            key: value if isinstance(value, str) else dict(value)
            for key, value in self.frontmatter_if_creating.items()
        }
        return MemoryEntry, (self.concept_name, front, self.section_markdown)


def _check_name(given: object) -> str:
    name = check_text("concept_name", given)
    problem = None
    if is_blank(name):
        problem = "it is empty or only white space"
    elif name in RESERVED:
        problem = "that name is reserved, and is not a concept"
    elif name.startswith("."):
        problem = "files whose names start with a dot are passed over"
    elif "/" in name:
        problem = "it holds a '/'"
    elif any(unicodedata.category(character) == "Cc" for character in name):
        problem = "it holds a control character"
    elif len(name.encode()) > MOST_BYTES:
        problem = f"it has more than {MOST_BYTES} bytes"
    if problem is not None:
        raise RefusedValueError(
            f"concept_name is one segment of a path that can be found again, not {_shown(name)}: {problem}"
        )
    return name


def name_below(field: str, given: object, directory: str) -> str:
    """The path of a concept below the directory of its scope, from its name or its concept id.

    Raises:
        RefusedTypeError: ``given`` is not a ``str``.
        RefusedValueError: no concept can have that name.
    """
    name = check_text(field, given).removeprefix(f"{directory}/")
    parts = name.split("/")
    problem = None
    if "" in parts:
        problem = "it is empty, or a part of it is"
    elif any(part.startswith(".") for part in parts):
        problem = "files whose names start with a dot are passed over"
    elif parts[-1] in RESERVED:
        problem = "that name is reserved, and is not a concept"
    elif "\0" in name:
        problem = "it holds a NUL"
    if problem is not None:
        raise RefusedValueError(f"{field} is the name or the id of a concept, not {_shown(name)}: {problem}")
    return name


def _shown(name: str) -> str:
    return repr(name) if len(name) <= MOST_BYTES else f"{name[:20]!r}…"


def _frontmatter(given: object) -> FrozenMapping[FrontmatterValue]:
    field = "frontmatter_if_creating"
    pairs = dict[str, FrontmatterValue]()
    for key, value in _items(field, given):
        where = f"{field}[{key!r}]"
        if key not in REQUIRED and is_kind(value, Mapping):
            pairs[key] = _texts(where, value)
        else:
            pairs[key] = check_text(where, value)
    for key in REQUIRED:
        if key not in pairs:
            raise RefusedValueError(f"{field} says type, title and description; {key!r} is missing")
        if is_blank(cast("str", pairs[key])):
            raise RefusedValueError(f"{field}[{key!r}] is empty or only white space; say something")
    return FrozenMapping(pairs)


def _texts(field: str, given: object) -> FrozenMapping[str]:
    pairs = dict[str, str]()
    for key, value in _items(field, given):
        pairs[key] = check_text(f"{field}[{key!r}]", value)
    return FrozenMapping(pairs)


def _items(field: str, given: object) -> Iterator[tuple[str, object]]:
    for key, value in text_items(field, given):
        if is_blank(key) or len(key) > MOST_KEY_CHARACTERS:
            raise RefusedValueError(
                f"each key of {field} has 1 to {MOST_KEY_CHARACTERS} characters that are not all white space"
            )
        yield key, value
