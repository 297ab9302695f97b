//! All that the scores of one source are made of.

use std::ops::Deref;

use super::{found::FoundTerms, statistics::Statistics};
use crate::{
    search::{
        criteria::Criteria,
        index::{Frequencies, LiveSegment},
        lookup::Lookup,
    },
    work::task::Abandoned,
};

/// What a question asks of one source, and what was found there.
pub(super) struct Input<'call, Handle> {
    pub(super) criteria: &'call Criteria,
    pub(super) statistics: &'call Statistics,
    pub(super) found: &'call FoundTerms<Handle>,
}

impl<Handle: Deref<Target = Frequencies>> Input<'_, Handle> {
    /// Calls `act` with every term (its number) and its frequencies in a segment, kept or found again.
    pub(super) fn for_each_term(
        &self,
        number: usize,
        segment: &LiveSegment,
        lookup: &impl Lookup<Frequencies, Handle = Handle>,
        mut act: impl FnMut(usize, &Frequencies) -> Result<(), Abandoned>,
    ) -> Result<(), Abandoned> {
        let find = lookup.within(segment.segment());
        let terms = self.criteria.terms.as_slice().iter();
        for (at, ((term, _), kept)) in terms.zip(self.found.of_segment(number)).enumerate() {
            match kept {
                Some(kept) => act(at, kept)?,
                None => act(at, &find(at, term))?,
            }
        }
        Ok(())
    }
}
