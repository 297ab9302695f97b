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
        Criteria, Lookup, OfTerm, Scoring,
        index::{Frequencies, Matches, Segment},
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
    let (numbers, counts) = numbered(questions, &criteria, task)?;
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
    let matches = Shared::new(counts[Scoring::WeightedTerms as usize], &distinct);
    let frequencies = Shared::new(counts[Scoring::Bm25f as usize], &distinct);
    let asked: Vec<_> = asked.into_iter().zip(numbers).collect();
    let answers = parallel::map(&asked, threads, |(asked, numbers)| {
        task.go_on()?;
        let lookup = BatchLookup { matches: &matches, frequencies: &frequencies, numbers };
        asked.answer_with(&lookup, limit, 1, task)
    });
    answers.into_iter().collect()
}

/// For each question the numbers of its terms; and for each scoring, how many numbers there are. Among questions of
/// one scoring, equal terms have equal numbers.
fn numbered(
    questions: &[Question],
    criteria: &[Arc<Criteria>],
    task: &Task,
) -> Result<(Vec<Vec<u32>>, [usize; Scoring::ALL.len()]), Abandoned> {
    let mut numbers: [HashMap<&str, u32>; Scoring::ALL.len()] = Default::default();
    let mut terms = Vec::with_capacity(criteria.len());
    for (question, criteria) in questions.iter().zip(criteria) {
        task.go_on()?;
        let numbers = &mut numbers[question.scoring as usize];
        let mut number = |term| {
            let next = u32::try_from(numbers.len()).expect("a batch has fewer terms than 32 bits count");
            *numbers.entry(term).or_insert(next)
        };
        terms.push(criteria.terms.as_slice().iter().map(|(term, _)| number(term.as_str())).collect());
    }
    Ok((terms, numbers.map(|numbers| numbers.len())))
}

/// What segments have for every term of a batch, each found once.
#[derive(Debug)]
struct Shared<V> {
    /// By the address of the segment, which the batch keeps in memory, and then by the number of the term.
    found: HashMap<usize, Vec<OnceLock<Arc<V>>>>,
    /// About how many bytes they take.
    bytes: AtomicUsize,
}

impl<V> Shared<V> {
    fn new(terms: usize, searched: &[Arc<Searched>]) -> Self {
        let indexes = searched.iter().flat_map(|searched| &searched.sources).map(|(_, index)| index);
        let segments: HashSet<usize> =
            indexes.flat_map(|index| index.segments()).map(|segment| ptr::from_ref(segment).addr()).collect();
        if terms == 0 {
            return Self { found: HashMap::new(), bytes: AtomicUsize::new(0) };
        }
        // Terms with a higher number are found anew each time. Frequent terms tend to come early.
        let each = terms.min(MAX_ENTRIES / segments.len().max(1));
        let entries = || (0..each).map(|_| OnceLock::new()).collect();
        let found = segments.into_iter().map(|segment| (segment, entries())).collect();
        Self { found, bytes: AtomicUsize::new(0) }
    }
}

/// Finds one question's terms among those of the batch.
struct BatchLookup<'batch> {
    matches: &'batch Shared<Matches>,
    frequencies: &'batch Shared<Frequencies>,
    numbers: &'batch [u32],
}

/// What the batch keeps is borrowed: if each question counted a reference, the threads would wait for each other at
/// the counter.
enum Handle<'batch, V> {
    Shared(&'batch V),
    Owned(Arc<V>),
}

impl<V> Deref for Handle<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        match self {
            Handle::Shared(found) => found,
            Handle::Owned(found) => found,
        }
    }
}

impl<'batch> Lookup<Matches> for BatchLookup<'batch> {
    type Handle = Handle<'batch, Matches>;

    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Self::Handle + 'a {
        self.matches.within(self.numbers, segment)
    }
}

impl<'batch> Lookup<Frequencies> for BatchLookup<'batch> {
    type Handle = Handle<'batch, Frequencies>;

    fn within<'a>(&'a self, segment: &'a Segment) -> impl Fn(usize, &str) -> Self::Handle + 'a {
        self.frequencies.within(self.numbers, segment)
    }
}

impl<V: OfTerm> Shared<V> {
    /// Gives what a segment has for the terms with these numbers.
    fn within<'batch: 'a, 'a>(
        &'batch self,
        numbers: &'a [u32],
        segment: &'a Segment,
    ) -> impl Fn(usize, &str) -> Handle<'batch, V> + 'a {
        let slots = self.found.get(&ptr::from_ref(segment).addr()).map_or(&[][..], Vec::as_slice);
        move |at, term| {
            let slot = numbers.get(at).and_then(|number| slots.get(*number as usize));
            match slot {
                Some(slot) if self.bytes.load(Ordering::Relaxed) <= MAX_KEPT_BYTES => {
                    Handle::Shared(slot.get_or_init(|| {
                        let found = V::find(segment, term);
                        self.bytes.fetch_add(found.size() + ENTRY_BYTES, Ordering::Relaxed);
                        found
                    }))
                }
                slot => match slot.and_then(OnceLock::get) {
                    Some(found) => Handle::Shared(found),
                    None => Handle::Owned(V::find(segment, term)),
                },
            }
        }
    }
}
