use proptest::prelude::*;

use super::*;

fn pairs(scored: &[Scored]) -> Vec<(u32, u32)> {
    scored.iter().map(|Scored { concept, score }| (*concept, *score)).collect()
}

/// All concepts with a score, sorted the obvious way.
fn naive(scores: &[u32], order: Option<&SortOrder>) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = (0..).zip(scores.iter().copied()).filter(|(_, s)| *s > 0).collect();
    all.sort_by_key(|(number, score)| {
        let position = order.map_or(*number, |order| order.position[*number as usize]);
        (Reverse(*score), position)
    });
    all
}

/// The order that sorts concepts by these keys.
fn order_by(keys: &[u8]) -> SortOrder {
    let mut concepts: Vec<u32> = (0..).take(keys.len()).collect();
    concepts.sort_by_key(|number| keys[*number as usize]);
    let mut position = vec![0; keys.len()];
    for (at, number) in (0..).zip(&concepts) {
        position[*number as usize] = at;
    }
    SortOrder { position, concepts }
}

#[test]
fn the_best_come_first_and_ties_by_number_or_in_the_given_order() {
    let scores = [3_u8, 0, 7, 3, 1];
    assert_eq!(pairs(&all_best_first(&scores, None)), [(2, 7), (0, 3), (3, 3), (4, 1)]);
    assert_eq!(pairs(&top_k(&scores, None, 2)), [(2, 7), (0, 3)]);
    let backwards = order_by(&[4, 3, 2, 1, 0]);
    assert_eq!(pairs(&all_best_first(&scores, Some(&backwards))), [(2, 7), (3, 3), (0, 3), (4, 1)]);
    assert_eq!(pairs(&top_k(&scores, Some(&backwards), 2)), [(2, 7), (3, 3)]);
}

#[test]
fn the_threshold_is_the_lowest_score_that_gets_in() {
    let scores = [5_u8, 1, 5, 9, 1, 0];
    for (limit, expected) in
        [(1, (9, 1)), (2, (5, 1)), (3, (5, 2)), (4, (1, 1)), (5, (1, usize::MAX)), (6, (1, usize::MAX))]
    {
        assert_eq!(threshold(&scores, limit), expected, "{limit}");
    }
    assert_eq!(threshold(&[u32::MAX, 1, u32::MAX], 1), (u32::MAX, 1));
}

#[test]
fn nothing_is_found_where_nothing_has_a_score_or_nothing_fits() {
    assert!(top_k::<u8>(&[], None, 3).is_empty());
    assert_eq!(top_k(&[0_u32; 200], None, 3), []);
    assert!(top_k(&[1_u8, 2, 3], None, 0).is_empty());
    assert_eq!(all_best_first(&[0; 9], None), []);
}

#[test]
fn every_score_is_counted_in_the_histogram() {
    let scores: Vec<u8> = (0..=u8::MAX).flat_map(|score| vec![score; usize::from(score % 7)]).collect();
    let counts = histogram(&scores);
    for score in 0..=u8::MAX {
        assert_eq!(counts[usize::from(score)], u32::from(score % 7), "{score}");
    }
}

proptest! {
    #[test]
    fn counting_gives_what_sorting_gives(
        scores in prop::collection::vec(prop_oneof![Just(0_u8), 0_u8..4, any::<u8>()], 0..300),
        keys in prop::collection::vec(any::<u8>(), 300),
        is_ordered in any::<bool>(),
        limit in 0_usize..310,
    ) {
        let order = is_ordered.then(|| order_by(&keys[..scores.len()]));
        let wide: Vec<u32> = scores.iter().copied().map(u32::from).collect();
        let expected = naive(&wide, order.as_ref());
        let top = &expected[..limit.min(expected.len())];
        prop_assert_eq!(pairs(&all_best_first(&scores, order.as_ref())), &expected[..]);
        prop_assert_eq!(pairs(&top_k(&scores, order.as_ref(), limit)), top);
        prop_assert_eq!(pairs(&top_k(&wide, order.as_ref(), limit)), top);
    }

    #[test]
    fn wide_scores_are_cut_off_right_too(
        scores in prop::collection::vec(prop_oneof![0_u32..3, Just(u32::MAX), any::<u32>()], 0..40),
        limit in 0_usize..42,
    ) {
        let mut expected = naive(&scores, None);
        expected.truncate(limit);
        prop_assert_eq!(pairs(&top_k(&scores, None, limit)), expected);
    }
}
