//! Where a search gets the matches of a question's terms from.

use std::{ops::Deref, sync::Arc};

use crate::search::index::{Matches, Segment};

/// Gives the matches of a question's terms in a segment.
pub(crate) trait Lookup: Sync {
    /// A handle to matches that some owner keeps in memory.
    #[doc(hidden)]
    type Handle: Deref<Target = Matches> + Send;

    /// A function from one of the question's terms (its position among them, and the term itself) to its
    /// matches in a segment.
    #[doc(hidden)]
    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Self::Handle + 'a;
}

/// Asks the segment itself for the matches of each term.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DirectLookup;

impl Lookup for DirectLookup {
    type Handle = Arc<Matches>;

    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Arc<Matches> + 'a {
        |_, term| segment.matches(term)
    }
}
