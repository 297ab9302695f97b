"""What reaches the terminal. Text of bundles may be read there, and must not act there."""

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

__all__ = ["complain", "log_to_stderr", "one_line", "open_console", "show", "visible"]

# Controls could move the cursor or recolour what follows, separators break a line, marks, embeddings and
# overrides reorder what is read, a soft hyphen is not seen; a lone surrogate cannot be written at all.
_ACTIVE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""The text with each character that would act on a terminal as an escape: ``\x1b``; a tab is a space."""
    return _ACTIVE.sub(_escape, text.replace("\t", " "))


def _escape(match: re.Match[str]) -> str:
    code_point = ord(match[0])
    return f"\\x{code_point:02x}" if code_point <= 0xFF else f"\\u{code_point:04x}"


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def complain(message: str) -> None:
    """Writes one line to stderr."""
    typer.echo(f"okf-catalog: {visible(message)}", err=True)


class _Complaints(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complain(one_line(record.getMessage()))


@contextmanager
def log_to_stderr() -> Generator[None]:
    """Lets the package say on stderr which files it left out."""
    logger, handler = logging.getLogger("okf_catalog"), _Complaints()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def open_console() -> Console:
    """A console on stdout that takes text as it is: no markup, no emoji codes, no colouring by guess."""
    return Console(markup=False, emoji=False, highlight=False)


def show(console: Console, text: Text, *, indent: int = 0) -> None:
    """Prints a paragraph: wrapped and indented on a terminal, else on one line, as other tools want it."""
    margin = " " * indent
    if not console.is_terminal:
        # Nothing to style or to wrap, and many thousand passages are written in a fraction of the time.
        console.file.write(f"{margin}{text.plain.rstrip()}\n")
        return
    for line in text.wrap(console, max(console.width - indent, 20)):
        line.rstrip()
        console.print(Text.assemble(margin, line), soft_wrap=True)
