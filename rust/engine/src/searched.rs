//! The sources that a question is put to (S4, R4, D3).

use std::sync::Arc;

use hashbrown::HashSet;

use crate::{
    answer::{Diagnostic, DiagnosticCode},
    containment::Identity,
    index::Index,
    manifest::quoted,
    snapshot::Snapshot,
    sources::Prepared,
    terms::Terms,
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
    /// Of these sources, in order S1; if `once`, one directory that several of them name is searched once.
    pub(crate) fn of(snapshot: &Arc<Snapshot>, prepared: &Prepared, visible: &[u32], once: bool) -> Self {
        let mut this = Self {
            snapshot: Arc::clone(snapshot),
            sources: Vec::with_capacity(visible.len()),
            unavailable: Vec::new(),
        };
        let mut met: HashSet<Identity> = HashSet::new();
        for &source in visible {
            let source_of = prepared.get(source);
            let identity = match source_of {
                Ok(ready) => Some(ready.identity),
                Err(unavailable) => unavailable.identity,
            };
            if once && identity.is_some_and(|identity| !met.insert(identity)) {
                continue;
            }
            match source_of {
                Ok(ready) => this.sources.push((source, Arc::clone(&ready.state.index))),
                Err(unavailable) => {
                    this.unavailable.push(source_unavailable(snapshot, source, unavailable.told()));
                }
            }
        }
        this
    }

    /// Whether finding these terms in the largest source takes about `cost` comparisons, or more.
    pub(crate) fn costs_at_least(&self, terms: &Terms, cost: usize) -> bool {
        let largest = self.sources.iter().map(|(_, index)| index).max_by_key(|index| index.len());
        largest.is_some_and(|index| index.costs_at_least(terms, cost))
    }

    /// How many concepts there are in all of them.
    pub(crate) fn concepts(&self) -> usize {
        self.sources.iter().map(|(_, index)| index.len()).sum()
    }
}

pub(crate) fn source_unavailable(snapshot: &Snapshot, source: u32, reason: &str) -> Diagnostic {
    let id = &snapshot.sources[source as usize].id;
    Diagnostic {
        code: DiagnosticCode::SourceUnavailable,
        source: Some(source),
        message: format!("source {} is unavailable: {reason}", quoted(id)),
    }
}
