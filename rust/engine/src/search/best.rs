//! The best of what was scored, by counting where that is cheaper than comparing.

use super::Scored;
use super::tally::Tally;
use crate::search::index::Places;

/// The best `limit` of all concepts, given the score of each.
pub(super) fn best<T: Tally>(scores: &[T], places: Option<&Places>, limit: usize) -> Vec<Scored> {
    /// So many scores are skipped at once where none is good enough.
    const BLOCK: usize = 64;
    let (least, mut room) = least_of_best(scores, limit);
    let mut found = Vec::with_capacity(limit.min(scores.len()));
    let mut look = |number: u32, score: T, room: &mut usize| {
        if score > least || (score == least && *room > 0) {
            *room -= usize::from(score == least);
            found.push(Scored { concept: number, score: score.into() });
        }
    };
    match places {
        Some(Places { concept, .. }) => {
            for number in concept {
                look(*number, scores[*number as usize], &mut room);
            }
        }
        None => {
            for (at, block) in (0_u32..).step_by(BLOCK).zip(scores.chunks(BLOCK)) {
                let highest = highest(block);
                if highest > least || (highest == least && room > 0) {
                    for (number, score) in (at..).zip(block) {
                        look(number, *score, &mut room);
                    }
                }
            }
        }
    }
    best_first(found, limit)
}

/// The lowest score among the best `limit`, which is not 0, and for how many that have just this there is
/// room.
fn least_of_best<T: Tally>(scores: &[T], limit: usize) -> (T, usize) {
    let of = |score: u32| T::try_from(score).unwrap_or_default();
    let (mut low, mut high): (u32, u32) = (1, highest(scores).into());
    if limit >= scores.len() || reaching(scores, of(1)) <= limit {
        return (of(1), usize::MAX);
    }
    // The highest score that at least `limit` reach.
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if reaching(scores, of(middle)) >= limit { low = middle } else { high = middle - 1 }
    }
    let above =
        if low == u32::MAX { 0 } else { T::try_from(low + 1).map_or(0, |next| reaching(scores, next)) };
    (of(low), limit - above)
}

// Of values, not of references: that goes by the dozen.
fn highest<T: Tally>(scores: &[T]) -> T {
    scores.iter().copied().fold(T::default(), T::max)
}

/// How many scores are at least so high.
fn reaching<T: Tally>(scores: &[T], least: T) -> usize {
    // Short sums of bytes, so that they go by the dozen.
    let count = |run: &[T]| usize::from(run.iter().map(|score| u8::from(*score >= least)).sum::<u8>());
    scores.chunks(128).map(count).sum()
}

/// All concepts with a score, the best first, by counting.
pub(super) fn all_best_first(scores: &[u8], places: Option<&Places>) -> Vec<Scored> {
    // Several counts at once: neighbours often have the same score, and would wait for each other.
    let mut counts = [[0_u32; 256]; 4];
    let mut fours = scores.chunks_exact(4);
    for four in &mut fours {
        for (counts, score) in counts.iter_mut().zip(four) {
            counts[usize::from(*score)] += 1;
        }
    }
    for score in fours.remainder() {
        counts[0][usize::from(*score)] += 1;
    }
    // Where the next concept of each score goes.
    let mut next = [0_usize; 256];
    let mut all = 0;
    for score in (1..=usize::from(highest(scores))).rev() {
        next[score] = all;
        all += counts.iter().map(|counts| counts[score] as usize).sum::<usize>();
    }
    // Where many match, those that do not are put behind the others: it is quicker to write what is thrown
    // away than to guess, concept by concept, whether to write.
    let guess = all * 4 < scores.len();
    let room = if guess { all } else { scores.len() };
    next[0] = all;
    let mut best = vec![Scored { concept: 0, score: 0 }; room];
    let mut look = |number: u32, score: u8| {
        if !guess || score != 0 {
            let at = &mut next[usize::from(score)];
            best[*at] = Scored { concept: number, score: score.into() };
            *at += 1;
        }
    };
    match places {
        Some(Places { concept, .. }) => {
            for number in concept {
                look(*number, scores[*number as usize]);
            }
        }
        None => {
            for (number, score) in (0..).zip(scores) {
                look(number, *score);
            }
        }
    }
    best.truncate(all);
    best
}

/// Sorts by score and keeps the order of ties and the first `limit`.
pub(super) fn best_first(mut found: Vec<Scored>, limit: usize) -> Vec<Scored> {
    found.sort_by_key(|scored| std::cmp::Reverse(scored.score));
    found.truncate(limit);
    found
}
