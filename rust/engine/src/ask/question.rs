//! One question, after everything about it was checked and its visibility was settled.

use std::{num::NonZeroUsize, sync::Arc};

use crate::{
    ask::{rank::Strategy, searched::Searched, sources::Sources, unit::Unit},
    manifest::snapshot::Snapshot,
    search::{Criteria, Scoring, Staleness},
    text::{instant::Instant, terms::Terms, words},
    work::task::{Abandoned, Task},
};

/// A question of more bytes takes so long that it must be possible to interrupt it: it is not answered in-line, on
/// the thread of the caller.
const MAX_INLINE_BYTES: usize = 512;

/// What is asked, of which sources, and how the answer is ordered.
#[derive(Debug, Clone)]
pub struct Question {
    /// What is looked for.
    pub text: String,
    /// The tag a concept must carry, unless it is blank (K5).
    pub tag: Option<String>,
    /// Which stale concepts are admitted (L3).
    pub staleness: Staleness,
    /// How concepts are scored.
    pub scoring: Scoring,
    /// What one passage is.
    pub unit: Unit,
    /// How the passages are ordered.
    pub strategy: Strategy,
    /// How many passages in a row may come from one source (R5).
    pub quota: Option<NonZeroUsize>,
    /// The sources to search: positions in the snapshot, in order S1.
    pub visible: Vec<u32>,
}

impl Question {
    /// Whether it may be answered in-line.
    pub(crate) fn is_short(&self) -> bool {
        self.text.len() <= MAX_INLINE_BYTES
    }

    /// What every concept is compared with, at the time `now`.
    pub(super) fn criteria(&self, now: Instant, task: &Task) -> Result<Arc<Criteria>, Abandoned> {
        task.go_on()?;
        let terms = match self.scoring {
            Scoring::WeightedTerms => Terms::parse_for(&self.text, task)?,
            Scoring::Bm25f => words::parse(&self.text, task)?,
        };
        Ok(Arc::new(Criteria::of(terms, self.tag.as_deref(), self.staleness, now)))
    }

    /// The sources that it is put to.
    pub(super) fn searched(&self, snapshot: &Arc<Snapshot>, sources: &impl Sources) -> Searched {
        Searched::new(snapshot, sources, &self.visible, self.strategy.mixes_sources())
    }

    /// Whether another question is put to the same sources in the same way.
    pub(super) fn shares_sources_with(&self, other: &Question) -> bool {
        self.strategy.mixes_sources() == other.strategy.mixes_sources() && self.visible == other.visible
    }
}
