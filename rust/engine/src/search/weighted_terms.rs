//! The weighted terms: which concepts of one source match, and with which score (K1 to K5).

use std::ops::Deref;

use crate::{
    search::{
        accumulate::accumulate,
        criteria::Criteria,
        index::{IdOrder, Index, LiveSegment, MAX_WEIGHT, Matches},
        lookup::Lookup,
        scored::Scored,
        top_k::{all_best_first, best_first, top_k},
    },
    text::terms::Terms,
    work::task::{Abandoned, Task},
};

/// Matches are collected and sorted while fewer than one concept in this many matches. From then on, there is
/// a score for every concept, which is many times faster for each match.
const CONCEPTS_PER_SORTED_MATCH: usize = 64;

/// Every concept of `index` that matches, the best first, ties in the given order; at most `limit`.
///
/// # Errors
/// [`Abandoned`] if the task was; it is asked before each term.
pub(crate) fn search(
    index: &Index,
    criteria: &Criteria,
    lookup: &impl Lookup<Matches>,
    order: IdOrder,
    limit: Option<usize>,
    task: &Task,
) -> Result<Vec<Scored>, Abandoned> {
    let order = index.sort_order(order);
    let no_limit = usize::MAX;
    Ok(match gather(index, criteria, lookup, task)? {
        Gathered::Matches(gathered) => {
            let mut found = Vec::new();
            for (segment, matches) in &gathered {
                let first = found.len();
                add_up(segment, criteria.terms.counts().zip(matches), &mut found);
                criteria.remove_excluded(segment, &mut found, first);
            }
            if let Some(order) = order {
                found.sort_unstable_by_key(|scored| order.position[scored.concept as usize]);
            }
            best_first(found, limit.unwrap_or(no_limit))
        }
        Gathered::Scores(Scores::Bytes(mut scores)) => {
            criteria.zero_excluded(index, &mut scores);
            match limit {
                Some(limit) => top_k(&scores, order, limit),
                None => all_best_first(&scores, order),
            }
        }
        Gathered::Scores(Scores::Wide(mut scores)) => {
            criteria.zero_excluded(index, &mut scores);
            top_k(&scores, order, limit.unwrap_or(no_limit))
        }
    })
}

/// What the terms of a question match.
enum Gathered<'index, Handle> {
    /// For each segment, the matches of each term: there are few in all.
    Matches(Vec<(&'index LiveSegment, Vec<Handle>)>),
    /// The score of every concept, whether it is admitted or not.
    Scores(Scores),
}

/// A score for each concept of an index.
enum Scores {
    /// No score can exceed a byte.
    Bytes(Vec<u8>),
    Wide(Vec<u32>),
}

impl Scores {
    fn new(terms: &Terms, concepts: usize) -> Self {
        let add = |sum: u32, count: u32| sum.saturating_add(count.saturating_mul(MAX_WEIGHT));
        let highest = terms.counts().fold(0, add);
        if u8::try_from(highest).is_ok() {
            Scores::Bytes(vec![0; concepts])
        } else {
            Scores::Wide(vec![0; concepts])
        }
    }

    /// Adds the matches, in one segment, of a term that the question has `count` times.
    fn add(&mut self, segment: &LiveSegment, count: u32, matches: &Matches) {
        let run = segment.base() as usize..segment.base() as usize + segment.len();
        match self {
            Scores::Bytes(scores) => accumulate(&mut scores[run], count, matches),
            Scores::Wide(scores) => accumulate(&mut scores[run], count, matches),
        }
    }
}

/// Finds the matches of all terms. Once there are many, scores are added up term by term and the matches are
/// dropped, so that a question of a million terms takes no more memory than one of ten.
fn gather<'index, L: Lookup<Matches>>(
    index: &'index Index,
    criteria: &Criteria,
    lookup: &L,
    task: &Task,
) -> Result<Gathered<'index, L::Handle>, Abandoned> {
    let terms = &criteria.terms;
    let segments = index.live_segments();
    let concepts = segments.iter().map(LiveSegment::len).sum();
    let many = concepts / CONCEPTS_PER_SORTED_MATCH;
    let mut scores = (many == 0).then(|| Scores::new(terms, concepts));
    let mut gathered: Vec<(&LiveSegment, Vec<L::Handle>)> = Vec::with_capacity(segments.len());
    let mut count_of_matches = 0;
    for segment in segments {
        let find = lookup.within(segment.segment());
        gathered.push((segment, Vec::new()));
        for (at, (term, count)) in terms.as_slice().iter().enumerate() {
            task.go_on()?;
            let matches = find(at, term);
            if let Some(scores) = &mut scores {
                scores.add(segment, *count, &matches);
                continue;
            }
            count_of_matches += matches.len();
            if let Some((_, of_segment)) = gathered.last_mut() {
                of_segment.push(matches);
            }
            if count_of_matches >= many {
                let mut all = Scores::new(terms, concepts);
                for (segment, of_segment) in gathered.drain(..) {
                    for (count, matches) in terms.counts().zip(&of_segment) {
                        all.add(segment, count, matches);
                    }
                }
                scores = Some(all);
            }
        }
    }
    Ok(scores.map_or(Gathered::Matches(gathered), Gathered::Scores))
}

