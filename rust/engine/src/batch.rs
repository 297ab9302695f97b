//! Many questions at once, in slices, so that whoever waits can also be called away.

use std::{
    ops::Deref,
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant as Moment},
};

use hashbrown::HashMap;

use crate::{
    answer::Answer,
    index::{Matches, Segment},
    instant::Instant,
    parallel,
    question::Question,
    search::{Criteria, Lookup},
    searched::Searched,
    snapshot::Snapshot,
    sources::Prepared,
    terms::Terms,
};

/// How many bytes of matches a batch keeps for its other questions.
const KEPT: usize = 256 << 20;
/// What an entry costs besides its matches.
const ENTRY: usize = 64;
/// How many entries there is room for: a slot each, even while it is empty.
const SLOTS: usize = 4 << 20;

/// Questions that are put to one state of the sources.
#[derive(Debug)]
pub struct Batch<'questions> {
    limit: Option<usize>,
    threads: usize,
    asked: Vec<Asked<'questions>>,
    shared: Shared,
    answers: Vec<Option<Answer>>,
    /// The questions without an answer.
    open: Vec<usize>,
}

/// A question taken apart.
#[derive(Debug)]
struct Asked<'questions> {
    question: &'questions Question,
    criteria: Arc<Criteria>,
    /// The numbers of its terms in the batch.
    terms: Vec<u32>,
    searched: Arc<Searched>,
}

impl<'questions> Batch<'questions> {
    pub(crate) fn new(
        snapshot: &Arc<Snapshot>,
        prepared: &Prepared,
        questions: &'questions [Question],
        now: Instant,
        limit: Option<usize>,
        threads: usize,
    ) -> Self {
        let criteria = parallel::map(questions, threads, |question| question.criteria(now));
        let (terms, count) = numbered(&criteria);
        let shared = Shared::new(count, prepared);
        let mut asked: Vec<Asked<'_>> = Vec::with_capacity(questions.len());
        for ((question, criteria), terms) in questions.iter().zip(criteria).zip(terms) {
            // Most often one caller asks all of them.
            let searched = match asked.last() {
                Some(last) if last.question.is_put_to_the_same(question) => Arc::clone(&last.searched),
                _ => Arc::new(question.searched(snapshot, prepared)),
            };
            asked.push(Asked { question, criteria, terms, searched });
        }
        Self {
            limit,
            threads,
            asked,
            shared,
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
            let Asked { question, criteria, terms, searched } = &self.asked[*at];
            let lookup = Numbered { shared: &self.shared, numbers: terms };
            Some(question.answer(Arc::clone(searched), Arc::clone(criteria), &lookup, self.limit, 1))
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

/// The numbers of each question's terms, equal ones for equal terms, and how many there are.
fn numbered(criteria: &[Arc<Criteria>]) -> (Vec<Vec<u32>>, usize) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |term| {
        let next = u32::try_from(numbers.len()).expect("a batch has fewer terms than 32 bits count");
        *numbers.entry(term).or_insert(next)
    };
    let terms = criteria
        .iter()
        .map(|criteria| criteria.terms.as_slice().iter().map(|(term, _)| number(term.as_str())).collect())
        .collect();
    (terms, numbers.len())
}

/// The matches of every term of a batch, each found once.
#[derive(Debug)]
struct Shared {
    /// By the address of the segment, which the batch keeps alive; then by the number of the term.
    matches: HashMap<usize, Vec<OnceLock<Arc<Matches>>>>,
    kept: AtomicUsize,
}

impl Shared {
    fn new(terms: usize, prepared: &Prepared) -> Self {
        let segments: Vec<&Segment> = prepared.indexes().flat_map(|index| index.segments()).collect();
        // Terms beyond that are found anew each time. What is asked often tends to come early.
        let each = terms.min(SLOTS / segments.len().max(1));
        let slots = || (0..each).map(|_| OnceLock::new()).collect();
        let matches = segments.into_iter().map(|segment| (ptr::from_ref(segment).addr(), slots())).collect();
        Self { matches, kept: AtomicUsize::new(0) }
    }
}

/// Finds the matches of one question's terms among those of the batch.
struct Numbered<'batch> {
    shared: &'batch Shared,
    numbers: &'batch [u32],
}

/// Borrowed, where the batch keeps them: counting the holders of what all threads use would make the
/// threads wait for each other.
enum Held<'batch> {
    Kept(&'batch Matches),
    Own(Arc<Matches>),
}

impl Deref for Held<'_> {
    type Target = Matches;

    fn deref(&self) -> &Matches {
        match self {
            Held::Kept(matches) => matches,
            Held::Own(matches) => matches,
        }
    }
}

impl<'batch> Lookup for Numbered<'batch> {
    type Held = Held<'batch>;

    fn matches(&self, segment: &Segment, terms: &Terms) -> Vec<Held<'batch>> {
        let slots = self.shared.matches.get(&ptr::from_ref(segment).addr()).map_or(&[][..], Vec::as_slice);
        let find = |number: &u32, term: &str| match slots.get(*number as usize) {
            Some(slot) if self.shared.kept.load(Ordering::Relaxed) <= KEPT => {
                Held::Kept(slot.get_or_init(|| {
                    let found = segment.matches(term);
                    self.shared.kept.fetch_add(found.size() + ENTRY, Ordering::Relaxed);
                    found
                }))
            }
            slot => match slot.and_then(OnceLock::get) {
                Some(found) => Held::Kept(found),
                None => Held::Own(segment.matches(term)),
            },
        };
        self.numbers.iter().zip(terms.as_slice()).map(|(number, (term, _))| find(number, term)).collect()
    }
}
