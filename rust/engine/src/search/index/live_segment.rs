//! A segment as part of an index: where its concepts are numbered, and which of them are deleted.

use std::sync::Arc;

use super::{frequencies::Frequencies, interner::to_u32, occurrences::Lengths, segment::Segment};
use crate::document::concept::Concept;

/// A segment is merged when fewer than one concept in this many is left in it: it then takes much more
/// memory than what can be found in it.
const MAX_CONCEPTS_PER_LEFT: usize = 2;

/// A segment and which of its concepts are deleted. Concepts of a segment are numbered from 0 (their local
/// numbers); in the index, from `base`.
#[derive(Debug, Clone)]
pub(crate) struct LiveSegment {
    segment: Arc<Segment>,
    base: u32,
    /// For each concept, whether it is deleted; `None` while none is.
    deleted: Option<Arc<[bool]>>,
    /// The deleted concepts, ascending.
    deleted_numbers: Arc<[u32]>,
    /// How many concepts are not deleted.
    count: usize,
    /// For each field, the sum of its lengths in all concepts that are not deleted.
    lengths: [u64; 3],
}

impl LiveSegment {
    /// A segment without deletions.
    pub(super) fn new(segment: Segment) -> Self {
        let count = segment.concepts.len();
        let lengths = sum(segment.lengths().iter());
        let deleted_numbers = Arc::new([]);
        Self { segment: Arc::new(segment), base: 0, deleted: None, deleted_numbers, count, lengths }
    }

    /// How many concepts the segment has, deleted ones included.
    pub(crate) fn len(&self) -> usize {
        self.segment.concepts.len()
    }

    /// How many concepts are not deleted.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// For each field, the sum of its lengths in all concepts that are not deleted.
    pub(super) fn lengths(&self) -> [u64; 3] {
        self.lengths
    }

    /// How many concepts that are not deleted have a term, given its frequencies in the segment.
    pub(crate) fn count_with(&self, frequencies: &Frequencies) -> usize {
        let deleted = self.deleted_numbers.iter().filter(|local| !frequencies.get(**local).is_none());
        frequencies.count() - deleted.count()
    }

    /// The number in the index of the segment's first concept.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Numbers the concepts of the segments one after the other.
    pub(super) fn number_all(segments: &mut [Self]) {
        let mut base = 0;
        for segment in segments {
            segment.base = base;
            base += to_u32(segment.len());
        }
    }

    pub(crate) fn is_deleted(&self, local: u32) -> bool {
        self.deleted.as_ref().is_some_and(|deleted| deleted[local as usize])
    }

    pub(crate) fn has_deletions(&self) -> bool {
        self.deleted.is_some()
    }

    /// Whether most concepts are deleted, so that the others should be merged into another segment.
    pub(super) fn is_mostly_deleted(&self) -> bool {
        self.count * MAX_CONCEPTS_PER_LEFT < self.len()
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    pub(crate) fn concept(&self, local: u32) -> &Arc<Concept> {
        &self.segment.concepts[local as usize]
    }

    /// The concept with this id, unless it is deleted.
    pub(super) fn get(&self, id: &str) -> Option<&Arc<Concept>> {
        let local = to_u32(self.segment.find(id)?);
        (!self.is_deleted(local)).then(|| self.concept(local))
    }

    /// The concepts that are not deleted, in the order of their ids.
    pub(super) fn concepts(&self) -> impl Iterator<Item = &Arc<Concept>> {
        let all = (0_u32..).zip(&self.segment.concepts);
        all.filter(|(local, _)| !self.is_deleted(*local)).map(|(_, concept)| concept)
    }

    /// The same segment with the concepts of these ids deleted.
    pub(super) fn without(&self, ids: &[String]) -> Self {
        let found = ids.iter().filter_map(|id| self.segment.find(id));
        let newly_deleted: Vec<usize> = found.filter(|local| !self.is_deleted(to_u32(*local))).collect();
        if newly_deleted.is_empty() {
            return self.clone();
        }
        let mut deleted = self.deleted.as_ref().map_or_else(|| vec![false; self.len()], |old| old.to_vec());
        for local in newly_deleted {
            deleted[local] = true;
        }
        let numbers = (0_u32..).zip(&deleted).filter(|(_, is_deleted)| **is_deleted).map(|(local, _)| local);
        let deleted_numbers: Arc<[u32]> = numbers.collect();
        let lengths = self.segment.lengths();
        let all = sum(lengths.iter());
        let gone = sum(deleted_numbers.iter().map(|local| &lengths[*local as usize]));
        let lengths = std::array::from_fn(|field| all[field] - gone[field]);
        let count = self.len() - deleted_numbers.len();
        Self { deleted: Some(deleted.into()), deleted_numbers, count, lengths, ..self.clone() }
    }
}

/// The sum of lengths, field by field.
fn sum<'lengths>(all: impl Iterator<Item = &'lengths Lengths>) -> [u64; 3] {
    let add = |sum: [u64; 3], one: &Lengths| std::array::from_fn(|field| sum[field] + u64::from(one[field]));
    all.fold([0; 3], add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document::Document, work::task::Task};

    fn segment(ids: &[&str]) -> LiveSegment {
        let concept = |id: &&str| Arc::new(Concept { id: (*id).to_owned(), document: Document::default() });
        LiveSegment::new(Segment::build(ids.iter().map(concept).collect(), 1, &Task::default()).unwrap())
    }

    fn ids(segment: &LiveSegment) -> Vec<&str> {
        segment.concepts().map(|concept| concept.id.as_str()).collect()
    }

    fn without(segment: &LiveSegment, ids: &[&str]) -> LiveSegment {
        segment.without(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_new_segment_has_no_deletions() {
        let whole = segment(&["b", "a"]);
        assert_eq!(ids(&whole), ["a", "b"]);
        assert_eq!((whole.len(), whole.count()), (2, 2));
        assert!(!whole.has_deletions() && !whole.is_mostly_deleted());
        let same = without(&whole, &["c"]);
        assert!(!same.has_deletions());
    }

    #[test]
    fn deleted_concepts_are_not_found_and_keep_their_numbers() {
        let whole = segment(&["a", "b", "c", "d"]);
        let rest = without(&whole, &["b", "c", "x"]);
        assert_eq!(ids(&rest), ["a", "d"]);
        assert_eq!((rest.len(), rest.count()), (4, 2));
        assert!(rest.is_deleted(1) && rest.is_deleted(2) && !rest.is_deleted(3));
        assert_eq!(rest.concept(3).id, "d");
        assert!(rest.get("b").is_none() && rest.get("d").is_some());
        assert_eq!(ids(&whole), ["a", "b", "c", "d"], "the old view stays as it is");
    }

    #[test]
    fn deleting_twice_counts_once() {
        let rest = without(&without(&segment(&["a", "b", "c"]), &["a"]), &["a", "a", "b", "b"]);
        assert_eq!((ids(&rest), rest.count()), (vec!["c"], 1));
    }

    #[test]
    fn a_segment_is_mostly_deleted_when_less_than_half_is_left() {
        let whole = segment(&["a", "b", "c", "d"]);
        assert!(!without(&whole, &["a", "b"]).is_mostly_deleted());
        assert!(without(&whole, &["a", "b", "c"]).is_mostly_deleted());
    }

    #[test]
    fn segments_are_numbered_one_after_the_other_deleted_concepts_included() {
        let mut segments = [without(&segment(&["a", "b"]), &["a"]), segment(&["c"]), segment(&["d"])];
        LiveSegment::number_all(&mut segments);
        assert_eq!(segments.each_ref().map(LiveSegment::base), [0, 2, 3]);
    }
}
