//! A bundle in memory, immutable and searchable.
//!
//! An index is a short list of segments. A change makes a new index that shares the unchanged segments with
//! the old one. Replaced and removed concepts stay in their segment, marked as deleted, until the segment is
//! merged.
//!
//! From the text to the matches of a term: the forward index (`occurrences`) lists the tokens of each
//! concept. The inverted index (`inverted`) has the posting lists of the words and of the compounds in these
//! tokens (`words`). A trigram index (`trigrams`) finds the words and compounds that contain a term. `grams`
//! has the matches of common terms of one or two bytes, and `cache` those of terms that were looked for
//! before.

mod cache;
mod common_grams;
mod count;
mod forms;
mod frequencies;
mod interner;
mod inverted;
mod live_segment;
mod matches;
mod occurrences;
mod packed_lists;
mod points;
mod posting;
mod posting_lists;
mod segment;
mod short_words;
mod sort_order;
#[cfg(test)]
mod tests;
mod trigrams;
mod vocabulary;
mod weights;
mod words;

use std::{cmp::Reverse, sync::Arc};

pub(crate) use cache::Cached;
pub(crate) use count::count_where;
pub(crate) use frequencies::{BLOCK, DenseEntries, Entries, Frequencies, Frequency};
pub(crate) use live_segment::LiveSegment;
pub(crate) use matches::Matches;
pub(crate) use occurrences::Lengths;
pub(crate) use points::WHOLE;
pub(crate) use segment::Segment;
pub(crate) use sort_order::IdOrder;
pub(crate) use sort_order::SortOrder;
pub(crate) use weights::MAX_WEIGHT;

use crate::{
    document::concept::Concept,
    text::terms::Terms,
    work::task::{Abandoned, Task},
};

/// A segment is built of at most this many bytes of text, so that 32 bits number everything in it.
const MAX_SEGMENT_BYTES: usize = 512 << 20;
/// A segment is built of at most this many concepts, so that a posting can number them.
const MAX_SEGMENT_CONCEPTS: usize = 1 << 28;

/// The merge policy: new concepts are merged with a segment of less than this many times as many concepts.
const MERGE_FACTOR: usize = 4;

/// A question of more terms than this is expensive; the cost of each term is not estimated.
const MANY_TERMS: usize = 1000;

/// All concepts of a bundle at one moment.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The largest first.
    segments: Vec<LiveSegment>,
    /// `None` while concepts are numbered in this order.
    text_order: Option<SortOrder>,
    /// `None` while concepts are numbered in this order.
    parts_order: Option<SortOrder>,
}

impl Index {
    /// How many concepts the bundle has.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.segments.iter().map(LiveSegment::count).sum()
    }

    /// For each field, the sum of its lengths in all concepts.
    pub(crate) fn lengths(&self) -> [u64; 3] {
        let add = |sum: [u64; 3], segment: &LiveSegment| {
            std::array::from_fn(|field| sum[field] + segment.lengths()[field])
        };
        self.segments.iter().fold([0; 3], add)
    }

    /// The concept with this number, as found by a search of this index.
    ///
    /// # Panics
    /// When the number came from another index.
    #[must_use]
    pub(crate) fn concept(&self, number: u32) -> &Arc<Concept> {
        let segment = self.segments.partition_point(|segment| segment.base() <= number) - 1;
        let segment = &self.segments[segment];
        segment.concept(number - segment.base())
    }

    /// The concept with this id, if the bundle has one.
    #[must_use]
    pub(crate) fn get(&self, id: &str) -> Option<&Arc<Concept>> {
        self.segments.iter().find_map(|segment| segment.get(id))
    }

    /// All concepts, in no particular order.
    pub(crate) fn concepts(&self) -> impl Iterator<Item = &Arc<Concept>> {
        self.segments.iter().flat_map(LiveSegment::concepts)
    }

    /// An order of the concepts; `None` if it is that of their numbers.
    pub(crate) fn sort_order(&self, order: IdOrder) -> Option<&SortOrder> {
        match order {
            IdOrder::Text => self.text_order.as_ref(),
            IdOrder::Parts => self.parts_order.as_ref(),
        }
    }

    /// Whether finding these terms takes about `cost` comparisons in the vocabulary, or more.
    pub(crate) fn costs_at_least(&self, terms: &Terms, cost: usize) -> bool {
        // Nearly all concepts are in the largest segment.
        let Some(largest) = self.segments.first() else { return false };
        let terms = terms.as_slice();
        let mut sum = 0;
        terms.len() > MANY_TERMS
            || terms.iter().any(|(term, _)| {
                sum += largest.segment().lookup_cost(term);
                sum >= cost
            })
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().map(LiveSegment::segment)
    }

    /// The segments, each with which of its concepts are deleted.
    pub(crate) fn live_segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// The index after the concepts with the ids `removed` were removed and `added` were added. The id of a
    /// concept that is replaced is in both.
    ///
    /// Takes time for the text of `added` and little for all others, except that segments of similar size
    /// are merged now and then: over many changes, each concept is merged a logarithmic number of times.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was; nothing is changed then.
    pub(crate) fn with(
        &self,
        removed: &[String],
        added: Vec<Concept>,
        threads: usize,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        let mut segments: Vec<LiveSegment> =
            self.segments.iter().map(|segment| segment.without(removed)).collect();
        let mut concepts: Vec<Arc<Concept>> = added.into_iter().map(Arc::new).collect();
        merge(&mut segments, &mut concepts);
        for chunk in chunks(concepts) {
            segments.push(LiveSegment::new(Segment::build(chunk, threads, task)?));
        }
        // Large ones first. The last ones change often and are merged cheaply.
        segments.sort_by_key(|segment| Reverse(segment.count()));
        Ok(Self::of(segments))
    }

    fn of(mut segments: Vec<LiveSegment>) -> Self {
        LiveSegment::number_all(&mut segments);
        let text_order = SortOrder::of(&segments, IdOrder::Text);
        let parts_order = SortOrder::of(&segments, IdOrder::Parts);
        Self { segments, text_order, parts_order }
    }
}

/// Moves the concepts of segments that should be merged to `concepts`, from which new segments are built. A
/// segment is merged if most of its concepts are deleted, or if it is not much larger than the new one.
fn merge(segments: &mut Vec<LiveSegment>, concepts: &mut Vec<Arc<Concept>>) {
    segments.retain(|segment| {
        if segment.is_mostly_deleted() {
            concepts.extend(segment.concepts().cloned());
        }
        !segment.is_mostly_deleted() && segment.count() > 0
    });
    while let Some(smallest) = segments.last()
        && !concepts.is_empty()
        && smallest.count() < MERGE_FACTOR * concepts.len()
    {
        concepts.extend(smallest.concepts().cloned());
        segments.pop();
    }
}

/// Cuts concepts into runs that one segment can number.
fn chunks(concepts: Vec<Arc<Concept>>) -> Vec<Vec<Arc<Concept>>> {
    let mut runs: Vec<Vec<Arc<Concept>>> = Vec::new();
    let mut bytes = 0;
    for concept in concepts {
        let size = concept.text_len();
        match runs.last_mut() {
            Some(run) if bytes + size <= MAX_SEGMENT_BYTES && run.len() < MAX_SEGMENT_CONCEPTS => {
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
