//! Distinct strings, where terms are found in them, and the posting list of each.

use super::{
    interner::StringPool,
    matches::Matches,
    packed_lists::PackedLists,
    trigrams::{Indexed, Trigrams, scan},
};

/// The distinct words, or the distinct compounds, of a segment.
#[derive(Debug)]
pub(super) struct Vocabulary {
    strings: StringPool,
    trigrams: Option<Trigrams>,
    /// The posting list of each string.
    postings: PackedLists,
}

impl Vocabulary {
    pub(super) fn new(strings: StringPool, postings: PackedLists, indexed: Indexed) -> Self {
        Self { trigrams: Trigrams::of(&strings, indexed), strings, postings }
    }

    /// The matches of a term in a segment of `concepts` concepts.
    pub(super) fn matches(&self, term: &[u8], concepts: usize) -> Matches {
        let strings = self.containing(term);
        Matches::union(concepts, strings.iter().map(|string| self.postings.get(*string)))
    }

    /// About how many strings or offsets of the text are compared to find a term.
    pub(super) fn lookup_cost(&self, term: &[u8]) -> usize {
        match &self.trigrams {
            Some(trigrams) if term.len() > 2 => trigrams.lookup_cost(term),
            _ => self.strings.len(),
        }
    }

    /// The numbers of the strings that contain a term.
    fn containing(&self, term: &[u8]) -> Vec<u32> {
        match &self.trigrams {
            Some(trigrams) if term.len() > 1 => trigrams.containing(term, &self.strings),
            _ => scan(term, &self.strings),
        }
    }
}
