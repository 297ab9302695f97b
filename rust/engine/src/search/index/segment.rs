//! Segments: the immutable, searchable parts of an index.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

use super::{
    cache::Cache,
    common_grams::{CommonGrams, MAX_GRAM_BYTES},
    forms::Forms,
    frequencies::Frequencies,
    interner::to_u32,
    inverted::InvertedIndex,
    matches::Matches,
    occurrences::{Lengths, Occurrences},
};
use crate::{
    document::concept::{Concept, compare_by_parts},
    text::{fold::fold, script::is_word_char},
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// A segment caches at most one byte of matches, and one of frequencies, for this many bytes of its text.
const TEXT_TO_CACHE: usize = 4;
/// But at least this many bytes, so that small segments cache something ...
const MIN_CACHE_BYTES: usize = 1 << 20;
/// ... unless that is more than this many times the text.
const MAX_CACHE_TO_TEXT: usize = 4;

/// Concepts in the order of their ids, with an inverted index of their text.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) concepts: Vec<Arc<Concept>>,
    /// The numbers of the concepts, ordered by their ids part by part (R1).
    pub(super) by_parts: Vec<u32>,
    lengths: Vec<Lengths>,
    inverted: InvertedIndex,
    common_grams: CommonGrams,
    /// For each folded tag, the concepts that have it, ascending (K5).
    tags: HashMap<String, Vec<u32>>,
    matches: Cache<Matches>,
    frequencies: Cache<Frequencies>,
}

impl Segment {
    /// Indexes `concepts`, which may come in any order but have distinct ids, on up to `threads` threads.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub(super) fn build(
        mut concepts: Vec<Arc<Concept>>,
        threads: usize,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        concepts.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let mut by_parts: Vec<u32> = (0..to_u32(concepts.len())).collect();
        by_parts
            .sort_unstable_by(|a, b| compare_by_parts(&concepts[*a as usize].id, &concepts[*b as usize].id));
        let tags = tags_of(&concepts);
        let occurrences = Occurrences::of(&concepts, threads, task)?;
        let forms = Forms::of(&occurrences.tokens);
        let (common_grams, inverted) = parallel::both(
            threads,
            || CommonGrams::of(&occurrences.tokens, &occurrences.forward, &forms, concepts.len()),
            || InvertedIndex::of(&occurrences, &forms),
        );
        let text = concepts.iter().map(|concept| concept.text_len()).sum();
        let (matches, frequencies) = (Cache::new(cache_bytes(text)), Cache::new(cache_bytes(text)));
        task.go_on()?;
        let lengths = occurrences.lengths;
        Ok(Self { concepts, by_parts, lengths, inverted, common_grams, tags, matches, frequencies })
    }

    /// The number of the concept with this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.concepts.binary_search_by(|concept| concept.id.as_str().cmp(id)).ok()
    }

    /// The concepts that have the folded `tag`, ascending.
    pub(crate) fn with_tag(&self, tag: &str) -> &[u32] {
        self.tags.get(tag).map_or(&[], Vec::as_slice)
    }

    /// The lengths of the fields of each concept.
    pub(crate) fn lengths(&self) -> &[Lengths] {
        &self.lengths
    }

    /// The matches of the folded `term`.
    pub(crate) fn matches(&self, term: &str) -> Arc<Matches> {
        self.matches.get_or_find(term, || self.find_matches(term.as_bytes()))
    }

    /// How often each concept has a term in normal form.
    pub(crate) fn frequencies(&self, term: &str) -> Arc<Frequencies> {
        self.frequencies.get_or_find(term, || self.find_frequencies(term))
    }

    /// About how many strings or offsets of the vocabulary are compared to find the folded `term`.
    pub(super) fn lookup_cost(&self, term: &str) -> usize {
        self.inverted.lookup_cost(term.as_bytes())
    }

    fn find_matches(&self, term: &[u8]) -> Matches {
        if term.len() <= MAX_GRAM_BYTES
            && let Some(mut fields) = self.common_grams.fields(term)
        {
            self.inverted.add_written(term, &mut fields);
            return Matches::from_fields(fields);
        }
        self.inverted.matches(term, self.concepts.len())
    }

    fn find_frequencies(&self, term: &str) -> Frequencies {
        let concepts = self.concepts.len();
        if term.len() > MAX_GRAM_BYTES || !term.chars().all(is_word_char) {
            return self.inverted.frequencies(term, concepts);
        }
        let fields = self.common_grams.fields(term.as_bytes());
        let fields = fields.unwrap_or_else(|| self.inverted.shared_fields(term.as_bytes(), concepts));
        self.inverted.short_term_frequencies(term, fields)
    }
}

/// For each folded tag, the concepts that have it, ascending.
fn tags_of(concepts: &[Arc<Concept>]) -> HashMap<String, Vec<u32>> {
    let mut tags: HashMap<String, Vec<u32>> = HashMap::new();
    for (number, concept) in (0_u32..).zip(concepts) {
        for tag in &concept.document.tags {
            let numbers = tags.entry(fold(tag)).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
    }
    tags
}

/// How many bytes a segment with `text` bytes of text caches.
fn cache_bytes(text: usize) -> usize {
    (text / TEXT_TO_CACHE).max(MIN_CACHE_BYTES.min(MAX_CACHE_TO_TEXT * text))
}
