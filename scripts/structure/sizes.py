"""How long files and functions are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from structure import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_LINES_OF_A_FILE = 500
MOST_LINES_OF_A_FUNCTION = 60

# The parts of a Python statement that hold statements. A function stands nowhere else.
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def size_faults(path: Path, shown: str) -> Iterator[str]:
    """One text for a file of code that is too long, and for each function in it that is."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > MOST_LINES_OF_A_FILE:
        yield f"{shown}: {lines} lines; a file has at most {MOST_LINES_OF_A_FILE}"
    functions = rust_functions if path.suffix == ".rs" else python_functions
    for name, first, last in sorted(functions(text), key=lambda function: function[1:]):
        lines = last - first + 1
        if lines > MOST_LINES_OF_A_FUNCTION:
            most = MOST_LINES_OF_A_FUNCTION
            yield f"{shown}:{first}: {name} has {lines} lines; a function has at most {most}"


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Each function as (name, first line, last line), from `def` to its end, the docstring included."""
    to_visit: list[ast.AST] = [ast.parse(text)]
    while to_visit:
        node = to_visit.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, node.end_lineno or node.lineno
        to_visit += [child for block in BLOCKS for child in getattr(node, block, ())]


def rust_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Each function that has a body as (name, first line, last line), from `fn` to its closing brace."""
    found = tokens.tokens(text)
    closing = tokens.closing(found)
    for at, token in enumerate(found[:-1]):
        if token.text != "fn" or not tokens.is_name(found[at + 1].text):
            continue
        end = at + 1
        while end < len(found) and found[end].text not in {"{", ";"}:
            end = closing.get(end, end) + 1
        if end < len(found) and found[end].text == "{":
            yield found[at + 1].text, token.line, found[closing.get(end, len(found) - 1)].line
