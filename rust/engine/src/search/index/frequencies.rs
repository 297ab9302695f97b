//! How often the concepts of a segment have one term, and in which fields (V3, V4).

use super::{
    points::{INSIDE, MAX_POINTS, Points, WHOLE},
    posting::{self, BODY, TAGS_OR_DESCRIPTION, TITLE},
    vocabulary::CountedLists,
};

/// Postings are sorted if there are fewer of them than one for this many concepts. Otherwise it is faster
/// to fill an array with an entry for each concept.
const CONCEPTS_PER_SORTED_POSTING: usize = 128;
/// Frequencies are kept as an array with an entry for each concept if at least one concept in this many has the
/// term: it is then added up faster, and takes no more memory than three times a list.
const CONCEPTS_PER_DENSE_ENTRY: usize = 8;

/// The weight of the title, for each point (V4).
const TITLE_WEIGHT: u8 = 3;
/// The weight of tags and description, for each point.
const TAGS_OR_DESCRIPTION_WEIGHT: u8 = 2;

/// How often a concept has a term.
///
/// One number for the short fields: their points times their weights. One for the body: its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub(crate) struct Frequency {
    /// At most [`Frequency::MAX_SHORT`].
    pub(crate) short: u8,
    /// At most [`MAX_POINTS`].
    pub(crate) body: u8,
}

impl Frequency {
    /// The largest number of the short fields.
    pub(crate) const MAX_SHORT: u8 = WHOLE * (TITLE_WEIGHT + TAGS_OR_DESCRIPTION_WEIGHT);

    fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// How often each concept of a segment has a term.
#[derive(Debug)]
pub(crate) struct Frequencies {
    entries: Entries,
    /// How many concepts have the term.
    count: usize,
    /// The largest number of each kind: no concept has more.
    most: Frequency,
}

/// The entries of [`Frequencies`].
#[derive(Debug)]
pub(crate) enum Entries {
    /// The concepts that have the term, ascending.
    Sparse(Box<[(u32, Frequency)]>),
    /// All concepts of the segment.
    Dense(Box<[Frequency]>),
}

impl Frequencies {
    fn of(entries: Entries) -> Self {
        let most = |all: &mut dyn Iterator<Item = Frequency>| {
            all.fold(Frequency::default(), |most, one| Frequency {
                short: most.short.max(one.short),
                body: most.body.max(one.body),
            })
        };
        let most = match &entries {
            Entries::Sparse(entries) => most(&mut entries.iter().map(|(_, frequency)| *frequency)),
            Entries::Dense(entries) => most(&mut entries.iter().copied()),
        };
        let count = match &entries {
            Entries::Sparse(entries) => entries.len(),
            Entries::Dense(entries) => entries.iter().filter(|frequency| !frequency.is_none()).count(),
        };
        Self { entries, count, most }
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// How many concepts have the term, deleted ones included.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The largest number of each kind.
    pub(crate) fn most(&self) -> Frequency {
        self.most
    }

    /// How often one concept has the term.
    pub(crate) fn get(&self, concept: u32) -> Frequency {
        match &self.entries {
            Entries::Dense(entries) => entries[concept as usize],
            Entries::Sparse(entries) => entries
                .binary_search_by_key(&concept, |(concept, _)| *concept)
                .map_or(Frequency::default(), |at| entries[at].1),
        }
    }

    /// How many bytes the entries occupy.
    pub(crate) fn size(&self) -> usize {
        match &self.entries {
            Entries::Sparse(entries) => size_of_val(&**entries),
            Entries::Dense(entries) => size_of_val(&**entries),
        }
    }

    /// The frequencies of a term in a segment of `concepts` concepts; `lists` has its postings.
    pub(super) fn of_term(concepts: usize, lists: &[CountedLists<'_>]) -> Self {
        let count: usize = lists.iter().map(CountedLists::len).sum();
        let postings = lists.iter().flat_map(CountedLists::postings);
        if count >= concepts / CONCEPTS_PER_SORTED_POSTING {
            let mut all = vec![Fields::default(); concepts];
            postings.for_each(|(points, (item, times))| {
                let (concept, fields) = posting::unpack(item);
                all[concept as usize].add(points, fields, times);
            });
            return Self::packed(all);
        }
        let mut found: Vec<(u32, Fields)> = Vec::with_capacity(count);
        postings.for_each(|(points, (item, times))| {
            let (concept, fields) = posting::unpack(item);
            found.push((concept, Fields::default().with(points, fields, times)));
        });
        found.sort_unstable_by_key(|(concept, _)| *concept);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1.join(next.1);
            }
            same
        });
        let entries = found.into_iter().map(|(concept, fields)| (concept, fields.frequency()));
        Self::of(Entries::Sparse(entries.collect()))
    }

    /// The frequencies of a term of one or two bytes. `whole` has the postings of what has it as a whole word, and
    /// `fields` for every concept the fields that have it anywhere: they count once, as inside a word.
    pub(super) fn of_short_term(whole: &[CountedLists<'_>], fields: Vec<u8>) -> Self {
        let inside = Points { best: INSIDE, sum: INSIDE };
        let mut all: Vec<Fields> =
            fields.into_iter().map(|fields| Fields::default().with(inside, fields, 1)).collect();
        for (points, (item, times)) in whole.iter().flat_map(CountedLists::postings) {
            let (concept, fields) = posting::unpack(item);
            all[concept as usize].add(points, fields, times);
        }
        Self::packed(all)
    }

    /// Keeps a list instead of an array with an entry for each concept, if few concepts have the term.
    fn packed(all: Vec<Fields>) -> Self {
        let count = all.iter().filter(|fields| **fields != Fields::default()).count();
        let all = all.into_iter().map(Fields::frequency);
        if count * CONCEPTS_PER_DENSE_ENTRY >= all.len() {
            return Self::of(Entries::Dense(all.collect()));
        }
        let entries = (0_u32..).zip(all).filter(|(_, frequency)| !frequency.is_none());
        Self::of(Entries::Sparse(entries.collect()))
    }
}

/// The points of a concept in each field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Fields {
    title: u8,
    tags_or_description: u8,
    /// At most 255.
    body: u8,
}

impl Fields {
    /// Adds a posting: the fields that have a string, how often the body has it, and what one occurrence of the
    /// string is worth. In short fields the best occurrence counts, in a body all do.
    fn add(&mut self, points: Points, fields: u8, times: u8) {
        if fields & TITLE != 0 {
            self.title = self.title.max(points.best);
        }
        if fields & TAGS_OR_DESCRIPTION != 0 {
            self.tags_or_description = self.tags_or_description.max(points.best);
        }
        if fields & BODY != 0 {
            self.body = self.body.saturating_add(points.sum.saturating_mul(times));
        }
    }

    fn with(mut self, points: Points, fields: u8, times: u8) -> Self {
        self.add(points, fields, times);
        self
    }

    fn join(&mut self, other: Self) {
        self.title = self.title.max(other.title);
        self.tags_or_description = self.tags_or_description.max(other.tags_or_description);
        self.body = self.body.saturating_add(other.body);
    }

    fn frequency(self) -> Frequency {
        Frequency {
            short: self.title * TITLE_WEIGHT + self.tags_or_description * TAGS_OR_DESCRIPTION_WEIGHT,
            body: self.body.min(MAX_POINTS),
        }
    }
}
