"""Which catalog a command opens when none is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.commands import output

if TYPE_CHECKING:
    from pathlib import Path

VERBS = [
    ["search", "word"],
    ["context", "word"],
    ["check"],
    ["memory", "list"],
    ["memory", "show", "said"],
    ["memory", "forget", "--yes"],
]
verbs = pytest.mark.parametrize("verb", VERBS, ids=" ".join)


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OKF_CATALOG", raising=False)


def make(directory: Path, source_id: str = "docs") -> Path:
    """A catalog of one concept and one memory."""
    memory = "diary/memory-user/_local/_local/said.md"
    write_tree(
        directory, {"docs/a.md": "---\ntype: Note\n---\nword\n", memory: "---\ntype: Note\n---\nsaid\n"}
    )
    return write_manifest(
        directory,
        [
            {"id": source_id, "path": "docs"},
            {"id": "diary", "path": "diary", "role": "memory", "tier": "user"},
        ],
    )


def opened(env: dict[str, str] | None = None) -> str:
    """The id of the first source of the catalog that is opened."""
    document: Any = json.loads(output("check", "--json", env=env)[0])
    return str(document["sources"][0]["source"]["id"])


@verbs
def test_every_verb_takes_the_nearest_catalog_upward_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: list[str]
) -> None:
    make(tmp_path)
    deep = tmp_path / "docs" / "x" / "y"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    stdout, stderr = output(*verb)
    assert stdout
    assert stderr == "okf-catalog: the catalog is ../../../catalog.json, the nearest upward\n"


@verbs
def test_every_verb_takes_the_catalog_of_the_environment_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: list[str]
) -> None:
    make(tmp_path / "a").rename(tmp_path / "a" / "other.json")
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    stdout, stderr = output(*verb, env={"OKF_CATALOG": "../a/other.json"})
    assert stdout
    assert stderr == "okf-catalog: the catalog is ../a/other.json, which OKF_CATALOG names\n"


def test_a_command_with_a_named_catalog_says_nothing_about_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = make(tmp_path)
    monkeypatch.chdir(tmp_path)
    for verb in VERBS:
        assert output(*verb, "--catalog", str(manifest))[1] == ""


@verbs
def test_every_verb_without_a_catalog_says_what_would_be_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stdout, stderr = output(*verb, code=2)
    assert stdout == ""
    assert stderr.count("\n") == 1
    for cure in ("--catalog", "OKF_CATALOG", "catalog.json", "okf-catalog init DIR"):
        assert cure in stderr


def test_the_option_beats_the_environment_which_beats_the_nearest_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, of_environment = make(tmp_path / "a", "named"), make(tmp_path / "b", "of-environment")
    make(tmp_path / "c", "nearest")
    monkeypatch.chdir(tmp_path / "c")
    assert opened() == "nearest"
    assert opened({"OKF_CATALOG": ""}) == "nearest"
    env = {"OKF_CATALOG": str(of_environment)}
    assert opened(env) == "of-environment"
    stdout, stderr = output("check", "--json", "--catalog", str(named), env=env)
    assert json.loads(stdout)["sources"][0]["source"]["id"] == "named"
    assert stderr == ""


def test_a_command_opens_the_nearest_of_several_catalogs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "outer")
    make(tmp_path / "inner", "inner")
    for where, nearest in (("inner/docs", "inner"), ("inner", "inner"), ("docs", "outer"), (".", "outer")):
        monkeypatch.chdir(tmp_path / where)
        assert opened() == nearest


def test_only_a_file_is_a_catalog_and_a_link_to_one_is_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "outer")
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    (inner / "catalog.json").mkdir()
    assert opened() == "outer"
    (inner / "catalog.json").rmdir()
    (inner / "catalog.json").symlink_to("nothing")
    assert opened() == "outer"
    (inner / "catalog.json").unlink()
    write_tree(inner, {"docs/a.md": "word"})
    write_manifest(inner, [{"id": "linked", "path": "docs"}]).rename(inner / "real.json")
    (inner / "catalog.json").symlink_to("real.json")
    assert opened() == "linked"


def test_a_command_names_the_catalog_that_it_found_and_cannot_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "catalog.json").write_text('{"type": "Catalog", "stac_version": "1.0.0"}')
    monkeypatch.chdir(tmp_path)
    _, stderr = output("search", "word", code=1)
    lines = stderr.splitlines()
    assert lines[0] == "okf-catalog: the catalog is catalog.json, the nearest upward"
    assert "[UNKNOWN_ROOT_PROPERTY]" in lines[1]
    _, stderr = output("search", "word", env={"OKF_CATALOG": "missing\x1b.json"}, code=1)
    assert stderr.startswith("okf-catalog: the catalog is missing\\x1b.json, which OKF_CATALOG names\n")
    assert "[PARSE_ERROR]" in stderr


def test_a_command_in_a_removed_directory_finds_no_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "okf-catalog init DIR" in output("check", code=2)[1]


@verbs
def test_help_says_where_the_catalog_comes_from(verb: list[str]) -> None:
    shown, stderr = output(*verb, "--help", env={"COLUMNS": "200"})
    assert "OKF_CATALOG" in shown
    assert stderr == ""
