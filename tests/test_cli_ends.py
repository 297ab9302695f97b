"""How commands end: exit codes, mistakes, and processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.commands import complaint, run
from okf_catalog import (
    FileKnowledgeCatalog,
)
from okf_catalog.cli.app import app
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Sequence

MAIN = "from okf_catalog.cli import main; main()"


def start(
    *arguments: str | Path,
    program: str = MAIN,
    env: dict[str, str] | None = None,
    stdout: int | BinaryIO = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | (env or {}),
    )


# Mistakes and other ends


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing command"),
        (["search"], "Missing argument"),
        (["search", "x"], "--catalog"),
        (["check"], "--catalog"),
        (["guess"], "guess"),
        (["search", "x", "--guess"], "--guess"),
        (["search", "x", "--catalog", "CATALOG", "--strategy", "best"], "grouped_by_source"),
        (["search", "x", "--catalog", "CATALOG", "--quota", "0"], "--quota"),
        (["search", "x", "--catalog", "CATALOG", "--quota", "some"], "--quota"),
        (["search", "x", "--catalog", "CATALOG", "--limit", "0"], "--limit"),
        (["search", "x", "--catalog", "CATALOG", "--stale", "never"], "'use', 'strict' or a number of days"),
        (["search", "x", "--catalog", "CATALOG", "--stale", "-1"], "--stale"),
        (["search", "x", "--catalog", "CATALOG", "--stale", "9" * 30], "--stale"),
        (["search", "x", "--catalog", "CATALOG", "--stale", "٣"], "--stale"),
        (["search", " \u3000", "--catalog", "CATALOG"], "text is empty"),
        (["search", " ", "--catalog", "missing.json"], "text is empty"),
        (["search", "x", "--catalog", "CATALOG", "--tag", "\udcff"], "tag holds a lone surrogate"),
        (["search", "x\udcff", "--catalog", "CATALOG"], "text holds a lone surrogate"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    sales: Path,
    arguments: Sequence[str],
    says: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In this directory no catalog is found by itself.
    monkeypatch.chdir(tmp_path_factory.mktemp("nowhere"))
    monkeypatch.delenv("OKF_CATALOG", raising=False)
    said = complaint(*(str(sales) if word == "CATALOG" else word for word in arguments), code=2)
    assert says in said
    assert said.startswith("okf-catalog: ")
    assert said.count("\n") == 1
    assert said.endswith("\n")


@pytest.mark.parametrize("command", [["search", "x"], ["context", "x"], ["check"]])
def test_a_catalog_that_cannot_open_says_all_that_is_wrong_and_exits_with_1(
    tmp_path: Path, command: list[str]
) -> None:
    sources = [{"id": "a", "path": "missing"}, {"id": "b", "path": "/etc"}, {"id": "c", "path": ".."}]
    catalog = write_manifest(tmp_path, sources)
    lines = complaint(*command, "--catalog", catalog, code=1).splitlines()
    codes = ["TARGET_NOT_FOUND", "ABSOLUTE_PATH", "OUTSIDE_ROOT"]
    assert [line.split()[1] for line in lines] == [f"[{code}]" for code in codes]
    assert "[PARSE_ERROR]" in complaint(*command, "--catalog", tmp_path / "nothing.json", code=1)


def test_ctrl_c_ends_a_command_without_a_traceback(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: FileKnowledgeCatalog) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(FileKnowledgeCatalog, "report", interrupted)
    assert complaint("check", "--catalog", sales, code=130) == ""


def test_an_error_of_the_library_is_one_line(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: FileKnowledgeCatalog) -> NoReturn:
        raise RuntimeError("never\nmeant")

    monkeypatch.setattr(FileKnowledgeCatalog, "report", broken)
    said = complaint("check", "--catalog", sales, code=1)
    assert said.startswith("okf-catalog: internal error")
    assert said.count("\n") == 1


def test_version_is_shown() -> None:
    assert run("--version") == f"okf-catalog {version('okf-catalog')}\n"


def test_help_says_what_the_exit_codes_mean() -> None:
    for command in ("search", "context", "check", "init"):
        shown = run(command, "--help", env={"COLUMNS": "120"})
        assert ("--catalog" in shown) is (command != "init")
        assert "Exits with" in shown


# Processes of their own


def test_the_installed_command_runs_this_package() -> None:
    (command,) = entry_points(group="console_scripts", name="okf-catalog")
    assert command.value == "okf_catalog.cli:main"


def test_a_closed_pipe_is_no_error(empty_bundle: Path) -> None:
    # More than a pipe holds, so that the writer sees that the pipe is closed.
    write_tree(empty_bundle.parent, {"bundle/long.md": "word " * 400_000})
    process = start("search", "word", "--catalog", empty_bundle, "--json")
    assert process.stdout is not None
    assert process.stdout.readline() == b"{\n"
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait() == -signal.SIGPIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_an_error_of_writing_is_one_line(sales: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("search", "order", "--catalog", sales, stdout=full)
        _, stderr = process.communicate()
    assert process.returncode == 1
    assert stderr.startswith(b"okf-catalog: ")
    assert stderr.count(b"\n") == 1


def test_output_in_a_narrow_encoding_is_escaped(empty_bundle: Path) -> None:
    write_tree(empty_bundle.parent, {"bundle/ü.md": "wörd ❤\n"})
    process = start("search", "d", "--catalog", empty_bundle, env={"PYTHONIOENCODING": "ascii"})
    stdout, stderr = process.communicate()
    assert (process.returncode, stderr) == (0, b"")
    assert rb"w\xf6r**d** \u2764" in stdout


def test_files_left_out_of_a_search_are_named_on_stderr(empty_bundle: Path) -> None:
    write_tree(empty_bundle.parent, {"bundle/good.md": "word\n", "bundle/\x1b[2J.md": b"\0"})
    process = start("search", "word", "--catalog", empty_bundle, "--json")
    stdout, stderr = process.communicate()
    assert process.returncode == 0
    assert len(json.loads(stdout)["passages"]) == 1
    assert stderr.startswith(b"okf-catalog: source 'bundle': ")
    assert stderr.count(b"\n") == 1
    assert b"\x1b" not in stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_command_says_how_to_get_it(missing: str) -> None:
    process = start("--version", program=f"import sys; sys.modules[{missing!r}] = None; {MAIN}")
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout) == (2, b"")
    assert b'pip install "okf-catalog[cli]"' in stderr
    assert stderr.count(b"\n") == 1


def test_the_package_works_without_the_command_line_extra() -> None:
    program = "import sys; sys.modules['typer'] = sys.modules['rich'] = None; import okf_catalog"
    process = start(program=program)
    assert process.communicate() == (b"", b"")
    assert process.returncode == 0


def test_a_question_that_is_too_long_is_wrong_usage(sales: Path) -> None:
    for command in (["search", "q" * 70_000], ["search", "x", "--tag", "é" * 40_000]):
        result = CliRunner().invoke(app, [*command, "--catalog", str(sales)])
        assert result.exit_code == 2
        assert "and this catalog takes at most 65536" in result.stderr
        assert "internal error" not in result.stderr
    # `context` asks with the beginning of the text, as a provider does.
    asked = "guide " + "q" * 70_000
    assert CliRunner().invoke(app, ["context", asked, "--catalog", str(sales)]).exit_code == 0
