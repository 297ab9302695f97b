//! Finds the terms of a question in a text.

use std::cmp::Reverse;

use aho_corasick::{
    Anchored,
    automaton::{Automaton, StateID},
    nfa::contiguous::NFA,
};
use memchr::memmem;

use crate::{
    text::{fold::fold_into, terms::Terms},
    work::task::{Abandoned, Task},
};

/// So many terms are looked for one by one.
const FEW: usize = 8;
/// How many bytes of terms one automaton looks for. It takes about a hundred times their room, and some
/// hundredths of a second to make, during which nobody can interrupt.
const AT_ONCE: usize = 64 << 10;
/// A line is folded in blocks of so many bytes. Only within one block are characters counted to get from a
/// place in the folded line to the place in the line.
const BLOCK: usize = 4 << 10;

/// Finds any of some terms in one pass over a text, however many they are.
#[derive(Debug)]
pub struct Finder(Kind);

#[derive(Debug)]
enum Kind {
    OneByOne(Vec<memmem::Finder<'static>>),
    AtOnce(Vec<Group>),
}

/// Terms that follow one another in a question, found in one pass.
#[derive(Debug)]
struct Group {
    /// The number of the first one.
    first: usize,
    automaton: NFA,
}

impl Finder {
    /// A finder of any of the terms.
    #[allow(clippy::missing_panics_doc)] // Nobody else has the task.
    #[must_use]
    pub fn new(terms: &Terms) -> Self {
        Self::made_for(terms, &Task::default()).expect("nobody else has this task, to abandon it")
    }

    /// A finder of any of the terms, made as long as somebody waits for it.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub fn made_for(terms: &Terms, task: &Task) -> Result<Self, Abandoned> {
        let words: Vec<&[u8]> = terms.as_slice().iter().map(|(term, _)| term.as_bytes()).collect();
        let one_by_one = || words.iter().map(|word| memmem::Finder::new(word).into_owned()).collect();
        if words.len() <= FEW {
            return Ok(Self(Kind::OneByOne(one_by_one())));
        }
        let mut groups = Vec::new();
        let mut first = 0;
        while first < words.len() {
            task.go_on()?;
            let mut bytes = 0;
            let fits = words[first..].iter().take_while(|word| {
                bytes += word.len();
                bytes <= AT_ONCE
            });
            let end = first + fits.count().max(1);
            match NFA::new(&words[first..end]) {
                Ok(automaton) => groups.push(Group { first, automaton }),
                Err(_) => return Ok(Self(Kind::OneByOne(one_by_one()))),
            }
            first = end;
        }
        Ok(Self(Kind::AtOnce(groups)))
    }

    /// How many distinct terms there are.
    fn count(&self) -> usize {
        match &self.0 {
            Kind::OneByOne(finders) => finders.len(),
            Kind::AtOnce(groups) => groups.iter().map(|group| group.automaton.patterns_len()).sum(),
        }
    }

    /// Whether a folded text holds any of the terms.
    pub(crate) fn is_in(&self, folded: &str) -> bool {
        match &self.0 {
            Kind::OneByOne(finders) => finders.iter().any(|finder| finder.find(folded.as_bytes()).is_some()),
            Kind::AtOnce(groups) => groups
                .iter()
                .any(|group| group.automaton.try_find(&folded.into()).is_ok_and(|found| found.is_some())),
        }
    }
}

/// Which terms stand in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// How many distinct ones; at least 1.
    pub(crate) terms: usize,
    /// Where the first of them begins and how long it is, in bytes of the folded line. Of several that begin
    /// there, the longest.
    start: usize,
    len: usize,
}

/// A place in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The byte at which it begins.
    pub(crate) at: usize,
    /// How many code points it has.
    pub(crate) chars: usize,
}

/// Looks for the terms in one line after the other.
#[derive(Debug)]
pub(crate) struct Survey<'finder> {
    finder: &'finder Finder,
    /// For each term, the number of the last line it was seen in.
    seen: Vec<usize>,
    /// The number of the line, from 1.
    line: usize,
    /// As much of the line as was needed to find all terms.
    folded: String,
    /// Where each block begins: in the line, and in the folded line.
    blocks: Vec<(usize, usize)>,
}

