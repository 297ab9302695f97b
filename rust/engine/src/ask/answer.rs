//! The answer to one question (D1 to D5).

use std::sync::{Arc, OnceLock};

use crate::{
    ask::{
        diagnostic::Diagnostic,
        excerpt::{Finder, excerpt},
        rank::Hit,
        searched::Searched,
        snippet::snippet,
    },
    document::concept::Concept,
    manifest::snapshot::Snapshot,
    search::Criteria,
    work::task::Task,
};

/// A ranked answer. It holds the indexes it came from, so that what it shows never changes.
#[derive(Debug)]
pub struct Answer {
    pub(crate) searched: Arc<Searched>,
    pub(crate) criteria: Arc<Criteria>,
    /// Under BM25F, the rarity of each term.
    pub(crate) rarities: Vec<u32>,
    /// Made for the first excerpt or snippet.
    pub(crate) finder: OnceLock<Finder>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Answer {
    /// How many passages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether there is no passage.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// The passage at a place of the ranking, if there are that many.
    #[must_use]
    pub fn passage(&self, place: usize) -> Option<Passage> {
        let hit = self.hits.get(place)?;
        let (source, index) = &self.searched.sources[hit.source as usize];
        Some(Passage { concept: Arc::clone(index.concept(hit.concept)), source: *source, score: hit.score })
    }

    /// The line that shows why a passage of this answer matched (K6).
    #[must_use]
    pub fn excerpt<'concept>(&self, concept: &'concept Concept) -> &'concept str {
        excerpt(&concept.document.body, self.finder())
    }

    /// What a reader should see of a passage of this answer, on one line (K7).
    #[must_use]
    pub fn snippet(&self, concept: &Concept) -> String {
        snippet(&concept.document, self.finder())
    }

    /// Whether a passage of this answer was stale when the question was asked (L3), whatever its policy.
    #[must_use]
    pub fn is_stale(&self, concept: &Concept) -> bool {
        self.criteria.is_stale(concept.document.stale_at)
    }

    fn finder(&self) -> &Finder {
        self.finder.get_or_init(|| match &*self.rarities {
            [] => Finder::new(&self.criteria.terms),
            rarities => Finder::of_rarities(&self.criteria.terms, rarities, &Task::default())
                .expect("only this function has the task, and it abandons nothing"),
        })
    }

    /// What the asker should know.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The catalog the question was put to.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.searched.snapshot
    }
}

/// One concept in an answer.
#[derive(Debug, Clone)]
pub struct Passage {
    /// What matched.
    pub concept: Arc<Concept>,
    /// Its source, as a position in the snapshot.
    pub source: u32,
    /// What it is worth.
    pub score: u32,
}
