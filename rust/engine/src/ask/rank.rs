//! Ranking: brings the concepts that matched in all sources into one order (R1 to R5).

#[cfg(test)]
mod tests;

use std::{cmp::Reverse, num::NonZeroUsize};

use crate::{
    ask::fairness::Interleaved,
    named_enum::named_enum,
    search::{Scored, index::IdOrder},
};

named_enum! {
    /// How passages of several sources are put in order.
    pub enum Strategy {
        /// Source by source (R1).
        GroupedBySource = "grouped_by_source",
        /// By score alone (R2).
        Merged = "merged",
        /// By the priority of the source, then by score (R3).
        PriorityWeighted = "priority_weighted",
    }
}

impl Strategy {
    /// Whether a directory that several sources name is searched once (R4), and a quota applies (R5).
    #[must_use]
    pub fn mixes_sources(self) -> bool {
        self != Strategy::GroupedBySource
    }

    /// The order of concepts of one source that have the same score.
    #[must_use]
    pub fn order(self) -> IdOrder {
        if self.mixes_sources() { IdOrder::Text } else { IdOrder::Parts }
    }
}

/// The concepts that matched in one source.
#[derive(Debug)]
pub(crate) struct Found {
    /// The source's priority.
    pub priority: i32,
    /// The concepts, the best first, ties in the order of the strategy.
    pub scored: Vec<Scored>,
}

/// A concept in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The position of its source in the list that was ranked.
    pub source: u32,
    /// The concept's number in that source's index.
    pub concept: u32,
    /// Its score.
    pub score: u32,
}

/// Ranks the concepts that matched; keeps the first `limit`. The sources come in order S1.
#[must_use]
pub(crate) fn rank(
    found: &[Found],
    strategy: Strategy,
    quota: Option<NonZeroUsize>,
    limit: Option<usize>,
) -> Vec<Hit> {
    let mut ranked = Vec::with_capacity(found.iter().map(|source| source.scored.len()).sum());
    let mut from = 0;
    while from < found.len() {
        // Sources come by priority, so that those whose concepts may mix are neighbours.
        let until = match strategy {
            Strategy::GroupedBySource => from + 1,
            Strategy::Merged => found.len(),
            Strategy::PriorityWeighted => {
                let priority = found[from].priority;
                from + found[from..].partition_point(|source| source.priority == priority)
            }
        };
        merge(&found[from..until], from, &mut ranked);
        from = until;
    }
    let limit = limit.unwrap_or(usize::MAX);
    match quota.filter(|_| strategy.mixes_sources()) {
        None => {
            ranked.truncate(limit);
            ranked
        }
        Some(quota) => {
            let sources = ranked.iter().map(|hit| hit.source);
            let order = Interleaved::new(sources, found.len(), quota);
            order.take(limit).map(|at| ranked[at as usize]).collect()
        }
    }
}

/// Appends the concepts of neighbouring sources, ordered by score, then by source. `first` is the position
/// of the first of these sources.
fn merge(run: &[Found], first: usize, ranked: &mut Vec<Hit>) {
    let source =
        |at: usize| u32::try_from(first + at).expect("a catalog has fewer sources than 32 bits count");
    let start = ranked.len();
    for (at, found) in run.iter().enumerate() {
        let source = source(at);
        let hit = |one: &Scored| Hit { source, concept: one.concept, score: one.score };
        ranked.extend(found.scored.iter().map(hit));
    }
    // The concepts of each source are in order already. A stable sort finds these runs and merges them.
    if run.len() > 1 {
        ranked[start..].sort_by_key(|hit| Reverse(hit.score));
    }
}
