//! Ranking: brings the concepts that matched in all sources into one order (R1 to R5).

use crate::{
    ask::fairness::Interleaved,
    named_enum::named_enum,
    search::{Scored, index::IdOrder},
};
use std::num::NonZeroUsize;

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
pub struct Found {
    /// The source's priority.
    pub priority: i32,
    /// The concepts, the best first, ties in the order of the strategy.
    pub scored: Vec<Scored>,
}

/// A concept in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The position of its source in the list that was ranked.
    pub source: u32,
    /// The concept's number in that source's index.
    pub concept: u32,
    /// Its score.
    pub score: u32,
}

/// Ranks the concepts that matched; keeps the first `limit`. The sources come in order S1.
#[must_use]
pub fn rank(
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

/// Appends the concepts of some neighbouring sources, ordered by score, then by source. `first` is the position of
/// the first of these sources.
fn merge(run: &[Found], first: usize, ranked: &mut Vec<Hit>) {
    let source =
        |at: usize| u32::try_from(first + at).expect("a catalog has fewer sources than 32 bits count");
    let mut left: Vec<&[Scored]> = run.iter().map(|found| &*found.scored).collect();
    while let Some(best) = left.iter().filter_map(|scored| scored.first()).map(|first| first.score).max() {
        for (at, scored) in left.iter_mut().enumerate() {
            let count = scored.partition_point(|scored| scored.score == best);
            let (run, rest) = scored.split_at(count);
            let source = source(at);
            ranked.extend(run.iter().map(|one| Hit { source, concept: one.concept, score: one.score }));
            *scored = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Strategy::{GroupedBySource, Merged, PriorityWeighted},
        *,
    };
    use proptest::{collection::vec, prop_assert_eq, proptest};

    /// A source of this priority, whose concepts 0, 1, ... have these scores, the best first.
    fn source(priority: i32, scores: &[u32]) -> Found {
        let scored = (0..).zip(scores).map(|(concept, score)| Scored { concept, score: *score }).collect();
        Found { priority, scored }
    }

    fn ranked(
        found: &[Found],
        strategy: Strategy,
        quota: Option<usize>,
        limit: Option<usize>,
    ) -> Vec<(u32, u32)> {
        let quota = quota.and_then(NonZeroUsize::new);
        rank(found, strategy, quota, limit).iter().map(|hit| (hit.source, hit.score)).collect()
    }

    #[test]
    fn each_strategy_has_its_order() {
        let found = [source(9, &[4, 1]), source(9, &[5, 4]), source(0, &[9, 4])];
        for (strategy, expected) in [
            (GroupedBySource, [(0, 4), (0, 1), (1, 5), (1, 4), (2, 9), (2, 4)]),
            (Merged, [(2, 9), (1, 5), (0, 4), (1, 4), (2, 4), (0, 1)]),
            (PriorityWeighted, [(1, 5), (0, 4), (1, 4), (0, 1), (2, 9), (2, 4)]),
        ] {
            assert_eq!(ranked(&found, strategy, None, None), expected, "{strategy:?}");
            assert_eq!(ranked(&found, strategy, None, Some(4)), expected[..4], "{strategy:?}");
        }
    }

    #[test]
    fn a_quota_holds_only_where_sources_mix() {
        let found = [source(9, &[9, 8, 7]), source(0, &[1])];
        let in_turn = [(0, 9), (1, 1), (0, 8), (0, 7)];
        for (strategy, expected) in [
            (GroupedBySource, [(0, 9), (0, 8), (0, 7), (1, 1)]),
            (Merged, in_turn),
            (PriorityWeighted, in_turn),
        ] {
            assert_eq!(ranked(&found, strategy, Some(1), None), expected, "{strategy:?}");
            assert_eq!(ranked(&found, strategy, Some(1), Some(2)), expected[..2], "{strategy:?}");
        }
    }

    #[test]
    fn nothing_is_ranked_where_nothing_was_found_or_nothing_fits() {
        for strategy in [GroupedBySource, Merged, PriorityWeighted] {
            assert!(ranked(&[], strategy, Some(1), None).is_empty());
            assert!(ranked(&[source(0, &[]), source(0, &[])], strategy, None, None).is_empty());
            assert!(ranked(&[source(0, &[3])], strategy, Some(2), Some(0)).is_empty());
        }
    }

    #[test]
    fn ids_are_ordered_part_by_part_only_where_sources_are_grouped() {
        assert_eq!(GroupedBySource.order(), IdOrder::Parts);
        assert_eq!(Merged.order(), IdOrder::Text);
        assert_eq!(PriorityWeighted.order(), IdOrder::Text);
    }

    proptest! {
        #[test]
        fn a_ranking_is_what_sorting_all_concepts_gives(
            sources in vec((0_i32..3, vec(1_u32..5, 0..9)), 0..6),
        ) {
            let mut found: Vec<Found> = Vec::new();
            for (priority, mut scores) in sources {
                scores.sort_by(|a, b| b.cmp(a));
                found.push(source(priority, &scores));
            }
            found.sort_by_key(|source| std::cmp::Reverse(source.priority));
            let priority = |hit: &Hit| std::cmp::Reverse(found[hit.source as usize].priority);
            let score = |hit: &Hit| std::cmp::Reverse(hit.score);
            let all: Vec<Hit> = (0..)
                .zip(&found)
                .flat_map(|(source, of)| {
                    let hit = move |one: &Scored| Hit { source, concept: one.concept, score: one.score };
                    of.scored.iter().map(hit)
                })
                .collect();
            for strategy in [GroupedBySource, Merged, PriorityWeighted] {
                let mut expected = all.clone();
                // The sorts are stable, so that ties stay in the order of sources and of their concepts.
                match strategy {
                    GroupedBySource => {}
                    Merged => expected.sort_by_key(score),
                    PriorityWeighted => expected.sort_by_key(|hit| (priority(hit), score(hit))),
                }
                prop_assert_eq!(rank(&found, strategy, None, None), expected);
            }
        }
    }
}
