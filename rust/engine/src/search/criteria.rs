//! What a question asks of every concept: terms, a tag, and not to be stale (K1, K5, L3).

use super::{accumulate::Score, scored::Scored};
use crate::{
    search::index::{Index, LiveSegment},
    text::{
        fold::fold,
        instant::Instant,
        terms::{Terms, is_blank},
    },
};

/// Which stale concepts are admitted (L3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staleness {
    /// All.
    Use,
    /// Those that became stale less than so many days ago; with 0, none.
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

/// What every concept is tested for.
#[derive(Debug, Clone)]
pub(crate) struct Criteria {
    /// What is looked for.
    pub terms: Terms,
    /// The folded tag that a concept must have.
    tag: Option<String>,
    staleness: Staleness,
    now: Instant,
}

impl Criteria {
    /// The criteria of a query: `text` is split into terms, a blank `tag` is no filter (K5).
    #[cfg(test)]
    pub(crate) fn new(text: &str, tag: Option<&str>, staleness: Staleness, now: Instant) -> Self {
        Self::of(Terms::parse(text), tag, staleness, now)
    }

    /// The criteria of a query that is already split into terms.
    #[must_use]
    pub(crate) fn of(terms: Terms, tag: Option<&str>, staleness: Staleness, now: Instant) -> Self {
        Self { terms, tag: tag.filter(|tag| !is_blank(tag)).map(fold), staleness, now }
    }

    /// Whether a concept that becomes stale at this instant is stale now (L3).
    pub(crate) fn is_stale(&self, stale_at: Option<Instant>) -> bool {
        stale_at.is_some_and(|stale_at| self.now >= stale_at)
    }

    /// Removes the concepts of a segment that are not admitted from what was found; `first` is the index in
    /// `found` of the segment's first concept.
    pub(super) fn remove_excluded(&self, segment: &LiveSegment, found: &mut Vec<Scored>, first: usize) {
        if self.admits_all(segment) {
            return;
        }
        let admits = self.admits(segment);
        let excluded = found.extract_if(first.., |scored| !admits(scored.concept - segment.base()));
        excluded.for_each(drop);
    }

    /// Sets the scores of concepts that are not admitted to 0.
    pub(super) fn zero_excluded<S: Score>(&self, index: &Index, scores: &mut [S]) {
        for segment in index.live_segments().iter().filter(|segment| !self.admits_all(segment)) {
            let admits = self.admits(segment);
            let scores = &mut scores[segment.base() as usize..][..segment.len()];
            for (local, score) in (0..).zip(scores) {
                if *score != S::default() && !admits(local) {
                    *score = S::default();
                }
            }
        }
    }

    /// Whether every concept of a segment is admitted.
    fn admits_all(&self, segment: &LiveSegment) -> bool {
        !segment.has_deletions() && self.tag.is_none() && self.staleness == Staleness::Use
    }

    /// Whether a concept of a segment is admitted, apart from its terms.
    pub(super) fn admits<'segment>(
        &self,
        segment: &'segment LiveSegment,
    ) -> impl Fn(u32) -> bool + use<'_, 'segment> {
        let with_tag = self.tag.as_deref().map(|tag| segment.segment().with_tag(tag));
        move |local| {
            !segment.is_deleted(local)
                && with_tag.is_none_or(|with_tag| with_tag.binary_search(&local).is_ok())
                && self.staleness.admits(segment.concept(local).document.stale_at, self.now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::{Document, concept::Concept},
        work::task::Task,
    };

    const DAY: i64 = 24 * 60 * 60 * 1_000_000;

    fn instant(days: i64) -> Instant {
        Instant::from_micros(days * DAY)
    }

    /// Concepts `a`, `b` and `c`, of which `b` has the tag and `c` becomes stale on day 10.
    fn index() -> Index {
        let concept = |id: &str, tag: &str, stale_at| {
            let document = Document { tags: vec![tag.to_owned()], stale_at, ..Document::default() };
            Concept { id: id.to_owned(), document }
        };
        let concepts = vec![
            concept("a", "", None),
            concept("b", "Gold", None),
            concept("c", "golden", Some(instant(10))),
        ];
        Index::default().with(&[], concepts, 1, &Task::default()).unwrap()
    }

    /// The concepts that are admitted, by both ways of leaving out the others.
    fn admitted(index: &Index, tag: Option<&str>, staleness: Staleness, day: i64) -> Vec<u32> {
        let criteria = Criteria::new("x", tag, staleness, instant(day));
        let mut scores = [7_u8, 7, 7];
        criteria.zero_excluded(index, &mut scores);
        let mut found: Vec<Scored> = (0..3).map(|concept| Scored { concept, score: 7 }).collect();
        criteria.remove_excluded(&index.live_segments()[0], &mut found, 0);
        let found: Vec<u32> = found.into_iter().map(|scored| scored.concept).collect();
        let not_zeroed: Vec<u32> = (0..3).filter(|concept| scores[*concept as usize] == 7).collect();
        assert_eq!(found, not_zeroed);
        found
    }

    #[test]
    fn staleness_tag_and_deletion_decide_who_is_admitted() {
        let index = index();
        let tolerate = |days| Staleness::Tolerate { days };
        for (tag, staleness, day, expected) in [
            (None, Staleness::Use, 99, &[0, 1, 2][..]),
            (None, tolerate(0), 9, &[0, 1, 2]),
            (None, tolerate(0), 10, &[0, 1]),
            (None, tolerate(2), 11, &[0, 1, 2]),
            (None, tolerate(2), 12, &[0, 1]),
            (Some("GOLD"), Staleness::Use, 0, &[1]),
            (Some(" \n"), Staleness::Use, 0, &[0, 1, 2]),
            (Some("gol"), Staleness::Use, 0, &[]),
            (Some("golden"), tolerate(0), 10, &[]),
        ] {
            assert_eq!(admitted(&index, tag, staleness, day), expected, "{tag:?} {staleness:?} {day}");
        }
        let rest = index.with(&["b".to_owned()], Vec::new(), 1, &Task::default()).unwrap();
        assert_eq!(admitted(&rest, None, Staleness::Use, 0), [0, 2]);
        assert!(admitted(&rest, Some("gold"), Staleness::Use, 0).is_empty());
    }

    #[test]
    fn what_was_found_in_other_segments_stays() {
        let index = index();
        let criteria = Criteria::new("x", Some("gold"), Staleness::Use, instant(0));
        let mut found = vec![Scored { concept: 99, score: 1 }, Scored { concept: 0, score: 1 }];
        criteria.remove_excluded(&index.live_segments()[0], &mut found, 1);
        assert_eq!(found, [Scored { concept: 99, score: 1 }]);
    }

    #[test]
    fn a_concept_is_stale_from_the_instant_it_names() {
        let criteria = Criteria::new("x", None, Staleness::Use, instant(10));
        for (stale_at, expected) in
            [(None, false), (Some(instant(9)), true), (Some(instant(10)), true), (Some(instant(11)), false)]
        {
            assert_eq!(criteria.is_stale(stale_at), expected, "{stale_at:?}");
        }
    }
}
