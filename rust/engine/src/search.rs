//! Which concepts of one bundle match, and how well (K1 to K5, L3).

mod best;
mod tally;

use std::{ops::Deref, sync::Arc};

use best::{all_best_first, best, best_first};
use tally::{Tally, tally};

use crate::{
    fold::fold,
    index::{Index, MOST, Matches, Order, Part, Places, Segment},
    instant::Instant,
    terms::{Terms, is_blank},
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

/// Where the matches of a question's terms come from.
pub trait Lookup: Sync {
    /// Matches, for as long as they are needed.
    #[doc(hidden)]
    type Held: Deref<Target = Matches> + Send;

    /// The matches of each of the terms in a segment, in their order.
    #[doc(hidden)]
    fn matches(&self, segment: &Segment, terms: &Terms) -> Vec<Self::Held>;
}

/// Finds the matches of each term by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Lookup for Alone {
    type Held = Arc<Matches>;

    fn matches(&self, segment: &Segment, terms: &Terms) -> Vec<Arc<Matches>> {
        terms.as_slice().iter().map(|(term, _)| segment.matches(term)).collect()
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
    let (mut few, mut numbers) = (0, 0);
    let mut matched = Vec::with_capacity(index.parts().len());
    for part in index.parts() {
        let held = lookup.matches(part.segment(), &criteria.terms);
        few += held.iter().map(|matches| matches.len()).sum::<usize>();
        numbers += part.len();
        matched.push((part, held));
    }
    let places = index.places(order);
    // Going over all concepts is many times cheaper a piece than sorting what matched.
    if few < numbers / SPARSE {
        let mut found = Vec::with_capacity(few);
        for (part, matches) in &matched {
            let first = found.len();
            list(part, criteria.terms.times().zip(matches), &mut found);
            criteria.admit(part, &mut found, first);
        }
        if let Some(Places { place, .. }) = places {
            found.sort_unstable_by_key(|scored| place[scored.concept as usize]);
        }
        return best_first(found, limit.unwrap_or(usize::MAX));
    }
    let most =
        criteria.terms.times().fold(0_u32, |most, times| most.saturating_add(times.saturating_mul(MOST)));
    if u8::try_from(most).is_ok() {
        let scores = criteria.scores::<u8>(&matched, numbers);
        match limit {
            Some(limit) => best(&scores, places, limit),
            None => all_best_first(&scores, places),
        }
    } else {
        let scores = criteria.scores::<u32>(&matched, numbers);
        best(&scores, places, limit.unwrap_or(usize::MAX))
    }
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

    /// The score of each of so many concepts; 0 for what is not to be shown.
    fn scores<T: Tally>(
        &self,
        matched: &[(&Part, Vec<impl Deref<Target = Matches>>)],
        numbers: usize,
    ) -> Vec<T> {
        let mut scores = vec![T::default(); numbers];
        for (part, matches) in matched {
            let scores = &mut scores[part.base() as usize..][..part.len()];
            tally(scores, self.terms.times().zip(matches));
            if !self.admits_all(part) {
                let admits = self.admits(part);
                for (local, score) in (0..).zip(scores) {
                    if *score != T::default() && !admits(local) {
                        *score = T::default();
                    }
                }
            }
        }
        scores
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
