"""The comparison with PyYAML counts files by whether both read the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.frontmatter import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_files_are_counted_by_who_reads_their_frontmatter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "equal.md": '---\ntitle: "One\ntwo"\ntags: [\na]\n---\n',
        "pair.md": '---\ntitle: "\\ud83c\\udf89"\n---\n',
        "slip.md": "---\ntitle: a: b\n---\n",
        "letterhead.md": "---\nACME\n---\n",
        "text.md": "text",
        "binary.md": "\0",
        "old line end.md": '---\ntitle: "a\u0085b"\n---\n',
        "no.txt": "---\ntitle: a\n---\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode())
    assert main([str(tmp_path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    files_shown = {
        line.strip()
        for line in shown[1 : next(at for at, line in enumerate(shown) if line.startswith("values"))]
    }
    assert files_shown == {
        "2 equal",
        "1 only here, in parts",
        "1 neither",
        "1 no frontmatter",
        "1 binary",
        "1 different by line ends of YAML 1.1",
    }
