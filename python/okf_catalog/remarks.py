"""What a reader may have lost although a file is served."""

from dataclasses import dataclass
from typing import final

from okf_catalog.choice import Choice

__all__ = ["RemarkCode", "RemarkCount", "SourceRemark"]


@final
class RemarkCode(Choice):
    """The kind of a remark (B11)."""

    INVALID_TEXT = "INVALID_TEXT"
    """Bytes that are not valid text read as U+FFFD."""
    FRONTMATTER_NOT_READ = "FRONTMATTER_NOT_READ"
    """What looks like frontmatter is read as body."""
    FIELD_NOT_READ = "FIELD_NOT_READ"
    """An entry of the frontmatter is lost, or taken as it stands."""
    FIELD_IGNORED = "FIELD_IGNORED"
    """A field has a shape that is ignored, such as a list where a text belongs."""
    DUPLICATE_KEY = "DUPLICATE_KEY"
    """A key stands twice; the last one counts."""
    MISSING_TYPE = "MISSING_TYPE"
    """The one field that the format requires is missing."""
    UNKNOWN_STATUS = "UNKNOWN_STATUS"
    """``status`` is none of the three words, and counts as stable."""
    UNREADABLE_DATE = "UNREADABLE_DATE"
    """A date or time cannot be read."""
    NAME_NOT_READ = "NAME_NOT_READ"
    """A name looks like a concept's and is not one: ``NOTE.MD``, ``note.markdown``, ``.note.md.icloud``."""
    MEMORIES_LEFT_OUT = "MEMORIES_LEFT_OUT"
    """A directory of memories is left out."""


@final
@dataclass(frozen=True, slots=True)
class SourceRemark:
    """What somebody may want to know of a file, or of a name that is passed over (B11).

    ``path`` is the path below the bundle root, ``line`` the line of the file from 1, or ``None`` where a
    remark is about no line, ``sentence`` says what is the matter. A remark changes no answer.
    """

    path: str
    line: int | None
    code: RemarkCode
    sentence: str


@final
@dataclass(frozen=True, slots=True)
class RemarkCount:
    """How many remarks of one code there are on a source."""

    code: RemarkCode
    count: int
