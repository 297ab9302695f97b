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

    /// The strings that contain a term in normal form, with what an occurrence of each is worth.
    pub(super) fn counted_with(&self, term: &str) -> CountedLists<'_> {
        let mut strings = self.containing(term.as_bytes());
        if term.len() <= 2 {
            // These may come more than once.
            strings.sort_unstable();
            strings.dedup();
        }
        let points = PointsOf::term(term);
        let strings = strings.into_iter().map(|string| (string, points.within(self.strings.get(string))));
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

    /// All postings, each with what one occurrence in it is worth.
    pub(super) fn postings(&self) -> impl Iterator<Item = (Points, Counted)> {
        self.strings.iter().flat_map(|(string, points)| {
            self.vocabulary.postings.counted(*string).map(move |counted| (*points, counted))
        })
    }
}
