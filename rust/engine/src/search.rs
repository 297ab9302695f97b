//! Which concepts of one bundle match, and how well (K1 to K5, L3).

mod best;
pub mod index;
mod tally;

use std::{ops::Deref, sync::Arc};

use best::{all_best_first, best, best_first};
use tally::{Tally, tally};

use crate::{
    search::index::{Index, MOST, Matches, Order, Part, Segment},
    text::{
        fold::fold,
        instant::Instant,
        terms::{Terms, is_blank},
    },
    work::task::{Abandoned, Task},
};

/// If at most one concept in so many matches, the matches are sorted; otherwise all concepts are gone over.
const SPARSE: usize = 64;

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
        Self::of(Terms::parse(text), tag, staleness, now)
    }

    /// What is asked for these terms.
    #[must_use]
    pub fn of(terms: Terms, tag: Option<&str>, staleness: Staleness, now: Instant) -> Self {
        Self { terms, tag: tag.filter(|tag| !is_blank(tag)).map(fold), staleness, now }
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

/// Where the matches of a question's terms come from.
pub trait Lookup: Sync {
    /// Matches, for as long as they are needed.
    #[doc(hidden)]
    type Held: Deref<Target = Matches> + Send;

    /// Finds the matches in a segment of one of a question's terms, given its place among them and itself.
    #[doc(hidden)]
    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Self::Held + 'a;
}

/// Finds the matches of each term by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Lookup for Alone {
    type Held = Arc<Matches>;

    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Arc<Matches> + 'a {
        |_, term| segment.matches(term)
    }
}

/// Every concept of `index` that matches, the best first, ties in the given order; `limit` keeps the top.
///
/// # Errors
/// [`Abandoned`] if the task was; it is looked at before each term.
pub fn search(
    index: &Index,
    criteria: &Criteria,
    lookup: &impl Lookup,
    order: Order,
    limit: Option<usize>,
    task: &Task,
) -> Result<Vec<Scored>, Abandoned> {
    let places = index.places(order);
    let all = limit.unwrap_or(usize::MAX);
    Ok(match gather(index, criteria, lookup, task)? {
        Gathered::Few(matched) => {
            let mut found = Vec::new();
            for (part, matches) in &matched {
                let first = found.len();
                list(part, criteria.terms.times().zip(matches), &mut found);
                criteria.admit(part, &mut found, first);
            }
            if let Some(places) = places {
                found.sort_unstable_by_key(|scored| places.place[scored.concept as usize]);
            }
            best_first(found, all)
        }
        Gathered::Many(Scores::Bytes(mut scores)) => {
            criteria.clear(index, &mut scores);
            match limit {
                Some(limit) => best(&scores, places, limit),
                None => all_best_first(&scores, places),
            }
        }
        Gathered::Many(Scores::Words(mut scores)) => {
            criteria.clear(index, &mut scores);
            best(&scores, places, all)
        }
    })
}

