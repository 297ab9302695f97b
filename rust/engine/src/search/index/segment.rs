//! Segments: the immutable, searchable parts of an index.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

use super::{
    cache::Cache, common_grams::CommonGrams, interner::to_u32, inverted::InvertedIndex, matches::Matches,
    occurrences::Occurrences,
};
use crate::{
    document::concept::{Concept, compare_by_parts},
    text::fold::fold,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// A segment caches at most one byte of matches for this many bytes of its text.
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
    inverted: InvertedIndex,
    common_grams: CommonGrams,
    /// For each folded tag, the concepts that have it, ascending (K5).
    tags: HashMap<String, Vec<u32>>,
    cache: Cache,
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
        let (common_grams, inverted) = parallel::both(
            threads,
            || CommonGrams::of(&occurrences.tokens, &occurrences.forward, concepts.len()),
            || InvertedIndex::of(&occurrences),
        );
        let text = concepts.iter().map(|concept| concept.text_len()).sum();
        let cache = Cache::new(cache_bytes(text));
        task.go_on()?;
        Ok(Self { concepts, by_parts, inverted, common_grams, tags, cache })
    }

    /// The number of the concept with this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.concepts.binary_search_by(|concept| concept.id.as_str().cmp(id)).ok()
    }

    /// The concepts that have the folded `tag`, ascending.
    pub(crate) fn with_tag(&self, tag: &str) -> &[u32] {
        self.tags.get(tag).map_or(&[], Vec::as_slice)
    }

    /// The matches of the folded `term`.
    pub(crate) fn matches(&self, term: &str) -> Arc<Matches> {
        self.cache.get_or_find(term, || self.find_matches(term.as_bytes()))
    }

    /// About how many strings or offsets of the vocabulary are compared to find the folded `term`.
    pub(super) fn lookup_cost(&self, term: &str) -> usize {
        self.inverted.lookup_cost(term.as_bytes())
    }

    fn find_matches(&self, term: &[u8]) -> Matches {
        if term.len() <= 2
            && let Some(matches) = self.common_grams.matches(term)
        {
            return matches;
        }
        self.inverted.matches(term, self.concepts.len())
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
