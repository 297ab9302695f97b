//! Terms of one or two bytes, answered without uniting the postings of half the vocabulary.

use super::interner::Strings;
use super::matches::Matches;
use super::matches::field;
use super::occurrences::Seen;

/// Below this many concepts, uniting postings is quick for any term.
const FEW_CONCEPTS: usize = 128;
/// About so many concepts are looked at to tell which grams are common.
const SAMPLE: usize = 512;
/// A gram is common if one concept in so many has it.
const COMMON: usize = 4;
/// Of so many it is kept at most who has them; there are far fewer in any language.
const MOST: usize = 512;
/// Tokens that were seen less often are taken apart each time. Most tokens are seen once; a set for each would
/// take more room than all their text.
const OFTEN: u8 = 8;

/// One more than the largest key.
const KEYS: usize = 257 << 8;
/// Stands for "not common".
const NONE: u32 = u32::MAX;

/// So many concepts or grams are a bit each of one word.
const BLOCK: usize = 64;
/// How many kinds of fields there are.
const FIELDS: usize = field::BITS as usize;

/// The matches of every *common* gram of one or two bytes. What is not here is rare enough to be united
/// from its postings.
#[derive(Debug, Default)]
pub(super) struct Grams {
    /// The grams, ascending.
    keys: Vec<u32>,
    /// For each gram and each block of concepts, a word for each field.
    planes: Vec<[u64; FIELDS]>,
    concepts: usize,
}

impl Grams {
    pub(super) fn of(tokens: &Strings, seen: &Seen, concepts: usize) -> Self {
        if concepts < FEW_CONCEPTS {
            return Self::default();
        }
        let keys = common(tokens, seen, concepts);
        let sets = Sets::of(tokens, seen, &keys);
        let blocks = concepts.div_ceil(BLOCK);
        let mut planes = vec![[0; FIELDS]; keys.len() * blocks];
        // For each concept of a block and each field, its grams.
        let words = sets.words;
        let mut found_in = vec![0_u64; BLOCK * FIELDS * words];
        let mut rest = seen.concepts();
        for block in 0..blocks {
            for (concept, tokens_of) in rest.by_ref().take(BLOCK).enumerate() {
                for (token, found) in tokens_of {
                    let row = &mut found_in[concept * FIELDS * words..][..FIELDS * words];
                    for field in (0..FIELDS).filter(|field| found >> field & 1 != 0) {
                        sets.add_to(&mut row[field * words..][..words], token, tokens);
                    }
                }
            }
            for field in 0..FIELDS {
                for word in 0..words {
                    let mut square = [0; BLOCK];
                    for (concept, row) in square.iter_mut().enumerate() {
                        *row = found_in[(concept * FIELDS + field) * words + word];
                    }
                    transpose(&mut square);
                    let slots = word * BLOCK..keys.len().min((word + 1) * BLOCK);
                    for (slot, bits) in slots.zip(square) {
                        planes[slot * blocks + block][field] = bits;
                    }
                }
            }
            found_in.fill(0);
        }
        Self { keys, planes, concepts }
    }

    /// The matches of a term of one or two bytes, if it is common.
    pub(super) fn get(&self, term: &[u8]) -> Option<Matches> {
        let at = self.keys.binary_search(&key(term)).ok()?;
        let blocks = self.concepts.div_ceil(BLOCK);
        let mut fields = Vec::with_capacity(blocks * BLOCK);
        for plane in &self.planes[at * blocks..][..blocks] {
            for byte in 0..8 {
                let eight = (0..).zip(plane).map(|(field, bits)| spread(bits.to_le_bytes()[byte]) << field);
                fields.extend(eight.fold(0, |all, one| all | one).to_le_bytes());
            }
        }
        fields.truncate(self.concepts);
        Some(Matches::of_fields(fields))
    }
}

/// Which of the grams tokens have.
struct Sets {
    slot_of: Vec<u32>,
    words: usize,
    /// For each token that is seen often, where its set is.
    row_of: Vec<u32>,
    bits: Vec<u64>,
}

