//! The top of a ranking without the score of every concept (V8).
//!
//! Terms that few concepts have are added up first. The other terms are in many concepts and rarely decide: for each
//! block of concepts, the largest number of points of such a term bounds what it adds there. A block that cannot have
//! any of the best concepts is skipped. All concepts of another block are scored at once, which is as fast as few.

use std::ops::Deref;

use super::{
    best::Best,
    formula::Coverage,
    input::Input,
    statistics::Statistics,
    sums::{Sums, Term, block_range, dense},
};
use crate::{
    search::{
        index::{BLOCK, DenseEntries, Entries, Frequencies, Index, LiveSegment, SortOrder},
        scored::Scored,
    },
    work::task::{Abandoned, Task},
};

/// The best `limit` concepts of an index, ties in the given order. All frequencies must be kept.
pub(super) fn top<Handle: Deref<Target = Frequencies>>(
    input: &Input<'_, Handle>,
    index: &Index,
    order: Option<&SortOrder>,
    limit: usize,
    task: &Task,
) -> Result<Vec<Scored>, Abandoned> {
    let mut best = Best::new(limit);
    let position = |concept: u32| order.map_or(concept, |order| order.position[concept as usize]);
    for (number, segment) in index.live_segments().iter().enumerate() {
        task.go_on()?;
        let terms = input.found.of_segment(number).iter().zip(&input.statistics.rarities);
        let terms = terms.filter_map(|(found, rarity)| Some((*rarity, &**found.as_ref()?)));
        let (rare, common): (Vec<Term<'_>>, Vec<Term<'_>>) =
            terms.partition(|(_, found)| matches!(found.entries(), Entries::Sparse(_)));
        let segment_top = SegmentTop::of(&rare, &common, segment, input.statistics);
        let admits = input.criteria.admits(segment);
        segment_top.offer_to(&mut best, limit, &admits, &position);
    }
    Ok(best.into_sorted())
}

/// The search for the best concepts of one segment.
struct SegmentTop<'found> {
    segment: &'found LiveSegment,
    statistics: &'found Statistics,
    /// The terms that many concepts have.
    common: Vec<(u32, &'found DenseEntries)>,
    /// The rarities of these terms together.
    common_rarity: u32,
    /// For each block of concepts, the most that these terms add.
    bounds: Vec<u32>,
    /// What the other terms add.
    sums: Sums,
    /// The concepts that have any of the other terms.
    candidates: Vec<u32>,
}

impl<'found> SegmentTop<'found> {
    fn of(
        rare: &[Term<'found>],
        common: &[Term<'found>],
        segment: &'found LiveSegment,
        statistics: &'found Statistics,
    ) -> Self {
        let common: Vec<_> = common.iter().filter_map(dense).collect();
        let mut this = Self {
            segment,
            statistics,
            common_rarity: common.iter().fold(0, |sum: u32, (rarity, _)| sum.saturating_add(*rarity)),
            bounds: vec![0; segment.len().div_ceil(BLOCK)],
            common,
            sums: Sums::new(segment.len(), statistics.rarities.len()),
            candidates: Vec::new(),
        };
        let lengths = segment.segment().lengths();
        for (rarity, found) in rare {
            if let Entries::Sparse(entries) = found.entries() {
                let candidates = &mut this.candidates;
                let add = |local| candidates.push(local);
                this.sums.add_sparse(*rarity, entries, lengths, &statistics.worths, add);
            }
        }
        for (rarity, entries) in &this.common {
            for (bound, most) in this.bounds.iter_mut().zip(&entries.blocks) {
                *bound = bound.saturating_add(statistics.bounds.of(*rarity, *most));
            }
        }
        this
    }

    fn offer_to(
        mut self,
        best: &mut Best,
        limit: usize,
        admits: &impl Fn(u32) -> bool,
        position: &impl Fn(u32) -> u32,
    ) {
        // The blocks of the most promising candidates come first: these raise the bar for all others.
        let mut is_done = vec![false; self.bounds.len()];
        for local in self.most_promising(limit) {
            let block = local as usize / BLOCK;
            if !std::mem::replace(&mut is_done[block], true) {
                self.offer_block(block, best, admits, position);
            }
        }
        for (block, _) in is_done.iter().enumerate().filter(|(_, is_done)| !**is_done) {
            self.offer_block(block, best, admits, position);
        }
    }

    /// The `count` candidates to which rare terms add most.
    fn most_promising(&mut self, count: usize) -> Vec<u32> {
        let at = self.candidates.len().saturating_sub(count);
        if at > 0 {
            let sums = &self.sums.added;
            self.candidates.select_nth_unstable_by_key(at, |local| sums[*local as usize]);
        }
        self.candidates.split_off(at)
    }

    /// Scores the concepts of a block, unless none of them can be among the best.
    fn offer_block(
        &mut self,
        block: usize,
        best: &mut Best,
        admits: &impl Fn(u32) -> bool,
        position: &impl Fn(u32) -> u32,
    ) {
        let range = block_range(block, self.segment.len());
        let most = |numbers: &[u32]| numbers.iter().copied().fold(0, u32::max);
        let sum = most(&self.sums.added[range.clone()]).saturating_add(self.bounds[block]);
        let rarity = most(&self.sums.rarities[range.clone()]).saturating_add(self.common_rarity);
        if rarity == 0 || best.excludes(self.statistics.coverage.score(sum, rarity)) {
            return;
        }
        let lengths = self.segment.segment().lengths();
        self.sums.add_block(block, &self.common, lengths, &self.statistics.worths);
        let least = Coverage::least_sum(best.least());
        for (local, at) in (first_of(block)..).zip(range) {
            if self.sums.added[at] < least {
                continue;
            }
            let score = self.sums.score(at, self.statistics);
            if score != 0 && !best.excludes(score) && admits(local) {
                let concept = self.segment.base() + local;
                best.offer(concept, score, position(concept));
            }
        }
    }
}

/// The number of the first concept of a block.
fn first_of(block: usize) -> u32 {
    u32::try_from(block * BLOCK).unwrap_or(u32::MAX)
}
