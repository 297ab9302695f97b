"""Tables of plain text."""

from collections.abc import Collection, Iterator, Sequence

__all__ = ["table"]


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[str]
) -> Iterator[str]:
    """The lines of a table. Columns whose heading is in ``numbers`` are aligned to the right."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if heading in numbers else cell.ljust(width)
            for cell, width, heading in zip(line, widths, headings, strict=True)
        ]
        yield "  ".join(cells).rstrip()
