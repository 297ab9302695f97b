use proptest::prelude::*;

use super::*;
use crate::text::fold::fold;

/// The number of terms in a line, and the first one as it is written there.
fn scan(line: &str, query: &str) -> Option<(usize, String)> {
    let finder = Finder::new(&Terms::parse(query));
    let mut scanner = LineScanner::new(&finder);
    scanner.scan("something else");
    let found = scanner.scan(line)?;
    let Span { at, chars } = scanner.locate(line, found, usize::MAX);
    Some((usize::try_from(found.weight).unwrap(), line[at..].chars().take(chars).collect()))
}

#[test]
fn distinct_terms_are_counted_and_the_first_is_found_as_it_is_written() {
    let many = "q0 q1 q2 q3 q4 q5 q6 q7 q8";
    for (name, line, query, expected) in [
        ("none", "alpha", "beta", None),
        ("twice is once", "a b a", "a", Some((1, "a"))),
        ("in the order of the line", "x Beta alpha", "alpha beta", Some((2, "Beta"))),
        ("the longest at the same offset", "abc", "a ab", Some((2, "ab"))),
        ("one that ends later may begin first", "xabcd", "bc abcd", Some((2, "abcd"))),
        ("folding changes lengths", "ɐɐɐ ⱥⱥ Straße", "ẞ STRASSE straße", Some((1, "Straße"))),
    ] {
        let expected = expected.map(|(terms, first)| (terms, first.to_owned()));
        assert_eq!(scan(line, query), expected, "{name}");
        assert_eq!(scan(line, &format!("{query} {many}")), expected, "{name}, with automata");
    }
}

#[test]
fn a_term_that_lies_across_blocks_is_found() {
    for length in [1, 3, BLOCK - 1, BLOCK, 3 * BLOCK] {
        for before in [BLOCK - 2, BLOCK - 1, BLOCK, 3 * BLOCK - 1, 7 * BLOCK] {
            let term = "ⱥ".repeat(length);
            let line = format!("{}{term}b", "ɐ".repeat(before));
            assert_eq!(scan(&line, &term), Some((1, term.clone())), "{before}, {length}");
        }
    }
}

#[test]
fn terms_within_terms_take_linear_time() {
    let terms: Vec<String> = (1..400).map(|length| "a".repeat(length)).collect();
    let line = "a".repeat(4 << 20);
    assert_eq!(scan(&line, &terms.join(" ")), Some((399, "a".repeat(399))));
    let others = line.replace("aaaaaaaa", "aaaaaaab");
    assert_eq!(scan(&others, &terms.join(" ")).map(|(terms, _)| terms), Some(7));
}

#[test]
fn terms_of_several_automata_are_counted_together() {
    let many: Vec<String> = (0..20_000).map(|number| format!("word{number:05}x")).collect();
    let query = many.join(" ");
    assert!(query.len() > 3 * AUTOMATON_BYTES, "more than one automaton looks for these");
    let line = "a word19999x, Word00000x and word10000x, word19999x";
    assert_eq!(scan(line, &query), Some((3, "word19999x".to_owned())));
    assert_eq!(scan("word20000x", &query), None);
    assert!(Finder::new(&Terms::parse(&query)).is_in("word12345x", &mut String::new()));
}

proptest! {
    #[test]
    fn a_scan_finds_what_looking_for_each_term_finds(
        line in "[aAbBéÉßẞⱥȺ ]{0,40}",
        terms in prop::collection::vec("[aAbBéÉßⱥ]{1,3}", 1..14),
    ) {
        let folded = fold(&line);
        let parsed = Terms::parse(&terms.join(" "));
        let starts: Vec<_> = parsed
            .as_slice()
            .iter()
            .filter_map(|(term, _)| Some((folded.find(term)?, Reverse(term.len()))))
            .collect();
        let expected = starts.iter().min().map(|(start, Reverse(len))| {
            let (ahead, chars) = (&folded[..*start], &folded[*start..start + len]);
            let skip = ahead.chars().count();
            (starts.len(), line.chars().skip(skip).take(chars.chars().count()).collect::<String>())
        });
        prop_assert_eq!(scan(&line, &terms.join(" ")), expected);
    }
}
