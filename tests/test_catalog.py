"""Opening, reloading, reporting and closing a catalog (C2, C3, B7)."""

import logging
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from catalogs import MENTIONED, found, make_catalog
from okf_catalog import (
    CatalogClosedError,
    CatalogError,
    FileKnowledgeCatalog,
    KnowledgeCatalogSource,
    KnowledgeResolverRouter,
    MemoryTier,
    RefusedTypeError,
    RefusedValueError,
    SourceProblem,
    SourceReport,
    SourceRole,
    parse_manifest,
)
from trees import write_manifest, write_tree


@pytest.fixture
def catalog(tmp_path: Path) -> FileKnowledgeCatalog:
    return make_catalog(tmp_path, {"a": {"files": {"x.md": MENTIONED}}, "b": {"files": {"y.md": MENTIONED}}})


def test_a_snapshot_says_what_the_manifest_says_in_its_order(tmp_path: Path) -> None:
    """M2."""
    catalog = make_catalog(
        tmp_path,
        {
            "z": {"files": {}, "priority": -1},
            "a": {"path": "nowhere", "enabled": False},
            "m": {"files": {}, "role": "memory", "tier": "session"},
        },
    )
    snapshot = catalog.current
    assert (snapshot.version, snapshot.generation) == (1, 1)
    assert snapshot.manifest_directory == tmp_path
    assert snapshot.sources == (
        KnowledgeCatalogSource("z", "z", -1),
        KnowledgeCatalogSource("a", "nowhere", enabled=False),
        KnowledgeCatalogSource("m", "m", role=SourceRole.MEMORY, tier=MemoryTier.SESSION),
    )
    content = (tmp_path / "catalog.json").read_text(encoding="utf-8")
    assert parse_manifest(content, manifest_directory=tmp_path) == snapshot


def test_the_snapshot_in_force_is_one_object(catalog: FileKnowledgeCatalog) -> None:
    assert catalog.current is catalog.current
    assert catalog.reload() is catalog.current


def test_a_reload_takes_the_whole_manifest_and_the_next_number(
    catalog: FileKnowledgeCatalog, tmp_path: Path
) -> None:
    before = catalog.current
    router = KnowledgeResolverRouter(catalog)
    write_manifest(tmp_path, [{"id": "only", "path": "b"}])
    assert found(router.search("word")) == ["a/x", "b/y"]
    after = catalog.reload()
    assert after is catalog.current
    assert (before.generation, after.generation) == (1, 2)
    assert [source.id for source in before.sources] == ["a", "b"]
    assert [source.id for source in after.sources] == ["only"]
    assert found(router.search("word")) == ["only/y"]
    assert catalog.report().generation == 2


def codes_of(catalog: FileKnowledgeCatalog) -> list[str]:
    return [diagnostic.code.value for diagnostic in catalog.last_reload_diagnostics]


BROKEN: list[tuple[str | None, list[str]]] = [
    (None, ["PARSE_ERROR"]),
    ("{", ["PARSE_ERROR"]),
    ('{"version": 2, "sources": []}', ["WRONG_VERSION", "EMPTY_SOURCES"]),
    ('{"version": 1, "sources": [{"id": "a", "path": "nowhere"}]}', ["TARGET_NOT_FOUND"]),
]


@pytest.mark.parametrize(("content", "expected"), BROKEN)
def test_a_failed_reload_changes_nothing_and_says_why(
    catalog: FileKnowledgeCatalog, tmp_path: Path, content: str | None, expected: list[str]
) -> None:
    """C3: failed attempts use no numbers."""
    manifest = tmp_path / "catalog.json"
    whole = manifest.read_text(encoding="utf-8")
    before = catalog.current
    assert codes_of(catalog) == []
    for _ in range(3):
        if content is None:
            manifest.unlink(missing_ok=True)
        else:
            manifest.write_text(content, encoding="utf-8")
        assert catalog.reload() is before
        assert codes_of(catalog) == expected
        assert found(KnowledgeResolverRouter(catalog).search("word")) == ["a/x", "b/y"]
    manifest.write_text(whole, encoding="utf-8")
    assert catalog.reload().generation == 2
    assert codes_of(catalog) == []


