use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{
    document::{Document, concept::Concept},
    search::index::{
        occurrences::Occurrences,
        posting::{BODY, TITLE},
    },
    work::task::Task,
};

fn occurrences(texts: &[(String, String)]) -> Occurrences {
    let concept = |(title, body): &(String, String)| {
        let document = Document { title: Some(title.clone()), body: body.clone(), ..Document::default() };
        Arc::new(Concept { id: String::new(), document })
    };
    let concepts: Vec<Arc<Concept>> = texts.iter().map(concept).collect();
    Occurrences::of(&concepts, 1, &Task::default()).unwrap()
}

fn common_grams(texts: &[(String, String)]) -> CommonGrams {
    let Occurrences { tokens, forward, .. } = occurrences(texts);
    CommonGrams::of(&tokens, &forward, &Forms::of(&tokens), texts.len())
}

/// `concepts` concepts, of which the first `count` have this body.
fn with_body(concepts: usize, count: usize, body: &str) -> Vec<(String, String)> {
    (0..concepts).map(|number| (String::new(), if number < count { body } else { "" }.to_owned())).collect()
}

#[test]
fn transposing_swaps_rows_and_columns() {
    let mut words = [0; BLOCK];
    for (at, word) in words.iter_mut().enumerate() {
        *word = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1);
    }
    let before = words;
    transpose(&mut words);
    for (i, row) in before.iter().enumerate() {
        for (j, column) in words.iter().enumerate() {
            assert_eq!(column >> i & 1, row >> j & 1, "bit {j} of word {i}");
        }
    }
}

#[test]
fn spreading_puts_each_bit_into_its_byte() {
    for bits in 0..=u8::MAX {
        let bytes = spread(bits).to_le_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            assert_eq!(*byte, bits >> at & 1);
        }
    }
}

#[test]
fn each_gram_has_a_key_of_its_own() {
    let mut keys: Vec<u32> = (0..=u8::MAX).map(|one| key(&[one])).collect();
    keys.extend((0..=u8::MAX).flat_map(|one| (0..=u8::MAX).map(move |two| key(&[one, two]))));
    keys.sort_unstable();
    assert!(keys.is_sorted_by(|a, b| a < b) && keys.last().is_some_and(|key| (*key as usize) < KEYS));
}

#[test]
fn the_grams_of_a_token_are_its_bytes_and_its_pairs_of_bytes() {
    let keys: Vec<u32> = keys_of(b"ABA").collect();
    let expected = [&b"A"[..], b"B", b"A", b"AB", b"BA"].map(key);
    assert_eq!(keys, expected);
    assert_eq!(keys_of(b"").count(), 0);
}

#[test]
fn only_grams_of_more_than_a_quarter_of_the_concepts_are_common() {
    for (count, is_common) in [(50, false), (51, true), (200, true)] {
        let grams = common_grams(&with_body(200, count, "xy"));
        for term in [&b"X"[..], b"Y", b"XY"] {
            assert_eq!(grams.fields(term).is_some(), is_common, "{count} {term:?}");
        }
        assert!(grams.fields(b"YX").is_none() && grams.fields(b"x").is_none());
    }
}

#[test]
fn a_segment_of_few_concepts_has_no_common_grams() {
    assert!(common_grams(&with_body(MIN_CONCEPTS - 1, MIN_CONCEPTS, "x")).fields(b"X").is_none());
    assert!(common_grams(&with_body(MIN_CONCEPTS, MIN_CONCEPTS, "x")).fields(b"X").is_some());
}

#[test]
fn only_the_most_common_grams_get_bitmaps() {
    // Every concept has all pairs of 26 letters.
    let letters = b'a'..=b'z';
    let pairs: String = letters
        .clone()
        .flat_map(|one| letters.clone().map(move |two| format!("{}{} ", char::from(one), char::from(two))))
        .collect();
    assert_eq!(common_grams(&with_body(130, 130, &pairs)).keys.len(), MAX_GRAMS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_common_gram_matches_where_a_scan_finds_it(
        texts in prop::collection::vec(("[abß]{0,2}( [ab]{1,3})?", "[a-d]{0,4}( [abß]{1,3}){0,3}"), 128..260),
    ) {
        let grams = common_grams(&texts);
        prop_assert!(!grams.keys.is_empty());
        for term in ["A", "B", "C", "AB", "BA", "AA", "DD", "ß"] {
            let Some(fields) = grams.fields(term.as_bytes()) else { continue };
            let has = |text: &str| u8::from(crate::text::fold::fold(text).contains(term));
            let expected: Vec<u8> =
                texts.iter().map(|(title, body)| TITLE * has(title) + BODY * has(body)).collect();
            prop_assert_eq!(fields, expected, "{}", term);
        }
    }
}
