use proptest::prelude::*;

use super::*;

fn pool<'text>(strings: impl IntoIterator<Item = &'text str>) -> StringPool {
    let mut pool = StringPool::default();
    for string in strings {
        pool.push(string.as_bytes());
    }
    pool
}

/// Distinct strings with so much text that trigrams are indexed.
fn many(seeds: &[String]) -> Vec<String> {
    (0..2000).map(|number| format!("{}{number}", seeds[number % seeds.len()])).collect()
}

/// The numbers of the strings that contain a term, by looking into each.
fn naive(term: &str, strings: &[String]) -> Vec<u32> {
    let found = (0..).zip(strings).filter(|(_, string)| string.contains(term));
    found.map(|(number, _)| number).collect()
}

fn found(trigrams: &Trigrams, term: &str, pool: &StringPool) -> Vec<u32> {
    let mut found = trigrams.containing(term.as_bytes(), pool);
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn a_scan_finds_each_string_once() {
    let pool = pool(["ABAB", "B", "", "XAB", "ABX"]);
    assert_eq!(scan(b"AB", &pool), [0, 3, 4]);
    assert_eq!(scan(b"B", &pool), [0, 1, 3, 4]);
    assert!(scan(b"BB", &pool).is_empty());
}

#[test]
fn short_texts_get_no_index() {
    let text = "X".repeat(MAX_SCANNED_BYTES - 1);
    assert!(Trigrams::of(&pool([text.as_str()]), Indexed::All).is_none());
    assert!(Trigrams::of(&pool([format!("{text}X").as_str()]), Indexed::All).is_some());
}

#[test]
fn trigrams_inside_words_are_left_out_where_only_punctuation_is_indexed() {
    for (trigram, all, with_punctuation) in [
        (&b"ABC"[..], true, false),
        (b"AB\n", true, false),
        (b"AB.", true, true),
        (b".AB", true, true),
        (b"A.\n", true, true),
        (b"A\nB", false, false),
        (b"\nAB", false, false),
    ] {
        assert_eq!(Indexed::All.has(trigram), all, "{trigram:?}");
        assert_eq!(Indexed::WithPunctuation.has(trigram), with_punctuation, "{trigram:?}");
    }
}

#[test]
fn the_separator_is_the_first_class_and_rare_bytes_share_the_last() {
    let classes = ByteClasses::of(b"AAAABBBC\n", 3);
    assert_eq!(classes.class_of[usize::from(SEPARATOR)], 0);
    assert_eq!(classes.class_of[usize::from(b'A')], 1);
    assert_eq!(classes.class_of[usize::from(b'B')], 2);
    assert_eq!(classes.class_of[usize::from(b'C')], 2);
    assert_eq!(classes.bucket(b"AB\n"), 3 * (3 + 2));
}

#[test]
fn each_byte_belongs_to_the_string_that_the_pool_says() {
    let strings = many(&[String::new(), "A".repeat(70), "BC".to_owned()]);
    let pool = pool(strings.iter().map(String::as_str));
    let numbers = StringNumbers::of(&pool);
    for offset in 0..pool.text().len() {
        assert_eq!(numbers.at(offset), pool.number_at(offset), "{offset}");
    }
}

#[test]
fn a_term_whose_trigrams_are_everywhere_is_found_by_a_scan() {
    let strings: Vec<String> = (1..300).map(|length| "A".repeat(length)).collect();
    let pool = pool(strings.iter().map(String::as_str));
    let trigrams = Trigrams::of(&pool, Indexed::All).unwrap();
    for length in [2, 3, 4, 150, 299, 300] {
        let term = "A".repeat(length);
        assert_eq!(found(&trigrams, &term, &pool), naive(&term, &strings), "{length}");
    }
    assert!(trigrams.lookup_cost(&[b'A'; 150]) * 150 > MAX_COMPARED_TO_TEXT * pool.text().len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_index_finds_what_looking_into_each_string_finds(
        seeds in prop::collection::vec("[a-eé.,>-]{4,14}", 1..9),
        terms in prop::collection::vec("[a-eé0-9.,>-]{2,5}", 1..12),
    ) {
        let strings = many(&seeds);
        let pool = pool(strings.iter().map(String::as_str));
        let trigrams = Trigrams::of(&pool, Indexed::All).expect("the text is long enough");
        for term in terms.iter().chain(&seeds) {
            let expected = naive(term, &strings);
            prop_assert_eq!(scan(term.as_bytes(), &pool), &expected[..], "{}", term);
            prop_assert_eq!(found(&trigrams, term, &pool), &expected[..], "{}", term);
            if term.len() > 2 {
                let cost = trigrams.lookup_cost(term.as_bytes());
                prop_assert!(cost >= expected.len(), "{}", term);
            }
        }
    }

    #[test]
    fn terms_with_punctuation_are_found_where_only_punctuation_is_indexed(
        seeds in prop::collection::vec("[a-e]{2,4}[.,>-][a-e.,>-]{1,9}", 1..9),
        terms in prop::collection::vec("[a-e]{0,2}[.,>-][a-e.,]{1,3}", 1..12),
    ) {
        let strings = many(&seeds);
        let pool = pool(strings.iter().map(String::as_str));
        let trigrams = Trigrams::of(&pool, Indexed::WithPunctuation).expect("the text is long enough");
        for term in terms.iter().chain(&seeds) {
            prop_assert_eq!(found(&trigrams, term, &pool), naive(term, &strings), "{}", term);
        }
    }
}