def test_a_failed_reload_is_logged_once(
    catalog: FileKnowledgeCatalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "catalog.json").write_text("{", encoding="utf-8")
    with caplog.at_level(logging.DEBUG, "okf_catalog"):
        catalog.reload()
    assert [(record.name, record.levelname) for record in caplog.records] == [("okf_catalog", "WARNING")]
    assert "PARSE_ERROR" in caplog.text


def test_after_closing_the_snapshot_stays_and_nothing_is_tried(
    catalog: FileKnowledgeCatalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C3: also after a reload that failed, which is not told of again."""
    (tmp_path / "catalog.json").write_text("{", encoding="utf-8")
    catalog.reload()
    before = catalog.current
    catalog.close()
    catalog.close()
    caplog.clear()
    write_manifest(tmp_path, [{"id": "only", "path": "b"}])
    assert catalog.reload() is catalog.current is before
    assert codes_of(catalog) == ["PARSE_ERROR"]
    assert caplog.records == []
    assert catalog.closed
    with pytest.raises(CatalogClosedError):
        catalog.report()


def test_a_catalog_closes_at_the_end_of_its_block(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, {"a": {"files": {}}})
    with catalog as same:
        assert same is catalog
        assert not catalog.closed
    assert catalog.closed


def test_an_exception_closes_it_too(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, {"a": {"files": {}}})
    with pytest.raises(LookupError), catalog:
        raise LookupError
    assert catalog.closed


def test_a_report_tells_of_every_source_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    catalog = make_catalog(
        tmp_path,
        {
            "repeats": {"path": "./kb"},
            "kb": {"files": {"x.md": MENTIONED, "d/y.md": "", "bad.md": "---\nopen"}, "priority": 1},
            "off": {"path": "nowhere", "enabled": False},
            "gone": {"files": {}},
            "m": {"files": {"x.md": MENTIONED}, "role": "memory", "tier": "user"},
        },
    )
    (tmp_path / "gone").rmdir()
    reports = {one.source.id: one for one in catalog.report().sources}
    assert list(reports) == ["repeats", "kb", "off", "gone", "m"]
    assert [one.source for one in reports.values()] == list(catalog.current.sources)
    kb = reports["kb"]
    assert kb.directory is not None
    assert kb.directory.samefile(tmp_path / "kb")
    assert kb.concepts == 2
    assert [problem.path for problem in kb.problems] == ["bad.md"]
    assert all(isinstance(problem, SourceProblem) and problem.reason for problem in kb.problems)
    assert (kb.duplicate_of, kb.failure) == (None, None)
    assert (reports["repeats"].duplicate_of, reports["repeats"].concepts) == ("kb", 2)
    off = KnowledgeCatalogSource("off", "nowhere", enabled=False)
    assert reports["off"] == SourceReport(off, None, 0, (), None, None)
    assert reports["gone"].directory is None
    assert reports["gone"].failure


def test_a_report_sees_the_files_of_now(catalog: FileKnowledgeCatalog, tmp_path: Path) -> None:
    """F1."""
    assert [one.concepts for one in catalog.report().sources] == [1, 1]
    write_tree(tmp_path / "a", {"more.md": "", "bad.md": b"\xff"})
    (tmp_path / "b" / "y.md").unlink()
    assert [(one.concepts, len(one.problems)) for one in catalog.report().sources] == [(2, 1), (0, 0)]


def test_the_root_is_the_directory_of_the_manifest_unless_it_is_given(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "beside").mkdir()
    assert make_catalog(inner, {"a": {"files": {}}}).catalog_root == inner
    for root in (tmp_path, os.fspath(tmp_path)):
        catalog = make_catalog(inner, {"a": {"path": "../beside"}}, catalog_root=root)
        assert catalog.catalog_root == tmp_path
    with pytest.raises(CatalogError, match="OUTSIDE_ROOT"):
        make_catalog(inner, {"a": {"path": "../beside"}})


def test_watching_is_accepted_and_honest(tmp_path: Path) -> None:
    """C4 is not built yet: nothing claims that it is."""
    for wanted in (True, False):
        catalog = make_catalog(tmp_path, {"a": {"files": {}}}, watch_for_changes=wanted)
        assert catalog.watching is False


OPTIONS: list[tuple[str, object, type[Exception]]] = [
    ("catalog_root", b"here", RefusedTypeError),
    ("catalog_root", 3, RefusedTypeError),
    ("catalog_root", "a\0b", RefusedValueError),
    ("watch_for_changes", 1, RefusedTypeError),
    ("watch_for_changes", None, RefusedTypeError),
    ("reload_debounce", 250, RefusedTypeError),
    ("reload_debounce", None, RefusedTypeError),
    ("reload_debounce", timedelta(microseconds=-1), RefusedValueError),
    ("max_file_bytes", 0, RefusedValueError),
    ("max_file_bytes", None, RefusedTypeError),
    ("max_file_bytes", True, RefusedTypeError),
    ("max_threads", 0, RefusedValueError),
    ("max_threads", 1.0, RefusedTypeError),
]


@pytest.mark.parametrize(("option", "value", "error"), OPTIONS)
def test_options_that_make_no_sense_are_refused_by_name(
    tmp_path: Path, option: str, value: object, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^{option} "):
        make_catalog(tmp_path, {"a": {"files": {}}}, **{option: value})


@pytest.mark.parametrize("option", ["reload_debounce", "max_file_bytes", "max_threads"])
def test_options_have_no_upper_bound(tmp_path: Path, option: str) -> None:
    values: dict[str, Any] = {
        "reload_debounce": timedelta.max,
        "max_file_bytes": 10**40,
        "max_threads": 10**40,
    }
    catalog = make_catalog(tmp_path, {"a": {"files": {"x.md": MENTIONED}}}, **{option: values[option]})
    assert found(KnowledgeResolverRouter(catalog).search("word")) == ["a/x"]


class BytesPath:
    def __fspath__(self) -> bytes:
        return b"catalog.json"


@pytest.mark.parametrize("path", [b"catalog.json", BytesPath(), None, 3])
def test_a_path_is_text(path: Any) -> None:
    with pytest.raises(RefusedTypeError, match=r"^catalog_file_path is a str or a path of text, not "):
        FileKnowledgeCatalog(path)


def test_a_path_holds_no_nul() -> None:
    with pytest.raises(RefusedValueError, match=r"^catalog_file_path holds a NUL"):
        FileKnowledgeCatalog("a\0b")


def test_its_repr_says_what_it_is_and_how_much(catalog: FileKnowledgeCatalog, tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "catalog.json")
    assert repr(catalog) == f"<FileKnowledgeCatalog {path!r}, 2 sources, generation 1>"
    catalog.close()
    assert repr(catalog) == f"<FileKnowledgeCatalog {path!r}, closed>"


def test_two_catalogs_of_one_manifest_are_independent(catalog: FileKnowledgeCatalog, tmp_path: Path) -> None:
    with FileKnowledgeCatalog(tmp_path / "catalog.json", watch_for_changes=False) as other:
        catalog.reload()
        assert (catalog.current.generation, other.current.generation) == (2, 1)
    assert found(KnowledgeResolverRouter(catalog).search("word")) == ["a/x", "b/y"]


@pytest.mark.parametrize("text", [None, 3, bytearray(b"{}"), ["{}"]])
def test_a_manifest_to_parse_is_text_or_bytes(text: Any) -> None:
    with pytest.raises(RefusedTypeError, match=r"^text is a str or bytes, not "):
        parse_manifest(text, manifest_directory="x")


@pytest.mark.parametrize("directory", [None, b"x", 3])
def test_a_manifest_directory_is_a_path_of_text(directory: Any) -> None:
    with pytest.raises(RefusedTypeError, match=r"^manifest_directory is a str or a path of text, not "):
        parse_manifest("{}", manifest_directory=directory)
