"""The model passes every worked example of the contract; other tests compare the engine with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import naive
import pytest
from making.asking import names
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.clocks import NOON
from making.model import document

if TYPE_CHECKING:
    from pathlib import Path


# Scoring


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("net revenue", ["NET", "REVENUE"]),
        ("  a\u3000b\u2028c\u0085d\n", ["A", "B", "C", "D"]),
        ("a\x1cb", ["A\x1cB"]),
        ("a a", ["A", "A"]),
        ("what's (new)?", ["WHAT'S", "(NEW)?"]),
        (" \u00a0", []),
    ],
)
def test_terms_are_what_white_space_separates(text: str, terms: list[str]) -> None:
    assert naive.terms_of(text) == terms


@pytest.mark.parametrize(
    "characters",
    # The last ones: a digraph in three cases, iota subscript, Cherokee, Georgian, micro sign and mu.
    ["oO", "éÉ", "σςΣ", "ａＡ", "ǆǅǄ", "ᾳᾼ", "\u0345ιΙ\u1fbe", "ꭰᎠ", "აᲐ", "\u00b5μΜ", "ÿŸ"],
)
def test_characters_of_one_simple_uppercase_are_equal(characters: str) -> None:
    assert len({naive.fold(character) for character in characters}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u212a", "k"),
        ("ss", "ß"),
        ("ß", "ẞ"),
        ("i", "ı"),
        ("i", "İ"),
        ("s", "ſ"),
        ("é", "e\u0301"),
        ("ﬁ", "fi"),
    ],
)
def test_characters_of_different_simple_uppercase_are_not_equal(one: str, other: str) -> None:
    assert naive.fold(one) != naive.fold(other)


def test_fold_keeps_the_length_and_is_idempotent() -> None:
    for code_point in range(0x110000):
        folded = naive.fold(chr(code_point))
        assert len(folded) == 1
        assert naive.fold(folded) == folded


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("revenue", 3 + 2 + 1),
        ("REVENUE revenue", 12),
        ("rev", 6),
        ("net", 3),
        ("money", 2),
        ("monthly", 2),
        ("refunds", 1),
        ("net refunds", 4),
        ("net revenue", 3 + 6),
        ("netrevenue", 0),
        ("table", 0),
        ("metrics", 0),
    ],
)
def test_a_term_counts_3_2_and_1(query: str, score: int) -> None:
    fields = 'type: Table\ntitle: Net revenue\ndescription: monthly revenue\ntags: ["money", "revenue"]'
    concept = naive.Concept("metrics/a", document(fields, "Revenue without refunds.\nRevenue.\n"))
    assert concept.score(naive.terms_of(query)) == score


def test_the_excerpt_is_the_first_line_with_any_term() -> None:
    concept = naive.Concept(
        "a", document("title: gamma", "# Alpha\n\n  second BETA line \u3000\nbeta alpha\n")
    )
    excerpts = {query: concept.excerpt(naive.terms_of(query)) for query in ("beta alpha", "beta", "gamma")}
    assert excerpts == {"beta alpha": "# Alpha", "beta": "second BETA line", "gamma": ""}


def test_a_tag_is_compared_whole_and_blank_is_no_filter(tmp_path: Path) -> None:
    write_tree(tmp_path / "b", {"a.md": "---\ntags: [Money, cash flow]\n---\nword", "b.md": "word"})
    found = {
        tag: [passage.concept_id for passage in passages]
        for tag in ("MONEY", "mone", "cash flow", "", " \t", "none")
        for passages in [naive.passages_of("s", naive.read_bundle(tmp_path / "b"), ["WORD"], tag=tag)]
    }
    assert {tag: sorted(ids) for tag, ids in found.items()} == {
        "MONEY": ["a"],
        "mone": [],
        "cash flow": ["a"],
        "": ["a", "b"],
        " \t": ["a", "b"],
        "none": [],
    }


# Staleness, status, trust


@pytest.mark.parametrize(
    ("text", "seconds_from_now"),
    [
        ("2026-03-01", -12 * 3600),
        ("2026-03-01T12:00:00Z", 0),
        ("2026-03-01T12:00", 0),
        ("2026-03-01 12:00:00", 0),
        ("2026-03-01T14:30:00+02:30", 0),
        ("2026-03-01T09:30:00-02:30", 0),
        ("2026-03-01T12:00:00.5Z", 0.5),
        ("2026-03-01t12:00:00,5z", 0.5),
        ("2026-03-01T14:00+02", 0),
        (" 2026-03-01T14:30+0230\n", 0),
        ("2026-03-01 14:30 +02:30", 0),
        ("2026-03-01 12:00 Z", 0),
        ("2026-03-01 12:00  Z", None),
        ("2026-03-01 Z", None),
        ("0001-01-01T00:00:00+23:59", -63908049540),
        ("12:00", None),
        ("2026-13-01", None),
        ("2026-02-29", None),
        ("2026-03-01Z", None),
        ("next week", None),
        ("", None),
        ("٢٠٢٦-٠٣-٠١", None),
    ],
)
def test_the_model_reads_instants_as_the_contract_says(text: str, seconds_from_now: float | None) -> None:
    instant = naive.instant_of(text)
    if seconds_from_now is None:
        assert instant is None
    else:
        assert instant == naive.nanoseconds(NOON) + int(seconds_from_now * 10**9)


@pytest.mark.parametrize(
    ("stale_after", "admitted_by"),
    [
        ("2026-03-01T12:00:00Z", {None, 1, 2}),
        ("2026-03-01T12:00:00.000001Z", {None, 0, 1, 2}),
        ("2026-02-28T12:00:00", {None, 2}),
        ("2026-02-27T12:00:00", {None}),
        ("soon", {None, 0, 1, 2}),
        (None, {None, 0, 1, 2}),
    ],
)
def test_a_stale_concept_is_admitted_until_its_grace_period_ends(
    stale_after: str | None, admitted_by: set[int | None]
) -> None:
    now = naive.nanoseconds(NOON)
    days = {None, 0, 1, 2}
    assert {n for n in days if naive.is_admitted(stale_after, grace_days=n, now=now)} == admitted_by


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("status: draft", "draft"),
        ("status: deprecated", "deprecated"),
        ("status: stable", "stable"),
        ("status: Draft", "draft"),
        ("status: ' DEPRECATED '", "deprecated"),
        ("status: drafts", "stable"),
        ("status: [draft]", "stable"),
        ("a: b", "stable"),
    ],
)
def test_a_status_that_is_not_known_is_stable(written: str, status: str) -> None:
    assert document(written).status == status


@pytest.mark.parametrize(
    ("written", "tier"),
    [
        ("a: b", "unverified"),
        ("verified:", "unverified"),
        ("verified: []", "unverified"),
        ("verified: yes", "unverified"),
        ("verified: [human:ada]", "unverified"),
        ("verified: {by: human:ada}", "human_reviewed"),
        ("verified: [{by: robot}, {by: human:ada}]", "human_reviewed"),
        ("verified: [{by: robot}]", "machine_confirmed"),
        ("verified: {at: 2026-01-01}", "machine_confirmed"),
        ("verified: {by: Human:ada}", "machine_confirmed"),
        ("verified: {by: [human:ada]}", "machine_confirmed"),
        ("verified: [robot, {by: robot}]", "machine_confirmed"),
    ],
)
def test_the_trust_tier_depends_on_who_verified(written: str, tier: str) -> None:
    assert document(written).trust_tier == tier


@pytest.mark.parametrize(
    ("written", "tier"),
    [
        ("verified: {by: human:ada}", "unverified"),
        ("verified: {by: human:ada, at: 2026-01-01}", "unverified"),
        ("verified: {by: human:ada, at: soon}", "unverified"),
        ("verified: {by: human:ada, at: 2026-02-01}", "human_reviewed"),
        ("verified: [{by: human:ada, at: 2026-01-01}, {by: robot, at: 2026-03-01}]", "machine_confirmed"),
    ],
)
def test_since_version_3_only_verifications_after_generation_count(
    tmp_path: Path, written: str, tier: str
) -> None:
    concept = f"---\ngenerated: {{at: 2026-02-01}}\n{written}\n---\n"
    for version, dated in [("0.3", True), ("v1", True), ("0.10", True), ("0.2", False), ("new", False)]:
        write_tree(tmp_path, {"a.md": concept, "index.md": f"---\nokf_version: {version}\n---\n"})
        (found,) = naive.read_bundle(tmp_path).concepts
        assert (found.document.trust_tier == tier) or not dated
        assert dated or found.document.trust_tier in ("human_reviewed", "machine_confirmed")


# Sources, strategies, results


@pytest.fixture
def two_sources(tmp_path: Path) -> naive.NaiveCatalog:
    """``low`` scores 3 for what ``high`` scores 1; ``again`` is ``high`` under another id."""
    write_tree(
        tmp_path,
        {
            "one/a/b.md": "word",
            "one/a-b.md": "word",
            "one/z.md": "---\ntitle: word\n---\n",
            "two/a.md": "---\ntitle: word\n---\n",
        },
    )
    manifest = write_manifest(
        tmp_path,
        [
            {"id": "again", "path": "two/../one"},
            {"id": "low", "path": "two", "priority": -1},
            {"id": "high", "path": "one", "priority": 7},
            {"id": "off", "path": "nowhere", "priority": 9, "enabled": False},
            {"id": "memory", "path": "one", "priority": 8, "role": "memory", "tier": "user"},
        ],
    )
    return naive.NaiveCatalog(manifest).load()


def ids(answer: naive.Answer) -> list[str]:
    return names(answer.passages)


def test_grouped_orders_source_by_source_and_compares_ids_part_by_part(
    two_sources: naive.NaiveCatalog,
) -> None:
    assert ids(two_sources.search("word")) == [
        "high/z",
        "high/a/b",
        "high/a-b",
        "again/z",
        "again/a/b",
        "again/a-b",
        "low/a",
    ]


def test_merged_orders_by_score_and_compares_ids_as_one_string(two_sources: naive.NaiveCatalog) -> None:
    assert ids(two_sources.search("word", strategy=naive.MERGED)) == [
        "high/z",
        "low/a",
        "high/a-b",
        "high/a/b",
    ]


def test_priority_weighted_orders_by_priority(two_sources: naive.NaiveCatalog) -> None:
    answer = two_sources.search("word", strategy=naive.PRIORITY_WEIGHTED)
    assert ids(answer) == ["high/z", "high/a-b", "high/a/b", "low/a"]


def test_a_quota_may_put_a_lower_priority_ahead(two_sources: naive.NaiveCatalog) -> None:
    answer = two_sources.search("word", strategy=naive.PRIORITY_WEIGHTED, quota=1)
    assert ids(answer) == ["high/z", "low/a", "high/a-b", "high/a/b"]


def test_the_first_visible_source_of_a_directory_answers(two_sources: naive.NaiveCatalog) -> None:
    answer = two_sources.search(
        "word", strategy=naive.MERGED, permitted=frozenset({"again", "low", "unknown"})
    )
    assert ids(answer) == ["again/z", "low/a", "again/a-b", "again/a/b"]


def test_a_permitted_set_beats_every_policy_and_a_policy_the_default(two_sources: naive.NaiveCatalog) -> None:
    def low(source: naive.Source) -> bool:
        return source.id == "low"

    def nobody(_: naive.Source) -> bool:
        return False

    assert ids(two_sources.search("word", policy=low, default_policy=nobody)) == ["low/a"]
    assert ids(two_sources.search("word", permitted=frozenset({"low"}), default_policy=nobody)) == ["low/a"]
    assert two_sources.search("word", default_policy=nobody).diagnostics == (("NO_ENABLED_SOURCES", None),)
    assert two_sources.search("word", permitted=frozenset()).diagnostics == (("NO_ENABLED_SOURCES", None),)
    with pytest.raises(naive.Refused):
        two_sources.search("word", permitted=frozenset({"low"}), policy=low)


@pytest.mark.parametrize(
    ("text", "quota", "strategy"),
    [("", None, "merged"), (" \u2003", None, "merged"), ("a", 0, "merged"), ("a", 1, "")],
)
def test_bad_questions_are_refused(
    two_sources: naive.NaiveCatalog, text: str, quota: int | None, strategy: str
) -> None:
    with pytest.raises(naive.Refused):
        two_sources.search(text, quota=quota, strategy=strategy)


def test_diagnostics_name_failed_sources_and_missing_matches(tmp_path: Path) -> None:
    write_tree(tmp_path, {"here/a.md": "word"})
    manifest = write_manifest(tmp_path, [{"id": name, "path": name} for name in ("gone", "here", "away")])
    catalog = naive.NaiveCatalog(manifest).load()
    failed = (("SOURCE_UNAVAILABLE", "away"), ("SOURCE_UNAVAILABLE", "gone"))
    assert catalog.search("word").diagnostics == failed
    assert catalog.search("other").diagnostics == (*failed, ("NO_MATCHES", None))
    assert catalog.search("word", permitted=frozenset({"gone"})).diagnostics == failed[1:]


@pytest.mark.parametrize(
    ("ranking", "quota", "fair"),
    [
        ("A1 A2 A3 A4 A5 B1 B2", 1, "A1 B1 A2 B2 A3 A4 A5"),
        ("A1 A2 A3 A4 A5 B1 B2", 2, "A1 A2 B1 A3 A4 B2 A5"),
        ("A1 A2 A3 A4 A5 B1 B2", 3, "A1 A2 A3 B1 A4 A5 B2"),
        ("A1 A2 A3 A4 A5 B1 B2", 5, "A1 A2 A3 A4 A5 B1 B2"),
        ("A1 A2 B1 A3 C1 B2 C2", 1, "A1 B1 A2 C1 A3 B2 C2"),
        ("B1 A1 A2 A3", 1, "B1 A1 A2 A3"),
        ("A1 A2 A3", 1, "A1 A2 A3"),
        ("", 1, ""),
    ],
)
def test_a_quota_lets_other_sources_in_between(ranking: str, quota: int, fair: str) -> None:
    assert naive.fair(ranking.split(), quota, lambda name: name[0]) == fair.split()


def test_the_model_reads_manifests_with_defaults_and_a_byte_order_mark(tmp_path: Path) -> None:
    manifest = tmp_path / "catalog.json"
    manifest.write_bytes(
        b"\xef\xbb\xbf" + json.dumps({"version": 1, "sources": [{"id": "a", "path": "b"}]}).encode()
    )
    assert naive.read_manifest(manifest) == [naive.Source("a", "b", 0, enabled=True, role="knowledge")]
