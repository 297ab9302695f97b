"""``okf-catalog check``: problems and remarks, grouped, counted and bounded."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from making.bundles import NOTE, write_tree
from making.catalogs import write_manifest
from making.commands import run
from okf_catalog import (
    CatalogReport,
    FileKnowledgeCatalog,
    KnowledgeCatalogSource,
    RemarkCode,
    RemarkCount,
    SourceProblem,
    SourceRemark,
    SourceReport,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RENAME = "and only .md makes a concept; rename it to be read"


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A source ``docs`` of one good concept."""
    write_tree(tmp_path, {"docs/a.md": NOTE})
    return write_manifest(tmp_path, [{"id": "docs", "path": "docs"}])


def made_up(source_id: str, problems: int = 0, *, failure: str | None = None, **remarks: int) -> SourceReport:
    """A report with so many problems, and so many remarks of each code, of which 1000 are kept."""
    kept = [
        SourceRemark(f"{at:05}.md", at + 1, RemarkCode[code], f"sentence {at} on {code}")
        for code, count in remarks.items()
        for at in range(min(count, 1000))
    ]
    return SourceReport(
        source=KnowledgeCatalogSource(source_id, source_id),
        directory=None,
        concepts=7,
        problems=tuple(SourceProblem(f"bad{at:05}.md", f"reason {at}") for at in range(problems)),
        duplicate_of=None,
        failure=failure,
        remarks=tuple(sorted(kept, key=lambda remark: remark.path)),
        remark_count=sum(remarks.values()),
        remark_counts=tuple(RemarkCount(RemarkCode[code], count) for code, count in remarks.items()),
    )


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes every catalog give this report."""

    def pretend(*sources: SourceReport) -> None:
        def report(_: FileKnowledgeCatalog) -> CatalogReport:
            return CatalogReport(1, sources)

        monkeypatch.setattr(FileKnowledgeCatalog, "report", report)

    return pretend


def findings(shown: str) -> list[str]:
    """The lines between the table and the summary."""
    _, _, rest = shown.partition("\n\n")
    return rest.splitlines()[:-1]


def test_remarks_are_shown_with_path_line_and_sentence(catalog: Path, pretend: Callable[..., None]) -> None:
    pretend(made_up("docs", FIELD_NOT_READ=1, NAME_NOT_READ=2))
    assert findings(run("check", "--catalog", catalog)) == [
        "docs: 1 remark FIELD_NOT_READ:",
        "docs: 00000.md:1: sentence 0 on FIELD_NOT_READ",
        "docs: 2 remarks NAME_NOT_READ:",
        "docs: 00000.md:1: sentence 0 on NAME_NOT_READ",
        "docs: 00001.md:2: sentence 1 on NAME_NOT_READ",
        "Remarks: 1 FIELD_NOT_READ, 2 NAME_NOT_READ.",
    ]


def test_a_remark_without_a_line_is_shown_without_one(catalog: Path) -> None:
    write_tree(catalog.parent, {"docs/NOTE.MD": NOTE})
    shown = run("check", "--catalog", catalog)
    assert findings(shown) == [
        "docs: 1 remark NAME_NOT_READ:",
        f"docs: NOTE.MD: its name ends in .MD, {RENAME}",
        "Remarks: 1 NAME_NOT_READ.",
    ]
    assert shown.endswith("\n1 source, 1 concept, 0 problems, 1 remark.\n")


def test_check_shortens_thousands_of_remarks_of_one_code(catalog: Path, pretend: Callable[..., None]) -> None:
    pretend(made_up("docs", 300, MISSING_TYPE=5000, FIELD_NOT_READ=1))
    shown = run("check", "--catalog", catalog)
    assert shown.count("\n") < 25
    assert "docs: 300 problems:\ndocs: bad00000.md: reason 0\n" in shown
    assert "docs: ... and 295 more (--all)\n" in shown
    assert "docs: 5000 remarks MISSING_TYPE:\n" in shown
    assert "docs: ... and 4995 more (--all)\n" in shown
    assert "docs: 00000.md:1: sentence 0 on FIELD_NOT_READ\n" in shown
    assert "Remarks: 5000 MISSING_TYPE, 1 FIELD_NOT_READ." not in shown
    assert "Remarks: 1 FIELD_NOT_READ, 5000 MISSING_TYPE.\n" in shown
    assert "1 source, 7 concepts, 300 problems, 5001 remarks." in shown


def test_check_all_shows_every_remark_that_is_kept_and_counts_the_rest(
    catalog: Path, pretend: Callable[..., None]
) -> None:
    pretend(made_up("docs", 300, MISSING_TYPE=5000))
    shown = run("check", "--catalog", catalog, "--all")
    assert shown.count(": reason ") == 300
    assert shown.count(": sentence ") == 1000
    assert shown.count(" more") == 1
    assert "docs: ... and 4000 more\n" in shown


def test_check_shows_the_last_remark_instead_of_counting_one_more(
    catalog: Path, pretend: Callable[..., None]
) -> None:
    pretend(made_up("docs", 6, UNKNOWN_STATUS=7))
    shown = run("check", "--catalog", catalog)
    assert shown.count(": reason ") == 6
    assert shown.count(": sentence ") == 5
    assert "... and 2 more (--all)" in shown


def test_check_counts_each_source_and_their_sum(catalog: Path, pretend: Callable[..., None]) -> None:
    pretend(
        made_up("one", MISSING_TYPE=2, NAME_NOT_READ=1),
        made_up("two", MISSING_TYPE=3, INVALID_TEXT=1),
        made_up("three", failure="it is gone"),
    )
    shown = run("check", "--catalog", catalog)
    assert "one: 2 remarks MISSING_TYPE:" in shown
    assert "two: 3 remarks MISSING_TYPE:" in shown
    assert "three: cannot be read: it is gone" in shown
    assert "Remarks: 1 INVALID_TEXT, 5 MISSING_TYPE, 1 NAME_NOT_READ.\n" in shown
    assert "3 sources, 21 concepts, 0 problems, 7 remarks, 1 failed source." in shown


def test_check_of_a_bundle_with_thousands_of_remarks_is_short(catalog: Path) -> None:
    write_tree(catalog.parent, {f"docs/{at % 9}/{at:04}.MD": "" for at in range(2500)})
    shown = run("check", "--catalog", catalog)
    assert shown.count("\n") < 15
    assert "docs: 2500 remarks NAME_NOT_READ:" in shown
    assert "docs: 0/0000.MD: " in shown
    assert "docs: ... and 2495 more (--all)" in shown
    assert "docs: ... and 1500 more\n" in run("check", "--catalog", catalog, "--all")


# JSON


def test_check_json_holds_the_whole_report(tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/a.md": NOTE, "docs/NOTE.MD": NOTE, "off/b.md": NOTE, "diary/c.md": NOTE})
    (tmp_path / "docs/b.md").symlink_to("nothing")
    catalog = write_manifest(
        tmp_path,
        [
            {"id": "docs", "path": "docs", "priority": 3},
            {"id": "off", "path": "off", "enabled": False},
            {"id": "same", "path": "./docs"},
            {"id": "diary", "path": "diary", "role": "memory", "tier": "user"},
        ],
    )
    document = json.loads(run("check", "--catalog", catalog, "--json"))
    with FileKnowledgeCatalog(catalog, watch_for_changes=False) as opened:
        report = opened.report()
    sources = document.pop("sources")
    assert document == {
        "generation": 1,
        "problem_count": 2,
        "remark_count": 2,
        "remark_counts": {"NAME_NOT_READ": 2},
        "overlap": None,
    }
    for row, source in zip(sources, report.sources, strict=True):
        assert row.keys() == {field.name for field in fields(source)}
        assert row["source"].keys() == {field.name for field in fields(source.source)}
        assert row["source"]["id"] == source.source.id
        assert row["concepts"] == source.concepts
    docs, off, same, diary = sources
    assert docs["problems"] == [{"path": "b.md", "reason": "it is a link to nothing"}]
    assert docs["remarks"] == [
        {
            "path": "NOTE.MD",
            "line": None,
            "code": "NAME_NOT_READ",
            "sentence": f"its name ends in .MD, {RENAME}",
        }
    ]
    assert (docs["remark_count"], docs["remark_counts"]) == (1, {"NAME_NOT_READ": 1})
    assert (docs["duplicate_of"], same["duplicate_of"]) == (None, "docs")
    assert "links" in docs["compared_because"]
    assert (off["directory"], docs["directory"]) == (None, str(tmp_path / "docs"))
    assert [row["source"]["priority"] for row in sources] == [3, 0, 0, 0]
    assert (diary["source"]["role"], diary["source"]["tier"], off["source"]["enabled"]) == (
        "memory",
        "user",
        False,
    )


def test_check_json_of_a_source_without_remarks_has_empty_counts(catalog: Path) -> None:
    document = json.loads(run("check", "--catalog", catalog, "--json"))
    assert document["remark_counts"] == document["sources"][0]["remark_counts"] == {}


def test_check_json_says_that_memories_would_be_published(tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/a.md": NOTE})
    catalog = write_manifest(
        tmp_path,
        [{"id": "docs", "path": "docs"}, {"id": "diary", "path": "docs", "role": "memory", "tier": "user"}],
    )
    overlap = json.loads(run("check", "--catalog", catalog, "--json", code=1))["overlap"]
    assert (overlap["memory_source_id"], overlap["other_source_id"]) == ("diary", "docs")
    assert "overlap" in overlap["message"]


# Exit codes


@pytest.mark.parametrize("form", [(), ("--json",), ("--all",)], ids=["readable", "json", "all"])
@pytest.mark.parametrize(
    ("report", "code"),
    [
        (made_up("docs"), 0),
        (made_up("docs", 1), 1),
        (made_up("docs", NAME_NOT_READ=1), 1),
        (made_up("docs", MISSING_TYPE=5000), 1),
        (made_up("docs", failure="gone"), 1),
    ],
    ids=["clean", "problem", "remark", "remarks", "failure"],
)
def test_strict_fails_for_any_problem_remark_or_failed_source(
    catalog: Path, pretend: Callable[..., None], report: SourceReport, code: int, form: tuple[str, ...]
) -> None:
    pretend(made_up("good"), report)
    run("check", "--catalog", catalog, *form)
    run("check", "--catalog", catalog, "--strict", *form, code=code)


def test_strict_fails_for_a_name_that_is_not_read(catalog: Path) -> None:
    run("check", "--catalog", catalog, "--strict")
    write_tree(catalog.parent, {"docs/.later.md.icloud": b"bplist"})
    run("check", "--catalog", catalog)
    run("check", "--catalog", catalog, "--strict", code=1)


def test_strict_accepts_duplicate_and_compared_sources(tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/a.md": NOTE})
    (tmp_path / "docs/b.md").symlink_to("a.md")
    catalog = write_manifest(tmp_path, [{"id": "docs", "path": "docs"}, {"id": "same", "path": "./docs"}])
    shown = run("check", "--catalog", catalog, "--strict")
    assert "same: is the directory of docs" in shown
    assert "docs: is compared with the disk" in shown
