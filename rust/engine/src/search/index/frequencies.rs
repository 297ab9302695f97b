//! How often the concepts of a segment have one term, and in which fields (V3, V4).

use super::{
    count::count_where,
    points::Points,
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

/// How often a concept has a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Frequency {
    /// The flags `IN_TITLE` to `HAS_TERM`.
    pub(crate) flags: u8,
    /// The points of the body.
    pub(crate) body: u8,
}

impl Frequency {
    /// The title has the term.
    pub(crate) const IN_TITLE: u8 = 1;
    /// The title has a word that begins with the stem of the term.
    pub(crate) const STEM_IN_TITLE: u8 = 2;
    /// A tag or the description has the term.
    pub(crate) const IN_TAGS: u8 = 4;
    /// A tag or the description has a word that begins with the stem of the term.
    pub(crate) const STEM_IN_TAGS: u8 = 8;
    /// A title, tag or description has the term or its stem.
    pub(crate) const SHORT_FIELDS: u8 =
        Self::IN_TITLE | Self::STEM_IN_TITLE | Self::IN_TAGS | Self::STEM_IN_TAGS;
    /// Any field has the term, and not only its stem.
    const HAS_TERM: u8 = 16;
    /// Any field has the term or its stem.
    const IS_THERE: u8 = 32;

    /// Whether the concept has neither the term nor its stem.
    pub(crate) fn is_none(self) -> bool {
        self.flags == 0
    }

    /// Whether the concept has the term, and not only its stem.
    pub(crate) fn has_term(self) -> bool {
        self.flags & Self::HAS_TERM != 0
    }

    /// The frequency in both of two parts of a concept.
    fn join(self, other: Self) -> Self {
        Self { flags: self.flags | other.flags, body: self.body.saturating_add(other.body) }
    }
}

/// What the postings of one string add: for each set of fields, the flags; and the points of one occurrence.
struct Worth {
    flags: [u8; 8],
    points: u8,
}

impl Worth {
    fn of(points: Points) -> Self {
        let (title, tags, term) = if points.has_term {
            (Frequency::IN_TITLE, Frequency::IN_TAGS, Frequency::HAS_TERM)
        } else {
            (Frequency::STEM_IN_TITLE, Frequency::STEM_IN_TAGS, 0)
        };
        let mut flags = [0; 8];
        if points != Points::default() {
            for fields in 1..=(BODY | TAGS_OR_DESCRIPTION | TITLE) {
                let has = |field: u8, flag: u8| if fields & field == 0 { 0 } else { flag };
                flags[usize::from(fields)] =
                    Frequency::IS_THERE | term | has(TITLE, title) | has(TAGS_OR_DESCRIPTION, tags);
            }
        }
        Self { flags, points: points.body }
    }

    /// What a posting adds, whose body has the string `times` times.
    fn posting(&self, fields: u8, times: u8) -> Frequency {
        Frequency { flags: self.flags[usize::from(fields & 7)], body: self.points.saturating_mul(times) }
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
    /// The concepts that have the term or its stem, ascending.
    Sparse(Box<[(u32, Frequency)]>),
    /// All concepts of the segment.
    Dense(DenseEntries),
}

/// The numbers of all concepts of a segment.
#[derive(Debug, Default)]
pub(crate) struct DenseEntries {
    /// [`Frequency::flags`] of each concept.
    pub(crate) flags: Box<[u8]>,
    /// [`Frequency::body`] of each concept.
    pub(crate) body: Box<[u8]>,
    /// For each block of [`BLOCK`] concepts, the largest number of each kind.
    pub(crate) blocks: Box<[Frequency]>,
}

impl Frequencies {
    fn sparse(entries: Box<[(u32, Frequency)]>) -> Self {
        let count = entries.iter().filter(|(_, frequency)| frequency.has_term()).count();
        Self { count, entries: Entries::Sparse(entries) }
    }

