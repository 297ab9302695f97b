//! A question that is being answered: what it compares concepts with, and the sources it is put to (R1 to R5,
//! D1 to D3).

use std::sync::{Arc, OnceLock, atomic::AtomicUsize};

use crate::{
    ask::{
        answer::Answer,
        diagnostic::Diagnostic,
        excerpt::Finder,
        question::Question,
        rank::{Found, rank},
        searched::Searched,
        sources::Sources,
    },
    manifest::snapshot::Snapshot,
    search::{
        Criteria, DirectLookup, Lookup, Scored, Scoring,
        bm25f::{self, FoundTerms},
        index::{Frequencies, Matches},
        weighted_terms,
    },
    text::instant::Instant,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// With fewer concepts than this, starting a thread costs more time than it saves.
const MIN_CONCEPTS_FOR_THREADS: usize = 20_000;
/// So does it where finding the terms takes fewer steps than this in the largest source, each one entry of the
/// vocabulary.
const MIN_EFFORT_FOR_THREADS: usize = 1_000;
/// Bytes of text of a question from which on its finder is made with the answer, and not when the first excerpt
/// is read: making it takes long, and only answering can be interrupted.
const LONG_QUESTION: usize = 64 << 10;

/// The concepts that matched in one source.
type ScoredSource = Result<Vec<Scored>, Abandoned>;

/// A question with its criteria and sources.
#[derive(Debug)]
pub(crate) struct Asked<'question> {
    question: &'question Question,
    pub(super) criteria: Arc<Criteria>,
    pub(super) searched: Arc<Searched>,
}

impl<'question> Asked<'question> {
    /// Puts a question to the sources at the time `now`.
    pub(crate) fn new(
        question: &'question Question,
        snapshot: &Arc<Snapshot>,
        sources: &impl Sources,
        now: Instant,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        let searched = Arc::new(question.searched(snapshot, sources));
        Ok(Self { question, criteria: question.criteria(now, task)?, searched })
    }

    /// The same, where the parts are known already.
    pub(super) fn of(
        question: &'question Question,
        criteria: Arc<Criteria>,
        searched: Arc<Searched>,
    ) -> Self {
        Self { question, criteria, searched }
    }

    /// The sources, if the next question is put to the same ones.
    pub(super) fn sources_for(&self, next: &Question) -> Option<Arc<Searched>> {
        self.question.shares_sources_with(next).then(|| Arc::clone(&self.searched))
    }

    /// Answers the question by itself.
    pub(crate) fn answer(self, threads: usize, task: &Task) -> Result<Answer, Abandoned> {
        self.answer_with(&DirectLookup, None, threads, task)
    }

    /// Answers the question with postings from `lookup`; `limit` keeps the top of the ranking.
    pub(super) fn answer_with(
        &self,
        lookup: &(impl Lookup<Matches> + Lookup<Frequencies>),
        limit: Option<usize>,
        threads: usize,
        task: &Task,
    ) -> Result<Answer, Abandoned> {
        let Self { question, criteria, searched } = self;
        let threads = if threads > 1 && self.is_worth_threads() { threads } else { 1 };
        let order = question.strategy.order();
        // At least one, so that an answer without room still tells whether anything matched.
        let kept = limit.map(|limit| limit.max(1));
        let (scored, rarities) = match question.scoring {
            Scoring::WeightedTerms => {
                let scored = parallel::map(&searched.sources, threads, |(_, index)| {
                    task.go_on()?;
                    weighted_terms::search(index, criteria, lookup, order, kept, task)
                });
                (scored, Vec::new())
            }
            Scoring::Bm25f => self.score_in_words(lookup, kept, threads, task)?,
        };
        let scored = scored.into_iter().collect::<Result<Vec<_>, Abandoned>>()?;
        let priority = |source: u32| searched.snapshot.sources[source as usize].priority;
        let sources = searched.sources.iter().map(|(source, _)| priority(*source));
        let found: Vec<Found> =
            sources.zip(scored).map(|(priority, scored)| Found { priority, scored }).collect();
        let hits = rank(&found, question.strategy, question.quota, limit);
        let finder = if question.text.len() > LONG_QUESTION && !hits.is_empty() {
            match &*rarities {
                [] => Finder::new_for(&criteria.terms, task)?,
                rarities => Finder::of_rarities(&criteria.terms, rarities, task)?,
            }
            .into()
        } else {
            OnceLock::new()
        };
        let diagnostics = self.diagnostics(found.iter().all(|source| source.scored.is_empty()));
        let (searched, criteria) = (Arc::clone(searched), Arc::clone(criteria));
        Ok(Answer { searched, criteria, rarities, finder, hits, diagnostics })
    }

    /// The concepts of each source by BM25F, and the rarity of each term. All terms are counted in all sources before
    /// the first concept is scored (V6).
    fn score_in_words(
        &self,
        lookup: &impl Lookup<Frequencies>,
        kept: Option<usize>,
        threads: usize,
        task: &Task,
    ) -> Result<(Vec<ScoredSource>, Vec<u32>), Abandoned> {
        let Self { question, criteria, searched } = self;
        let bytes = AtomicUsize::new(0);
        let found = parallel::map(&searched.sources, threads, |(_, index)| {
            FoundTerms::find(index, &criteria.terms, lookup, &bytes, task)
        });
        let found = found.into_iter().collect::<Result<Vec<_>, Abandoned>>()?;
        let statistics = bm25f::statistics(&criteria.terms, found.iter());
        let sources: Vec<_> = searched.sources.iter().map(|(_, index)| index).zip(found).collect();
        let order = question.strategy.order();
        let scored = parallel::map(&sources, threads, |(index, found)| {
            task.go_on()?;
            bm25f::search(index, criteria, &statistics, found, lookup, order, kept, task)
        });
        Ok((scored, statistics.rarities))
    }

    fn is_worth_threads(&self) -> bool {
        self.searched.concepts() >= MIN_CONCEPTS_FOR_THREADS
            && self.searched.costs_at_least(&self.criteria.terms, MIN_EFFORT_FOR_THREADS)
    }

    fn diagnostics(&self, nothing_found: bool) -> Vec<Diagnostic> {
        let searched = &self.searched;
        let mut diagnostics = searched.unavailable.clone();
        if self.question.visible.is_empty() {
            diagnostics.push(Diagnostic::nothing_to_search(&searched.snapshot));
        } else if !searched.sources.is_empty() && nothing_found {
            diagnostics.push(Diagnostic::no_matches());
        }
        diagnostics
    }
}
