//! A bundle in memory, immutable and searchable.
//!
//! An index is a short list of segments. A change makes a new index that shares the untouched segments
//! with the old one; replaced and removed concepts stay in their segment, dead, until it is merged.

mod cache;
mod grams;
mod interner;
mod matches;
mod occurrences;
mod rows;
mod segment;
mod trigrams;
mod words;

use std::sync::Arc;

pub(crate) use matches::MOST;
pub use matches::Matches;
pub use segment::Segment;

use crate::{
    document::concept::{Concept, compare_by_parts},
    text::terms::Terms,
    work::task::{Abandoned, Task},
};

/// No segment is built over more text than this, so that 32 bits number everything in it.
const SEGMENT_BYTES: usize = 512 << 20;
/// No segment holds more concepts than a posting can number.
const SEGMENT_CONCEPTS: usize = 1 << 28;

/// Finding so many terms is taken for an effort without weighing each.
const MANY_TERMS: usize = 1000;

/// The order of concepts within one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Ids compared as strings (R2, R3).
    Text,
    /// Ids compared part by part (R1).
    Parts,
}

/// All concepts of a bundle at one moment.
#[derive(Debug, Default)]
pub struct Index {
    parts: Vec<Part>,
    /// `None` while concepts are numbered in this order.
    text: Option<Places>,
    by_parts: Option<Places>,
}

/// An order of all concepts, the dead included.
#[derive(Debug)]
pub(crate) struct Places {
    /// For each concept number, its place.
    pub(crate) place: Vec<u32>,
    /// For each place, the concept number.
    pub(crate) concept: Vec<u32>,
}

/// A segment, and what is still alive in it.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    segment: Arc<Segment>,
    /// The number of the segment's first concept in the index.
    base: u32,
    /// `None` while everything is alive.
    alive: Option<Arc<[bool]>>,
    count: usize,
}

impl Part {
    fn whole(segment: Segment) -> Self {
        let count = segment.concepts.len();
        Self { segment: Arc::new(segment), base: 0, alive: None, count }
    }

    pub(crate) fn len(&self) -> usize {
        self.segment.concepts.len()
    }

    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    pub(crate) fn is_alive(&self, local: u32) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive[local as usize])
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.alive.is_none()
    }

    pub(crate) fn concept(&self, local: u32) -> &Concept {
        &self.segment.concepts[local as usize]
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    fn living(&self) -> impl Iterator<Item = &Arc<Concept>> {
        (0_u32..)
            .zip(&self.segment.concepts)
            .filter(|(local, _)| self.is_alive(*local))
            .map(|(_, concept)| concept)
    }

    /// Whether so much is dead that the segment costs more than it is worth.
    fn is_worn(&self) -> bool {
        self.count * 2 < self.len()
    }
}

