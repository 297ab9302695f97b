"""What a host wants to remember."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, final

from okf_catalog._engine import is_blank
from okf_catalog.checks import check_kind, check_text, keep_plain
from okf_catalog.errors import RefusedValueError

__all__ = ["MemoryEntry"]

REQUIRED = ("type", "title", "description")
"""What the frontmatter of every memory says (Y4)."""

MOST_BYTES = 252
"""File names have at most 255, of which three are ``.md``."""
MOST_KEY_CHARACTERS = 128
"""YAML takes a key only within 1024 characters, and each of these may be written as six."""
RESERVED = ("index", "log")


class _Frontmatter(Mapping[str, str]):
    """A mapping that does not change; it prints as a dictionary."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._pairs = dict(pairs)

    def __getitem__(self, key: str) -> str:
        return self._pairs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __hash__(self) -> int:
        return hash(frozenset(self._pairs.items()))

    def __repr__(self) -> str:
        return repr(self._pairs)


@final
@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A section for the concept of that name (Y4).

    The section is appended if the concept exists. Otherwise the concept is created with the given
    frontmatter, in that order; who writes cannot know which of them it will be, so ``type``, ``title`` and
    ``description`` are always asked for. Every value is text, and is read back as the same text, whatever is
    in it: a mapping or a list cannot be written.

    ``concept_name`` is one segment of a path: at most 252 bytes, without ``/`` and control characters, not
    starting with a dot, and neither ``index`` nor ``log``, which no bundle takes for concepts.

    Example:
        >>> entry = MemoryEntry(
        ...     "preferences",
        ...     {"type": "AgentMemory", "title": "Preferences", "description": "What Alice likes"},
        ...     "She wants figures first.",
        ... )
        >>> entry.frontmatter_if_creating["title"]
        'Preferences'

    Raises:
        RefusedTypeError: a field is of the wrong kind.
        RefusedValueError: the name could not be found again, a text is no text, or what the frontmatter needs
            is missing or blank.
    """

    concept_name: str
    frontmatter_if_creating: Mapping[str, str]
    section_markdown: str

    def __post_init__(self) -> None:
        keep_plain(self, "concept_name", _check_name(self.concept_name))
        keep_plain(self, "frontmatter_if_creating", _frontmatter(self.frontmatter_if_creating))
        keep_plain(self, "section_markdown", check_text("section_markdown", self.section_markdown))

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryEntry, (self.concept_name, dict(self.frontmatter_if_creating), self.section_markdown)


def _check_name(given: object) -> str:
    name = check_text("concept_name", given)
    problem = None
    if is_blank(name):
        problem = "it is empty or only white space"
    elif name in RESERVED:
        problem = "that name is reserved, and is no concept"
    elif name.startswith("."):
        problem = "files whose names start with a dot are passed over"
    elif "/" in name:
        problem = "it holds a '/'"
    elif any(unicodedata.category(character) == "Cc" for character in name):
        problem = "it holds a control character"
    elif len(name.encode()) > MOST_BYTES:
        problem = f"it has more than {MOST_BYTES} bytes"
    if problem is not None:
        shown = repr(name) if len(name) <= MOST_BYTES else f"{name[:20]!r}…"
        raise RefusedValueError(
            f"concept_name is one segment of a path that can be found again, not {shown}: {problem}"
        )
    return name


def _frontmatter(given: object) -> _Frontmatter:
    field = "frontmatter_if_creating"
    check_kind(field, given, Mapping, "a mapping of str to str")
    pairs = dict[str, str]()
    for given_key, value in cast("Mapping[object, object]", given).items():
        key = check_text(f"each key of {field}", given_key)
        if is_blank(key) or len(key) > MOST_KEY_CHARACTERS:
            raise RefusedValueError(
                f"each key of {field} has 1 to {MOST_KEY_CHARACTERS} characters that are not all white space"
            )
        pairs[key] = check_text(f"{field}[{key!r}]", value)
    for key in REQUIRED:
        if key not in pairs:
            raise RefusedValueError(f"{field} says type, title and description; {key!r} is missing")
        if is_blank(pairs[key]):
            raise RefusedValueError(f"{field}[{key!r}] is empty or only white space; say something")
    return _Frontmatter(pairs)
