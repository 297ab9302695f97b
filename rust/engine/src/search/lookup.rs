//! Where a search gets what segments have for the terms of a question.

use std::{ops::Deref, sync::Arc};

use crate::search::index::{Cached, Frequencies, Matches, Segment};

/// What a scoring needs to know of a term in a segment.
pub(crate) trait OfTerm: Cached + Send + Sync + Sized {
    /// Asks the segment.
    fn find(segment: &Segment, term: &str) -> Arc<Self>;
}

impl OfTerm for Matches {
    fn find(segment: &Segment, term: &str) -> Arc<Self> {
        segment.matches(term)
    }
}

impl OfTerm for Frequencies {
    fn find(segment: &Segment, term: &str) -> Arc<Self> {
        segment.frequencies(term)
    }
}

/// Gives what segments have for a question's terms.
pub(crate) trait Lookup<V: OfTerm>: Sync {
    /// A handle to a value that some owner keeps in memory.
    #[doc(hidden)]
    type Handle: Deref<Target = V> + Send + Sync;

    /// A function from one of the question's terms (its position among them, and the term itself) to what a segment
    /// has for it.
    #[doc(hidden)]
    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Self::Handle + 'a;
}

/// Asks the segment itself for each term.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DirectLookup;

impl<V: OfTerm> Lookup<V> for DirectLookup {
    type Handle = Arc<V>;

    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Arc<V> + 'a {
        |_, term| V::find(segment, term)
    }
}
