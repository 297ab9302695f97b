"""Output to the terminal. Text of bundles is made safe: it cannot control the terminal."""

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

__all__ = ["complain", "log_to_stderr", "one_line", "open_console", "show", "visible"]

# Controls can move the cursor or change colours, separators break a line, bidirectional characters reorder
# the text, a soft hyphen is invisible, and a lone surrogate cannot be written at all.
_ACTIVE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""The text with an escape, such as ``\x1b``, for each character that could control a terminal.

    A tab becomes a space.
    """
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
    """Shows on stderr what the package logs, such as files that are left out."""
    logger, handler = logging.getLogger("okf_catalog"), _Complaints()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def open_console() -> Console:
    """A console on stdout that prints text unchanged: no markup, no emoji codes, no automatic colours."""
    return Console(markup=False, emoji=False, highlight=False)


def show(console: Console, text: Text, *, indent: int = 0) -> None:
    """Prints a paragraph: wrapped on a terminal, otherwise on one line, which suits other tools."""
    margin = " " * indent
    if not console.is_terminal:
        # Without styles and wrapping, thousands of passages are written in a fraction of the time.
        console.file.write(f"{margin}{text.plain.rstrip()}\n")
        return
    for line in text.wrap(console, max(console.width - indent, 20)):
        line.rstrip()
        console.print(Text.assemble(margin, line), soft_wrap=True)
