//! An immutable, searchable run of concepts.

use std::{collections::HashMap, sync::Arc};

use super::{
    cache::Cache,
    grams::Grams,
    interner::{Interner, SEPARATOR, Strings, narrow},
    matches::{Matches, field},
    occurrences::Occurrences,
    rows::Rows,
    trigrams::{Trigrams, scan},
    words::{is_word, words},
};
use crate::{
    concept::{Concept, compare_by_parts},
    fold::fold,
};

/// How many bytes of matches a segment remembers, as a part of the text it indexes.
const REMEMBERED: usize = 4;
/// It remembers at least this many.
const REMEMBERED_AT_LEAST: usize = 1 << 20;

/// Concepts in the order of their ids, with the postings of their tokens.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) concepts: Vec<Arc<Concept>>,
    /// The same concepts in the order of R1.
    pub(super) by_parts: Vec<u32>,
    words: Strings,
    trigrams: Trigrams,
    word_postings: Rows,
    compounds: Strings,
    compound_postings: Rows,
    /// For each word, the compounds it is part of.
    within: Rows,
    grams: Grams,
    /// Folded tags and the concepts that carry them, ascending (K5).
    tags: HashMap<String, Vec<u32>>,
    cache: Cache,
}

impl Segment {
    /// Indexes `concepts`, which need no order but distinct ids, on up to `threads` threads.
    pub(super) fn build(mut concepts: Vec<Arc<Concept>>, threads: usize) -> Self {
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
        let Occurrences { tokens, seen } = Occurrences::of(&concepts, threads);
        let grams = Grams::of(&tokens, &seen, concepts.len());
        let split = Split::of(&tokens);
        drop(tokens);
        let word_postings = split.word_postings(&seen);
        let compound_postings = Rows::collect(
            split.compounds.len(),
            seen.iter().filter_map(|(token, posting)| {
                let compound = split.compound_of[*token as usize];
                (compound != NONE).then_some((compound, *posting))
            }),
        );
        drop(seen);
        let Split { words, compounds, compound_of, words_of } = split;
        let inner: Vec<(u32, u32)> = (0_u32..)
            .zip(&compound_of)
            .filter(|(_, compound)| **compound != NONE)
            .flat_map(|(token, compound)| words_of.get(token).iter().map(|word| (*word, *compound)))
            .collect();
        let within = Rows::collect(words.len(), inner.iter().copied());
        let text: usize = concepts.iter().map(|concept| concept.text_len()).sum();
        Self {
            trigrams: Trigrams::of(&words),
            words,
            word_postings,
            compounds,
            compound_postings,
            within,
            grams,
            tags,
            cache: Cache::new((text / REMEMBERED).max(REMEMBERED_AT_LEAST)),
            concepts,
            by_parts,
        }
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

    fn find_matches(&self, term: &[u8]) -> Matches {
        if term.len() <= 2
            && let Some(matches) = self.grams.get(term)
        {
            return matches;
        }
        if is_word(term) {
            let words = self.words_containing(term);
            return self.unite(&self.word_postings, &words);
        }
        let mut compounds = match words(term).max_by_key(|word| word.len()) {
            Some(word) if word.len() > 2 => {
                let mut compounds: Vec<u32> = self
                    .words_containing(word)
                    .into_iter()
                    .flat_map(|word| self.within.get(word))
                    .copied()
                    .collect();
                compounds.sort_unstable();
                compounds.dedup();
                let finder = memchr::memmem::Finder::new(term);
                compounds.retain(|compound| finder.find(self.compounds.get(*compound)).is_some());
                compounds
            }
            _ => scan(term, &self.compounds),
        };
        compounds.shrink_to_fit();
        self.unite(&self.compound_postings, &compounds)
    }

    fn words_containing(&self, word: &[u8]) -> Vec<u32> {
        if word.len() < 3 { scan(word, &self.words) } else { self.trigrams.containing(word, &self.words) }
    }

    fn unite(&self, postings: &Rows, strings: &[u32]) -> Matches {
        Matches::unite(self.concepts.len(), strings.iter().map(|string| postings.get(*string)))
    }
}

/// Stands for "not a compound".
const NONE: u32 = u32::MAX;

/// Tokens taken apart.
struct Split {
    words: Strings,
    compounds: Strings,
    /// For each token, its number among the compounds.
    compound_of: Vec<u32>,
    /// For each token, its distinct words.
    words_of: Rows,
}

impl Split {
    fn of(tokens: &Strings) -> Self {
        let (mut word_numbers, mut compounds) = (Interner::default(), Interner::default());
        let mut compound_of = Vec::with_capacity(tokens.len());
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(tokens.len());
        for token in 0..narrow(tokens.len()) {
            let text = tokens.get(token);
            debug_assert!(!text.contains(&SEPARATOR));
            compound_of.push(if is_word(text) { NONE } else { compounds.number(text) });
            let first = pairs.len();
            pairs.extend(words(text).map(|word| (token, word_numbers.number(word))));
            pairs[first..].sort_unstable();
            dedup_from(&mut pairs, first);
        }
        let words_of = Rows::collect(tokens.len(), pairs.iter().copied());
        Self { words: word_numbers.finish(), compounds: compounds.finish(), compound_of, words_of }
    }

    /// For each word, the concepts and fields it occurs in.
    fn word_postings(&self, seen: &[(u32, u32)]) -> Rows {
        let mut noted: Vec<(u32, u32)> = Vec::with_capacity(seen.len());
        // For each word, where in `noted` it was last noted.
        let mut last: Vec<u32> = vec![NONE; self.words.len()];
        for (token, posting) in seen {
            for word in self.words_of.get(*token) {
                let at = &mut last[*word as usize];
                match noted.get_mut(*at as usize) {
                    Some((_, known)) if *known >> field::BITS == *posting >> field::BITS => *known |= posting,
                    _ => {
                        *at = narrow(noted.len());
                        noted.push((*word, *posting));
                    }
                }
            }
        }
        Rows::collect(self.words.len(), noted.iter().copied())
    }
}

/// Removes repetitions behind `first`.
fn dedup_from(pairs: &mut Vec<(u32, u32)>, first: usize) {
    let mut kept = first;
    for at in first..pairs.len() {
        if at == first || pairs[at] != pairs[at - 1] {
            pairs[kept] = pairs[at];
            kept += 1;
        }
    }
    pairs.truncate(kept);
}
