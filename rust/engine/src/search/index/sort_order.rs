//! The order of all concepts of an index by their ids.

use std::cmp::Ordering;

use super::live_segment::LiveSegment;
use crate::document::concept::compare_by_parts;

/// How concepts of one source are ordered by their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdOrder {
    /// Ids compared as strings (R2, R3).
    Text,
    /// Ids compared part by part (R1).
    Parts,
}

/// All concepts of an index in an order, the deleted ones included.
#[derive(Debug)]
pub(crate) struct SortOrder {
    /// For each concept number, its position in the order.
    pub(crate) position: Vec<u32>,
    /// The concept numbers in this order.
    pub(crate) concepts: Vec<u32>,
}

impl SortOrder {
    /// The order of the concepts of all segments; `None` if it is that of their numbers.
    pub(super) fn of(segments: &[LiveSegment], order: IdOrder) -> Option<Self> {
        match order {
            IdOrder::Text => Self::merge(segments, |segment| (0..).take(segment.len()).collect(), str::cmp),
            IdOrder::Parts => {
                Self::merge(segments, |segment| segment.segment().by_parts.clone(), compare_by_parts)
            }
        }
    }

    /// Merges the sorted runs of all segments.
    fn merge(
        segments: &[LiveSegment],
        sorted: impl Fn(&LiveSegment) -> Vec<u32>,
        compare: impl Fn(&str, &str) -> Ordering,
    ) -> Option<Self> {
        fn id(number: u32, segment: &LiveSegment) -> &str {
            &segment.concept(number - segment.base()).id
        }
        let mut merged: Vec<(u32, &LiveSegment)> = Vec::new();
        for segment in segments {
            let run = sorted(segment).into_iter().map(|local| (local + segment.base(), segment));
            let mut joined = Vec::with_capacity(merged.len() + segment.len());
            let (mut left, mut right) = (merged.into_iter().peekable(), run.peekable());
            while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                let first = compare(id(a.0, a.1), id(b.0, b.1)).is_le();
                joined.extend(if first { left.next() } else { right.next() });
            }
            joined.extend(left);
            joined.extend(right);
            merged = joined;
        }
        let concepts: Vec<u32> = merged.into_iter().map(|(number, _)| number).collect();
        if concepts.is_sorted() {
            return None;
        }
        let mut position = vec![0; concepts.len()];
        for (at, number) in (0_u32..).zip(&concepts) {
            position[*number as usize] = at;
        }
        Some(Self { position, concepts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::{Document, concept::Concept},
        search::index::segment::Segment,
        work::task::Task,
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    fn segments(ids: &[&[&str]]) -> Vec<LiveSegment> {
        let concept = |id: &&str| Arc::new(Concept { id: (*id).to_owned(), document: Document::default() });
        let segment = |ids: &&[&str]| Segment::build(ids.iter().map(concept).collect(), 1, &Task::default());
        let mut segments: Vec<LiveSegment> =
            ids.iter().map(|ids| LiveSegment::new(segment(ids).unwrap())).collect();
        LiveSegment::number_all(&mut segments);
        segments
    }

    #[test]
    fn there_is_no_order_to_store_while_numbers_are_in_order() {
        let one = segments(&[&["a", "b", "c"]]);
        assert!(SortOrder::of(&one, IdOrder::Text).is_none());
        assert!(SortOrder::of(&one, IdOrder::Parts).is_none());
        assert!(SortOrder::of(&segments(&[&["a"], &["b"]]), IdOrder::Text).is_none());
        assert!(SortOrder::of(&[], IdOrder::Parts).is_none());
    }

    #[test]
    fn a_slash_comes_first_only_part_by_part() {
        let one = segments(&[&["a-b", "a/b"]]);
        assert!(SortOrder::of(&one, IdOrder::Text).is_none());
        let order = SortOrder::of(&one, IdOrder::Parts).unwrap();
        assert_eq!(order.concepts, [1, 0]);
        assert_eq!(order.position, [1, 0]);
    }

    proptest! {
        #[test]
        fn segments_are_merged_into_the_order_of_all_ids(
            ids in prop::collection::btree_map("[ab/-]{1,5}", 0_usize..3, 0..30),
        ) {
            let of = |segment: usize| -> Vec<&str> {
                ids.iter().filter(|(_, of)| **of == segment).map(|(id, _)| id.as_str()).collect()
            };
            let runs = [of(0), of(1), of(2)];
            let segments = segments(&runs.each_ref().map(Vec::as_slice));
            let by_number: Vec<&str> = runs.concat();
            for (order, compare) in
                [(IdOrder::Text, str::cmp as fn(&str, &str) -> Ordering), (IdOrder::Parts, compare_by_parts)]
            {
                let mut expected: Vec<u32> = (0..).take(by_number.len()).collect();
                expected.sort_by(|a, b| compare(by_number[*a as usize], by_number[*b as usize]));
                match SortOrder::of(&segments, order) {
                    None => prop_assert!(expected.is_sorted()),
                    Some(SortOrder { position, concepts }) => {
                        prop_assert_eq!(&concepts, &expected);
                        for (at, number) in (0..).zip(concepts) {
                            prop_assert_eq!(position[number as usize], at);
                        }
                    }
                }
            }
        }
    }
}
