//! One question, and how it is answered from prepared sources (S4, R1 to R5, D1 to D3).

use std::{
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
};

use crate::{
    answer::{Answer, Diagnostic, DiagnosticCode},
    instant::Instant,
    parallel,
    rank::{Found, Strategy, rank},
    search::{Criteria, Lookup, Staleness, search},
    searched::Searched,
    snapshot::Snapshot,
    sources::Prepared,
};

/// Below this many concepts, starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 20_000;
/// And with fewer places to look at in the largest source.
const WORTH_THE_EFFORT: usize = 1_000;

/// A question after everything about it was checked and its visibility was settled.
#[derive(Debug, Clone)]
pub struct Question {
    /// What is looked for.
    pub text: String,
    /// The tag a concept must carry, unless it is blank.
    pub tag: Option<String>,
    /// Which stale concepts are admitted.
    pub staleness: Staleness,
    /// How the passages are ordered.
    pub strategy: Strategy,
    /// How many passages in a row may come from one source.
    pub quota: Option<NonZeroUsize>,
    /// The sources to search: positions in the snapshot, in order S1.
    pub visible: Vec<u32>,
}

impl Question {
    /// What every concept is asked.
    pub(crate) fn criteria(&self, now: Instant) -> Arc<Criteria> {
        Arc::new(Criteria::new(&self.text, self.tag.as_deref(), self.staleness, now))
    }

    /// The sources that it is put to.
    pub(crate) fn searched(&self, snapshot: &Arc<Snapshot>, prepared: &Prepared) -> Searched {
        Searched::of(snapshot, prepared, &self.visible, self.strategy.mixes_sources())
    }

    /// Whether another question is put to the same sources.
    pub(crate) fn is_put_to_the_same(&self, other: &Question) -> bool {
        self.strategy.mixes_sources() == other.strategy.mixes_sources() && self.visible == other.visible
    }

    /// Answers the question; `limit` keeps the top of the ranking.
    pub(crate) fn answer(
        &self,
        searched: Arc<Searched>,
        criteria: Arc<Criteria>,
        lookup: &impl Lookup,
        limit: Option<usize>,
        threads: usize,
    ) -> Answer {
        let is_large = threads > 1 && searched.concepts() >= WORTH_A_THREAD;
        let is_worth_it = is_large && searched.effort(&criteria.terms) >= WORTH_THE_EFFORT;
        let threads = if is_worth_it { threads } else { 1 };
        let order = self.strategy.order();
        // Even of an answer without room it must be known whether anything matched.
        let kept = limit.map(|limit| limit.max(1));
        let found: Vec<Found> = parallel::map(&searched.sources, threads, |(source, index)| Found {
            priority: searched.snapshot.sources[*source as usize].priority,
            scored: search(index, &criteria, lookup, order, kept),
        });
        let nothing_found = found.iter().all(|source| source.scored.is_empty());
        let hits = rank(&found, self.strategy, self.quota, limit);
        let mut diagnostics = searched.unavailable.clone();
        if self.visible.is_empty() {
            diagnostics.push(nothing_to_search(&searched.snapshot));
        } else if !searched.sources.is_empty() && nothing_found {
            diagnostics.push(Diagnostic {
                code: DiagnosticCode::NoMatches,
                source: None,
                message: "no concept of the searched sources matches".to_owned(),
            });
        }
        Answer { searched, criteria, finder: OnceLock::new(), hits, diagnostics }
    }
}

fn nothing_to_search(snapshot: &Snapshot) -> Diagnostic {
    let message = if snapshot.candidates().is_empty() {
        "the catalog has no enabled knowledge source"
    } else {
        "no source of the catalog is visible to the caller"
    };
    Diagnostic { code: DiagnosticCode::NoEnabledSources, source: None, message: message.to_owned() }
}
