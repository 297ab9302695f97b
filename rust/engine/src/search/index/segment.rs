//! Segments: the immutable, searchable parts of an index.

use std::{collections::HashMap, sync::Arc};

use super::{
    cache::Cache, grams::CommonGrams, interner::to_u32, inverted::InvertedIndex, matches::Matches,
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
pub struct Segment {
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

/// How many bytes a segment with so many bytes of text caches.
fn cache_bytes(text: usize) -> usize {
    (text / TEXT_TO_CACHE).max(MIN_CACHE_BYTES.min(MAX_CACHE_TO_TEXT * text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use proptest::prelude::*;

    fn concept(id: &str, title: &str, tags: &[&str], body: &str) -> Arc<Concept> {
        let document = Document {
            title: Some(title.to_owned()),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            body: body.to_owned(),
            ..Document::default()
        };
        Arc::new(Concept { id: id.to_owned(), document })
    }

    fn segment(concepts: Vec<Arc<Concept>>) -> Segment {
        Segment::build(concepts, 2, &Task::default()).unwrap()
    }

    /// The id and the weight of each concept that matches.
    fn found<'segment>(segment: &'segment Segment, term: &str) -> Vec<(&'segment str, u8)> {
        let id = |concept: u32| segment.concepts[concept as usize].id.as_str();
        match &*segment.matches(&fold(term)) {
            Matches::Sparse(postings) => {
                let matches = postings.iter().map(|posting| Matches::unpack(*posting));
                matches.map(|(concept, weight)| (id(concept), weight)).collect()
            }
            Matches::Dense(weights) => {
                let matches = (0..).zip(weights).filter(|(_, weight)| **weight != 0);
                matches.map(|(concept, weight)| (id(concept), *weight)).collect()
            }
        }
    }

    #[test]
    fn concepts_are_numbered_by_id_and_listed_part_by_part_too() {
        let segment = segment(["b", "a-b", "a/b", "a"].map(|id| concept(id, "", &[], "")).into());
        let ids: Vec<&str> = segment.concepts.iter().map(|concept| concept.id.as_str()).collect();
        assert_eq!(ids, ["a", "a-b", "a/b", "b"]);
        assert_eq!(segment.by_parts, [0, 2, 1, 3]);
        assert_eq!((segment.find("a/b"), segment.find("a/c")), (Some(2), None));
    }

    #[test]
    fn a_term_matches_with_the_weight_of_its_fields() {
        let segment = segment(vec![
            concept("a", "Net revenue", &["net"], "net of tax."),
            concept("b", "", &["internet"], ""),
            concept("c", "x", &[], "tax->net"),
        ]);
        assert_eq!(found(&segment, "net"), [("a", 6), ("b", 2), ("c", 1)]);
        assert_eq!(found(&segment, "tax."), [("a", 1)]);
        assert_eq!(found(&segment, "x->n"), [("c", 1)]);
        assert_eq!(found(&segment, "x"), [("a", 1), ("c", 4)]);
        assert!(found(&segment, "gross").is_empty());
    }

    #[test]
    fn a_tag_is_found_whatever_its_case_and_once_for_each_concept() {
        let segment =
            segment(vec![concept("b", "", &["Gold", "gold"], ""), concept("a", "", &["GOLD", "x"], "")]);
        assert_eq!(segment.with_tag("GOLD"), [0, 1]);
        assert_eq!(segment.with_tag("X"), [0]);
        assert!(segment.with_tag("GOL").is_empty());
    }

    #[test]
    fn the_cache_is_bounded_by_the_text() {
        for (text, bytes) in [
            (0, 0),
            (1000, 4000),
            (1 << 18, 1 << 20),
            (1 << 20, 1 << 20),
            (1 << 22, 1 << 20),
            (1 << 30, 1 << 28),
        ] {
            assert_eq!(cache_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn matches_are_cached() {
        let segment = segment(vec![concept("a", "net", &[], &"of tax ".repeat(100))]);
        assert!(Arc::ptr_eq(&segment.matches("NET"), &segment.matches("NET")));
    }

    proptest! {
        #[test]
        fn a_segment_finds_what_a_scan_of_all_concepts_finds(
            texts in prop::collection::vec(("[abß.,]{0,3}", "[abß.,]{0,3}", "[abß.,]{1,4}( [a.b]{1,4}){0,3}"), 1..40),
            terms in prop::collection::vec("[abß.,]{1,3}", 1..9),
        ) {
            let concepts: Vec<Arc<Concept>> = (0..)
                .zip(&texts)
                .map(|(number, (title, tag, body))| concept(&format!("{number:03}"), title, &[tag], body))
                .collect();
            let segment = segment(concepts.clone());
            for term in terms {
                let has = |text: &str| u8::from(fold(text).contains(&fold(&term)));
                let expected: Vec<(&str, u8)> = concepts
                    .iter()
                    .zip(&texts)
                    .map(|(concept, (title, tag, body))| {
                        (concept.id.as_str(), 3 * has(title) + 2 * has(tag) + has(body))
                    })
                    .filter(|(_, weight)| *weight != 0)
                    .collect();
                prop_assert_eq!(found(&segment, &term), expected, "{}", term);
            }
        }
    }
}
