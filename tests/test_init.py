"""``okf-catalog init`` writes a manifest for directories. It overwrites no file, and the manifest opens."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.bundles import NOTE, write_tree
from making.commands import output
from okf_catalog import FileKnowledgeCatalog
from okf_catalog.cli.app import app
from okf_catalog.cli.draft import ids_of
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOTHING = "okf-catalog: nothing was written"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with two bundles and a file; a third bundle is outside."""
    monkeypatch.delenv("OKF_CATALOG", raising=False)
    place = tmp_path / "here"
    write_tree(tmp_path, {"outside/o.md": NOTE})
    write_tree(place, {"docs/a.md": NOTE, "docs/sub/b.md": NOTE, "wiki/c.md": NOTE, "file.md": NOTE})
    monkeypatch.chdir(place)
    return place


def init(*arguments: str, code: int = 0) -> tuple[str, str]:
    """What the command says on stdout and on stderr."""
    return output("init", *arguments, code=code)


def written(manifest: Path) -> list[tuple[str, str]]:
    """Id and path of each source of a manifest, which must open without failures."""
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        assert all(source.failure is None for source in catalog.report().sources)
        return [(source.id, source.path) for source in catalog.current.sources]


def refused(*arguments: str) -> list[str]:
    """The messages of a command that fails, writes no file and leaves none behind."""
    before = tree()
    stdout, stderr = init(*arguments, code=1)
    assert stdout == ""
    assert tree() == before
    lines = stderr.splitlines()
    assert all(line.startswith("okf-catalog: ") for line in lines)
    return [line.removeprefix("okf-catalog: ") for line in lines]


def tree() -> list[str]:
    return sorted(f"{top}/{name}" for top, dirs, files in os.walk("..") for name in [*dirs, *files])


def hidden(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir() if path.name.startswith(".")]


def test_init_writes_a_source_for_each_directory_and_says_so(here: Path) -> None:
    stdout, stderr = init("wiki", "docs")
    assert stderr == ""
    assert stdout.splitlines() == [
        "Wrote catalog.json with 2 sources:",
        "",
        "source  concepts  path",
        "wiki           1  wiki",
        "docs           2  docs",
        "",
        "okf-catalog check shows more; okf-catalog search TEXT asks.",
    ]
    text = (here / "catalog.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "version": 1,
        "sources": [{"id": "wiki", "path": "wiki"}, {"id": "docs", "path": "docs"}],
    }
    assert text.endswith("}\n")
    assert written(here / "catalog.json") == [("wiki", "wiki"), ("docs", "docs")]
    assert hidden(here) == []


def test_the_next_command_finds_the_manifest_that_init_wrote() -> None:
    init("docs")
    result = CliRunner().invoke(app, ["search", "word"])
    assert "docs: a, score 1" in result.stdout


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ("docs/", ("docs", "docs")),
        ("./docs/.", ("docs", "docs")),
        ("docs/sub/..", ("docs", "docs")),
        ("../here/docs", ("docs", "docs")),
        ("docs//sub", ("sub", "docs/sub")),
        (".", ("here", ".")),
        ("docs/..", ("here", ".")),
    ],
)
def test_init_writes_a_plain_path_for_every_spelling_of_a_directory(
    here: Path, given: str, source: tuple[str, str]
) -> None:
    init(given)
    assert written(here / "catalog.json") == [source]


def test_init_writes_a_relative_path_for_an_absolute_one(here: Path) -> None:
    init(str(here / "docs"))
    assert written(here / "catalog.json") == [("docs", "docs")]


def test_output_names_the_manifest_and_paths_start_from_its_directory(here: Path) -> None:
    stdout, _ = init("docs", "../outside", "--output", "../a b.json")
    assert "Wrote ../a b.json with 2 sources:" in stdout
    assert "okf-catalog check --catalog '../a b.json' shows more" in stdout
    assert written(here.parent / "a b.json") == [("docs", "here/docs"), ("outside", "outside")]


def test_below_a_link_to_the_manifests_directory_paths_are_the_same(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here.parent / "way").symlink_to("here")
    monkeypatch.chdir(here.parent)
    init("way/docs", "here/wiki", "way", "--output", "way/catalog.json")
    assert written(here.parent / "way" / "catalog.json") == [
        ("docs", "docs"),
        ("wiki", "wiki"),
        ("here", "."),
    ]


def test_init_makes_one_source_of_a_directory_given_twice(here: Path) -> None:
    stdout, _ = init("docs", "wiki", "./docs")
    assert "./docs is the same directory as docs, and no source of its own." in stdout
    assert written(here / "catalog.json") == [("docs", "docs"), ("wiki", "wiki")]


