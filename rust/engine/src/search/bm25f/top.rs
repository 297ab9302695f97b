//! The top of a ranking without the score of every concept (V8).
//!
//! Terms that few concepts have are added up first: concepts that have them are candidates. The other terms are in
//! many concepts and rarely decide. For each block of concepts, the largest number of points of such a term bounds
//! what it can add there. A concept whose bound is below the worst of the best is skipped.

use std::ops::Deref;

use super::{
    best::Best,
    formula::{Bounds, contribution},
    input::Input,
    statistics::Statistics,
};
use crate::{
    search::{
        index::{BLOCK, Entries, Frequencies, Frequency, Index, LiveSegment, SortOrder},
        scored::Scored,
    },
    work::task::{Abandoned, Task},
};

/// A term in a segment.
type Term<'found> = (u32, &'found Frequencies);

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
        let terms = terms.filter(|(_, rarity)| **rarity != 0);
        let terms = terms.filter_map(|(found, rarity)| Some((*rarity, &**found.as_ref()?)));
        let (rare, common): (Vec<Term<'_>>, Vec<Term<'_>>) =
            terms.partition(|(_, found)| matches!(found.entries(), Entries::Sparse(_)));
        let admits = input.criteria.admits(segment);
        let mut offer = |local: u32, score: u32| {
            let concept = segment.base() + local;
            best.offer(concept, score, position(concept));
        };
        let mut candidates = Candidates::of(&rare, segment, input.statistics, &admits);
        let common = Common::of(&common, segment, input.statistics);
        // The most promising candidates first: they raise the bar for all others.
        let first = candidates.split_best(limit);
        for local in first {
            offer(local, common.score(local, candidates.sums[local as usize]));
        }
        for local in &candidates.rest {
            let sums = candidates.sums[*local as usize];
            if !best.excludes(common.bound(*local as usize / BLOCK, sums)) {
                let concept = segment.base() + local;
                best.offer(concept, common.score(*local, sums), position(concept));
            }
        }
        for block in 0..common.blocks.len() {
            if best.excludes(common.bound(block, Sums::default())) {
                continue;
            }
            let all = (0_u32..).take(segment.len()).skip(block * BLOCK).take(BLOCK);
            for local in all.filter(|local| candidates.sums[*local as usize].rarity == 0) {
                let sums = common.sums(local, Sums::default());
                if sums.rarity != 0 && admits(local) {
                    let concept = segment.base() + local;
                    best.offer(concept, sums.score(input.statistics), position(concept));
                }
            }
        }
    }
    Ok(best.into_sorted())
}

/// What terms add to a concept.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    sum: u32,
    /// The rarities of the terms that it has; not 0 if it has any.
    rarity: u32,
}

impl Sums {
    fn add(&mut self, rarity: u32, contribution: u32) {
        self.sum = self.sum.saturating_add(contribution);
        self.rarity = self.rarity.saturating_add(rarity);
    }

    fn score(self, statistics: &Statistics) -> u32 {
        statistics.coverage.score(self.sum, self.rarity)
    }
}

/// The concepts of a segment that have a rare term.
struct Candidates {
    /// For each concept of the segment, what rare terms add.
    sums: Vec<Sums>,
    /// The candidates.
    rest: Vec<u32>,
}

impl Candidates {
    fn of(
        rare: &[Term<'_>],
        segment: &LiveSegment,
        statistics: &Statistics,
        admits: impl Fn(u32) -> bool,
    ) -> Self {
        let lengths = segment.segment().lengths();
        let mut this = Self { sums: vec![Sums::default(); segment.len()], rest: Vec::new() };
        for (rarity, found) in rare {
            let Entries::Sparse(entries) = found.entries() else { continue };
            for (local, frequency) in entries {
                let sums = &mut this.sums[*local as usize];
                if sums.rarity == 0 {
                    this.rest.push(*local);
                }
                let part = statistics.norms.part(*frequency, &lengths[*local as usize]);
                sums.add(*rarity, contribution(*rarity, part));
            }
        }
        this.rest.retain(|local| admits(*local));
        this
    }

    /// Takes the `limit` candidates with the largest sums out of the others.
    fn split_best(&mut self, limit: usize) -> Vec<u32> {
        let at = self.rest.len().saturating_sub(limit);
        if at > 0 {
            self.rest.select_nth_unstable_by_key(at, |local| self.sums[*local as usize].sum);
        }
        self.rest.split_off(at)
    }
}

/// The terms that many concepts of a segment have.
struct Common<'found> {
    terms: &'found [Term<'found>],
    segment: &'found LiveSegment,
    statistics: &'found Statistics,
    /// For each block of concepts, the most that all terms add.
    blocks: Vec<u32>,
    /// The rarities of all terms.
    rarity: u32,
}

impl<'found> Common<'found> {
    fn of(
        terms: &'found [Term<'found>],
        segment: &'found LiveSegment,
        statistics: &'found Statistics,
    ) -> Self {
        let mut blocks = vec![0_u32; if terms.is_empty() { 0 } else { segment.len().div_ceil(BLOCK) }];
        let bounds = Bounds::new();
        for (rarity, found) in terms {
            let Entries::Dense(entries) = found.entries() else { continue };
            for (bound, most) in blocks.iter_mut().zip(&entries.blocks) {
                *bound = bound.saturating_add(bounds.of(*rarity, *most));
            }
        }
        let rarity = terms.iter().fold(0_u32, |sum, (rarity, _)| sum.saturating_add(*rarity));
        Self { terms, segment, statistics, blocks, rarity }
    }

    /// The most that the score of a concept of this block can be, given what rare terms add.
    fn bound(&self, block: usize, mut sums: Sums) -> u32 {
        sums.add(self.rarity, self.blocks.get(block).copied().unwrap_or(0));
        sums.score(self.statistics)
    }

    /// What all terms add to a concept, given what rare ones add.
    fn sums(&self, local: u32, mut sums: Sums) -> Sums {
        let lengths = &self.segment.segment().lengths()[local as usize];
        for (rarity, found) in self.terms {
            let frequency: Frequency = found.get(local);
            if !frequency.is_none() {
                let part = self.statistics.norms.part(frequency, lengths);
                sums.add(*rarity, contribution(*rarity, part));
            }
        }
        sums
    }

    fn score(&self, local: u32, sums: Sums) -> u32 {
        self.sums(local, sums).score(self.statistics)
    }
}
