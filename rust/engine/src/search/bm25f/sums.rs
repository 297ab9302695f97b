//! What the terms of a question add to the concepts of a segment.

use super::{
    formula::{BODY, TAGS, TITLE, Worths, contribution, weighted},
    statistics::Statistics,
};
use crate::search::index::{BLOCK, DenseEntries, Entries, Frequencies, Frequency, Lengths};

/// A term in a segment: its rarity, and its frequencies.
pub(super) type Term<'found> = (u32, &'found Frequencies);

/// What the concepts of a segment have so far.
pub(super) struct Sums {
    /// What their terms add.
    pub(super) added: Vec<u32>,
    /// The rarities of their terms together; not 0 if a concept has any term.
    pub(super) rarities: Vec<u32>,
    /// Whether a sum may be larger than 32 bits hold.
    may_overflow: bool,
}

/// So many terms cannot add up to more than 32 bits hold: each adds less than 2^19.
const MAX_SMALL_TERMS: usize = 1 << 12;

impl Sums {
    /// The sums of a question of `terms` terms.
    pub(super) fn new(concepts: usize, terms: usize) -> Self {
        let may_overflow = terms > MAX_SMALL_TERMS;
        Self { added: vec![0; concepts], rarities: vec![0; concepts], may_overflow }
    }

    /// Adds a term that few concepts have. Calls `act` with each concept that had no term before.
    pub(super) fn add_sparse(
        &mut self,
        rarity: u32,
        entries: &[(u32, Frequency)],
        lengths: &[Lengths],
        worths: &Worths,
        mut act: impl FnMut(u32),
    ) {
        for (local, frequency) in entries {
            let at = *local as usize;
            if self.rarities[at] == 0 {
                act(*local);
            }
            let part = worths.part(*frequency, &lengths[at]);
            self.added[at] = self.added[at].saturating_add(contribution(rarity, part));
            self.rarities[at] = self.rarities[at].saturating_add(rarity);
        }
    }

    /// Adds terms that many concepts have, to the concepts of one block.
    pub(super) fn add_block(
        &mut self,
        block: usize,
        terms: &[(u32, &DenseEntries)],
        lengths: &[Lengths],
        worths: &Worths,
    ) {
        let range = block_range(block, lengths.len());
        let lengths = &lengths[range.clone()];
        // Arrays of a fixed length, and loops without branches: so the compiler vectorises them.
        let norms = worths.norms.of_bodies(&filled(lengths.iter().map(|lengths| lengths[BODY])));
        let flags = terms.iter().fold(0, |all, (_, entries)| all | entries.blocks[block].flags);
        let short = ShortWorths::of(flags, lengths, worths);
        let mut sums = filled(self.added[range.clone()].iter().copied());
        let mut rarities = filled(self.rarities[range.clone()].iter().copied());
        for (rarity, entries) in terms {
            let most = entries.blocks[block];
            if most.is_none() {
                continue;
            }
            let flags = filled(entries.flags[range.clone()].iter().copied());
            let body = filled(entries.body[range.clone()].iter().copied());
            let mut parts = [0; BLOCK];
            for at in 0..BLOCK {
                parts[at] = weighted(BODY, body[at], norms[at]);
            }
            if most.flags & Frequency::SHORT_FIELDS != 0 {
                short.add_to(&mut parts, &flags);
            }
            let mut added = [0; BLOCK];
            let mut present = [0; BLOCK];
            for at in 0..BLOCK {
                added[at] = contribution(*rarity, parts[at]);
                present[at] = if flags[at] == 0 { 0 } else { *rarity };
            }
            if self.may_overflow {
                for at in 0..BLOCK {
                    sums[at] = sums[at].saturating_add(added[at]);
                    rarities[at] = rarities[at].saturating_add(present[at]);
                }
            } else {
                for at in 0..BLOCK {
                    sums[at] = sums[at].wrapping_add(added[at]);
                    rarities[at] = rarities[at].wrapping_add(present[at]);
                }
            }
        }
        self.added[range.clone()].copy_from_slice(&sums[..range.len()]);
        self.rarities[range.clone()].copy_from_slice(&rarities[..range.len()]);
    }

    /// The score of a concept; 0 if it has no term.
    pub(super) fn score(&self, local: usize, statistics: &Statistics) -> u32 {
        match self.rarities[local] {
            0 => 0,
            rarity => statistics.coverage.score(self.added[local], rarity),
        }
    }
}

/// What the term, and the stem, are worth in the short fields of the concepts of a block.
struct ShortWorths {
    title: [[u32; BLOCK]; 2],
    tags: [[u32; BLOCK]; 2],
}

impl ShortWorths {
    /// Those of the fields that `flags` have.
    fn of(flags: u8, lengths: &[Lengths], worths: &Worths) -> Self {
        let worths_of = |field: usize, wanted: u8| {
            let mut both = [[0; BLOCK]; 2];
            if flags & wanted != 0 {
                for (at, lengths) in lengths.iter().enumerate() {
                    let [stem, term] = worths.short(field, lengths[field]);
                    (both[0][at], both[1][at]) = (term, stem);
                }
            }
            both
        };
        Self {
            title: worths_of(TITLE, Frequency::IN_TITLE | Frequency::STEM_IN_TITLE),
            tags: worths_of(TAGS, Frequency::IN_TAGS | Frequency::STEM_IN_TAGS),
        }
    }

    /// Adds what the fields are worth that each concept's flags have: of the term, or else of the stem.
    fn add_to(&self, parts: &mut [u32; BLOCK], flags: &[u8; BLOCK]) {
        let mask = |flags: u8, flag: u8| 0_u32.wrapping_sub(u32::from(flags & flag != 0));
        for (at, part) in parts.iter_mut().enumerate() {
            let term = mask(flags[at], Frequency::IN_TITLE);
            let stem = mask(flags[at], Frequency::STEM_IN_TITLE) & !term;
            *part += (self.title[0][at] & term) + (self.title[1][at] & stem);
        }
        for (at, part) in parts.iter_mut().enumerate() {
            let term = mask(flags[at], Frequency::IN_TAGS);
            let stem = mask(flags[at], Frequency::STEM_IN_TAGS) & !term;
            *part += (self.tags[0][at] & term) + (self.tags[1][at] & stem);
        }
    }
}

/// The values of a block, and zeros behind the last one.
fn filled<T: Copy + Default>(values: impl Iterator<Item = T>) -> [T; BLOCK] {
    let mut all = [T::default(); BLOCK];
    for (one, value) in all.iter_mut().zip(values) {
        *one = value;
    }
    all
}

/// The concepts of a block, in a segment of `concepts` concepts.
pub(super) fn block_range(block: usize, concepts: usize) -> std::ops::Range<usize> {
    block * BLOCK..((block + 1) * BLOCK).min(concepts)
}

/// A term with the entries of all concepts, if it is kept like this.
pub(super) fn dense<'found>((rarity, found): &Term<'found>) -> Option<(u32, &'found DenseEntries)> {
    match found.entries() {
        Entries::Dense(entries) => Some((*rarity, entries)),
        Entries::Sparse(_) => None,
    }
}