impl Sets {
    fn of(tokens: &Strings, seen: &Seen, keys: &[u32]) -> Self {
        let mut slot_of = vec![NONE; KEYS];
        for (slot, key) in (0_u32..).zip(keys) {
            slot_of[*key as usize] = slot;
        }
        let mut times = vec![0_u8; tokens.len()];
        for (token, _) in seen.concepts().flatten() {
            times[token as usize] = times[token as usize].saturating_add(1);
        }
        let words = keys.len().div_ceil(BLOCK);
        let mut this = Self { slot_of, words, row_of: vec![NONE; tokens.len()], bits: Vec::new() };
        let often = (0_u32..).zip(times).filter(|(_, times)| *times >= OFTEN).map(|(token, _)| token);
        for (row, token) in (0_u32..).zip(often) {
            let mut set = vec![0; words];
            this.gather(&mut set, tokens.get(token));
            this.bits.append(&mut set);
            this.row_of[token as usize] = row;
        }
        this
    }

    /// Adds the grams of a token to a set.
    fn add_to(&self, set: &mut [u64], token: u32, tokens: &Strings) {
        let row = self.row_of[token as usize];
        if row == NONE {
            self.gather(set, tokens.get(token));
        } else {
            for (all, one) in set.iter_mut().zip(&self.bits[row as usize * self.words..][..self.words]) {
                *all |= one;
            }
        }
    }

    fn gather(&self, set: &mut [u64], token: &[u8]) {
        for gram in grams(token) {
            let slot = self.slot_of[gram as usize] as usize;
            if let Some(word) = set.get_mut(slot / BLOCK) {
                *word |= 1 << (slot % BLOCK);
            }
        }
    }
}

/// Eight bits, each in a byte of its own.
fn spread(bits: u8) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let one_each = (u64::from(bits) * EACH) & 0x8040_2010_0804_0201;
    (one_each + EACH * 0x7f) >> 7 & EACH
}

/// Bit `j` of word `i` becomes bit `i` of word `j`: halves change places, then quarters, and so on.
fn transpose(words: &mut [u64; BLOCK]) {
    let mut size = BLOCK / 2;
    let mut mask = u64::MAX >> size;
    while size > 0 {
        let mut at = 0;
        while at < BLOCK {
            let swapped = (words[at] >> size ^ words[at + size]) & mask;
            words[at] ^= swapped << size;
            words[at + size] ^= swapped;
            at = (at + size + 1) & !size;
        }
        size /= 2;
        mask ^= mask << size;
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
fn common(tokens: &Strings, seen: &Seen, concepts: usize) -> Vec<u32> {
    let step = (concepts / SAMPLE).max(1);
    let mut last = vec![usize::MAX; KEYS];
    let mut counts = vec![0_usize; KEYS];
    for (concept, found) in seen.concepts().enumerate().step_by(step) {
        for (token, _) in found {
            for gram in grams(tokens.get(token)) {
                if last[gram as usize] != concept {
                    last[gram as usize] = concept;
                    counts[gram as usize] += 1;
                }
            }
        }
    }
    let often = concepts / step / COMMON;
    let mut common: Vec<(usize, u32)> =
        counts.into_iter().zip(0_u32..).filter(|(count, _)| *count > often).collect();
    common.sort_unstable_by(|a, b| b.cmp(a));
    common.truncate(MOST);
    let mut grams: Vec<u32> = common.into_iter().map(|(_, gram)| gram).collect();
    grams.sort_unstable();
    grams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_change_places_with_words() {
        let mut words = [0; BLOCK];
        for (at, word) in words.iter_mut().enumerate() {
            *word = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1);
        }
        let before = words;
        transpose(&mut words);
        for (i, row) in before.iter().enumerate() {
            for (j, column) in words.iter().enumerate() {
                assert_eq!(column >> i & 1, row >> j & 1, "bit {j} of word {i}");
            }
        }
    }

    #[test]
    fn bits_are_spread_in_their_order() {
        for bits in 0..=u8::MAX {
            let bytes = spread(bits).to_le_bytes();
            for (at, byte) in bytes.iter().enumerate() {
                assert_eq!(*byte, bits >> at & 1);
            }
        }
    }
}
