//! What the scores of one question depend on besides the concept itself: how many concepts there are, how many of
//! them have each term, and how long their fields are (V6).

use super::formula::{Bounds, Coverage, Norms, Worths, rarity};
use crate::{
    search::index::{Frequencies, Index, LiveSegment},
    text::terms::Terms,
};

/// Counts over the sources that one question is put to. Sources that the caller cannot see are not among them.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    concepts: u64,
    lengths: [u64; 3],
    /// For each term, how many concepts have it.
    with_term: Vec<u64>,
}

impl Counts {
    pub(super) fn new(terms: usize) -> Self {
        Self { concepts: 0, lengths: [0; 3], with_term: vec![0; terms] }
    }

    /// Adds the concepts of a source.
    pub(super) fn add_index(&mut self, index: &Index) {
        self.concepts += index.len() as u64;
        for (sum, more) in self.lengths.iter_mut().zip(index.lengths()) {
            *sum += more;
        }
    }

    /// Adds the concepts of a segment that have a term.
    pub(super) fn add_term(&mut self, term: usize, segment: &LiveSegment, frequencies: &Frequencies) {
        self.with_term[term] += segment.count_with(frequencies) as u64;
    }

    /// Adds the counts over other sources for the same terms.
    fn add(&mut self, other: &Self) {
        self.concepts += other.concepts;
        for (sum, more) in self.lengths.iter_mut().zip(other.lengths) {
            *sum += more;
        }
        for (sum, more) in self.with_term.iter_mut().zip(&other.with_term) {
            *sum += more;
        }
    }
}

/// What follows from [`Counts`].
#[derive(Debug, Clone)]
pub(crate) struct Statistics {
    /// For each term of the question, its rarity times its weight.
    pub(crate) rarities: Vec<u32>,
    pub(super) worths: Worths,
    pub(super) bounds: Bounds,
    pub(super) coverage: Coverage,
}

impl Statistics {
    pub(super) fn of<'found>(sources: impl Iterator<Item = &'found Counts>, terms: &Terms) -> Self {
        let mut counts = Counts::new(terms.as_slice().len());
        sources.for_each(|source| counts.add(source));
        let rarity = |(with, weight): (&u64, u32)| rarity(counts.concepts, *with, weight);
        let rarities: Vec<u32> = counts.with_term.iter().zip(terms.counts()).map(rarity).collect();
        let all = rarities.iter().fold(0_u32, |sum, rarity| sum.saturating_add(*rarity));
        let norms = Norms::new(counts.concepts, counts.lengths);
        Self { rarities, worths: Worths::new(norms), bounds: Bounds::new(), coverage: Coverage::new(all) }
    }
}
