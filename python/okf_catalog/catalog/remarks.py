"""Remarks: what a reader may miss although a file is served."""

from dataclasses import dataclass
from typing import final

from okf_catalog.choice import Choice

__all__ = ["RemarkCode", "RemarkCount", "SourceRemark"]


@final
class RemarkCode(Choice):
    """The kind of a remark (B11)."""

    INVALID_TEXT = "INVALID_TEXT"
    """Bytes that are not valid text are read as U+FFFD."""
    FRONTMATTER_NOT_READ = "FRONTMATTER_NOT_READ"
    """Something looks like frontmatter, but is read as body."""
    FIELD_NOT_READ = "FIELD_NOT_READ"
    """An entry of the frontmatter is not valid: it is ignored, or its text is taken as written."""
    FIELD_IGNORED = "FIELD_IGNORED"
    """A field is ignored because of its type, such as a list where a text is expected."""
    DUPLICATE_KEY = "DUPLICATE_KEY"
    """A key is there more than once; the last one counts."""
    MISSING_TYPE = "MISSING_TYPE"
    """``type`` is missing, the one field that the format requires."""
    UNKNOWN_STATUS = "UNKNOWN_STATUS"
    """``status`` is not one of the three words, and counts as stable."""
    UNREADABLE_DATE = "UNREADABLE_DATE"
    """A date or time cannot be read."""
    NAME_NOT_READ = "NAME_NOT_READ"
    """A name looks like a concept but is none: ``NOTE.MD``, ``note.markdown``, ``.note.md.icloud``."""
    MEMORIES_LEFT_OUT = "MEMORIES_LEFT_OUT"
    """A directory of memories is not served."""


@final
@dataclass(frozen=True, slots=True)
class SourceRemark:
    """What a reader should know about a file, or about a name that is passed over (B11).

    ``path`` is the path below the bundle root. ``line`` is the line of the file, from 1, or ``None`` where
    the remark is not about one line. ``sentence`` says what is wrong. A remark changes no answer.
    """

    path: str
    line: int | None
    code: RemarkCode
    sentence: str


@final
@dataclass(frozen=True, slots=True)
class RemarkCount:
    """How many remarks of one code a source has."""

    code: RemarkCode
    count: int