def test_init_warns_of_a_directory_inside_another() -> None:
    stdout, _ = init(".", "docs", "docs/sub")
    assert "docs lies inside here: each of its concepts is found in both." in stdout
    assert "sub lies inside docs: each of its concepts is found in both." in stdout


def test_init_says_what_to_look_at_first(here: Path) -> None:
    (here / "empty").mkdir()
    write_tree(here, {"docs/NOTE.MD": NOTE})
    (here / "docs" / "gone.md").symlink_to("nothing")
    stdout, _ = init("docs", "empty")
    assert "empty has no concepts: these are files whose names end in .md, but for index.md" in stdout
    assert "Files that are left out: 1. Remarks on others: 1." in stdout


# Ids


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["docs", "wiki"], ["docs", "wiki"]),
        (["My Docs"], ["My-Docs"]),
        (["café", "naïve étude"], ["cafe", "naive-etude"]),
        (["v1.2_final-3"], ["v1.2_final-3"]),
        ([".hidden", "-x", "--", "..."], ["hidden", "x", "source", "source-2"]),
        (["数字", "Ωμέγα", ""], ["source", "source-2", "source-3"]),
        (["a (old)", "a & b", "a/b"], ["a-old", "a-b", "a-b-2"]),
        (["ﬁle", "①"], ["file", "1"]),
        (["docs", "docs", "docs"], ["docs", "docs-2", "docs-3"]),
        (["docs", "docs", "docs-2"], ["docs", "docs-3", "docs-2"]),
        (["docs-2", "docs", "docs", "docs-2"], ["docs-2", "docs", "docs-3", "docs-2-2"]),
        (["Docs", "docs"], ["Docs", "docs"]),
        (["_local"], ["_local"]),
    ],
)
def test_init_makes_ids_from_directory_names(names: list[str], ids: list[str]) -> None:
    assert ids_of(names) == ids


@given(st.lists(st.text("aA-._2 é数\u0301", max_size=4) | st.sampled_from(["a", "a-2", "a-3"]), max_size=12))
def test_init_makes_valid_and_unique_ids(names: list[str]) -> None:
    ids = ids_of(names)
    assert len(ids) == len(set(ids)) == len(names)
    for name, made in zip(names, ids, strict=True):
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", made)
        if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*[A-Za-z0-9_.]", name) and names.count(name) == 1:
            assert made == name


def test_init_makes_thousands_of_ids_of_one_name_quickly() -> None:
    ids = ids_of(["docs"] * 50_000)
    assert (len(set(ids)), ids[-1]) == (50_000, "docs-50000")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems spell some of these otherwise")
@pytest.mark.parametrize(
    "name", ["C:", "c:docs", "\\docs", "a\\b", "a b", "数字", "é", "'\"$`", "a\nb", "-docs", "..a", " "]
)
def test_any_utf8_name_makes_a_source(here: Path, name: str) -> None:
    write_tree(here, {f"{name}/a.md": NOTE})
    stdout, _ = init("--", name)
    assert stdout.count("\n") == 6
    ((source_id, path),) = written(here / "catalog.json")
    assert path.removeprefix("./") == name
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", source_id)


# What a catalog would refuse


@pytest.mark.parametrize(
    ("given", "says", "cure"),
    [
        ("nothing", "it does not exist", "create it"),
        ("file.md/x", "it does not exist", "create it"),
        ("", "it does not exist", "name another"),
        ("file.md", "it is not a directory", "name the directory that holds it"),
        ("../outside", "it lies outside the manifest's directory", "--output ../catalog.json"),
        ("..", "it lies outside the manifest's directory", "--output ../catalog.json"),
        ("link", "link is a link", "name docs"),
        ("link/sub", "link is a link", "name docs/sub"),
        ("link/", "link is a link", "name docs"),
        ("away", "away is a link", "copy or mount what it leads to"),
        ("broken", "it is a link to nothing", "name a real directory"),
        ("deep/link", "deep/link is a link", "name docs"),
    ],
)
def test_init_refuses_what_a_catalog_refuses_and_says_the_cure(
    here: Path, given: str, says: str, cure: str
) -> None:
    (here / "deep").mkdir()
    (here / "deep" / "link").symlink_to("../docs")
    (here / "link").symlink_to("docs")
    (here / "away").symlink_to("../outside")
    (here / "broken").symlink_to("nothing")
    # With or without a good one beside it.
    for arguments in ([given], ["docs", given]):
        reason, last = refused(*arguments)
        assert reason.startswith(f"{given}: {says}")
        assert cure in reason
        assert last == "nothing was written"


def test_the_cure_for_a_directory_outside_the_root_works(here: Path) -> None:
    (reason, _) = refused("docs", "../outside")
    output = reason.rpartition("--output ")[2]
    init("docs", "../outside", "--output", output)
    assert written(here / output) == [("docs", "here/docs"), ("outside", "outside")]


