"""Which directories a catalog may name (C1), and that nothing outside is served (B8, D4)."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import pytest
from making.bundles import write_tree
from making.catalogs import problems_of, write_manifest
from okf_catalog import CatalogError, FileKnowledgeCatalog, GroupedKnowledgeResolver, KnowledgeDiagnosticCode


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """``home`` holds the catalog. ``elsewhere`` is beside it and must never be served."""
    write_tree(
        tmp_path,
        {
            "elsewhere/secret.md": "word secret",
            "home/bundle/a.md": "word",
            "home/bundle/deep/b.md": "word",
            "home/file": "word",
            "home-too/c.md": "word secret",
            "home/x:y/d.md": "word",
        },
    )
    home = tmp_path / "home"
    (home / "link").symlink_to("bundle")
    (home / "way").symlink_to(".")
    (home / "out").symlink_to("../elsewhere")
    (home / "dangling").symlink_to("nowhere")
    (home / "loop").symlink_to("loop")
    (home / "to-file").symlink_to("file")
    os.mkfifo(home / "pipe")
    return home


def open_catalog(directory: Path, path: str, *, catalog_root: Path | None = None) -> FileKnowledgeCatalog:
    manifest = write_manifest(directory, [{"id": "s", "path": path}])
    return FileKnowledgeCatalog(manifest, watch_for_changes=False, catalog_root=catalog_root)


def found(directory: Path, path: str, *, catalog_root: Path | None = None) -> list[str]:
    with open_catalog(directory, path, catalog_root=catalog_root) as catalog:
        return [passage.concept_id for passage in GroupedKnowledgeResolver(catalog).search("word").passages]


def refusal(directory: Path, path: str, *, catalog_root: Path | None = None) -> str:
    """The one code that says why ``path`` is no source."""
    with pytest.raises(CatalogError) as raised:
        open_catalog(directory, path, catalog_root=catalog_root)
    (diagnostic,) = raised.value.diagnostics
    assert "s" in diagnostic.message
    assert str(directory.parent) not in diagnostic.message
    assert str(directory.parent) not in str(raised.value)
    return diagnostic.code.name


@pytest.mark.parametrize(
    "path",
    [
        "bundle",
        "./bundle",
        "bundle/",
        "bundle//",
        "bundle/.",
        "bundle/../bundle",
        "x/../bundle",
        "../home/bundle",
    ],
)
def test_a_catalog_accepts_every_spelling_of_a_path_inside_the_root(directory: Path, path: str) -> None:
    assert found(directory, path) == ["a", "deep/b"]


def test_a_bundle_may_be_the_manifest_directory_itself(directory: Path) -> None:
    assert set(found(directory, ".")) == {"bundle/a", "bundle/deep/b", "x:y/d"}


def test_a_bundle_may_lie_in_another(directory: Path) -> None:
    assert found(directory, "bundle/deep") == ["b"]


def test_a_name_with_a_colon_is_no_windows_drive(directory: Path) -> None:
    assert found(directory, "./x:y") == ["d"]


@pytest.mark.parametrize(
    "path",
    ["/", "/etc", "//server/share", "C:\\bundle", "c:/bundle", "C:bundle", "\\bundle", "\\\\server\\share"],
)
def test_a_catalog_refuses_absolute_paths_of_any_system(directory: Path, path: str) -> None:
    assert refusal(directory, path) == "ABSOLUTE_PATH"


def test_an_absolute_path_is_refused_even_inside_the_root(directory: Path) -> None:
    manifest = write_manifest(directory, [{"id": "s", "path": str(directory / "bundle")}])
    with pytest.raises(CatalogError) as raised:
        FileKnowledgeCatalog(manifest, watch_for_changes=False)
    assert [diagnostic.code.name for diagnostic in raised.value.diagnostics] == ["ABSOLUTE_PATH"]


@pytest.mark.parametrize(
    "path",
    ["..", "../elsewhere", "../home-too", "bundle/../../elsewhere", "../../../../../../etc", "../nowhere"],
)
def test_paths_that_leave_the_root_are_refused(directory: Path, path: str) -> None:
    assert refusal(directory, path) == "OUTSIDE_ROOT"


@pytest.mark.parametrize(
    "path", ["nowhere", "bundle/nowhere", "file", "file/x", "bundle/a.md", "BUNDLES", "pipe"]
)
def test_a_path_that_is_no_directory_is_not_found(directory: Path, path: str) -> None:
    assert refusal(directory, path) == "TARGET_NOT_FOUND"


@pytest.mark.parametrize("path", ["link", "out", "way/bundle", "link/deep", "way/way/bundle"])
def test_a_link_on_the_path_is_refused_wherever_it_leads(directory: Path, path: str) -> None:
    assert refusal(directory, path) == "REPARSE_POINT_IN_PATH"


@pytest.mark.parametrize("path", ["dangling", "loop", "to-file", "dangling/x", "loop/x"])
def test_links_to_anything_but_a_directory_are_refused(directory: Path, path: str) -> None:
    assert refusal(directory, path) in ("REPARSE_POINT_IN_PATH", "TARGET_NOT_FOUND")


def test_the_root_may_be_a_link(directory: Path) -> None:
    entrance = directory.parent / "entrance"
    entrance.symlink_to("home")
    assert found(entrance, "bundle") == ["a", "deep/b"]
    assert refusal(entrance, "out") == "REPARSE_POINT_IN_PATH"
    assert refusal(entrance, "../elsewhere") == "OUTSIDE_ROOT"


def test_the_catalog_root_decides_which_paths_are_inside(directory: Path) -> None:
    assert found(directory, "../elsewhere", catalog_root=directory.parent) == ["secret"]
    assert found(directory, "bundle/deep", catalog_root=directory / "bundle") == ["b"]
    assert refusal(directory, "x:y", catalog_root=directory / "bundle") == "ABSOLUTE_PATH"
    assert refusal(directory, "./x:y", catalog_root=directory / "bundle") == "OUTSIDE_ROOT"
    # Paths are compared by whole components: `home-too` is not inside `home`.
    assert refusal(directory, "../home-too", catalog_root=directory) == "OUTSIDE_ROOT"


def test_a_link_between_the_root_and_the_manifest_is_refused(directory: Path) -> None:
    entrance = directory.parent / "entrance"
    entrance.symlink_to("home")
    assert refusal(entrance, "bundle", catalog_root=directory.parent) == "REPARSE_POINT_IN_PATH"


def test_disabled_sources_are_not_checked(directory: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "s", "path": "bundle"},
        {"id": "off", "path": "../elsewhere", "enabled": False},
    ]
    with FileKnowledgeCatalog(write_manifest(directory, rows), watch_for_changes=False) as catalog:
        assert len(catalog.current.sources) == 2


def test_a_catalog_lists_every_refused_path(directory: Path) -> None:
    paths = ["..", "/x", "link", "nowhere", "bundle"]
    manifest = write_manifest(directory, [{"id": f"s{n}", "path": path} for n, path in enumerate(paths)])
    with pytest.raises(CatalogError) as raised:
        FileKnowledgeCatalog(manifest, watch_for_changes=False)
    codes = [diagnostic.code.name for diagnostic in raised.value.diagnostics]
    assert codes == ["OUTSIDE_ROOT", "ABSOLUTE_PATH", "REPARSE_POINT_IN_PATH", "TARGET_NOT_FOUND"]
    assert [f"s{n}" in diagnostic.message for n, diagnostic in enumerate(raised.value.diagnostics)] == [
        True
    ] * 4


def test_a_source_that_becomes_a_link_is_unavailable_and_serves_nothing(directory: Path) -> None:
    with open_catalog(directory, "bundle/deep") as catalog:
        resolver = GroupedKnowledgeResolver(catalog)
        assert [passage.concept_id for passage in resolver.search("word").passages] == ["b"]
        (directory / "bundle").rename(directory / "kept")
        (directory / "bundle").symlink_to("kept")
        context = resolver.search("word")
        assert len(context.passages) == 0
        (diagnostic,) = context.diagnostics
        assert (diagnostic.code, diagnostic.source_id) == (KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "s")
        assert str(directory.parent) not in diagnostic.message


def test_links_inside_a_bundle_serve_nothing_from_outside(directory: Path) -> None:
    bundle = directory / "bundle"
    (bundle / "inside.md").symlink_to("deep/b.md")
    (bundle / "round.md").symlink_to("../bundle/a.md")
    (bundle / "hidden.md").symlink_to(".hidden.md")
    write_tree(bundle, {".hidden.md": "word"})
    (bundle / "outside.md").symlink_to("../../elsewhere/secret.md")
    (bundle / "absolute.md").symlink_to(directory.parent / "elsewhere" / "secret.md")
    (bundle / "beside.md").symlink_to("../file")
    (bundle / "dangling.md").symlink_to("nowhere.md")
    (bundle / "loop.md").symlink_to("loop.md")
    (bundle / "directory.md").symlink_to("deep")
    (bundle / "directory").symlink_to("deep")
    (bundle / "up").symlink_to("..")
    (bundle / "elsewhere").symlink_to("../../elsewhere")
    (bundle / "unread.txt").symlink_to("../../elsewhere/secret.md")
    (bundle / "index.md").symlink_to("../../elsewhere/secret.md")
    (bundle / ".dot.md").symlink_to("../../elsewhere/secret.md")
    (bundle / ".dots").symlink_to("../../elsewhere")
    with open_catalog(directory, "bundle") as catalog:
        context = GroupedKnowledgeResolver(catalog).search("word secret")
        assert {passage.concept_id for passage in context.passages} == {
            "a",
            "deep/b",
            "inside",
            "round",
            "hidden",
        }
        assert not any("secret" in passage.excerpt for passage in context.passages)
        problems = problems_of(catalog)["s"]
        assert problems.keys() == {
            *("outside.md", "absolute.md", "beside.md", "dangling.md", "loop.md", "directory.md"),
            *("directory", "up", "elsewhere"),
        }
        for reason in problems.values():
            assert reason
            assert str(directory.parent) not in reason


def test_a_hard_link_is_a_file_like_any_other(directory: Path) -> None:
    (directory / "bundle" / "again.md").hardlink_to(directory / "bundle" / "a.md")
    assert found(directory, "bundle") == ["a", "again", "deep/b"]


def test_pipes_and_sockets_are_problems_and_never_block(directory: Path) -> None:
    os.mkfifo(directory / "bundle" / "pipe.md")
    os.mkfifo(directory / "bundle" / "pipe.txt")
    (directory / "bundle" / "linked.md").symlink_to("pipe.txt")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listening:
        # The name of a socket has some hundred bytes, where the test's own directory may not fit.
        listening.bind(f"{short}/socket")
        Path(short, "socket").rename(directory / "bundle" / "socket.md")
        with open_catalog(directory, "bundle") as catalog:
            assert problems_of(catalog)["s"].keys() == {"pipe.md", "linked.md", "socket.md"}
