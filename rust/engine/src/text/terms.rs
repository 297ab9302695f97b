//! What a query looks for (K1).

use hashbrown::{HashMap, hash_map::Entry};

use crate::{
    text::fold::fold,
    work::task::{Abandoned, Task},
};

/// So many words are compared with each other.
const FEW: usize = 16;
/// So many words are taken between two looks at whether they are still wanted.
const SLICE: usize = 1024;

/// The folded terms of a query text, each with how often it was written.
///
/// ```
/// let terms = okf_engine::text::terms::Terms::parse("Net revenue net");
/// assert_eq!(terms.as_slice(), [("NET".to_owned(), 2), ("REVENUE".to_owned(), 1)]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms(Vec<(String, u32)>);

impl Terms {
    /// Splits `text` at Unicode `White_Space`; repeated terms count again.
    #[allow(clippy::missing_panics_doc)] // Nobody else has the task.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_for(text, &Task::default()).expect("nobody else has this task, to abandon it")
    }

    /// Splits `text` as [`parse`](Self::parse) does, as long as somebody waits for it.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub fn parse_for(text: &str, task: &Task) -> Result<Self, Abandoned> {
        let mut terms: Vec<(String, u32)> = Vec::new();
        let mut words = text.split_whitespace();
        for word in words.by_ref().take(FEW) {
            let word = fold(word);
            match terms.iter_mut().find(|(known, _)| *known == word) {
                Some((_, times)) => *times += 1,
                None => terms.push((word, 1)),
            }
        }
        // The repetitions of a long query are found in less than quadratic time.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (at, word) in words.map(fold).enumerate() {
            if at % SLICE == 0 {
                task.go_on()?;
            }
            if numbers.is_empty() {
                numbers.extend(terms.iter().enumerate().map(|(number, (term, _))| (term.clone(), number)));
            }
            match numbers.entry(word) {
                Entry::Occupied(known) => {
                    let times = &mut terms[*known.get()].1;
                    *times = times.saturating_add(1);
                }
                Entry::Vacant(new) => {
                    terms.push((new.key().clone(), 1));
                    new.insert(terms.len() - 1);
                }
            }
        }
        Ok(Self(terms))
    }

    /// Each distinct term and its number of occurrences, in the order of the first occurrence.
    #[must_use]
    pub fn as_slice(&self) -> &[(String, u32)] {
        &self.0
    }

    /// How often each of them was written.
    pub(crate) fn times(&self) -> impl ExactSizeIterator<Item = u32> {
        self.0.iter().map(|(_, times)| *times)
    }

    /// Whether nothing is looked for.
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
    fn punctuation_stays() {
        assert_eq!(words("orders, (net)"), [("ORDERS,".into(), 1), ("(NET)".into(), 1)]);
    }

    #[test]
    fn blank_is_white_space_only() {
        assert!(is_blank("") && is_blank(" \u{2003}\n") && !is_blank("\u{1f}") && !is_blank("\u{200b}"));
    }

    proptest! {
        #[test]
        fn no_term_is_lost(text in "[aAbB \u{3000}é]{0,24}") {
            let total: u32 = words(&text).iter().map(|(_, times)| times).sum();
            prop_assert_eq!(total as usize, text.split_whitespace().count());
        }
    }
}