    /// The entries of all concepts, kept as a list if few of them have the term.
    fn packed(Collected { flags, body }: Collected) -> Self {
        let present = count_where(&flags, |flags| flags != 0);
        if present * CONCEPTS_PER_DENSE_ENTRY < flags.len() {
            let mut list = Vec::with_capacity(present);
            for (first, (block, bodies)) in (0_u32..).step_by(8).zip(flags.chunks(8).zip(body.chunks(8))) {
                // Most blocks are empty and cost one comparison.
                if block.iter().fold(0, |all, flags| all | flags) != 0 {
                    for (concept, (flags, body)) in (first..).zip(block.iter().zip(bodies)) {
                        if *flags != 0 {
                            list.push((concept, Frequency { flags: *flags, body: *body }));
                        }
                    }
                }
            }
            return Self::sparse(list.into());
        }
        let count = count_where(&flags, |flags| flags & Frequency::HAS_TERM != 0);
        let blocks = flags.chunks(BLOCK).zip(body.chunks(BLOCK)).map(|(flags, body)| Frequency {
            flags: flags.iter().copied().fold(0, |all, one| all | one),
            body: body.iter().copied().fold(0, u8::max),
        });
        let blocks = blocks.collect();
        Self {
            count,
            entries: Entries::Dense(DenseEntries { flags: flags.into(), body: body.into(), blocks }),
        }
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// How many concepts have the term, deleted ones included. Those that have only its stem are not counted.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How often one concept has the term.
    pub(crate) fn get(&self, concept: u32) -> Frequency {
        match &self.entries {
            Entries::Dense(DenseEntries { flags, body, .. }) => {
                Frequency { flags: flags[concept as usize], body: body[concept as usize] }
            }
            Entries::Sparse(entries) => entries
                .binary_search_by_key(&concept, |(concept, _)| *concept)
                .map_or(Frequency::default(), |at| entries[at].1),
        }
    }

    /// How many bytes the entries occupy.
    pub(crate) fn size(&self) -> usize {
        match &self.entries {
            Entries::Sparse(entries) => size_of_val(&**entries),
            Entries::Dense(DenseEntries { flags, body, blocks }) => {
                flags.len() + body.len() + size_of_val(&**blocks)
            }
        }
    }

    /// The frequencies of a term in a segment of `concepts` concepts; `lists` has its postings.
    pub(super) fn of_term(concepts: usize, lists: &[CountedLists<'_>]) -> Self {
        let count: usize = lists.iter().map(CountedLists::len).sum();
        if count >= concepts / CONCEPTS_PER_SORTED_POSTING {
            let mut all = Collected { flags: vec![0; concepts], body: vec![0; concepts] };
            add_postings(lists, |concept, more| all.add(concept, more));
            return Self::packed(all);
        }
        let mut found: Vec<(u32, Frequency)> = Vec::with_capacity(count);
        add_postings(lists, |concept, more| found.push((concept, more)));
        found.sort_unstable_by_key(|(concept, _)| *concept);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.join(next.1);
            }
            same
        });
        found.retain(|(_, frequency)| !frequency.is_none());
        Self::sparse(found.into())
    }

    /// The frequencies of a term of one or two bytes. `whole` has the postings of what has it as a whole word, and
    /// `fields` for every concept the fields that have it anywhere: they count once, as inside a word.
    pub(super) fn of_short_term(whole: &[CountedLists<'_>], fields: &[u8]) -> Self {
        let inside = Worth::of(Points::INSIDE);
        let once = |fields: &u8| inside.posting(*fields, u8::from(fields & BODY != 0));
        let mut all = Collected {
            flags: fields.iter().map(|fields| once(fields).flags).collect(),
            body: fields.iter().map(|fields| once(fields).body).collect(),
        };
        add_postings(whole, |concept, more| all.add(concept, more));
        Self::packed(all)
    }
}

/// The entries of all concepts, while they are collected.
struct Collected {
    flags: Vec<u8>,
    body: Vec<u8>,
}

impl Collected {
    fn add(&mut self, concept: u32, more: Frequency) {
        self.flags[concept as usize] |= more.flags;
        let body = &mut self.body[concept as usize];
        *body = body.saturating_add(more.body);
    }
}

/// Calls `add` with every concept of the lists and what its posting adds.
fn add_postings(lists: &[CountedLists<'_>], mut add: impl FnMut(u32, Frequency)) {
    for (points, postings) in lists.iter().flat_map(CountedLists::lists) {
        let worth = Worth::of(points);
        for (item, times) in postings {
            let (concept, fields) = posting::unpack(item);
            add(concept, worth.posting(fields, times));
        }
    }
}
