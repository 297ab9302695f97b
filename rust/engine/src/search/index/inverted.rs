//! The inverted index of a segment: the posting lists of its words and of its compounds.

use super::{
    interner::{Interner, SEPARATOR, StringPool},
    matches::Matches,
    occurrences::Occurrences,
    packed_lists::PackedLists,
    trigrams::Indexed,
    vocabulary::Vocabulary,
    words::{is_word, words as split},
};

/// A word is compared with this many earlier words of its token, to leave out repetitions. A repetition that
/// is not noticed costs memory and changes no answer; comparing all would take quadratic time for a token of
/// many words.
const COMPARED_WORDS: usize = 8;

/// In the map from tokens to compounds: the token is a word.
const NO_COMPOUND: u32 = u32::MAX;

/// Finds the concepts that contain a term.
#[derive(Debug)]
pub(super) struct InvertedIndex {
    words: Vocabulary,
    compounds: Vocabulary,
}

impl InvertedIndex {
    pub(super) fn of(Occurrences { tokens, forward }: &Occurrences) -> Self {
        let (mut words, mut compounds) = (Interner::default(), StringPool::default());
        // For each token, its number among the compounds.
        let mut compound_of = Vec::with_capacity(tokens.len());
        let words_of = PackedLists::from_fn(tokens.len(), |token, numbers| {
            let text = tokens.get(token);
            debug_assert!(!text.contains(&SEPARATOR));
            compound_of.push(if is_word(text) { NO_COMPOUND } else { compounds.push(text) });
            let first = numbers.len();
            for word in split(text) {
                let word = words.intern(word);
                if !numbers[first..].iter().take(COMPARED_WORDS).any(|number| *number == word) {
                    numbers.push(word);
                }
            }
        });
        let words = words.finish();
        compounds.shrink_to_fit();
        let of_compounds = forward.postings().filter_map(|(token, posting)| {
            let compound = compound_of[token as usize];
            (compound != NO_COMPOUND).then_some((compound, posting))
        });
        let of_words = forward
            .postings()
            .flat_map(|(token, posting)| words_of.get(token).iter().map(move |word| (*word, posting)));
        let word_postings = PackedLists::from_postings(words.len(), of_words);
        let compound_postings = PackedLists::from_pairs(compounds.len(), of_compounds);
        Self {
            words: Vocabulary::new(words, word_postings, Indexed::All),
            // Only terms with punctuation are looked for here: for others, the words are enough.
            compounds: Vocabulary::new(compounds, compound_postings, Indexed::WithPunctuation),
        }
    }

    /// The matches of a folded term in a segment of `concepts` concepts.
    pub(super) fn matches(&self, term: &[u8], concepts: usize) -> Matches {
        self.vocabulary_of(term).matches(term, concepts)
    }

    /// About how many strings or offsets are compared to find a folded term.
    pub(super) fn lookup_cost(&self, term: &[u8]) -> usize {
        self.vocabulary_of(term).lookup_cost(term)
    }

    fn vocabulary_of(&self, term: &[u8]) -> &Vocabulary {
        if is_word(term) { &self.words } else { &self.compounds }
    }
}