/// Appends every concept of the segment that has any of the terms, by ascending number. `matches` has, for
/// each term, how often the question has it and where it matches.
fn add_up<'matches>(
    segment: &LiveSegment,
    matches: impl ExactSizeIterator<Item = (u32, &'matches (impl Deref<Target = Matches> + 'matches))>,
    found: &mut Vec<Scored>,
) {
    let first = found.len();
    let terms = matches.len();
    for (count, matches) in matches {
        let mut add = |local: u32, weight: u8| {
            let score = u32::from(weight).saturating_mul(count);
            found.push(Scored { concept: segment.base() + local, score });
        };
        match &**matches {
            Matches::Sparse(postings) => {
                for (local, weight) in postings.iter().map(|posting| Matches::unpack(*posting)) {
                    add(local, weight);
                }
            }
            // In a small segment, a few matches are dense.
            Matches::Dense(weights) => {
                for (local, weight) in (0..).zip(weights).filter(|(_, weight)| **weight != 0) {
                    add(local, *weight);
                }
            }
        }
    }
    if terms > 1 {
        found[first..].sort_unstable_by_key(|scored| scored.concept);
        join_neighbours(found, first);
    }
}

/// From index `first` on, makes one of neighbours that are the same concept, and adds up their scores.
fn join_neighbours(found: &mut Vec<Scored>, first: usize) {
    let mut end = first;
    for at in first..found.len() {
        if end > first && found[end - 1].concept == found[at].concept {
            found[end - 1].score = found[end - 1].score.saturating_add(found[at].score);
        } else {
            found[end] = found[at];
            end += 1;
        }
    }
    found.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(pairs: &[(u32, u32)]) -> Vec<Scored> {
        pairs.iter().map(|(concept, score)| Scored { concept: *concept, score: *score }).collect()
    }

    #[test]
    fn neighbours_are_joined_only_from_the_first_on() {
        let mut found = scored(&[(1, 1), (1, 1), (1, 2), (1, 3), (4, 1), (5, u32::MAX), (5, 1)]);
        join_neighbours(&mut found, 2);
        assert_eq!(found, scored(&[(1, 1), (1, 1), (1, 5), (4, 1), (5, u32::MAX)]));
    }

    #[test]
    fn scores_are_bytes_while_no_question_can_exceed_them() {
        let is_bytes = |text: &str| matches!(Scores::new(&Terms::parse(text), 1), Scores::Bytes(_));
        assert!(is_bytes("a b c") && is_bytes(&"a ".repeat(42)));
        assert!(!is_bytes(&"a ".repeat(43)));
    }
}
