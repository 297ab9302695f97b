//! Many questions at once. Each is given up in the middle when nobody waits any more.

use std::{
    ops::Deref,
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
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
    task::{Abandoned, Task},
};

/// How many bytes of matches a batch keeps for its other questions.
const KEPT: usize = 256 << 20;
/// What an entry costs besides its matches.
const ENTRY: usize = 64;
/// How many entries there is room for: a slot each, even while it is empty.
const SLOTS: usize = 4 << 20;

/// A question taken apart.
#[derive(Debug)]
struct Asked<'questions> {
    question: &'questions Question,
    criteria: Arc<Criteria>,
    /// The numbers of its terms in the batch.
    terms: Vec<u32>,
    searched: Arc<Searched>,
}

/// Answers questions that are put to one state of the sources, in their order.
pub(crate) fn answer(
    snapshot: &Arc<Snapshot>,
    prepared: &Prepared,
    questions: &[Question],
    now: Instant,
    limit: Option<usize>,
    threads: usize,
    task: &Task,
) -> Result<Vec<Answer>, Abandoned> {
    let criteria = parallel::map(questions, threads, |question| question.criteria(now, task));
    let criteria = criteria.into_iter().collect::<Result<Vec<_>, Abandoned>>()?;
    let (terms, count) = numbered(&criteria, task)?;
    let shared = Shared::new(count, prepared);
    let mut asked: Vec<Asked<'_>> = Vec::with_capacity(questions.len());
    for ((question, criteria), terms) in questions.iter().zip(criteria).zip(terms) {
        task.go_on()?;
        // Most often one caller asks all of them.
        let searched = match asked.last() {
            Some(last) if last.question.is_put_to_the_same(question) => Arc::clone(&last.searched),
            _ => Arc::new(question.searched(snapshot, prepared)),
        };
        asked.push(Asked { question, criteria, terms, searched });
    }
    let answers = parallel::map(&asked, threads, |Asked { question, criteria, terms, searched }| {
        task.go_on()?;
        let lookup = BatchLookup { shared: &shared, numbers: terms };
        question.answer(Arc::clone(searched), Arc::clone(criteria), &lookup, limit, 1, task)
    });
    answers.into_iter().collect()
}

/// The numbers of each question's terms, equal ones for equal terms, and how many there are.
fn numbered(criteria: &[Arc<Criteria>], task: &Task) -> Result<(Vec<Vec<u32>>, usize), Abandoned> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |term| {
        let next = u32::try_from(numbers.len()).expect("a batch has fewer terms than 32 bits count");
        *numbers.entry(term).or_insert(next)
    };
    let mut terms = Vec::with_capacity(criteria.len());
    for criteria in criteria {
        task.go_on()?;
        terms.push(criteria.terms.as_slice().iter().map(|(term, _)| number(term.as_str())).collect());
    }
    Ok((terms, numbers.len()))
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
struct BatchLookup<'batch> {
    shared: &'batch Shared,
    numbers: &'batch [u32],
}

/// Borrowed, where the batch keeps them: counting the holders of what all threads use would make the
/// threads wait for each other.
enum MatchesHandle<'batch> {
    Shared(&'batch Matches),
    Owned(Arc<Matches>),
}

impl Deref for MatchesHandle<'_> {
    type Target = Matches;

    fn deref(&self) -> &Matches {
        match self {
            MatchesHandle::Shared(matches) => matches,
            MatchesHandle::Owned(matches) => matches,
        }
    }
}

impl<'batch> Lookup for BatchLookup<'batch> {
    type Handle = MatchesHandle<'batch>;

    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> MatchesHandle<'batch> + 'a {
        let shared = self.shared;
        let slots = shared.matches.get(&ptr::from_ref(segment).addr()).map_or(&[][..], Vec::as_slice);
        move |at, term| {
            let slot = self.numbers.get(at).and_then(|number| slots.get(*number as usize));
            match slot {
                Some(slot) if shared.kept.load(Ordering::Relaxed) <= KEPT => {
                    MatchesHandle::Shared(slot.get_or_init(|| {
                        let found = segment.matches(term);
                        shared.kept.fetch_add(found.size() + ENTRY, Ordering::Relaxed);
                        found
                    }))
                }
                slot => match slot.and_then(OnceLock::get) {
                    Some(found) => MatchesHandle::Shared(found),
                    None => MatchesHandle::Owned(segment.matches(term)),
                },
            }
        }
    }
}