impl<'finder> Survey<'finder> {
    pub(crate) fn new(finder: &'finder Finder) -> Self {
        let seen = vec![0; finder.count()];
        Self { finder, seen, line: 0, folded: String::new(), blocks: Vec::new() }
    }

    /// How many distinct terms there are.
    pub(crate) fn count(&self) -> usize {
        self.seen.len()
    }

    /// Which terms stand in a line, if any does. A line is read only until all of them are found.
    pub(crate) fn look(&mut self, line: &str) -> Option<Sighting> {
        self.line += 1;
        self.folded.clear();
        self.blocks.clear();
        let mut found = Found::default();
        let mut states = self.start();
        // Growing pieces, so that what is looked at twice, where one ends, stays little.
        let mut piece = BLOCK;
        let mut read = 0;
        while read < line.len() && found.terms < self.count() {
            let from = self.folded.len();
            read = self.fold(line, read, piece);
            self.search(from, &mut states, &mut found);
            piece = piece.saturating_mul(2);
        }
        found.first.map(|(start, Reverse(len))| Sighting { terms: found.terms, start, len })
    }

    /// Where in the line that was looked at last the first term is; of its length, at most `most` is counted.
    pub(crate) fn place(&self, line: &str, sighting: Sighting, most: usize) -> Place {
        let Sighting { start, len, .. } = sighting;
        let block = self.blocks.partition_point(|(_, folded)| *folded <= start).saturating_sub(1);
        let (original, folded) = self.blocks[block];
        // Folding maps character by character, so that the numbers of characters agree.
        let ahead = self.folded[folded..start].chars().count();
        let at = line[original..].char_indices().nth(ahead).map_or(line.len(), |(at, _)| original + at);
        Place { at, chars: self.folded[start..start + len].chars().take(most).count() }
    }

