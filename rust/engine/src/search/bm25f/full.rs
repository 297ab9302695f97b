//! The full ranking: the score of every concept, term by term.

use std::ops::Deref;

use super::{
    formula::{contribution, weighted},
    input::Input,
    sort::sort_best_first,
};
use crate::{
    search::{
        index::{DenseEntries, Entries, Frequencies, LiveSegment},
        lookup::Lookup,
        scored::Scored,
    },
    work::task::{Abandoned, Task},
};

/// What the concepts of a segment have so far.
struct Sums {
    /// What their terms add.
    sums: Vec<u32>,
    /// The rarities of their terms together; not 0 if a concept has any term.
    rarities: Vec<u32>,
}

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
    let norms: [Vec<f32>; 3] = std::array::from_fn(|field| {
        lengths.iter().map(|lengths| statistics.norms.of(field, lengths[field])).collect()
    });
    let mut all = Sums { sums: vec![0; lengths.len()], rarities: vec![0; lengths.len()] };
    input.for_each_term(number, segment, lookup, |term, frequencies| {
        task.go_on()?;
        let rarity = statistics.rarities[term];
        match frequencies.entries() {
            Entries::Dense(entries) => all.add_dense(rarity, entries, &norms),
            Entries::Sparse(entries) => {
                for (concept, frequency) in entries {
                    let concept = *concept as usize;
                    all.add(concept, rarity, statistics.norms.part(*frequency, &lengths[concept]));
                }
            }
        }
        Ok(())
    })?;
    let Sums { mut sums, rarities } = all;
    for (sum, rarity) in sums.iter_mut().zip(rarities) {
        *sum = if rarity == 0 { 0 } else { statistics.coverage.score(*sum, rarity) };
    }
    Ok(sums)
}

impl Sums {
    fn add(&mut self, concept: usize, rarity: u32, part: u32) {
        self.sums[concept] = self.sums[concept].saturating_add(contribution(rarity, part));
        self.rarities[concept] = self.rarities[concept].saturating_add(rarity);
    }

    /// Adds a term that many concepts have. The loops go field by field over all concepts: so they are vectorised.
    fn add_dense(&mut self, rarity: u32, entries: &DenseEntries, norms: &[Vec<f32>; 3]) {
        let DenseEntries { title, tags_or_description, body, .. } = entries;
        let mut parts = vec![0_u32; self.sums.len()];
        for (field, points) in [title, tags_or_description, body].into_iter().enumerate() {
            for ((part, points), norm) in parts.iter_mut().zip(points).zip(&norms[field]) {
                *part += weighted(field, *points, *norm);
            }
        }
        for (sum, part) in self.sums.iter_mut().zip(&parts) {
            *sum = sum.saturating_add(contribution(rarity, *part));
        }
        for (sum, part) in self.rarities.iter_mut().zip(&parts) {
            *sum = sum.saturating_add(if *part == 0 { 0 } else { rarity });
        }
    }
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
