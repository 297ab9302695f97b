//! Distinct strings, where terms are found in them, and the posting list of each.

use super::{
    interner::StringPool,
    points::{Points, PointsOf},
    posting_lists::{Counted, PostingLists},
    short_words::ShortWords,
    trigrams::{Indexed, Trigrams, scan},
};

/// The distinct words, or the distinct compounds, of a segment.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    strings: StringPool,
    trigrams: Option<Trigrams>,
    /// The posting list of each string.
    postings: PostingLists,
    short_words: ShortWords,
}

impl Vocabulary {
    pub(super) fn new(strings: StringPool, postings: PostingLists, indexed: Indexed) -> Self {
        let short_words = match indexed {
            Indexed::All => ShortWords::of(&strings),
            Indexed::WithPunctuation => ShortWords::default(),
        };
        Self { trigrams: Trigrams::of(&strings, indexed), strings, postings, short_words }
    }

    /// The posting lists of the strings that contain a term.
    pub(super) fn lists_with(&self, term: &[u8]) -> Lists<'_> {
        Lists { vocabulary: self, strings: self.containing(term) }
    }

    /// The strings that contain a term in normal form or begin a word with its stem, with what one occurrence of each
    /// string is worth.
    pub(super) fn counted_with(&self, term: &str, stem: Option<&str>) -> CountedLists<'_> {
        let mut strings = self.containing(stem.unwrap_or(term).as_bytes());
        if term.len() <= 2 {
            // These may come more than once.
            strings.sort_unstable();
            strings.dedup();
        }
        let points = PointsOf::term(term, stem);
        let strings = strings.into_iter().map(|string| (string, points.within(self.strings.get(string))));
        let strings = strings.filter(|(_, points)| *points != Points::default());
        CountedLists { vocabulary: self, strings: strings.collect() }
    }

    /// The strings that have a term of one or two bytes as a whole word.
    pub(super) fn short_words_with(&self, term: &str) -> CountedLists<'_> {
        let strings =
            self.short_words.get(term).iter().map(|(string, times)| (*string, Points::whole(*times)));
        CountedLists { vocabulary: self, strings: strings.collect() }
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

/// The posting lists of some strings of a vocabulary.
#[derive(Debug)]
pub(super) struct Lists<'vocabulary> {
    vocabulary: &'vocabulary Vocabulary,
    strings: Vec<u32>,
}

impl<'vocabulary> Lists<'vocabulary> {
    pub(super) fn lists(&self) -> impl Iterator<Item = &'vocabulary [u32]> + Clone {
        self.strings.iter().map(|string| self.vocabulary.postings.get(*string))
    }
}

/// The counted posting lists of some strings of a vocabulary.
#[derive(Debug)]
pub(super) struct CountedLists<'vocabulary> {
    vocabulary: &'vocabulary Vocabulary,
    /// Each string, and what one occurrence of it is worth.
    strings: Vec<(u32, Points)>,
}

impl CountedLists<'_> {
    /// How many postings there are.
    pub(super) fn len(&self) -> usize {
        self.strings.iter().map(|(string, _)| self.vocabulary.postings.get(*string).len()).sum()
    }

    /// The postings of each string, with what one occurrence of it is worth.
    pub(super) fn lists(&self) -> impl Iterator<Item = (Points, impl Iterator<Item = Counted>)> {
        self.strings.iter().map(|(string, points)| (*points, self.vocabulary.postings.counted(*string)))
    }
}
