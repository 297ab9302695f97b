//! Terms of one or two bytes, answered without uniting the postings of half the vocabulary.

use super::{
    interner::{Strings, narrow},
    matches::{Matches, field},
    rows::Rows,
};

/// Below this many concepts, uniting postings is quick for any term.
const FEW_CONCEPTS: usize = 1024;
/// Every so many concepts are looked at to tell which grams are common.
const SAMPLED: usize = 16;
/// A gram is common if one concept in so many has it.
const COMMON: usize = 4;

/// One more than the largest key.
const KEYS: usize = 257 << 8;
/// Stands for "not common".
const NONE: u32 = u32::MAX;

/// The matches of every *common* gram of one or two bytes. What is not here is rare enough to be united
/// from its postings.
#[derive(Debug, Default)]
pub(super) struct Grams {
    /// The grams, ascending.
    keys: Vec<u32>,
    /// For each gram, the fields of every concept, two concepts a byte.
    fields: Vec<Box<[u8]>>,
    concepts: usize,
}

impl Grams {
    /// `seen` lists tokens and their postings, concept after concept.
    pub(super) fn of(tokens: &Strings, seen: &[(u32, u32)], concepts: usize) -> Self {
        if concepts < FEW_CONCEPTS {
            return Self::default();
        }
        let keys = common(tokens, seen, concepts);
        let mut slot_of = vec![NONE; KEYS];
        for (slot, key) in keys.iter().enumerate() {
            slot_of[*key as usize] = narrow(slot);
        }
        let slots = Rows::build(tokens.len(), |token, slots| {
            let own = grams(tokens.get(token)).map(|gram| slot_of[gram as usize]);
            slots.extend(own.filter(|slot| *slot != NONE));
        });
        let mut fields = vec![vec![0_u8; concepts.div_ceil(2)].into_boxed_slice(); keys.len()];
        for (token, posting) in seen {
            let (concept, found) = field::split(*posting);
            let nibble = found << (4 * (concept & 1));
            for slot in slots.get(*token) {
                fields[*slot as usize][concept as usize / 2] |= nibble;
            }
        }
        Self { keys, fields, concepts }
    }

    /// The matches of a term of one or two bytes, if it is common.
    pub(super) fn get(&self, term: &[u8]) -> Option<Matches> {
        let at = self.keys.binary_search(&key(term)).ok()?;
        let fields = &self.fields[at];
        let of = |concept: usize| fields[concept / 2] >> (4 * (concept & 1)) & 7;
        Some(Matches::of_fields((0..self.concepts).map(of).collect()))
    }
}

/// One byte is told from two by its upper half.
fn key(gram: &[u8]) -> u32 {
    match *gram {
        [one] => u32::from(one),
        [one, two, ..] => (u32::from(one) + 1) << 8 | u32::from(two),
        [] => u32::MAX,
    }
}

/// The grams of a token, repeated as they come.
fn grams(token: &[u8]) -> impl Iterator<Item = u32> {
    token.chunks(1).chain(token.windows(2)).map(key)
}

/// The grams that a sample of the concepts has often, ascending.
fn common(tokens: &Strings, seen: &[(u32, u32)], concepts: usize) -> Vec<u32> {
    let mut last = vec![u32::MAX; KEYS];
    let mut counts = vec![0_usize; KEYS];
    for (token, posting) in seen {
        let concept = posting >> field::BITS;
        if !(concept as usize).is_multiple_of(SAMPLED) {
            continue;
        }
        for gram in grams(tokens.get(*token)) {
            if last[gram as usize] != concept {
                last[gram as usize] = concept;
                counts[gram as usize] += 1;
            }
        }
    }
    let often = concepts / SAMPLED / COMMON;
    (0_u32..).zip(counts).filter(|(_, count)| *count > often).map(|(gram, _)| gram).collect()
}
