//! Which concepts of one bundle match, and how well (K1 to K5, L3).

use std::sync::Arc;

use crate::{
    fold::fold,
    index::{Index, MOST, Matches, Order, Part, Places, Segment},
    instant::Instant,
    terms::{Terms, is_blank},
};

/// Which stale concepts are admitted (L3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staleness {
    /// All.
    Use,
    /// Those that went stale less than so many days ago; with 0, none.
    Tolerate {
        /// How many days a stale concept is still admitted.
        days: u64,
    },
}

impl Staleness {
    fn admits(self, stale_at: Option<Instant>, now: Instant) -> bool {
        match (self, stale_at) {
            (Staleness::Use, _) | (_, None) => true,
            (Staleness::Tolerate { days }, Some(stale_at)) => now < stale_at.plus_days(days),
        }
    }
}

/// What every concept is asked.
#[derive(Debug, Clone)]
pub struct Criteria {
    /// What is looked for.
    pub terms: Terms,
    /// The folded tag that a concept must carry.
    tag: Option<String>,
    staleness: Staleness,
    now: Instant,
}

impl Criteria {
    /// Prepares a query: `text` is split into terms, a blank `tag` is no filter (K5).
    #[must_use]
    pub fn new(text: &str, tag: Option<&str>, staleness: Staleness, now: Instant) -> Self {
        Self { terms: Terms::parse(text), tag: tag.filter(|tag| !is_blank(tag)).map(fold), staleness, now }
    }
}

/// A concept that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    /// Its number in the index.
    pub concept: u32,
    /// What its fields are worth, at least 1 (K4).
    pub score: u32,
}

/// Where the matches of a term come from.
pub trait Lookup: Sync {
    #[doc(hidden)]
    fn matches(&self, segment: &Segment, term: &str) -> Arc<Matches>;
}

/// Finds the matches of each term by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Lookup for Alone {
    fn matches(&self, segment: &Segment, term: &str) -> Arc<Matches> {
        segment.matches(term)
    }
}

/// Every concept of `index` that matches, the best first, ties in the given order; `limit` keeps the top.
#[must_use]
pub fn search(
    index: &Index,
    criteria: &Criteria,
    lookup: &impl Lookup,
    order: Order,
    limit: Option<usize>,
) -> Vec<Scored> {
    let mut found = Vec::new();
    for part in index.parts() {
        let first = found.len();
        // What falls behind the limit need not even be written down, unless something before it is dropped.
        let enough = limit.filter(|_| index.parts().len() == 1 && criteria.admits_all(part));
        score(part, &criteria.terms, lookup, enough, &mut found);
        criteria.admit(index, part, &mut found, first);
    }
    arrange(&mut found, index, order);
    best_first(found, limit.unwrap_or(usize::MAX))
}

impl Criteria {
    /// Whether nothing that matches in the part is dropped.
    fn admits_all(&self, part: &Part) -> bool {
        part.is_whole() && self.tag.is_none() && self.staleness == Staleness::Use
    }

    /// Drops what was found behind `first` and is not to be shown.
    fn admit(&self, index: &Index, part: &Part, found: &mut Vec<Scored>, first: usize) {
        if self.admits_all(part) {
            return;
        }
        let carriers = self.tag.as_deref().map(|tag| part.segment().tagged(tag));
        let mut kept = first;
        for at in first..found.len() {
            let concept = found[at].concept;
            let local = concept - part.base();
            let admitted = part.is_alive(local)
                && carriers.is_none_or(|carriers| carriers.binary_search(&local).is_ok())
                && self.staleness.admits(index.concept(concept).document.stale_at, self.now);
            if admitted {
                found[kept] = found[at];
                kept += 1;
            }
        }
        found.truncate(kept);
    }
}

/// Appends every concept of the part that has any of the terms, by ascending number. Those that cannot be
/// among the best `enough` may be left out.
fn score(part: &Part, terms: &Terms, lookup: &impl Lookup, enough: Option<usize>, found: &mut Vec<Scored>) {
    let matches: Vec<(Arc<Matches>, u32)> =
        terms.as_slice().iter().map(|(term, times)| (lookup.matches(part.segment(), term), *times)).collect();
    let mut few = 0;
    let mut most = 0_u32;
    for (matches, times) in &matches {
        most = most.saturating_add(times.saturating_mul(MOST));
        few += match &**matches {
            Matches::Few(few) => few.len(),
            Matches::Many(many) => many.len(),
        };
    }
    // Going over all concepts is several times cheaper a piece than sorting what matched.
    if few < part.len() / 16 {
        let entries = matches.iter().flat_map(|(matches, times)| {
            let few: &[u32] = if let Matches::Few(few) = &**matches { few } else { &[] };
            few.iter().map(|entry| (Matches::entry(*entry), *times))
        });
        let scored = entries.map(|((local, worth), times)| Scored {
            concept: part.base() + local,
            score: u32::from(worth).saturating_mul(times),
        });
        let first = found.len();
        found.extend(scored);
        if matches.len() > 1 {
            found[first..].sort_unstable_by_key(|scored| scored.concept);
            join(found, first);
        }
    } else if u8::try_from(most).is_ok() {
        collect(part, &tally::<u8>(part.len(), &matches), enough, found);
    } else {
        collect(part, &tally::<u32>(part.len(), &matches), enough, found);
    }
}

