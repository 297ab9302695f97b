//! The full ranking: the score of every concept, term by term.

use std::ops::Deref;

use super::{
    formula::{BODY, TAGS, TITLE, Worths, contribution, weighted},
    input::Input,
    sort::sort_best_first,
};
use crate::{
    search::{
        index::{DenseEntries, Entries, Frequencies, Frequency, Lengths, LiveSegment},
        lookup::Lookup,
        scored::Scored,
    },
    work::task::{Abandoned, Task},
};

/// What the concepts of a segment have so far.
struct Sums {
    /// What their terms add.
    sums: Vec<u32>,
    /// The rarities of their terms together; not 0 if a concept has any term.
    rarities: Vec<u32>,
}

/// The score of every concept of a segment; 0 if it has no term.
pub(super) fn scores<Handle: Deref<Target = Frequencies>>(
    input: &Input<'_, Handle>,
    number: usize,
    segment: &LiveSegment,
    lookup: &impl Lookup<Frequencies, Handle = Handle>,
    task: &Task,
) -> Result<Vec<u32>, Abandoned> {
    let statistics = input.statistics;
    let lengths = segment.segment().lengths();
    let worths = &statistics.worths;
    let fields = Fields::of(lengths, worths);
    let mut all = Sums { sums: vec![0; lengths.len()], rarities: vec![0; lengths.len()] };
    input.for_each_term(number, segment, lookup, |term, frequencies| {
        task.go_on()?;
        let rarity = statistics.rarities[term];
        match frequencies.entries() {
            Entries::Dense(entries) => all.add_dense(rarity, entries, &fields),
            Entries::Sparse(entries) => {
                for (concept, frequency) in entries {
                    let concept = *concept as usize;
                    all.add(concept, rarity, worths.part(*frequency, &lengths[concept]));
                }
            }
        }
        Ok(())
    })?;
    let Sums { mut sums, rarities } = all;
    for (sum, rarity) in sums.iter_mut().zip(rarities) {
        *sum = if rarity == 0 { 0 } else { statistics.coverage.score(*sum, rarity) };
    }
    Ok(sums)
}

impl Sums {
    fn add(&mut self, concept: usize, rarity: u32, part: u32) {
        self.sums[concept] = self.sums[concept].saturating_add(contribution(rarity, part));
        self.rarities[concept] = self.rarities[concept].saturating_add(rarity);
    }

    /// Adds a term that many concepts have.
    fn add_dense(&mut self, rarity: u32, entries: &DenseEntries, fields: &Fields) {
        let flags = entries.blocks.iter().fold(0, |all, block| all | block.flags);
        let has_title = flags & (Frequency::IN_TITLE | Frequency::STEM_IN_TITLE) != 0;
        let has_tags = flags & (Frequency::IN_TAGS | Frequency::STEM_IN_TAGS) != 0;
        match (has_title, has_tags) {
            (false, false) => self.add_fields::<false, false>(rarity, entries, fields),
            (true, false) => self.add_fields::<true, false>(rarity, entries, fields),
            (false, true) => self.add_fields::<false, true>(rarity, entries, fields),
            (true, true) => self.add_fields::<true, true>(rarity, entries, fields),
        }
    }

    // Without branches, so that the compiler vectorises the loop.
    fn add_fields<const HAS_TITLE: bool, const HAS_TAGS: bool>(
        &mut self,
        rarity: u32,
        DenseEntries { flags, body, .. }: &DenseEntries,
        fields: &Fields,
    ) {
        let sums = self.sums.iter_mut().zip(&mut self.rarities);
        let frequencies = flags.iter().zip(body).zip(&fields.norms);
        let short = fields.short[TITLE].iter().zip(&fields.short[TAGS]);
        for (((sum, rarities), ((flags, body), norm)), (title, tags)) in sums.zip(frequencies).zip(short) {
            let mut part = weighted(BODY, *body, *norm);
            if HAS_TITLE {
                part += chosen(*title, *flags, Frequency::STEM_IN_TITLE, Frequency::IN_TITLE);
            }
            if HAS_TAGS {
                part += chosen(*tags, *flags, Frequency::STEM_IN_TAGS, Frequency::IN_TAGS);
            }
            *sum = sum.saturating_add(contribution(rarity, part));
            *rarities = rarities.saturating_add(if flags | body == 0 { 0 } else { rarity });
        }
    }
}

/// The worth of the term if the flags have it, else that of the stem if they have that.
fn chosen([stem_worth, term_worth]: [u32; 2], flags: u8, stem: u8, term: u8) -> u32 {
    let with_stem = if flags & stem == 0 { 0 } else { stem_worth };
    if flags & term == 0 { with_stem } else { term_worth }
}

/// What does not depend on the term, for each concept of a segment.
struct Fields {
    /// The norms of bodies.
    norms: Vec<f32>,
    /// The worths of titles, and of tags and descriptions.
    short: [Vec<[u32; 2]>; 2],
}

impl Fields {
    fn of(lengths: &[Lengths], worths: &Worths) -> Self {
        let short =
            |field: usize| lengths.iter().map(|lengths| worths.short(field, lengths[field])).collect();
        Self {
            norms: lengths.iter().map(|lengths| worths.norms.of(BODY, lengths[BODY])).collect(),
            short: [short(TITLE), short(TAGS)],
        }
    }
}

/// All concepts with a score above 0, the best first, ties in the given order, or in that of the numbers.
pub(super) fn ranked(scores: &[u32], order: Option<&[u32]>) -> Vec<Scored> {
    let one = |concept: u32| Scored { concept, score: scores[concept as usize] };
    let mut found: Vec<Scored> = match order {
        Some(order) => order.iter().map(|concept| one(*concept)).filter(|one| one.score != 0).collect(),
        None => (0_u32..).take(scores.len()).map(one).filter(|one| one.score != 0).collect(),
    };
    sort_best_first(&mut found);
    found
}