impl Index {
    /// How many concepts the bundle has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.count).sum()
    }

    /// Whether the bundle has no concept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The concept with this number, as found by a search of this index.
    ///
    /// # Panics
    /// When the number came from another index.
    #[must_use]
    pub fn concept(&self, number: u32) -> &Arc<Concept> {
        let part = self.parts.partition_point(|part| part.base <= number) - 1;
        let part = &self.parts[part];
        &part.segment.concepts[(number - part.base) as usize]
    }

    /// The concept with this id, if the bundle has one.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Concept>> {
        self.parts.iter().find_map(|part| {
            let local = part.segment.find(id)?;
            part.is_alive(u32::try_from(local).ok()?).then(|| &part.segment.concepts[local])
        })
    }

    /// All concepts, in no order.
    pub(crate) fn concepts(&self) -> impl Iterator<Item = &Arc<Concept>> {
        self.parts.iter().flat_map(Part::living)
    }

    /// An order of the concepts; `None` if it is that of their numbers.
    pub(crate) fn places(&self, order: Order) -> Option<&Places> {
        match order {
            Order::Text => self.text.as_ref(),
            Order::Parts => self.by_parts.as_ref(),
        }
    }

    /// Whether about so many places of the vocabulary have to be looked at to find these terms.
    pub(crate) fn takes(&self, terms: &Terms, effort: usize) -> bool {
        // Nearly everything is in the largest part.
        let Some(part) = self.parts.first() else { return false };
        let terms = terms.as_slice();
        let mut all = 0;
        terms.len() > MANY_TERMS
            || terms.iter().any(|(term, _)| {
                all += part.segment.effort(term);
                all >= effort
            })
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.parts.iter().map(|part| &*part.segment)
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The index after the concepts with the ids `removed` went and `added` came. An id that is replaced
    /// stands in both.
    ///
    /// Costs time for the text of `added` and little for all others, except that segments of similar
    /// size are merged now and then: over many changes each concept is merged a logarithmic number of
    /// times.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was; nothing is changed then.
    pub fn with(
        &self,
        removed: &[String],
        added: Vec<Concept>,
        threads: usize,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        let mut parts: Vec<Part> = self.parts.iter().map(|part| without(part, removed)).collect();
        let mut fresh: Vec<Arc<Concept>> = added.into_iter().map(Arc::new).collect();
        parts.retain(|part| {
            if part.is_worn() {
                fresh.extend(part.living().cloned());
            }
            !part.is_worn() && part.count > 0
        });
        while let Some(last) = parts.last()
            && !fresh.is_empty()
            && last.count < 4 * fresh.len()
        {
            fresh.extend(last.living().cloned());
            parts.pop();
        }
        for chunk in chunks(fresh) {
            parts.push(Part::whole(Segment::build(chunk, threads, task)?));
        }
        // Large ones first: what changes often then sits at the end, where it is merged cheaply.
        parts.sort_by_key(|part| std::cmp::Reverse(part.count));
        Ok(Self::of(parts))
    }

    fn of(mut parts: Vec<Part>) -> Self {
        let mut base = 0;
        for part in &mut parts {
            part.base = base;
            base += u32::try_from(part.len()).expect("a segment numbers its concepts with 32 bits");
        }
        let text = Places::of(&parts, |part| (0..).take(part.len()).collect(), str::cmp);
        let by_parts = Places::of(&parts, |part| part.segment.by_parts.clone(), compare_by_parts);
        Self { parts, text, by_parts }
    }
}

/// `part` with the concepts of these ids dead.
fn without(part: &Part, removed: &[String]) -> Part {
    let dying: Vec<usize> = removed
        .iter()
        .filter_map(|id| part.segment.find(id))
        .filter(|local| part.alive.as_ref().is_none_or(|alive| alive[*local]))
        .collect();
    if dying.is_empty() {
        return part.clone();
    }
    let mut alive = part.alive.as_ref().map_or_else(|| vec![true; part.len()], |alive| alive.to_vec());
    for local in &dying {
        alive[*local] = false;
    }
    Part { alive: Some(alive.into()), count: part.count - dying.len(), ..part.clone() }
}

/// Cuts concepts into runs that one segment can number.
fn chunks(concepts: Vec<Arc<Concept>>) -> Vec<Vec<Arc<Concept>>> {
    let mut runs: Vec<Vec<Arc<Concept>>> = Vec::new();
    let mut bytes = 0;
    for concept in concepts {
        let size = concept.text_len();
        match runs.last_mut() {
            Some(run) if bytes + size <= SEGMENT_BYTES && run.len() < SEGMENT_CONCEPTS => {
                bytes += size;
                run.push(concept);
            }
            _ => {
                bytes = size;
                runs.push(vec![concept]);
            }
        }
    }
    runs
}

impl Places {
    /// Merges the sorted runs of all parts.
    fn of(
        parts: &[Part],
        sorted: impl Fn(&Part) -> Vec<u32>,
        compare: impl Fn(&str, &str) -> std::cmp::Ordering,
    ) -> Option<Self> {
        fn id(number: u32, part: &Part) -> &str {
            &part.segment.concepts[(number - part.base) as usize].id
        }
        let mut merged: Vec<(u32, &Part)> = Vec::new();
        for part in parts {
            let run = sorted(part).into_iter().map(|local| (local + part.base, part));
            let mut joined = Vec::with_capacity(merged.len() + part.len());
            let (mut left, mut right) = (merged.into_iter().peekable(), run.peekable());
            while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                let first = compare(id(a.0, a.1), id(b.0, b.1)).is_le();
                joined.extend(if first { left.next() } else { right.next() });
            }
            joined.extend(left);
            joined.extend(right);
            merged = joined;
        }
        let concept: Vec<u32> = merged.into_iter().map(|(number, _)| number).collect();
        if concept.is_sorted() {
            return None;
        }
        let mut place = vec![0; concept.len()];
        for (at, number) in (0_u32..).zip(&concept) {
            place[*number as usize] = at;
        }
        Some(Self { place, concept })
    }
}
