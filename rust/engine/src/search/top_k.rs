//! The top of what was scored, found by counting where that is faster than comparing.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use super::{accumulate::Score, scored::Scored};
use crate::search::index::{SortOrder, count_where};

/// The `limit` concepts with the best scores above 0, the best first. Ties come in the given order, or in
/// that of the numbers.
pub(super) fn top_k<S: Score>(scores: &[S], order: Option<&SortOrder>, limit: usize) -> Vec<Scored> {
    /// Scores in a block. A block is skipped if its highest score is too low.
    const BLOCK: usize = 64;
    let (threshold, mut room) = threshold(scores, limit);
    let mut found = Vec::with_capacity(limit.min(scores.len()));
    let mut offer = |number: u32, score: S, room: &mut usize| {
        if score > threshold || (score == threshold && *room > 0) {
            *room -= usize::from(score == threshold);
            found.push(Scored { concept: number, score: score.into() });
        }
    };
    match order {
        Some(SortOrder { concepts, .. }) => {
            for number in concepts {
                offer(*number, scores[*number as usize], &mut room);
            }
        }
        None => {
            for (first, block) in (0_u32..).step_by(BLOCK).zip(scores.chunks(BLOCK)) {
                let highest = highest(block);
                if highest > threshold || (highest == threshold && room > 0) {
                    for (number, score) in (first..).zip(block) {
                        offer(number, *score, &mut room);
                    }
                }
            }
        }
    }
    best_first(found, limit)
}

/// The lowest score among the best `limit`, at least 1, and how many concepts with just this score fit in.
fn threshold<S: Score>(scores: &[S], limit: usize) -> (S, usize) {
    let score_of = |score: u32| S::try_from(score).unwrap_or_default();
    let (mut low, mut high): (u32, u32) = (1, highest(scores).into());
    if limit >= scores.len() || count_at_least(scores, score_of(1)) <= limit {
        return (score_of(1), usize::MAX);
    }
    // Binary search for the highest score that at least `limit` concepts have.
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if count_at_least(scores, score_of(middle)) >= limit { low = middle } else { high = middle - 1 }
    }
    let above = low.checked_add(1).and_then(|next| S::try_from(next).ok());
    let above = above.map_or(0, |next| count_at_least(scores, next));
    (score_of(low), limit - above)
}

// The fold is over values and not over references: only then is it vectorised.
fn highest<S: Score>(scores: &[S]) -> S {
    scores.iter().copied().fold(S::default(), S::max)
}

fn count_at_least<S: Score>(scores: &[S], least: S) -> usize {
    count_where(scores, |score| score >= least)
}

/// All concepts with a score above 0, the best first, by a counting sort. Ties come in the given order, or in
/// that of the numbers.
pub(super) fn all_best_first(scores: &[u8], order: Option<&SortOrder>) -> Vec<Scored> {
    let counts = histogram(scores);
    // For each score, the index in `best` of the next concept that has it.
    let mut next = [0_usize; 256];
    let mut all = 0;
    for score in (1..=usize::from(highest(scores))).rev() {
        next[score] = all;
        all += counts[score] as usize;
    }
    // If many match, all concepts are written, those that do not match behind the others, and cut off in the
    // end. That is faster than a branch for each concept, which the processor would often predict wrongly.
    let writes_all = all * 4 >= scores.len();
    next[0] = all;
    let mut best = vec![Scored { concept: 0, score: 0 }; if writes_all { scores.len() } else { all }];
    let mut write = |number: u32, score: u8| {
        if writes_all || score != 0 {
            let at = &mut next[usize::from(score)];
            best[*at] = Scored { concept: number, score: score.into() };
            *at += 1;
        }
    };
    match order {
        Some(SortOrder { concepts, .. }) => {
            for number in concepts {
                write(*number, scores[*number as usize]);
            }
        }
        None => {
            for (number, score) in (0..).zip(scores) {
                write(number, *score);
            }
        }
    }
    best.truncate(all);
    best
}

/// How many concepts have each score.
fn histogram(scores: &[u8]) -> [u32; 256] {
    // Four tables in turn: neighbours often have the same score, and adding to the same counter twice in a
    // row makes the second addition wait for the first.
    let mut tables = [[0_u32; 256]; 4];
    let mut fours = scores.chunks_exact(4);
    for four in &mut fours {
        for (table, score) in tables.iter_mut().zip(four) {
            table[usize::from(*score)] += 1;
        }
    }
    for score in fours.remainder() {
        tables[0][usize::from(*score)] += 1;
    }
    let [mut counts, others @ ..] = tables;
    for table in others {
        for (count, more) in counts.iter_mut().zip(table) {
            *count += more;
        }
    }
    counts
}

/// Sorts by score, the best first, keeps the order of ties, and cuts off after `limit`.
pub(super) fn best_first(mut found: Vec<Scored>, limit: usize) -> Vec<Scored> {
    found.sort_by_key(|scored| Reverse(scored.score));
    found.truncate(limit);
    found
}
