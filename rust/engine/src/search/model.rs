//! Compares the index with a naive model of the contract, on bundles so large that every way of finding
//! matches and of adding up scores is used.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::{
    Criteria, DirectLookup, Staleness,
    index::{IdOrder, Index},
    weighted_terms,
};
use crate::{
    document::{
        Document,
        concept::{Concept, compare_by_parts},
    },
    text::{fold::fold, instant::Instant, terms::Terms},
    work::task::Task,
};

/// The score of one concept (K3), by reading all of it.
fn score(document: &Document, terms: &Terms) -> u32 {
    let contains = |text: &str, term: &str| fold(text).contains(term);
    let optional =
        |text: &Option<String>, term: &str| text.as_deref().is_some_and(|text| contains(text, term));
    let one = |term: &str| {
        let meta =
            document.tags.iter().any(|tag| contains(tag, term)) || optional(&document.description, term);
        u32::from(optional(&document.title, term)) * 3
            + u32::from(meta) * 2
            + u32::from(contains(&document.body, term))
    };
    terms.as_slice().iter().map(|(term, times)| one(term) * times).sum()
}

fn model(
    concepts: &BTreeMap<String, Document>,
    text: &str,
    tag: Option<&str>,
    order: IdOrder,
) -> Vec<(String, u32)> {
    let terms = Terms::parse(text);
    let mut found: Vec<(String, u32)> = concepts
        .iter()
        .filter(|(_, document)| tag.is_none_or(|tag| document.tags.iter().any(|own| fold(own) == fold(tag))))
        .map(|(id, document)| (id.clone(), score(document, &terms)))
        .filter(|(_, score)| *score > 0)
        .collect();
    found.sort_by(|(a, a_score), (b, b_score)| {
        let ties = match order {
            IdOrder::Text => a.cmp(b),
            IdOrder::Parts => compare_by_parts(a, b),
        };
        b_score.cmp(a_score).then(ties)
    });
    found
}

fn answer(
    index: &Index,
    text: &str,
    tag: Option<&str>,
    order: IdOrder,
    limit: Option<usize>,
) -> Vec<(String, u32)> {
    let criteria = Criteria::new(text, tag, Staleness::Use, Instant::from_micros(0));
    weighted_terms::search(index, &criteria, &DirectLookup, order, limit, &Task::default())
        .expect("the task is not abandoned")
        .into_iter()
        .map(|scored| (index.concept(scored.concept).id.clone(), scored.score))
        .collect()
}

