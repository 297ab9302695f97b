use proptest::{collection::vec, prop_assert_eq, proptest};

use super::{
    Strategy::{GroupedBySource, Merged, PriorityWeighted},
    *,
};

/// A source of this priority, whose concepts 0, 1, ... have these scores, the best first.
fn source(priority: i32, scores: &[u32]) -> Found {
    let concepts = (0..).zip(scores).map(|(concept, score)| Scored { concept, score: *score });
    Found { priority, scored: concepts.collect() }
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
    for (strategy, expected) in
        [(GroupedBySource, [(0, 9), (0, 8), (0, 7), (1, 1)]), (Merged, in_turn), (PriorityWeighted, in_turn)]
    {
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
