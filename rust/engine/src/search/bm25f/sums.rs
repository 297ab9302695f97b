//! What the terms of a question add to the concepts of a segment.

use super::{
    formula::{BODY, Worths, contribution, weighted},
    statistics::Statistics,
};
use crate::search::index::{BLOCK, DenseEntries, Entries, Frequencies, Frequency, Lengths};

/// A term in a segment: its rarity, and its frequencies.
pub(super) type Term<'found> = (u32, &'found Frequencies);

/// What the concepts of a segment have so far.
pub(super) struct Sums {
    /// What their terms add.
    pub(super) sums: Vec<u32>,
    /// The rarities of their terms together; not 0 if a concept has any term.
    pub(super) rarities: Vec<u32>,
}

impl Sums {
    pub(super) fn new(concepts: usize) -> Self {
        Self { sums: vec![0; concepts], rarities: vec![0; concepts] }
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
            self.sums[at] = self.sums[at].saturating_add(contribution(rarity, part));
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
        let mut sums = filled(self.sums[range.clone()].iter().copied());
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
                add_short_fields(&mut parts, &flags, lengths, worths);
            }
            for at in 0..BLOCK {
                sums[at] = sums[at].saturating_add(contribution(*rarity, parts[at]));
                let is_there = if flags[at] | body[at] == 0 { 0 } else { *rarity };
                rarities[at] = rarities[at].saturating_add(is_there);
            }
        }
        self.sums[range.clone()].copy_from_slice(&sums[..range.len()]);
        self.rarities[range.clone()].copy_from_slice(&rarities[..range.len()]);
    }

    /// The score of a concept; 0 if it has no term.
    pub(super) fn score(&self, local: usize, statistics: &Statistics) -> u32 {
        match self.rarities[local] {
            0 => 0,
            rarity => statistics.coverage.score(self.sums[local], rarity),
        }
    }
}

/// Adds what titles, and tags and descriptions, are worth.
fn add_short_fields(parts: &mut [u32; BLOCK], flags: &[u8; BLOCK], lengths: &[Lengths], worths: &Worths) {
    for ((part, flags), lengths) in parts.iter_mut().zip(flags).zip(lengths) {
        if *flags & Frequency::SHORT_FIELDS != 0 {
            *part += worths.part(Frequency { flags: *flags, body: 0 }, lengths);
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