    /// Folds at least `len` more bytes of a line; how many of its bytes are read then.
    fn fold(&mut self, line: &str, mut read: usize, len: usize) -> usize {
        let until = read.saturating_add(len);
        while read < line.len() && read < until {
            let end = (read + BLOCK..line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or(line.len());
            self.blocks.push((read, self.folded.len()));
            fold_into(&line[read..end], &mut self.folded);
            read = end;
        }
        read
    }

    /// The state in which each group's automaton begins; none if an automaton cannot begin anywhere.
    fn start(&self) -> Vec<Option<StateID>> {
        match &self.finder.0 {
            Kind::OneByOne(_) => Vec::new(),
            Kind::AtOnce(groups) => {
                groups.iter().map(|group| group.automaton.start_state(Anchored::No).ok()).collect()
            }
        }
    }

    /// Looks at what was folded behind `from`.
    fn search(&mut self, from: usize, states: &mut [Option<StateID>], found: &mut Found) {
        let text = self.folded.as_bytes();
        match &self.finder.0 {
            Kind::OneByOne(finders) => {
                for (finder, seen) in finders.iter().zip(&mut self.seen) {
                    let len = finder.needle().len();
                    let begin = from.saturating_sub(len.saturating_sub(1));
                    if *seen != self.line
                        && let Some(at) = finder.find(&text[begin..])
                    {
                        *seen = self.line;
                        found.add(begin + at, len);
                    }
                }
            }
            Kind::AtOnce(groups) => {
                for (group, state) in groups.iter().zip(states) {
                    let Some(state) = state else { continue };
                    for (at, byte) in text.iter().enumerate().skip(from) {
                        *state = group.automaton.next_state(Anchored::No, *state, *byte);
                        if group.automaton.is_match(*state) {
                            note(group, *state, at + 1, &mut self.seen, self.line, found);
                            if found.terms == self.seen.len() {
                                return;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Notes the terms that end at `end`.
fn note(group: &Group, state: StateID, end: usize, seen: &mut [usize], line: usize, found: &mut Found) {
    // The longest comes first, and each of the others ends it. So, when one was seen in the line, those
    // behind it were, too; going over them again would take quadratic time for terms like a, aa, aaa.
    for index in 0..group.automaton.match_len(state) {
        let term = group.automaton.match_pattern(state, index);
        let seen = &mut seen[group.first + term.as_usize()];
        if *seen == line {
            return;
        }
        *seen = line;
        let len = group.automaton.pattern_len(term);
        found.add(end - len, len);
    }
}

#[derive(Debug, Default)]
struct Found {
    terms: usize,
    first: Option<(usize, Reverse<usize>)>,
}

impl Found {
    fn add(&mut self, start: usize, len: usize) {
        self.terms += 1;
        let this = (start, Reverse(len));
        self.first = Some(self.first.map_or(this, |first| first.min(this)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold::fold;
    use proptest::prelude::*;

    /// Number of terms, and the first one as it stands in the line.
    fn sighting(line: &str, query: &str) -> Option<(usize, String)> {
        let finder = Finder::new(&Terms::parse(query));
        let mut survey = Survey::new(&finder);
        survey.look("something else");
        let sighting = survey.look(line)?;
        let Place { at, chars } = survey.place(line, sighting, usize::MAX);
        Some((sighting.terms, line[at..].chars().take(chars).collect()))
    }

    #[test]
    fn distinct_terms_are_counted_and_the_first_is_found_as_it_is_written() {
        let many = "q0 q1 q2 q3 q4 q5 q6 q7 q8";
        for (name, line, query, expected) in [
            ("none", "alpha", "beta", None),
            ("twice is once", "a b a", "a", Some((1, "a"))),
            ("in the order of the line", "x Beta alpha", "alpha beta", Some((2, "Beta"))),
            ("the longest at the same place", "abc", "a ab", Some((2, "ab"))),
            ("one that ends later may begin first", "xabcd", "bc abcd", Some((2, "abcd"))),
            ("folding changes lengths", "ɐɐɐ ⱥⱥ Straße", "ẞ STRASSE straße", Some((1, "Straße"))),
        ] {
            let expected = expected.map(|(terms, first)| (terms, first.to_owned()));
            assert_eq!(sighting(line, query), expected, "{name}");
            assert_eq!(sighting(line, &format!("{query} {many}")), expected, "{name}, at once");
        }
    }

    #[test]
    fn terms_that_lie_across_blocks_are_found() {
        for length in [1, 3, BLOCK - 1, BLOCK, 3 * BLOCK] {
            for before in [BLOCK - 2, BLOCK - 1, BLOCK, 3 * BLOCK - 1, 7 * BLOCK] {
                let term = "ⱥ".repeat(length);
                let line = format!("{}{term}b", "ɐ".repeat(before));
                assert_eq!(sighting(&line, &term), Some((1, term.clone())), "{before}, {length}");
            }
        }
    }

    #[test]
    fn terms_within_terms_take_linear_time() {
        let terms: Vec<String> = (1..400).map(|length| "a".repeat(length)).collect();
        let line = "a".repeat(4 << 20);
        assert_eq!(sighting(&line, &terms.join(" ")), Some((399, "a".repeat(399))));
        let others = line.replace("aaaaaaaa", "aaaaaaab");
        assert_eq!(sighting(&others, &terms.join(" ")).map(|(terms, _)| terms), Some(7));
    }

    #[test]
    fn terms_of_several_groups_are_counted_together() {
        let many: Vec<String> = (0..20_000).map(|number| format!("word{number:05}x")).collect();
        let query = many.join(" ");
        assert!(query.len() > 3 * AT_ONCE, "more than one automaton looks for these");
        let line = "a word19999x, Word00000x and word10000x, word19999x";
        assert_eq!(sighting(line, &query), Some((3, "word19999x".to_owned())));
        assert_eq!(sighting("word20000x", &query), None);
        assert!(Finder::new(&Terms::parse(&query)).is_in(&fold("word12345x")));
    }

    proptest! {
        #[test]
        fn all_ways_agree_with_the_obvious_one(
            line in "[aAbBéÉßẞⱥȺ ]{0,40}",
            terms in prop::collection::vec("[aAbBéÉßⱥ]{1,3}", 1..14),
        ) {
            let folded = fold(&line);
            let parsed = Terms::parse(&terms.join(" "));
            let places: Vec<_> = parsed
                .as_slice()
                .iter()
                .filter_map(|(term, _)| Some((folded.find(term)?, Reverse(term.len()))))
                .collect();
            let expected = places.iter().min().map(|(start, Reverse(len))| {
                let (ahead, chars) = (&folded[..*start], &folded[*start..start + len]);
                let skip = ahead.chars().count();
                (places.len(), line.chars().skip(skip).take(chars.chars().count()).collect::<String>())
            });
            prop_assert_eq!(sighting(&line, &terms.join(" ")), expected);
        }
    }
}