def test_init_lists_everything_that_is_wrong() -> None:
    lines = refused("nothing", "docs", "file.md", "..")
    assert [line.partition(":")[0] for line in lines] == ["nothing", "file.md", "..", "nothing was written"]


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
def test_a_name_that_is_not_utf8_is_refused(here: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (here / name).mkdir()
    reason, _ = refused(name)
    assert "its name is not UTF-8" in reason
    os.chdir(name)
    reason, _ = refused(".", "--output", "../catalog.json")
    assert "its path is not UTF-8" in reason


def test_init_opens_the_catalog_and_refuses_what_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(names: Sequence[str]) -> list[str]:
        return ["not an id"] * len(names)

    monkeypatch.setattr("okf_catalog.cli.init.ids_of", wrong)
    (reason,) = refused("docs")
    assert reason.startswith("[INVALID_SOURCE_ID] ")


def test_init_without_a_directory_says_what_is_missing() -> None:
    _, stderr = init(code=2)
    assert "DIR" in stderr


# The file


@pytest.mark.parametrize("kind", ["file", "empty file", "directory", "link", "broken link", "pipe"])
def test_init_never_overwrites_a_file(here: Path, kind: str) -> None:
    target = here / "catalog.json"
    if kind == "directory":
        target.mkdir()
    elif kind == "link":
        target.symlink_to("file.md")
    elif kind == "broken link":
        target.symlink_to("nothing.json")
    elif kind == "pipe":
        os.mkfifo(target)
    else:
        target.write_text("mine" if kind == "file" else "")
    before = os.lstat(target)
    reason, last = refused("docs")
    assert reason.startswith("catalog.json: ")
    assert ("name the file" if kind == "directory" else "is not overwritten") in reason
    assert last == "nothing was written"
    assert os.lstat(target) == before
    assert (here / "file.md").read_text() == NOTE


def test_init_does_not_overwrite_a_manifest_that_appears_meanwhile(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = FileKnowledgeCatalog.report

    def slow(catalog: FileKnowledgeCatalog) -> Any:
        (here / "catalog.json").write_text("theirs")
        return report(catalog)

    monkeypatch.setattr(FileKnowledgeCatalog, "report", slow)
    _, stderr = init("docs", code=1)
    assert "is not overwritten" in stderr
    assert NOTHING in stderr
    assert (here / "catalog.json").read_text() == "theirs"
    assert hidden(here) == []


@pytest.mark.parametrize("exists", [False, True])
def test_init_writes_on_file_systems_without_hard_links(
    here: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    def link(*_: object) -> NoReturn:
        if exists:
            (here / "catalog.json").write_text("theirs")
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", link)
    if exists:
        _, stderr = init("docs", code=1)
        assert "is not overwritten" in stderr
        assert (here / "catalog.json").read_text() == "theirs"
    else:
        init("docs")
        assert written(here / "catalog.json") == [("docs", "docs")]
    assert hidden(here) == []


@pytest.mark.parametrize("step", ["fsync", "link", "open"])
def test_a_failed_init_leaves_no_file(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    (reason,) = refused("docs")
    assert "No space left" in reason


def test_an_interrupted_init_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: FileKnowledgeCatalog) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(FileKnowledgeCatalog, "report", interrupted)
    before = tree()
    assert init("docs", code=130) == ("", "")
    assert tree() == before


@pytest.mark.parametrize("output", ["missing/catalog.json", "file.md/catalog.json"])
def test_init_refuses_an_output_in_a_missing_directory(output: str) -> None:
    reason, _ = refused("docs", "--output", output)
    assert reason.startswith(f"{output.partition('/')[0]}: is no directory")


def test_the_manifest_has_the_file_mode_of_other_new_files(here: Path) -> None:
    init("docs")
    (here / "other").write_text("")
    manifest, other = (here / "catalog.json").stat(), (here / "other").stat()
    assert (stat.S_IMODE(manifest.st_mode), manifest.st_nlink) == (stat.S_IMODE(other.st_mode), 1)


def test_hostile_names_are_shown_harmlessly(here: Path) -> None:
    name = "\x1b[2J\u202edocs"
    write_tree(here, {f"{name}/a.md": NOTE})
    stdout, _ = init(name)
    _, stderr = init(name, "nothing\x1b]0;x", "--output", f"{name}.json", code=1)
    assert "\x1b" not in stdout + stderr
    assert r"\x1b[2J\u202edocs" in stdout


def test_init_keeps_the_order_of_many_directories(here: Path) -> None:
    names: Sequence[str] = [f"many/{at % 10}/docs{at}" for at in reversed(range(300))]
    write_tree(here, {f"{name}/a.md": NOTE for name in names})
    init(*names)
    assert [path for _, path in written(here / "catalog.json")] == names