/// Adds up neighbours behind `first` that are the same concept.
fn join(found: &mut Vec<Scored>, first: usize) {
    let mut kept = first;
    for at in first..found.len() {
        if kept > first && found[kept - 1].concept == found[at].concept {
            found[kept - 1].score = found[kept - 1].score.saturating_add(found[at].score);
        } else {
            found[kept] = found[at];
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// A score of one of the widths that are added up: bytes, where they suffice, go by the dozen.
trait Tally: Copy + Default + Into<u32> + PartialEq {
    fn add(self, worth: u8, times: u32) -> Self;
}

impl Tally for u8 {
    // The sum was found to fit before.
    fn add(self, worth: u8, times: u32) -> Self {
        self.wrapping_add(worth.wrapping_mul(u8::try_from(times).unwrap_or(0)))
    }
}

impl Tally for u32 {
    fn add(self, worth: u8, times: u32) -> Self {
        self.saturating_add(u32::from(worth).saturating_mul(times))
    }
}

/// The score of every concept of a part.
fn tally<T: Tally>(concepts: usize, matches: &[(Arc<Matches>, u32)]) -> Vec<T> {
    let mut scores = vec![T::default(); concepts];
    for (matches, times) in matches {
        match &**matches {
            Matches::Few(few) => {
                for entry in few {
                    let (concept, worth) = Matches::entry(*entry);
                    let score = &mut scores[concept as usize];
                    *score = score.add(worth, *times);
                }
            }
            Matches::Many(many) => {
                for (score, worth) in scores.iter_mut().zip(many) {
                    *score = score.add(*worth, *times);
                }
            }
        }
    }
    scores
}

/// Appends the concepts whose score is not 0, or is good enough to be among the best.
fn collect<T: Tally>(part: &Part, scores: &[T], enough: Option<usize>, found: &mut Vec<Scored>) {
    /// So many scores are skipped at once where none is good enough.
    const BLOCK: usize = 64;
    let least = enough.map_or(1, |enough| least_of_best(scores, enough)).max(1);
    for (at, block) in (part.base()..).step_by(BLOCK).zip(scores.chunks(BLOCK)) {
        if block.iter().any(|score| (*score).into() >= least) {
            let all = (at..).zip(block).map(|(concept, score)| Scored { concept, score: (*score).into() });
            found.extend(all.filter(|one| one.score >= least));
        }
    }
}

/// The lowest score that one of the best `enough` has; 0 if that cannot be told cheaply.
fn least_of_best<T: Tally>(scores: &[T], enough: usize) -> u32 {
    /// Scores above this are rare, and are counted as if they were this.
    const HIGHEST: usize = 255;
    // Several counts at once: neighbours often have the same score, and would wait for each other.
    let mut counts = [[0_u32; HIGHEST + 1]; 4];
    let place = |score: T| HIGHEST.min(score.into() as usize);
    let mut fours = scores.chunks_exact(4);
    for four in &mut fours {
        for (counts, score) in counts.iter_mut().zip(four) {
            counts[place(*score)] += 1;
        }
    }
    for score in fours.remainder() {
        counts[0][place(*score)] += 1;
    }
    let mut better = 0;
    for score in (1..=HIGHEST).rev() {
        better += counts.iter().map(|counts| counts[score] as usize).sum::<usize>();
        if better >= enough {
            return u32::try_from(score).unwrap_or(0);
        }
    }
    0
}

/// Puts what was found, which is sorted by number, into an order.
fn arrange(found: &mut Vec<Scored>, index: &Index, order: Order) {
    let Some(Places { place, concept }) = index.places(order) else { return };
    if found.len() < place.len() / 16 {
        found.sort_unstable_by_key(|scored| place[scored.concept as usize]);
        return;
    }
    let mut scores = vec![0_u32; place.len()];
    for scored in &*found {
        scores[place[scored.concept as usize] as usize] = scored.score;
    }
    found.clear();
    let matched = concept.iter().zip(scores).filter(|(_, score)| *score != 0);
    found.extend(matched.map(|(concept, score)| Scored { concept: *concept, score }));
}

/// Sorts by score, by counting, and keeps the order of ties and the first `limit`.
fn best_first(mut found: Vec<Scored>, limit: usize) -> Vec<Scored> {
    let most = found.iter().map(|scored| scored.score).max().unwrap_or(0) as usize;
    if most > found.len().saturating_mul(2) + 64 {
        found.sort_by_key(|scored| std::cmp::Reverse(scored.score));
        found.truncate(limit);
        return found;
    }
    // Where the next concept of each score goes, the highest score first.
    let mut next = vec![0_usize; most + 1];
    for scored in &found {
        next[most - scored.score as usize] += 1;
    }
    let mut before = 0;
    for next in &mut next {
        before += std::mem::replace(next, before);
    }
    let mut best = vec![Scored { concept: 0, score: 0 }; found.len().min(limit)];
    for scored in found {
        let at = &mut next[most - scored.score as usize];
        if let Some(place) = best.get_mut(*at) {
            *place = scored;
            *at += 1;
        }
    }
    best
}
