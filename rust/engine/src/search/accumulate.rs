//! Score accumulation: the scores of all concepts of a segment are added up term by term.

use crate::search::index::Matches;

/// A score in one of two widths. Bytes are used where no score can exceed them: the compiler then adds many
/// scores with one instruction.
pub(super) trait Score: Copy + Default + Into<u32> + TryFrom<u32> + Ord {
    /// The score plus the weight of a term that the question has `count` times.
    fn add(self, weight: u8, count: u32) -> Self;
}

impl Score for u8 {
    // The caller made sure that no score exceeds a byte.
    fn add(self, weight: u8, count: u32) -> Self {
        self.wrapping_add(weight.wrapping_mul(u8::try_from(count).unwrap_or(0)))
    }
}

impl Score for u32 {
    fn add(self, weight: u8, count: u32) -> Self {
        self.saturating_add(u32::from(weight).saturating_mul(count))
    }
}

/// Adds the matches of a term, which the question has `count` times, to the scores of a segment's concepts.
pub(super) fn accumulate<S: Score>(scores: &mut [S], count: u32, matches: &Matches) {
    match matches {
        Matches::Sparse(postings) => {
            for posting in postings {
                let (concept, weight) = Matches::unpack(*posting);
                let score = &mut scores[concept as usize];
                *score = score.add(weight, count);
            }
        }
        Matches::Dense(weights) => {
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score = score.add(*weight, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Concepts 1 and 3 match with the weights 3 and 1.
    fn both_kinds() -> [Matches; 2] {
        [Matches::Sparse([1 << 3 | 3, 3 << 3 | 1].into()), Matches::Dense([0, 3, 0, 1].into())]
    }

    #[test]
    fn a_term_adds_its_weight_as_often_as_it_was_asked_for() {
        for matches in both_kinds() {
            let mut bytes = [10_u8, 20, 30, 40];
            accumulate(&mut bytes, 2, &matches);
            assert_eq!(bytes, [10, 26, 30, 42]);
            let mut wide = [10_u32, 20, 30, 4000];
            accumulate(&mut wide, 100, &matches);
            assert_eq!(wide, [10, 320, 30, 4100]);
        }
    }

    #[test]
    fn wide_scores_stop_at_the_largest_number() {
        for matches in both_kinds() {
            let mut scores = [0, u32::MAX - 1, 0, 0];
            accumulate(&mut scores, u32::MAX, &matches);
            assert_eq!(scores, [0, u32::MAX, 0, u32::MAX]);
        }
    }
}
