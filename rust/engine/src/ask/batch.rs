//! Many questions at once. The matches of a term are found once for all questions that have it.

use std::{
    ops::Deref,
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use hashbrown::{HashMap, HashSet};

use crate::{
    ask::{answer::Answer, asked::Asked, question::Question, searched::Searched, sources::Sources},
    manifest::snapshot::Snapshot,
    search::{
        Criteria, Lookup,
        index::{Matches, Segment},
    },
    text::instant::Instant,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// At most about this many bytes of matches are kept for the other questions of a batch; further ones are found
/// anew for each question.
const MAX_KEPT_BYTES: usize = 256 << 20;
/// Bytes that an entry costs besides its matches.
const ENTRY_BYTES: usize = 64;
/// At most this many entries, one for each segment and term: each costs 16 bytes even while it is empty.
const MAX_ENTRIES: usize = 4 << 20;

/// Answers questions that are put to one state of the sources, in their order.
pub(crate) fn answer(
    snapshot: &Arc<Snapshot>,
    sources: &impl Sources,
    questions: &[Question],
    now: Instant,
    limit: Option<usize>,
    threads: usize,
    task: &Task,
) -> Result<Vec<Answer>, Abandoned> {
    let criteria = parallel::map(questions, threads, |question| question.criteria(now, task));
    let criteria = criteria.into_iter().collect::<Result<Vec<_>, Abandoned>>()?;
    let (numbers, count) = numbered(&criteria, task)?;
    let mut asked: Vec<Asked<'_>> = Vec::with_capacity(questions.len());
    let mut distinct: Vec<Arc<Searched>> = Vec::new();
    for (question, criteria) in questions.iter().zip(criteria) {
        task.go_on()?;
        // Usually one caller asks all of them, so that they share their sources.
        let searched = asked.last().and_then(|last| last.sources_for(question)).unwrap_or_else(|| {
            let searched = Arc::new(question.searched(snapshot, sources));
            distinct.push(Arc::clone(&searched));
            searched
        });
        asked.push(Asked::of(question, criteria, searched));
    }
    let shared = Shared::new(count, &distinct);
    let asked: Vec<_> = asked.into_iter().zip(numbers).collect();
    let answers = parallel::map(&asked, threads, |(asked, numbers)| {
        task.go_on()?;
        asked.answer_with(&BatchLookup { shared: &shared, numbers }, limit, 1, task)
    });
    answers.into_iter().collect()
}

/// For each question the numbers of its terms, equal numbers for equal terms; and how many numbers there are.
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
    /// By the address of the segment, which the batch keeps in memory, and then by the number of the term.
    matches: HashMap<usize, Vec<OnceLock<Arc<Matches>>>>,
    /// About how many bytes they take.
    bytes: AtomicUsize,
}

impl Shared {
    fn new(terms: usize, searched: &[Arc<Searched>]) -> Self {
        let indexes = searched.iter().flat_map(|searched| &searched.sources).map(|(_, index)| index);
        let segments: HashSet<usize> =
            indexes.flat_map(|index| index.segments()).map(|segment| ptr::from_ref(segment).addr()).collect();
        // The matches of terms with a higher number are found anew each time. Frequent terms tend to come early.
        let each = terms.min(MAX_ENTRIES / segments.len().max(1));
        let entries = || (0..each).map(|_| OnceLock::new()).collect();
        let matches = segments.into_iter().map(|segment| (segment, entries())).collect();
        Self { matches, bytes: AtomicUsize::new(0) }
    }
}

/// Finds the matches of one question's terms among those of the batch.
struct BatchLookup<'batch> {
    shared: &'batch Shared,
    numbers: &'batch [u32],
}

/// Matches that the batch keeps are borrowed: if each question counted a reference, the threads would wait for each
/// other at the counter.
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
                Some(slot) if shared.bytes.load(Ordering::Relaxed) <= MAX_KEPT_BYTES => {
                    MatchesHandle::Shared(slot.get_or_init(|| {
                        let found = segment.matches(term);
                        shared.bytes.fetch_add(found.size() + ENTRY_BYTES, Ordering::Relaxed);
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
