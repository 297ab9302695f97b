//! The fairness quota: no source alone may fill the top of an answer (R5).

use std::{cmp::Reverse, collections::BinaryHeap, num::NonZeroUsize};

/// Reorders a ranked list so that at most `quota` passages in a row come from one source, as long as another
/// source has passages left. No passage is dropped, and the order within a source is kept.
///
/// Yields positions in the given list. A step takes O(log sources): a heap has the position of the next
/// passage of each source.
#[derive(Debug)]
pub(crate) struct Interleaved {
    quota: usize,
    /// For every source with passages left: the position of the next one, and the source. The lowest position
    /// is on top.
    heads: BinaryHeap<Reverse<(u32, u32)>>,
    /// The positions of all sources, source after source.
    positions: Vec<u32>,
    /// For each source, the range of `positions` that was not put into the heap yet.
    left: Vec<std::ops::Range<usize>>,
    /// The source of the passage that was yielded last.
    last: Option<u32>,
    /// How many passages in a row came from it.
    run: usize,
}

impl Interleaved {
    /// `sources` has the source of each passage of the ranked list; every source is a number below `count`.
    #[must_use]
    pub(crate) fn new(sources: impl Iterator<Item = u32> + Clone, count: usize, quota: NonZeroUsize) -> Self {
        let mut starts = vec![0_usize; count + 1];
        for source in sources.clone() {
            starts[source as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut positions = vec![0; starts[count]];
        for (position, source) in (0_u32..).zip(sources) {
            positions[next[source as usize]] = position;
            next[source as usize] += 1;
        }
        let mut this = Self {
            quota: quota.get(),
            heads: BinaryHeap::with_capacity(count),
            positions,
            left: starts.windows(2).map(|pair| pair[0]..pair[1]).collect(),
            last: None,
            run: 0,
        };
        for source in (0_u32..).take(count) {
            this.queue(source);
        }
        this
    }

    /// Puts the next passage of `source` into the heap, if it has one.
    fn queue(&mut self, source: u32) {
        if let Some(at) = self.left[source as usize].next() {
            self.heads.push(Reverse((self.positions[at], source)));
        }
    }
}

impl Iterator for Interleaved {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let Reverse(head) = self.heads.pop()?;
        let mut chosen = head;
        if self.last == Some(head.1)
            && self.run >= self.quota
            && let Some(Reverse(other)) = self.heads.pop()
        {
            self.heads.push(Reverse(head));
            chosen = other;
        }
        let (position, source) = chosen;
        self.queue(source);
        self.run = if self.last == Some(source) { self.run + 1 } else { 1 };
        self.last = Some(source);
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fast(sources: &[u32], quota: usize) -> Vec<u32> {
        let count = sources.iter().max().map_or(0, |most| *most as usize + 1);
        Interleaved::new(sources.iter().copied(), count, NonZeroUsize::new(quota).unwrap()).collect()
    }

    /// R5 as it is written, in quadratic time.
    fn naive(sources: &[u32], quota: usize) -> Vec<u32> {
        let mut queue: Vec<(u32, u32)> = (0..).zip(sources.iter().copied()).collect();
        let mut out: Vec<(u32, u32)> = Vec::new();
        while let Some(&(_, head)) = queue.first() {
            let run = out.iter().rev().take_while(|(_, source)| *source == head).count();
            let other = queue.iter().position(|(_, source)| *source != head);
            let at = other.filter(|_| run >= quota).unwrap_or(0);
            out.push(queue.remove(at));
        }
        out.into_iter().map(|(position, _)| position).collect()
    }

    /// The sources of `A1 A2 B1`: 0, 0, 1.
    fn sources_of(text: &str) -> Vec<u32> {
        text.split(' ').map(|word| u32::from(word.as_bytes()[0] - b'A')).collect()
    }

    #[test]
    fn the_examples_of_the_contract_hold() {
        let rows = [
            ("A1 A2 A3 A4 A5 B1 B2", 1, "A1 B1 A2 B2 A3 A4 A5"),
            ("A1 A2 A3 A4 A5 B1 B2", 2, "A1 A2 B1 A3 A4 B2 A5"),
            ("A1 A2 A3 A4 A5 B1 B2", 3, "A1 A2 A3 B1 A4 A5 B2"),
            ("A1 A2 A3 A4 A5 B1 B2", 5, "A1 A2 A3 A4 A5 B1 B2"),
            ("A1 A2 B1 A3 C1 B2 C2", 1, "A1 B1 A2 C1 A3 B2 C2"),
            ("B1 A1 A2 A3", 1, "B1 A1 A2 A3"),
            ("A1 A2 A3", 1, "A1 A2 A3"),
        ];
        for (list, quota, expected) in rows {
            let words: Vec<&str> = list.split(' ').collect();
            let got: Vec<&str> =
                fast(&sources_of(list), quota).iter().map(|at| words[*at as usize]).collect();
            assert_eq!(got.join(" "), expected, "{list} with quota {quota}");
        }
    }

    proptest! {
        #[test]
        fn the_heap_gives_the_order_of_the_contract(
            sources in prop::collection::vec(0_u32..4, 0..40),
            quota in 1_usize..5,
        ) {
            prop_assert_eq!(fast(&sources, quota), naive(&sources, quota));
        }
    }
}
