//! How often the concepts of a segment have one term, and in which fields (V3, V4).

use super::{
    points::{MAX_POINTS, Points},
    posting::{self, BODY, TAGS_OR_DESCRIPTION, TITLE},
    vocabulary::CountedLists,
};

/// Postings are sorted if there are fewer of them than one for this many concepts. Otherwise it is faster
/// to fill an array with an entry for each concept.
const CONCEPTS_PER_SORTED_POSTING: usize = 128;
/// Frequencies are kept as an array with an entry for each concept if at least one concept in this many has the
/// term: it is then added up faster, and takes no more memory than three times a list.
const CONCEPTS_PER_DENSE_ENTRY: usize = 8;

/// Concepts in a block of [`DenseEntries`].
pub(crate) const BLOCK: usize = 64;

/// How often a concept has a term, in points. In short fields the best occurrence counts, in a body all do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Frequency {
    pub(crate) title: u8,
    pub(crate) tags_or_description: u8,
    pub(crate) body: u8,
}

impl Frequency {
    /// Whether the concept does not have the term.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The larger number of each field.
    fn max(self, other: Self) -> Self {
        Self {
            title: self.title.max(other.title),
            tags_or_description: self.tags_or_description.max(other.tags_or_description),
            body: self.body.max(other.body),
        }
    }

    /// Adds a posting: the fields that have a string, how often the body has it, and what the string is worth.
    fn add(&mut self, points: Points, fields: u8, times: u8) {
        if fields & TITLE != 0 {
            self.title = self.title.max(points.short);
        }
        if fields & TAGS_OR_DESCRIPTION != 0 {
            self.tags_or_description = self.tags_or_description.max(points.short);
        }
        if fields & BODY != 0 {
            self.add_to_body(points.body.saturating_mul(times));
        }
    }

    fn with(mut self, points: Points, fields: u8, times: u8) -> Self {
        self.add(points, fields, times);
        self
    }

    fn join(&mut self, other: Self) {
        let body = self.body;
        *self = self.max(Self { body, ..other });
        self.add_to_body(other.body);
    }

    fn add_to_body(&mut self, points: u8) {
        self.body = self.body.saturating_add(points).min(MAX_POINTS);
    }
}

/// How often each concept of a segment has a term.
#[derive(Debug)]
pub(crate) struct Frequencies {
    entries: Entries,
    /// How many concepts have the term.
    count: usize,
}

/// The entries of [`Frequencies`].
#[derive(Debug)]
pub(crate) enum Entries {
    /// The concepts that have the term, ascending.
    Sparse(Box<[(u32, Frequency)]>),
    /// All concepts of the segment.
    Dense(DenseEntries),
}

/// The numbers of all concepts of a segment, field by field; nothing for a field that no concept has the term in.
#[derive(Debug, Default)]
pub(crate) struct DenseEntries {
    pub(crate) title: Box<[u8]>,
    pub(crate) tags_or_description: Box<[u8]>,
    pub(crate) body: Box<[u8]>,
    /// For each block of [`BLOCK`] concepts, the largest number of each field.
    pub(crate) blocks: Box<[Frequency]>,
}

impl DenseEntries {
    fn of(all: &[Frequency]) -> Self {
        let field = |of: fn(&Frequency) -> u8| -> Box<[u8]> {
            if all.iter().any(|one| of(one) != 0) { all.iter().map(of).collect() } else { Box::default() }
        };
        Self {
            title: field(|one| one.title),
            tags_or_description: field(|one| one.tags_or_description),
            body: field(|one| one.body),
            blocks: all.chunks(BLOCK).map(most).collect(),
        }
    }

    fn get(&self, concept: u32) -> Frequency {
        let of = |field: &[u8]| field.get(concept as usize).copied().unwrap_or(0);
        Frequency {
            title: of(&self.title),
            tags_or_description: of(&self.tags_or_description),
            body: of(&self.body),
        }
    }
}

/// The largest number of each field.
fn most(all: &[Frequency]) -> Frequency {
    all.iter().fold(Frequency::default(), |most, one| most.max(*one))
}

impl Frequencies {
    fn sparse(entries: Box<[(u32, Frequency)]>) -> Self {
        Self { count: entries.len(), entries: Entries::Sparse(entries) }
    }

    fn dense(all: &[Frequency], count: usize) -> Self {
        Self { count, entries: Entries::Dense(DenseEntries::of(all)) }
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// How many concepts have the term, deleted ones included.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How often one concept has the term.
    pub(crate) fn get(&self, concept: u32) -> Frequency {
        match &self.entries {
            Entries::Dense(entries) => entries.get(concept),
            Entries::Sparse(entries) => entries
                .binary_search_by_key(&concept, |(concept, _)| *concept)
                .map_or(Frequency::default(), |at| entries[at].1),
        }
    }

    /// How many bytes the entries occupy.
    pub(crate) fn size(&self) -> usize {
        match &self.entries {
            Entries::Sparse(entries) => size_of_val(&**entries),
            Entries::Dense(entries) => {
                let fields = [&entries.title, &entries.tags_or_description, &entries.body];
                fields.map(|field| field.len()).iter().sum::<usize>() + size_of_val(&*entries.blocks)
            }
        }
    }

    /// The frequencies of a term in a segment of `concepts` concepts; `lists` has its postings.
    pub(super) fn of_term(concepts: usize, lists: &[CountedLists<'_>]) -> Self {
        let count: usize = lists.iter().map(CountedLists::len).sum();
        let postings = lists.iter().flat_map(CountedLists::postings);
        if count >= concepts / CONCEPTS_PER_SORTED_POSTING {
            let mut all = vec![Frequency::default(); concepts];
            postings.for_each(|(points, (item, times))| {
                let (concept, fields) = posting::unpack(item);
                all[concept as usize].add(points, fields, times);
            });
            return Self::packed(all);
        }
        let mut found: Vec<(u32, Frequency)> = Vec::with_capacity(count);
        postings.for_each(|(points, (item, times))| {
            let (concept, fields) = posting::unpack(item);
            found.push((concept, Frequency::default().with(points, fields, times)));
        });
        found.sort_unstable_by_key(|(concept, _)| *concept);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1.join(next.1);
            }
            same
        });
        Self::sparse(found.into())
    }

    /// The frequencies of a term of one or two bytes. `whole` has the postings of what has it as a whole word, and
    /// `fields` for every concept the fields that have it anywhere: they count once, as inside a word.
    pub(super) fn of_short_term(whole: &[CountedLists<'_>], fields: Vec<u8>) -> Self {
        let mut all: Vec<Frequency> =
            fields.into_iter().map(|fields| Frequency::default().with(Points::INSIDE, fields, 1)).collect();
        for (points, (item, times)) in whole.iter().flat_map(CountedLists::postings) {
            let (concept, fields) = posting::unpack(item);
            all[concept as usize].add(points, fields, times);
        }
        Self::packed(all)
    }

    /// Keeps a list instead of an array with an entry for each concept, if few concepts have the term.
    fn packed(all: Vec<Frequency>) -> Self {
        let count = all.iter().filter(|frequency| !frequency.is_none()).count();
        if count * CONCEPTS_PER_DENSE_ENTRY >= all.len() {
            return Self::dense(&all, count);
        }
        let entries = (0_u32..).zip(all).filter(|(_, frequency)| !frequency.is_none());
        Self::sparse(entries.collect())
    }
}