/// A random number generator: the same seed gives the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// Small numbers come more often than large ones, as frequent words do.
    fn skewed(&mut self, sides: usize) -> usize {
        let first = self.roll(sides) + 1;
        self.roll(first)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 24] = [
            "re", "ven", "ue", "or", "der", "s", "net", "tax", "ing", "ion", "a", "é", "ß", "Σ", "ς", "K",
            "fund", "_", "pre", "con", "ﬁ", "ı", "qu", "x",
        ];
        (0..=self.roll(4)).map(|_| SYLLABLES[self.skewed(SYLLABLES.len())]).collect()
    }

    fn token(&mut self) -> String {
        let word = self.word();
        match self.roll(9) {
            0 => format!("({word},"),
            1 => format!("{word}.{}", self.word()),
            2 => format!("`{word}->{}`", self.word()),
            3 => word.to_uppercase(),
            // Only one concept, or a few, have such a word.
            4 => format!("{word}{}", self.roll(100_000)),
            _ => word,
        }
    }

    fn text(&mut self, most: usize) -> String {
        let separators = [" ", "\n", "\u{3000}", "\t", " "];
        (0..self.roll(most)).map(|_| self.token() + self.pick(&separators)).collect()
    }

    fn document(&mut self) -> Document {
        Document {
            title: (self.roll(4) > 0).then(|| self.text(5)),
            description: (self.roll(3) > 0).then(|| self.text(9)),
            tags: (0..self.roll(3)).map(|_| self.word()).collect(),
            body: self.text(60),
            ..Document::default()
        }
    }

    fn query(&mut self) -> String {
        let some =
            ["e", "s", "re", "ue", ",", ".", "->", "`", "(", "qu", "ing,", ").", "ven", "xx", "\u{130}"];
        (0..=self.skewed(7))
            .map(|_| match self.roll(4) {
                0 => self.pick(&some).to_owned(),
                1 => self.token(),
                _ => {
                    let word: Vec<char> = self.word().chars().collect();
                    let from = self.roll(word.len());
                    word[from..].iter().collect()
                }
            })
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn check(index: &Index, concepts: &BTreeMap<String, Document>, dice: &mut Dice, queries: usize) {
    assert_eq!(index.len(), concepts.len());
    let documents: Vec<&Document> = concepts.values().collect();
    for turn in 0..queries {
        let own = documents.get(dice.roll(documents.len().max(1))).map_or("", |document| &document.body);
        let text = match (turn % 3, own.split_whitespace().max_by_key(|word| word.len())) {
            // The longest word of a concept, which most likely no other concept has.
            (0, Some(word)) => word.to_owned(),
            (1, Some(word)) => format!("{word} {}", dice.query()),
            _ => dice.query(),
        };
        let order = if dice.roll(2) == 0 { IdOrder::Text } else { IdOrder::Parts };
        let tag = (dice.roll(5) == 0).then(|| dice.word());
        let expected = model(concepts, &text, tag.as_deref(), order);
        assert_eq!(answer(index, &text, tag.as_deref(), order, None), expected, "{text:?} {tag:?}");
        let limit = dice.roll(40);
        let top = &expected[..expected.len().min(limit)];
        assert_eq!(answer(index, &text, tag.as_deref(), order, Some(limit)), top, "{text:?} {tag:?} {limit}");
    }
}

fn added(concepts: &BTreeMap<String, Document>) -> Vec<Concept> {
    concepts.iter().map(|(id, document)| Concept { id: id.clone(), document: document.clone() }).collect()
}

fn bundle(dice: &mut Dice, size: usize) -> BTreeMap<String, Document> {
    let separators = ["/", "-", ".", " ", ""];
    (0..size)
        .map(|number| {
            let id = format!("d{}{}{number}", dice.roll(9), dice.pick(&separators));
            (id, dice.document())
        })
        .collect()
}

#[test]
fn a_search_of_a_bundle_of_any_size_gives_what_the_model_gives() {
    for (seed, size) in [(1, 3), (2, 40), (3, 700), (4, 3000)] {
        let mut dice = Dice(seed);
        let concepts = bundle(&mut dice, size);
        for threads in [1, 3] {
            let index = Index::default().with(&[], added(&concepts), threads, &Task::default()).unwrap();
            check(&index, &concepts, &mut dice, 60);
        }
    }
}

#[test]
fn a_change_of_one_concept_in_a_large_bundle_is_found() {
    let mut dice = Dice(6);
    let mut concepts = bundle(&mut dice, 2000);
    let mut index = Index::default().with(&[], added(&concepts), 2, &Task::default()).unwrap();
    for turn in 0..8 {
        let id = concepts.keys().nth(turn * 211).unwrap().clone();
        let document = Document { body: format!("only{turn}here again"), ..Document::default() };
        let change = BTreeMap::from([(id.clone(), document)]);
        index = index.with(std::slice::from_ref(&id), added(&change), 2, &Task::default()).unwrap();
        concepts.extend(change);
        for text in [format!("only{turn}here"), format!("nly{turn}h e"), "only again".to_owned()] {
            for order in [IdOrder::Text, IdOrder::Parts] {
                let expected = model(&concepts, &text, None, order);
                assert!(expected.iter().any(|(found, _)| *found == id));
                assert_eq!(answer(&index, &text, None, order, None), expected, "{text:?}");
                assert_eq!(answer(&index, &text, None, order, Some(3)), expected[..expected.len().min(3)]);
            }
        }
    }
}

#[test]
fn scores_too_large_for_a_byte_are_added_up_right() {
    let mut dice = Dice(5);
    let concepts = bundle(&mut dice, 1500);
    let index = Index::default().with(&[], added(&concepts), 2, &Task::default()).unwrap();
    let text = (0..300).map(|_| dice.query()).collect::<Vec<_>>().join(" ");
    assert_eq!(
        answer(&index, &text, None, IdOrder::Text, None),
        model(&concepts, &text, None, IdOrder::Text)
    );
}

#[test]
fn an_index_answers_like_a_new_one_after_any_changes() {
    let strategy = (any::<u64>(), prop::collection::vec((0_usize..2000, 0_usize..40), 1..12));
    let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner
        .run(&strategy, |(seed, changes)| {
            let mut dice = Dice(seed);
            let mut concepts = bundle(&mut dice, 1200);
            let mut index = Index::default().with(&[], added(&concepts), 2, &Task::default()).unwrap();
            for (at, count) in changes {
                let ids: Vec<String> = concepts.keys().cycle().skip(at).take(count).cloned().collect();
                let mut removed = Vec::new();
                let mut fresh = BTreeMap::new();
                for id in ids {
                    if concepts.remove(&id).is_some() {
                        removed.push(id.clone());
                    }
                    match dice.roll(3) {
                        0 => {}
                        1 => drop(fresh.insert(id, dice.document())),
                        _ => drop(fresh.insert(format!("{id}/x"), dice.document())),
                    }
                }
                // A new name may be that of a concept that is there.
                removed.extend(fresh.keys().filter(|id| concepts.contains_key(*id)).cloned());
                index = index.with(&removed, added(&fresh), 2, &Task::default()).unwrap();
                concepts.extend(fresh);
                check(&index, &concepts, &mut dice, 3);
            }
            Ok(())
        })
        .expect("an updated index answers like a new one");
}
