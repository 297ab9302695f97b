//! The full ranking: the score of every concept.

use std::ops::Deref;

use super::{
    input::Input,
    sort::sort_best_first,
    sums::{Sums, dense},
};
use crate::{
    search::{
        index::{BLOCK, Entries, Frequencies, LiveSegment},
        lookup::Lookup,
        scored::Scored,
    },
    work::task::{Abandoned, Task},
};

/// The score of every concept of a segment; 0 if it has no term.
pub(super) fn scores<Handle: Deref<Target = Frequencies>>(
    input: &Input<'_, Handle>,
    number: usize,
    segment: &LiveSegment,
    lookup: &impl Lookup<Frequencies, Handle = Handle>,
    task: &Task,
) -> Result<Vec<u32>, Abandoned> {
    let statistics = input.statistics;
    let lengths = segment.segment().lengths();
    let mut sums = Sums::new(lengths.len(), statistics.rarities.len());
    input.for_each_term(number, segment, lookup, |term, found| {
        task.go_on()?;
        let term = (statistics.rarities[term], found);
        match found.entries() {
            Entries::Sparse(entries) => {
                sums.add_sparse(term.0, entries, lengths, &statistics.worths, |_| {});
            }
            Entries::Dense(_) => {
                let dense: Vec<_> = dense(&term).into_iter().collect();
                for block in 0..lengths.len().div_ceil(BLOCK) {
                    sums.add_block(block, &dense, lengths, &statistics.worths);
                }
            }
        }
        Ok(())
    })?;
    Ok((0..lengths.len()).map(|local| sums.score(local, statistics)).collect())
}

/// All concepts with a score above 0, the best first, ties in the given order, or in that of the numbers.
pub(super) fn ranked(scores: &[u32], order: Option<&[u32]>) -> Vec<Scored> {
    let one = |concept: u32| Scored { concept, score: scores[concept as usize] };
    let mut found: Vec<Scored> = match order {
        Some(order) => order.iter().map(|concept| one(*concept)).filter(|one| one.score != 0).collect(),
        None => (0_u32..).take(scores.len()).map(one).filter(|one| one.score != 0).collect(),
    };
    sort_best_first(&mut found);
    found
}
