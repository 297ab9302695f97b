//! Sorting by score, in a time that does not depend on how the scores are spread.

use std::cmp::Reverse;

use crate::search::scored::Scored;

/// Fewer concepts are sorted by comparing them: counting has a fixed cost.
const MIN_COUNTED: usize = 1 << 10;
/// Bits of a score that one pass sorts by.
const DIGIT_BITS: u32 = 11;

/// Sorts by score, the best first; concepts with the same score keep their order.
pub(super) fn sort_best_first(found: &mut Vec<Scored>) {
    if found.len() < MIN_COUNTED {
        found.sort_by_key(|scored| Reverse(scored.score));
        return;
    }
    let highest = found.iter().map(|scored| scored.score).max().unwrap_or(0);
    let mut from = std::mem::take(found);
    let mut to = from.clone();
    let mut shift = 0;
    while shift < u32::BITS && highest >> shift != 0 {
        // A counting sort by one digit, the highest first, keeps the order of all lower digits.
        let digit = |scored: &Scored| (scored.score >> shift & ((1 << DIGIT_BITS) - 1)) as usize;
        let mut next = [0_usize; 1 << DIGIT_BITS];
        for scored in &from {
            next[digit(scored)] += 1;
        }
        let mut before = 0;
        for count in next.iter_mut().rev() {
            (*count, before) = (before, before + *count);
        }
        for scored in &from {
            let at = &mut next[digit(scored)];
            to[*at] = *scored;
            *at += 1;
        }
        std::mem::swap(&mut from, &mut to);
        shift += DIGIT_BITS;
    }
    *found = from;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_like_a_stable_sort(
            scores in prop::collection::vec(prop_oneof![0_u32..5, 2000_u32..2100, any::<u32>()], 0..3000),
        ) {
            let mut found: Vec<Scored> =
                (0..).zip(scores).map(|(concept, score)| Scored { concept, score }).collect();
            let mut expected = found.clone();
            expected.sort_by_key(|scored| Reverse(scored.score));
            sort_best_first(&mut found);
            prop_assert_eq!(found, expected);
        }
    }
}
