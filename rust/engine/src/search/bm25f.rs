//! BM25F: rarity and frequency of terms, and length of fields (V2 to V8).
//!
//! A question is answered in two steps. First its terms are found in all sources, and counted
//! ([`FoundTerms`], [`Statistics`]). Then each source is scored with these counts ([`search`]).

mod best;
mod formula;
mod found;
mod full;
mod input;
mod logarithm;
mod sort;
mod statistics;
mod sums;
mod top;

use std::ops::Deref;

pub(crate) use found::FoundTerms;
pub(crate) use statistics::Statistics;

use crate::{
    search::{
        criteria::Criteria,
        index::{Frequencies, IdOrder, Index},
        lookup::Lookup,
        scored::Scored,
        top_k::top_k,
    },
    text::terms::Terms,
    work::task::{Abandoned, Task},
};
use input::Input;

/// In an index of fewer concepts, all are scored: that is as fast as finding out which ones need not be.
const MIN_SKIPPED_CONCEPTS: usize = 512;
/// All concepts are scored if more than one in this many is asked for.
const CONCEPTS_PER_WANTED: usize = 8;

/// The statistics of terms over all sources in which they were found.
pub(crate) fn statistics<'found, Handle: 'found>(
    terms: &Terms,
    found: impl Iterator<Item = &'found FoundTerms<Handle>>,
) -> Statistics {
    Statistics::of(found.map(|found| &found.counts), terms)
}

/// Every concept of `index` that matches, the best first, ties in the given order; at most `limit`. `found` is what
/// was found in this index.
///
/// # Errors
/// [`Abandoned`] if the task was; it is asked before each term.
#[allow(clippy::too_many_arguments)] // Those of the other scoring, and what was found before.
pub(crate) fn search<Handle: Deref<Target = Frequencies>>(
    index: &Index,
    criteria: &Criteria,
    statistics: &Statistics,
    found: &FoundTerms<Handle>,
    lookup: &impl Lookup<Frequencies, Handle = Handle>,
    order: IdOrder,
    limit: Option<usize>,
    task: &Task,
) -> Result<Vec<Scored>, Abandoned> {
    let input = Input { criteria, statistics, found };
    let order = index.sort_order(order);
    let skips = |limit: &usize| {
        index.len() >= MIN_SKIPPED_CONCEPTS
            && limit.saturating_mul(CONCEPTS_PER_WANTED) < index.len()
            && found.is_complete()
    };
    if let Some(limit) = limit.filter(skips) {
        return top::top(&input, index, order, limit, task);
    }
    let mut scores = Vec::new();
    for (number, segment) in index.live_segments().iter().enumerate() {
        scores.append(&mut full::scores(&input, number, segment, lookup, task)?);
    }
    criteria.zero_excluded(index, &mut scores);
    Ok(match limit {
        Some(limit) => top_k(&scores, order, limit),
        None => full::ranked(&scores, order.map(|order| &*order.concepts)),
    })
}
