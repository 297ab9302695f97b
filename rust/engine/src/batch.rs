//! Many questions at once, in slices, so that whoever waits can also be called away.

use std::{
    collections::HashMap,
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant as Moment},
};

use crate::{
    answer::Answer,
    index::{Matches, Segment},
    instant::Instant,
    parallel,
    question::Question,
    search::Lookup,
    snapshot::Snapshot,
    sources::Prepared,
    terms::Terms,
};

/// How many bytes of matches a batch keeps for its other questions.
const KEPT: usize = 256 << 20;

/// Questions that are put to one state of the sources.
#[derive(Debug)]
pub struct Batch<'questions> {
    snapshot: Arc<Snapshot>,
    prepared: &'questions Prepared,
    questions: &'questions [Question],
    now: Instant,
    limit: Option<usize>,
    threads: usize,
    terms: Shared,
    answers: Vec<Option<Answer>>,
    /// The questions without an answer.
    open: Vec<usize>,
}

impl<'questions> Batch<'questions> {
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        prepared: &'questions Prepared,
        questions: &'questions [Question],
        now: Instant,
        limit: Option<usize>,
        threads: usize,
    ) -> Self {
        Self {
            terms: Shared::of(prepared, questions),
            snapshot,
            prepared,
            questions,
            now,
            limit,
            threads,
            answers: questions.iter().map(|_| None).collect(),
            open: (0..questions.len()).collect(),
        }
    }

    /// Answers questions for about `time`; whether all are answered then.
    pub fn advance(&mut self, time: Duration) -> bool {
        let until = Moment::now() + time;
        let answered = parallel::map(&self.open, self.threads, |at| {
            if Moment::now() >= until {
                return None;
            }
            let asked = self.questions[*at].ask(self.now);
            Some(asked.answer(&self.snapshot, self.prepared, &self.terms, self.limit, 1))
        });
        let asked = std::mem::take(&mut self.open);
        for (at, answer) in asked.into_iter().zip(answered) {
            if answer.is_none() {
                self.open.push(at);
            }
            self.answers[at] = answer;
        }
        self.open.is_empty()
    }

    /// The answers, in the order of the questions; those not answered yet are missing.
    #[must_use]
    pub fn finish(self) -> Vec<Answer> {
        self.answers.into_iter().flatten().collect()
    }
}

/// The matches of every term of a batch, each found once.
#[derive(Debug)]
struct Shared {
    numbers: HashMap<String, usize>,
    /// By the address of the segment, which the batch keeps alive; then by the number of the term.
    matches: HashMap<usize, Vec<OnceLock<Arc<Matches>>>>,
    kept: AtomicUsize,
}

impl Shared {
    fn of(prepared: &Prepared, questions: &[Question]) -> Self {
        let mut numbers = HashMap::new();
        for question in questions {
            for (term, _) in Terms::parse(&question.text).as_slice() {
                if !numbers.contains_key(term) {
                    numbers.insert(term.clone(), numbers.len());
                }
            }
        }
        let segments = prepared.indexes().flat_map(|index| index.segments());
        let matches = segments
            .map(|segment| (ptr::from_ref(segment).addr(), numbers.iter().map(|_| OnceLock::new()).collect()))
            .collect();
        Self { numbers, matches, kept: AtomicUsize::new(0) }
    }
}

impl Lookup for Shared {
    fn matches(&self, segment: &Segment, term: &str) -> Arc<Matches> {
        let slots = self.matches.get(&ptr::from_ref(segment).addr());
        let (Some(slots), Some(number)) = (slots, self.numbers.get(term)) else {
            return segment.matches(term);
        };
        if self.kept.load(Ordering::Relaxed) > KEPT {
            return slots[*number].get().cloned().unwrap_or_else(|| segment.matches(term));
        }
        let found = slots[*number].get_or_init(|| {
            let found = segment.matches(term);
            self.kept.fetch_add(found.size(), Ordering::Relaxed);
            found
        });
        Arc::clone(found)
    }
}
