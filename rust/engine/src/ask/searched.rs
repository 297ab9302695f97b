//! The sources that a question is put to (S4, R4, D3).

use std::sync::Arc;

use hashbrown::HashSet;

use crate::{
    ask::{
        diagnostic::Diagnostic,
        sources::{SourceIdentity, Sources},
    },
    manifest::snapshot::Snapshot,
    search::index::Index,
    text::terms::Terms,
};

/// Which of the visible sources can be searched, and why the others cannot. Questions of one caller share it.
#[derive(Debug)]
pub(crate) struct Searched {
    pub(crate) snapshot: Arc<Snapshot>,
    /// In order S1: the position in the snapshot, and the index.
    pub(crate) sources: Vec<(u32, Arc<Index>)>,
    /// One for each source that failed, in order S1.
    pub(crate) unavailable: Vec<Diagnostic>,
}

impl Searched {
    /// The visible sources, given in order S1; with `deduplicate`, sources of one identity are searched once, as
    /// the first of them (R4).
    pub(crate) fn new(
        snapshot: &Arc<Snapshot>,
        sources: &impl Sources,
        visible: &[u32],
        deduplicate: bool,
    ) -> Self {
        let mut this = Self {
            snapshot: Arc::clone(snapshot),
            sources: Vec::with_capacity(visible.len()),
            unavailable: Vec::new(),
        };
        let mut met: HashSet<SourceIdentity> = HashSet::new();
        for &source in visible {
            let searchable = sources.searchable(source);
            let identity = match searchable {
                Ok(searchable) => Some(searchable.identity),
                Err(unavailable) => unavailable.identity,
            };
            if deduplicate && identity.is_some_and(|identity| !met.insert(identity)) {
                continue;
            }
            match searchable {
                Ok(searchable) => this.sources.push((source, Arc::clone(searchable.index))),
                Err(unavailable) => {
                    let diagnostic = Diagnostic::source_unavailable(snapshot, source, unavailable.reason);
                    this.unavailable.push(diagnostic);
                }
            }
        }
        this
    }

    /// Whether finding these terms in the largest source takes at least about `effort` steps, each one entry of
    /// its vocabulary.
    pub(crate) fn costs_at_least(&self, terms: &Terms, effort: usize) -> bool {
        let largest = self.sources.iter().map(|(_, index)| index).max_by_key(|index| index.len());
        largest.is_some_and(|index| index.costs_at_least(terms, effort))
    }

    /// How many concepts all sources have together.
    pub(crate) fn concepts(&self) -> usize {
        self.sources.iter().map(|(_, index)| index.len()).sum()
    }
}
