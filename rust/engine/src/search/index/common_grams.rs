//! The matches of common terms of one or two bytes, computed when a segment is built.
//!
//! A term such as `e` or `in` is in much of the vocabulary, and the union of all those posting lists takes
//! long. Therefore bitmaps say in advance which concepts contain each term of one or two bytes (here called a
//! gram) that is common. All other terms, also rare ones of one or two bytes, go through the vocabulary.

#[cfg(test)]
mod tests;

use super::{forms::Forms, interner::StringPool, occurrences::ForwardIndex, posting::FIELD_BITS};

/// Segments of fewer concepts have no bitmaps: the union of posting lists is fast for any term.
const MIN_CONCEPTS: usize = 128;
/// About this many concepts are examined to find out which grams are common.
const SAMPLED_CONCEPTS: usize = 512;
/// A gram is common if more than one sampled concept in this many contains it.
const CONCEPTS_PER_COMMON_GRAM: usize = 4;
/// At most this many grams get bitmaps, the most common ones. No language has nearly as many.
const MAX_GRAMS: usize = 512;
/// The set of grams of a token is stored if the token occurs in at least this many concepts; for other tokens
/// it is computed each time. Most tokens occur once: storing all sets would take more memory than the text.
const MIN_OCCURRENCES: u8 = 8;

/// The longest gram, in bytes.
pub(super) const MAX_GRAM_BYTES: usize = 2;

/// One more than the largest key of a gram.
const KEYS: usize = 257 << 8;
/// Means "no entry" in a table.
const NONE: u32 = u32::MAX;

/// Concepts (or grams) in a word of a bitmap, a bit for each.
const BLOCK: usize = u64::BITS as usize;
const FIELDS: usize = FIELD_BITS as usize;

/// The concepts and fields that contain each *common* gram.
#[derive(Debug, Default)]
pub(super) struct CommonGrams {
    /// The keys of the grams, ascending.
    keys: Vec<u32>,
    /// For each gram and each block of concepts: a bitmap of the block for each field.
    bitmaps: Vec<[u64; FIELDS]>,
    concepts: usize,
}

impl CommonGrams {
    /// Tokens whose words have another normal form are left out.
    pub(super) fn of(tokens: &StringPool, forward: &ForwardIndex, forms: &Forms, concepts: usize) -> Self {
        if concepts < MIN_CONCEPTS {
            return Self::default();
        }
        let keys = common_keys(tokens, forward, forms, concepts);
        let sets = GramSets::of(tokens, forward, forms, &keys);
        let blocks = concepts.div_ceil(BLOCK);
        let mut bitmaps = vec![[0; FIELDS]; keys.len() * blocks];
        let words = sets.words;
        // For each concept of a block and each field: the set of grams in it.
        let mut found_in = vec![0_u64; BLOCK * FIELDS * words];
        let mut rest = forward.concepts();
        for block in 0..blocks {
            for (concept, tokens_of) in rest.by_ref().take(BLOCK).enumerate() {
                for (token, found) in tokens_of {
                    let row = &mut found_in[concept * FIELDS * words..][..FIELDS * words];
                    for field in (0..FIELDS).filter(|field| found >> field & 1 != 0) {
                        sets.add_to(&mut row[field * words..][..words], token, tokens);
                    }
                }
            }
            // Turned around: for each gram, the set of concepts that contain it.
            for field in 0..FIELDS {
                for word in 0..words {
                    let mut square = [0; BLOCK];
                    for (concept, row) in square.iter_mut().enumerate() {
                        *row = found_in[(concept * FIELDS + field) * words + word];
                    }
                    transpose(&mut square);
                    let slots = word * BLOCK..keys.len().min((word + 1) * BLOCK);
                    for (slot, bits) in slots.zip(square) {
                        bitmaps[slot * blocks + block][field] = bits;
                    }
                }
            }
            found_in.fill(0);
        }
        Self { keys, bitmaps, concepts }
    }

    /// For every concept, the fields that contain a term of one or two bytes; `None` if it is not common.
    pub(super) fn fields(&self, term: &[u8]) -> Option<Vec<u8>> {
        let at = self.keys.binary_search(&key(term)).ok()?;
        let blocks = self.concepts.div_ceil(BLOCK);
        let mut fields = Vec::with_capacity(blocks * BLOCK);
        for bitmaps in &self.bitmaps[at * blocks..][..blocks] {
            for byte in 0..8 {
                let eight = (0..).zip(bitmaps).map(|(field, bits)| spread(bits.to_le_bytes()[byte]) << field);
                fields.extend(eight.fold(0, |all, one| all | one).to_le_bytes());
            }
        }
        fields.truncate(self.concepts);
        Some(fields)
    }
}

