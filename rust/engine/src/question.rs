//! One question, and how it is answered from prepared sources (S4, R1 to R5, D1 to D3).

use std::{
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
};

use crate::{
    answer::{Answer, Diagnostic, DiagnosticCode},
    containment::Identity,
    index::Index,
    instant::Instant,
    parallel,
    rank::{Found, Strategy, rank},
    search::{Criteria, Lookup, Staleness, search},
    snapshot::Snapshot,
    sources::Prepared,
};

/// Below this many concepts, starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 20_000;

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

/// A question taken apart, ready to be put to sources.
#[derive(Debug)]
pub(crate) struct Asked<'question> {
    question: &'question Question,
    pub(crate) criteria: Criteria,
}

impl Question {
    pub(crate) fn ask(&self, now: Instant) -> Asked<'_> {
        let criteria = Criteria::new(&self.text, self.tag.as_deref(), self.staleness, now);
        Asked { question: self, criteria }
    }
}

impl Asked<'_> {
    /// Answers the question; `limit` keeps the top of the ranking.
    pub(crate) fn answer(
        self,
        snapshot: &Arc<Snapshot>,
        prepared: &Prepared,
        lookup: &impl Lookup,
        limit: Option<usize>,
        threads: usize,
    ) -> Answer {
        let Self { question, criteria } = self;
        let mut diagnostics = Vec::new();
        let mut searched: Vec<(u32, Arc<Index>)> = Vec::with_capacity(question.visible.len());
        let mut met: Vec<Identity> = Vec::with_capacity(question.visible.len());
        for &source in &question.visible {
            let source_of = prepared.get(source);
            let identity = match source_of {
                Ok(ready) => Some(ready.identity),
                Err(unavailable) => unavailable.identity,
            };
            if question.strategy.mixes_sources() && identity.is_some_and(|identity| met.contains(&identity)) {
                continue;
            }
            met.extend(identity);
            match source_of {
                Ok(ready) => searched.push((source, Arc::clone(&ready.state.index))),
                Err(unavailable) => {
                    diagnostics.push(source_unavailable(snapshot, source, &unavailable.reason));
                }
            }
        }
        let concepts: usize = searched.iter().map(|(_, index)| index.len()).sum();
        let threads = if concepts < WORTH_A_THREAD { 1 } else { threads };
        let order = question.strategy.order();
        // Even of an answer without room it must be known whether anything matched.
        let kept = limit.map(|limit| limit.max(1));
        let scored =
            parallel::map(&searched, threads, |(_, index)| search(index, &criteria, lookup, order, kept));
        let found: Vec<Found> = searched
            .iter()
            .zip(scored)
            .map(|((source, _), scored)| Found {
                priority: snapshot.sources[*source as usize].priority,
                scored,
            })
            .collect();
        let nothing_found = found.iter().all(|source| source.scored.is_empty());
        let hits = rank(&found, question.strategy, question.quota, limit);
        if question.visible.is_empty() {
            diagnostics.push(nothing_to_search(snapshot));
        } else if !searched.is_empty() && nothing_found {
            diagnostics.push(Diagnostic {
                code: DiagnosticCode::NoMatches,
                source: None,
                message: "no concept of the searched sources matches".to_owned(),
            });
        }
        Answer {
            snapshot: Arc::clone(snapshot),
            terms: criteria.terms,
            finder: OnceLock::new(),
            searched,
            hits,
            diagnostics,
        }
    }
}

fn source_unavailable(snapshot: &Snapshot, source: u32, reason: &str) -> Diagnostic {
    let id = &snapshot.sources[source as usize].id;
    Diagnostic {
        code: DiagnosticCode::SourceUnavailable,
        source: Some(source),
        message: format!("source {id:?} is unavailable: {reason}"),
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
