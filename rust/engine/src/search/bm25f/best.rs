//! The best concepts met so far, at most a given number.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::search::scored::Scored;

/// The best `limit` of the concepts that were offered. Ties go to the lower position.
pub(super) struct Best {
    limit: usize,
    /// Score, position and number; the worst is on top.
    heap: BinaryHeap<Reverse<(u32, Reverse<u32>, u32)>>,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::with_capacity(limit) }
    }

    /// Whether a concept with this score, or a lower one, cannot be among the best any more.
    pub(super) fn excludes(&self, score: u32) -> bool {
        self.heap.len() >= self.limit && self.heap.peek().is_none_or(|Reverse((worst, _, _))| score < *worst)
    }

    /// The lowest score that can be among the best.
    pub(super) fn least(&self) -> u32 {
        match self.heap.peek() {
            Some(Reverse((worst, _, _))) if self.heap.len() >= self.limit => *worst,
            _ => 0,
        }
    }

    pub(super) fn offer(&mut self, concept: u32, score: u32, position: u32) {
        let entry = Reverse((score, Reverse(position), concept));
        if self.heap.len() < self.limit {
            self.heap.push(entry);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && entry.0 > worst.0
        {
            *worst = entry;
        }
    }

    /// The best first.
    pub(super) fn into_sorted(self) -> Vec<Scored> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        sorted.map(|Reverse((score, _, concept))| Scored { concept, score }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_and_ties_go_to_the_lower_position() {
        let mut best = Best::new(2);
        assert!(!best.excludes(0));
        for (concept, score, position) in [(0, 5, 3), (1, 5, 1), (2, 4, 0), (3, 5, 2)] {
            best.offer(concept, score, position);
        }
        assert!(best.excludes(4) && !best.excludes(5));
        let kept: Vec<u32> = best.into_sorted().iter().map(|scored| scored.concept).collect();
        assert_eq!(kept, [1, 3]);
        assert!(Best::new(0).excludes(u32::MAX));
    }
}