/// What the terms of a question match.
enum Gathered<'index, Held> {
    /// The matches of each term in each part. There are few.
    Few(Vec<(&'index Part, Vec<Held>)>),
    /// The score of each concept, whether it is to be shown or not.
    Many(Scores),
}

/// A score for each concept, in bytes if they are wide enough.
enum Scores {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
}

impl Scores {
    fn new(terms: &Terms, concepts: usize) -> Self {
        let most = terms.times().fold(0_u32, |most, times| most.saturating_add(times.saturating_mul(MOST)));
        if u8::try_from(most).is_ok() {
            Scores::Bytes(vec![0; concepts])
        } else {
            Scores::Words(vec![0; concepts])
        }
    }

    /// Adds what the concepts of a part are worth for a term that was written so many times.
    fn add(&mut self, part: &Part, times: u32, matches: &Matches) {
        let run = part.base() as usize..part.base() as usize + part.len();
        match self {
            Scores::Bytes(scores) => tally(&mut scores[run], times, matches),
            Scores::Words(scores) => tally(&mut scores[run], times, matches),
        }
    }
}

/// Finds what matches. Once that is much, scores are added up term by term, so that a question of a million
/// terms takes no more memory than one of ten.
fn gather<'index, L: Lookup>(
    index: &'index Index,
    criteria: &Criteria,
    lookup: &L,
    task: &Task,
) -> Result<Gathered<'index, L::Held>, Abandoned> {
    let terms = &criteria.terms;
    let concepts = index.parts().iter().map(Part::len).sum();
    // Going over all concepts is many times cheaper a piece than sorting what matched.
    let many = concepts / SPARSE;
    let mut scores = (many == 0).then(|| Scores::new(terms, concepts));
    let mut kept: Vec<(&Part, Vec<L::Held>)> = Vec::with_capacity(index.parts().len());
    let mut few = 0;
    for part in index.parts() {
        let find = lookup.within(part.segment());
        kept.push((part, Vec::new()));
        for (at, (term, times)) in terms.as_slice().iter().enumerate() {
            task.go_on()?;
            let matches = find(at, term);
            if let Some(scores) = &mut scores {
                scores.add(part, *times, &matches);
                continue;
            }
            few += matches.len();
            if let Some((_, held)) = kept.last_mut() {
                held.push(matches);
            }
            if few >= many {
                let mut all = Scores::new(terms, concepts);
                for (part, held) in kept.drain(..) {
                    for (times, matches) in terms.times().zip(&held) {
                        all.add(part, times, matches);
                    }
                }
                scores = Some(all);
            }
        }
    }
    Ok(scores.map_or(Gathered::Few(kept), Gathered::Many))
}

impl Criteria {
    /// Whether what goes stale then is stale now (L3).
    pub(crate) fn is_stale(&self, stale_at: Option<Instant>) -> bool {
        stale_at.is_some_and(|stale_at| self.now >= stale_at)
    }

    /// Whether nothing that matches in the part is dropped.
    fn admits_all(&self, part: &Part) -> bool {
        part.is_whole() && self.tag.is_none() && self.staleness == Staleness::Use
    }

    /// Whether a concept of a part is to be shown when it matches.
    fn admits<'part>(&self, part: &'part Part) -> impl Fn(u32) -> bool + use<'_, 'part> {
        let carriers = self.tag.as_deref().map(|tag| part.segment().tagged(tag));
        move |local| {
            part.is_alive(local)
                && carriers.is_none_or(|carriers| carriers.binary_search(&local).is_ok())
                && self.staleness.admits(part.concept(local).document.stale_at, self.now)
        }
    }

    /// Drops what was found behind `first` and is not to be shown.
    fn admit(&self, part: &Part, found: &mut Vec<Scored>, first: usize) {
        if self.admits_all(part) {
            return;
        }
        let admits = self.admits(part);
        let mut kept = first;
        for at in first..found.len() {
            if admits(found[at].concept - part.base()) {
                found[kept] = found[at];
                kept += 1;
            }
        }
        found.truncate(kept);
    }

    /// Sets the score of what is not to be shown to 0.
    fn clear<T: Tally>(&self, index: &Index, scores: &mut [T]) {
        for part in index.parts().iter().filter(|part| !self.admits_all(part)) {
            let admits = self.admits(part);
            let scores = &mut scores[part.base() as usize..][..part.len()];
            for (local, score) in (0..).zip(scores) {
                if *score != T::default() && !admits(local) {
                    *score = T::default();
                }
            }
        }
    }
}

/// Appends every concept of the part that has any of the terms, by ascending number.
fn list<'held>(
    part: &Part,
    matches: impl ExactSizeIterator<Item = (u32, &'held (impl Deref<Target = Matches> + 'held))>,
    found: &mut Vec<Scored>,
) {
    let first = found.len();
    let terms = matches.len();
    for (times, matches) in matches {
        let mut add = |local: u32, worth: u8| {
            let score = u32::from(worth).saturating_mul(times);
            found.push(Scored { concept: part.base() + local, score });
        };
        match &**matches {
            Matches::Few(few) => {
                for (local, worth) in few.iter().map(|entry| Matches::entry(*entry)) {
                    add(local, worth);
                }
            }
            // In a small part, few are at once many.
            Matches::Many(many) => {
                for (local, worth) in (0..).zip(many).filter(|(_, worth)| **worth != 0) {
                    add(local, *worth);
                }
            }
        }
    }
    if terms > 1 {
        found[first..].sort_unstable_by_key(|scored| scored.concept);
        join(found, first);
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
