"""The model of BM25F passes worked examples; elsewhere the engine is compared with it."""

from __future__ import annotations

import math
from fractions import Fraction

import naive
import naive_relevance as relevance
import pytest
from making.model import document

WORD, OTHER = relevance.WORD_WEIGHT, relevance.OTHER_WEIGHT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("größe", "gro\u0308ße"),
        ("gro\u0308ße", "GRÖßE"),
        ("don't", "don’t"),
        ("don't", "don＇t"),
        ("ＡＢＣ１２＿", "abc12_"),
        ("ｃ＋＋", "C++"),
        ("\u1fb3", "αι"),
        ("가", "\u1100\u1161"),
        ("が", "か\u3099"),
    ],
)
def test_spellings_of_one_word_have_one_normal_form(one: str, other: str) -> None:
    assert relevance.normal(one) == relevance.normal(other)


@pytest.mark.parametrize(
    ("one", "other"), [("ß", "ss"), ("ﬁ", "fi"), ("\uff76", "カ"), ("²", "2"), ("İ", "i")]
)
def test_other_letters_keep_different_normal_forms(one: str, other: str) -> None:
    assert relevance.normal(one) != relevance.normal(other)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How do I restore?", {"HOW": WORD, "DO": WORD, "I": WORD, "RESTORE": WORD}),
        ("hotels, hotels (Hotels)?", {"HOTELS": WORD}),
        ("(c++)?", {"C": WORD, "C++": OTHER}),
        (".net", {"NET": WORD, ".NET": OTHER}),
        ("mlflow.trace", {"MLFLOW": WORD, "TRACE": WORD, "MLFLOW.TRACE": OTHER}),
        ("iceberg_compat", {"ICEBERG_COMPAT": WORD}),
        ("«what’s»", {"WHAT": WORD, "S": WORD, "WHAT'S": OTHER}),
        ("¿Qué…?", {"QUÉ": WORD}),
        ("東京タワー", {"東京": OTHER, "京タ": OTHER, "タワ": OTHER, "ワー": OTHER}),
        ("東", {"東": OTHER}),
        ("東c++京", {"東": OTHER, "京": OTHER, "C": WORD, "C++": OTHER}),
        ("กา", {"กา": OTHER}),
        ("한국어", {"한국어": WORD}),
        ("-- a", {"--": OTHER, "A": WORD}),
        ("???", {"???": WORD}),
        ("?? !", {"??": WORD, "!": WORD}),
        ("? --", {"--": OTHER}),
    ],
)
def test_terms_are_words_pairs_and_what_is_written(question: str, terms: dict[str, int]) -> None:
    assert relevance.terms_of(question) == terms


@pytest.mark.parametrize(
    ("term", "stem"),
    [
        ("POLIC", None),
        ("POLICY", "POLI"),
        ("POLICIES", "POLICI"),
        ("RESTORING", "RESTOR"),
        ("VERSION1", None),
        ("C++BUILDER", None),
        ("A" * 63, "A" * 60),
        ("A" * 64, None),
        ("학교", None),
        ("학교에", "학교"),
        ("학교에서", "학교"),
        ("東京", None),
    ],
)
def test_stems_are_the_beginnings_of_longer_words(term: str, stem: str | None) -> None:
    assert relevance.stem_of(term) == stem


@pytest.mark.parametrize(
    ("body", "term", "points"),
    [
        ("ORDER", "ORDER", 8),
        ("ORDER, ORDERS REORDER REORDERED", "ORDER", 8 + 5 + 2 + 2),
        ("POLICY POLICIES POLITE", "POLICY", 8 + 1 + 1),
        ("THE METAPOLICIES", "POLICY", 0),
        ("C++ C++X", "C++", 8 + 8),
        ("東京都東京", "東京", 8 + 8),
        ("AAAAA AA", "AA", 8 + 2),
        ("BAAB", "AA", 2),
        ("A BAB A", "A", 8 + 8 + 2),
        ("§A§ §", "§", 3 * 8),
        ("BANANA", "ANA", 2),
        ("ORDER " * 100, "ORDER", 255),
    ],
)
def test_points_say_how_a_term_stands_in_a_body(body: str, term: str, points: int) -> None:
    assert relevance.points_in_body(body, term) == points


@pytest.mark.parametrize(
    ("front", "body", "title"),
    [
        ("title: Orders", "# Other", "Orders"),
        ("title: ' '", "text\n# Heading #\n# Next", "Heading"),
        ("type: x", "```\n# code\n```\n#\n  # C#", "C#"),
        ("type: x", "text\nTitle\n===", "Title"),
        ("type: x", "- item\n===\n    # code\n## Second", "my new file"),
    ],
)
def test_a_title_is_the_field_the_heading_or_the_name(front: str, body: str, title: str) -> None:
    assert relevance.title_of(naive.Concept("a/my-new_file", document(front, body))) == title


def test_the_logarithm_is_right_to_its_last_places() -> None:
    for number in (*range(1, 2000), 10**6, 2**31 - 1, 2**32 + 1):
        assert abs(Fraction(relevance.log2(number), 2**24) - Fraction(math.log2(number))) < Fraction(1, 2**22)


@pytest.mark.parametrize(("having", "concepts"), [(0, 1), (1, 1), (3, 10), (10, 10), (7, 5000), (1, 10**6)])
def test_rarity_and_worth_are_those_of_the_formula(having: int, concepts: int) -> None:
    ideal = math.log(1 + (concepts - having + 0.5) / (having + 0.5))
    assert abs(relevance.rarity_of(having, concepts, relevance.WEIGHT_OF) - 1024 * ideal) < 2
    frequency, length, mean = 3, 40, 25
    k, b = relevance.K, relevance.B_PARTS / relevance.B_OF
    ideal = frequency * (k + 1) / (frequency + k * (1 - b + b * length / mean))
    factor = relevance.factor_of(mean * concepts, concepts)
    assert abs(relevance.worth(8 * frequency, length, factor) - 1024 * ideal) < 4
