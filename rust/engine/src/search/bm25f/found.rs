//! The frequencies of all terms of a question in one source.

use std::{
    ops::Deref,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::statistics::Counts;
use crate::{
    search::{
        index::{Frequencies, Index},
        lookup::Lookup,
    },
    text::terms::Terms,
    work::task::{Abandoned, Task},
};

/// At most about this many bytes of frequencies are kept from counting to scoring, for all sources together. What
/// is not kept is found again, so that a question of many terms does not take more memory.
pub(crate) const MAX_KEPT_BYTES: usize = 128 << 20;

/// The frequencies of a question's terms in each segment of one source, and what was counted on the way.
#[derive(Debug)]
pub(crate) struct FoundTerms<Handle> {
    /// For each segment and each term, the frequencies, if they are kept.
    segments: Vec<Vec<Option<Handle>>>,
    pub(super) counts: Counts,
}

impl<Handle: Deref<Target = Frequencies>> FoundTerms<Handle> {
    /// Finds all terms in a source. `kept` is how many bytes are kept already.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was; it is asked before each term.
    pub(crate) fn find(
        index: &Index,
        terms: &Terms,
        lookup: &impl Lookup<Frequencies, Handle = Handle>,
        kept: &AtomicUsize,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        let mut counts = Counts::new(terms.as_slice().len());
        counts.add_index(index);
        let mut segments = Vec::with_capacity(index.live_segments().len());
        for segment in index.live_segments() {
            let find = lookup.within(segment.segment());
            let mut of_segment = Vec::with_capacity(terms.as_slice().len());
            for (at, (term, _)) in terms.as_slice().iter().enumerate() {
                task.go_on()?;
                let found = find(at, term);
                counts.add_term(at, segment, &found);
                let size = found.size() + size_of::<Handle>();
                let keeps = kept.fetch_add(size, Ordering::Relaxed) + size <= MAX_KEPT_BYTES;
                of_segment.push(keeps.then_some(found));
            }
            segments.push(of_segment);
        }
        Ok(Self { segments, counts })
    }

    /// Whether all frequencies are kept.
    pub(super) fn is_complete(&self) -> bool {
        self.segments.iter().flatten().all(Option::is_some)
    }

    /// The frequencies that are kept of one segment, by the numbers of the terms.
    pub(super) fn of_segment(&self, segment: usize) -> &[Option<Handle>] {
        &self.segments[segment]
    }
}
