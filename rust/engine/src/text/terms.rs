//! The terms that a query looks for (K1).

use hashbrown::{HashMap, hash_map::Entry};

use crate::{
    text::fold::fold,
    work::task::{Abandoned, Task},
};

/// This many words are compared with each other. A hash table is made only for texts of more words.
const COMPARED_WORDS: usize = 16;
/// How many words are taken between two checks whether the task was abandoned.
const WORDS_PER_CHECK: usize = 1024;

/// The distinct folded terms of a query text, each with how often the text has it.
///
/// ```
/// let terms = okf_engine::Terms::parse("Net revenue net");
/// assert_eq!(terms.as_slice(), [("NET".to_owned(), 2), ("REVENUE".to_owned(), 1)]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms(Vec<(String, u32)>);

impl Terms {
    /// Splits `text` at Unicode `White_Space`; repeated terms count again.
    #[allow(clippy::missing_panics_doc)] // The task is local.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_for(text, &Task::default())
            .expect("only this function has the task, and it abandons nothing")
    }

    /// Splits `text` as [`parse`](Self::parse) does, until the task is abandoned.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub fn parse_for(text: &str, task: &Task) -> Result<Self, Abandoned> {
        let mut terms: Vec<(String, u32)> = Vec::new();
        let mut words = text.split_whitespace();
        for word in words.by_ref().take(COMPARED_WORDS) {
            let word = fold(word);
            match terms.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => terms.push((word, 1)),
            }
        }
        // A hash table finds the repetitions in a long text in linear time.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (at, word) in words.map(fold).enumerate() {
            if at % WORDS_PER_CHECK == 0 {
                task.go_on()?;
            }
            if numbers.is_empty() {
                numbers.extend(terms.iter().enumerate().map(|(number, (term, _))| (term.clone(), number)));
            }
            match numbers.entry(word) {
                Entry::Occupied(known) => {
                    let count = &mut terms[*known.get()].1;
                    *count = count.saturating_add(1);
                }
                Entry::Vacant(new) => {
                    terms.push((new.key().clone(), 1));
                    new.insert(terms.len() - 1);
                }
            }
        }
        Ok(Self(terms))
    }

    /// These terms, which are distinct.
    pub(crate) fn of(terms: Vec<(String, u32)>) -> Self {
        Self(terms)
    }

    /// Each distinct term and how often the text has it, in the order of their first appearance.
    #[must_use]
    pub fn as_slice(&self) -> &[(String, u32)] {
        &self.0
    }

    /// How often the text has each term, in the order of [`as_slice`](Self::as_slice).
    pub(crate) fn counts(&self) -> impl ExactSizeIterator<Item = u32> {
        self.0.iter().map(|(_, count)| *count)
    }

    /// Whether the text has no term.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether `text` is empty or only `White_Space` (Q1, K5).
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<(String, u32)> {
        Terms::parse(text).0
    }

    #[test]
    fn every_white_space_character_separates_and_nothing_else_does() {
        for c in '\0'..=char::MAX {
            let parts = words(&format!("a{c}b")).len();
            assert_eq!(parts, if c.is_whitespace() { 2 } else { 1 }, "{c:?}");
        }
        assert_eq!(words("a\u{1c}b").len(), 1);
        assert_eq!(words("a\u{85}b\u{a0}c\u{2028}d\u{3000}e\u{b}f").len(), 6);
    }

    #[test]
    fn punctuation_belongs_to_its_term() {
        assert_eq!(words("orders, (net)"), [("ORDERS,".into(), 1), ("(NET)".into(), 1)]);
    }

    #[test]
    fn a_text_is_blank_if_it_is_only_white_space() {
        assert!(is_blank("") && is_blank(" \u{2003}\n") && !is_blank("\u{1f}") && !is_blank("\u{200b}"));
    }

    proptest! {
        #[test]
        fn no_term_is_lost(text in "[aAbB \u{3000}é]{0,24}") {
            let total: u32 = words(&text).iter().map(|(_, count)| count).sum();
            prop_assert_eq!(total as usize, text.split_whitespace().count());
        }

        // More words than are compared with each other.
        #[test]
        fn a_long_text_has_each_term_once_with_its_count(
            text in prop::collection::vec("[aAbBé]{1,2}", 0..60),
        ) {
            let mut expected: Vec<(String, u32)> = Vec::new();
            for word in &text {
                match expected.iter_mut().find(|(term, _)| *term == fold(word)) {
                    Some((_, count)) => *count += 1,
                    None => expected.push((fold(word), 1)),
                }
            }
            prop_assert_eq!(words(&text.join(" ")), expected);
        }
    }
}
