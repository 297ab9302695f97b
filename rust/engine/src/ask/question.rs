//! One question, and how it is answered from prepared sources (S4, R1 to R5, D1 to D3).

use std::{
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
};

use crate::{
    ask::{
        answer::{Answer, Diagnostic, DiagnosticCode},
        excerpt::Finder,
        rank::{Found, Strategy, rank},
        searched::Searched,
    },
    catalog::bundles::Prepared,
    manifest::snapshot::Snapshot,
    search::{Criteria, Lookup, Staleness, search},
    text::{instant::Instant, terms::Terms},
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// Below this many concepts, starting a thread costs more than it saves.
const WORTH_A_THREAD: usize = 20_000;
/// And with fewer places to look at in the largest source.
const WORTH_THE_EFFORT: usize = 1_000;

/// What finds the terms of a question of more bytes is made at once, not for the first excerpt.
const MADE_LATER: usize = 64 << 10;

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
    pub(crate) fn criteria(&self, now: Instant, task: &Task) -> Result<Arc<Criteria>, Abandoned> {
        task.go_on()?;
        let terms = Terms::parse_for(&self.text, task)?;
        Ok(Arc::new(Criteria::of(terms, self.tag.as_deref(), self.staleness, now)))
    }

    /// The sources that it is put to.
    pub(crate) fn searched(&self, snapshot: &Arc<Snapshot>, prepared: &Prepared) -> Searched {
        Searched::of(snapshot, prepared, &self.visible, self.strategy.mixes_sources())
    }

    /// Whether another question is put to the same sources.
    pub(crate) fn is_put_to_the_same(&self, other: &Question) -> bool {
        self.strategy.mixes_sources() == other.strategy.mixes_sources() && self.visible == other.visible
    }

    /// Answers the question, as long as somebody waits for it; `limit` keeps the top of the ranking.
    pub(crate) fn answer(
        &self,
        searched: Arc<Searched>,
        criteria: Arc<Criteria>,
        lookup: &impl Lookup,
        limit: Option<usize>,
        threads: usize,
        task: &Task,
    ) -> Result<Answer, Abandoned> {
        let is_large = threads > 1 && searched.concepts() >= WORTH_A_THREAD;
        let is_worth_it = is_large && searched.takes(&criteria.terms, WORTH_THE_EFFORT);
        let threads = if is_worth_it { threads } else { 1 };
        let order = self.strategy.order();
        // Even of an answer without room it must be known whether anything matched.
        let kept = limit.map(|limit| limit.max(1));
        let found = parallel::map(&searched.sources, threads, |(source, index)| {
            task.go_on()?;
            let priority = searched.snapshot.sources[*source as usize].priority;
            Ok(Found { priority, scored: search(index, &criteria, lookup, order, kept, task)? })
        });
        let found = found.into_iter().collect::<Result<Vec<Found>, Abandoned>>()?;
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
        let finder = if self.text.len() > MADE_LATER && !hits.is_empty() {
            // Whoever reads a passage cannot be interrupted; here somebody can.
            Finder::made_for(&criteria.terms, task)?.into()
        } else {
            OnceLock::new()
        };
        Ok(Answer { searched, criteria, finder, hits, diagnostics })
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
