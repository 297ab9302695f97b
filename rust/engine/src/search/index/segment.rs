//! An immutable, searchable run of concepts.

use std::{collections::HashMap, sync::Arc};

use super::cache::Cache;
use super::grams::Grams;
use super::interner::Interner;
use super::interner::SEPARATOR;
use super::interner::Strings;
use super::interner::narrow;
use super::matches::Matches;
use super::matches::field;
use super::occurrences::Occurrences;
use super::rows::Rows;
use super::trigrams::Listed;
use super::trigrams::Trigrams;
use super::trigrams::scan;
use super::words::is_word;
use super::words::words as split;
use crate::{
    document::concept::{Concept, compare_by_parts},
    text::fold::fold,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// How many bytes of matches a segment remembers, as a part of the text it indexes.
const REMEMBERED: usize = 4;
/// It remembers at least this many, unless it is so small that this would be more than a few times its text.
const REMEMBERED_AT_LEAST: usize = 1 << 20;

/// Concepts in the order of their ids, with the postings of their tokens.
#[derive(Debug)]
pub struct Segment {
    pub(super) concepts: Vec<Arc<Concept>>,
    /// The same concepts in the order of R1.
    pub(super) by_parts: Vec<u32>,
    words: Searchable,
    word_postings: Rows,
    compounds: Searchable,
    compound_postings: Rows,
    grams: Grams,
    /// Folded tags and the concepts that carry them, ascending (K5).
    tags: HashMap<String, Vec<u32>>,
    cache: Cache,
}

impl Segment {
    /// Indexes `concepts`, which need no order but distinct ids, on up to `threads` threads.
    pub(super) fn build(
        mut concepts: Vec<Arc<Concept>>,
        threads: usize,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        concepts.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let mut by_parts: Vec<u32> = (0..narrow(concepts.len())).collect();
        by_parts
            .sort_unstable_by(|a, b| compare_by_parts(&concepts[*a as usize].id, &concepts[*b as usize].id));
        let mut tags: HashMap<String, Vec<u32>> = HashMap::new();
        for (number, concept) in (0_u32..).zip(&concepts) {
            for tag in &concept.document.tags {
                let carriers = tags.entry(fold(tag)).or_default();
                if carriers.last() != Some(&number) {
                    carriers.push(number);
                }
            }
        }
        let occurrences = Occurrences::of(&concepts, threads, task)?;
        let (grams, split) = parallel::both(
            threads,
            || Grams::of(&occurrences.tokens, &occurrences.seen, concepts.len()),
            || Split::of(&occurrences),
        );
        let text: usize = concepts.iter().map(|concept| concept.text_len()).sum();
        let Split { words, word_postings, compounds, compound_postings } = split;
        let cache = Cache::new((text / REMEMBERED).max(REMEMBERED_AT_LEAST.min(4 * text)));
        task.go_on()?;
        Ok(Self {
            concepts,
            by_parts,
            words,
            word_postings,
            compounds,
            compound_postings,
            grams,
            tags,
            cache,
        })
    }

    /// The number of the concept with this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.concepts.binary_search_by(|concept| concept.id.as_str().cmp(id)).ok()
    }

    /// The concepts that carry the folded `tag`, ascending.
    pub(crate) fn tagged(&self, tag: &str) -> &[u32] {
        self.tags.get(tag).map_or(&[], Vec::as_slice)
    }

    /// Where the folded `term` matches.
    pub(crate) fn matches(&self, term: &str) -> Arc<Matches> {
        self.cache.get(term, || self.find_matches(term.as_bytes()))
    }

    /// About how many places of the vocabulary have to be looked at to find the folded `term`.
    pub(super) fn effort(&self, term: &str) -> usize {
        let strings = if is_word(term.as_bytes()) { &self.words } else { &self.compounds };
        strings.effort(term.as_bytes())
    }

    fn find_matches(&self, term: &[u8]) -> Matches {
        if term.len() <= 2
            && let Some(matches) = self.grams.get(term)
        {
            return matches;
        }
        let (strings, postings) = if is_word(term) {
            (self.words.containing(term), &self.word_postings)
        } else {
            (self.compounds.containing(term), &self.compound_postings)
        };
        Matches::unite(self.concepts.len(), strings.iter().map(|string| postings.get(*string)))
    }
}

/// Strings in which terms are looked for.
#[derive(Debug)]
struct Searchable {
    strings: Strings,
    trigrams: Option<Trigrams>,
}

impl Searchable {
    fn new(strings: Strings, listed: Listed) -> Self {
        Self { trigrams: Trigrams::of(&strings, listed), strings }
    }

    fn effort(&self, term: &[u8]) -> usize {
        match &self.trigrams {
            Some(trigrams) if term.len() > 2 => trigrams.effort(term),
            _ => self.strings.len(),
        }
    }

    fn containing(&self, term: &[u8]) -> Vec<u32> {
        match &self.trigrams {
            Some(trigrams) if term.len() > 1 => trigrams.containing(term, &self.strings),
            _ => scan(term, &self.strings),
        }
    }
}

/// So many words of a token are looked at to keep a repeated one out; a few repetitions do no harm, and a
/// token of many words must not take quadratic time.
const REPEATED: usize = 8;

/// Stands for "not a compound".
const NONE: u32 = u32::MAX;

/// Tokens taken apart.
struct Split {
    words: Searchable,
    word_postings: Rows,
    compounds: Searchable,
    compound_postings: Rows,
}

impl Split {
    fn of(Occurrences { tokens, seen }: &Occurrences) -> Self {
        let (mut words, mut compounds) = (Interner::default(), Strings::default());
        // For each token, its number among the compounds.
        let mut compound_of = Vec::with_capacity(tokens.len());
        let words_of = Rows::build(tokens.len(), |token, numbers| {
            let text = tokens.get(token);
            debug_assert!(!text.contains(&SEPARATOR));
            compound_of.push(if is_word(text) { NONE } else { compounds.push(text) });
            let first = numbers.len();
            for word in split(text) {
                let word = words.number(word);
                if !numbers[first..].iter().take(REPEATED).any(|number| *number == word) {
                    numbers.push(word);
                }
            }
        });
        let words = words.finish();
        compounds.shrink();
        let compounded = seen.postings().filter_map(|(token, posting)| {
            let compound = compound_of[token as usize];
            (compound != NONE).then_some((compound, posting))
        });
        let worded = seen
            .postings()
            .flat_map(|(token, posting)| words_of.get(token).iter().map(move |word| (*word, posting)));
        Self {
            word_postings: Rows::collect_merged(words.len(), field::BITS, worded),
            compound_postings: Rows::collect(compounds.len(), compounded),
            words: Searchable::new(words, Listed::All),
            // A term that is looked for here is no word, and what lies within words is listed there.
            compounds: Searchable::new(compounds, Listed::Punctuated),
        }
    }
}