/// The set of common grams in each token, as a bitmap.
struct GramSets<'forms> {
    forms: &'forms Forms,
    /// For each key, the number of the gram among the common ones.
    slot_of: Vec<u32>,
    /// How many words a bitmap has.
    words: usize,
    /// For each token, the number of its stored bitmap.
    row_of: Vec<u32>,
    /// The stored bitmaps, one after the other.
    stored: Vec<u64>,
}

impl<'forms> GramSets<'forms> {
    fn of(tokens: &StringPool, forward: &ForwardIndex, forms: &'forms Forms, keys: &[u32]) -> Self {
        let mut slot_of = vec![NONE; KEYS];
        for (slot, key) in (0_u32..).zip(keys) {
            slot_of[*key as usize] = slot;
        }
        let mut occurrences = vec![0_u8; tokens.len()];
        for (token, _) in forward.concepts().flatten() {
            occurrences[token as usize] = occurrences[token as usize].saturating_add(1);
        }
        let words = keys.len().div_ceil(BLOCK);
        let mut this = Self { forms, slot_of, words, row_of: vec![NONE; tokens.len()], stored: Vec::new() };
        let frequent = (0_u32..).zip(occurrences).filter(|(_, count)| *count >= MIN_OCCURRENCES);
        for (row, (token, _)) in (0_u32..).zip(frequent) {
            let mut set = vec![0; words];
            this.add_grams(&mut set, token, tokens);
            this.stored.append(&mut set);
            this.row_of[token as usize] = row;
        }
        this
    }

    /// Adds the grams of a token to a set.
    fn add_to(&self, set: &mut [u64], token: u32, tokens: &StringPool) {
        let row = self.row_of[token as usize];
        if row == NONE {
            self.add_grams(set, token, tokens);
        } else {
            for (all, one) in set.iter_mut().zip(&self.stored[row as usize * self.words..][..self.words]) {
                *all |= one;
            }
        }
    }

    fn add_grams(&self, set: &mut [u64], token: u32, tokens: &StringPool) {
        if self.forms.changes_words(token) {
            return;
        }
        for key in keys_of(tokens.get(token)) {
            let slot = self.slot_of[key as usize] as usize;
            if let Some(word) = set.get_mut(slot / BLOCK) {
                *word |= 1 << (slot % BLOCK);
            }
        }
    }
}

/// Puts each of eight bits into the lowest bit of a byte of its own.
fn spread(bits: u8) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let one_each = (u64::from(bits) * EACH) & 0x8040_2010_0804_0201;
    (one_each + EACH * 0x7f) >> 7 & EACH
}

/// Transposes a square of bits: bit `j` of word `i` becomes bit `i` of word `j`. Swaps halves, then quarters,
/// and so on.
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

/// The key of a gram: the byte itself, or the second byte and, above it, one more than the first.
fn key(gram: &[u8]) -> u32 {
    match *gram {
        [one] => u32::from(one),
        [one, two, ..] => (u32::from(one) + 1) << 8 | u32::from(two),
        [] => u32::MAX,
    }
}

/// The keys of all grams of a token, with repetitions.
fn keys_of(token: &[u8]) -> impl Iterator<Item = u32> {
    token.chunks(1).chain(token.windows(2)).map(key)
}

/// The keys of the grams that are common in a sample of the concepts, ascending.
fn common_keys(tokens: &StringPool, forward: &ForwardIndex, forms: &Forms, concepts: usize) -> Vec<u32> {
    let step = (concepts / SAMPLED_CONCEPTS).max(1);
    let mut last = vec![usize::MAX; KEYS];
    let mut counts = vec![0_usize; KEYS];
    for (concept, found) in forward.concepts().enumerate().step_by(step) {
        for (token, _) in found.filter(|(token, _)| !forms.changes_words(*token)) {
            for key in keys_of(tokens.get(token)) {
                if last[key as usize] != concept {
                    last[key as usize] = concept;
                    counts[key as usize] += 1;
                }
            }
        }
    }
    let threshold = concepts / step / CONCEPTS_PER_COMMON_GRAM;
    let mut common: Vec<(usize, u32)> =
        counts.into_iter().zip(0_u32..).filter(|(count, _)| *count > threshold).collect();
    common.sort_unstable_by(|a, b| b.cmp(a));
    common.truncate(MAX_GRAMS);
    let mut keys: Vec<u32> = common.into_iter().map(|(_, key)| key).collect();
    keys.sort_unstable();
    keys
}
