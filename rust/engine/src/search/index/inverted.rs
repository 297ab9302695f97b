//! The inverted index of a segment: the posting lists of its words and of its compounds.

use super::{
    forms::{Forms, compounds},
    frequencies::Frequencies,
    interner::{Interner, SEPARATOR, StringPool, to_u32},
    matches::Matches,
    occurrences::Occurrences,
    packed_lists::PackedLists,
    posting,
    posting_lists::{Counted, PostingLists},
    trigrams::Indexed,
    vocabulary::Vocabulary,
    words::{is_word, words as split},
};
use crate::text::stem::stem;

/// In the map from tokens to compounds: the token is a word.
const NO_COMPOUND: u32 = u32::MAX;

/// Finds the concepts that contain a term.
#[derive(Debug)]
pub(super) struct InvertedIndex {
    /// What is written as its normal form, which is nearly all text.
    shared: Vocabularies,
    /// What is written in another way than its normal form.
    written: Vocabularies,
    /// The normal form of what is written in another way, and the titles that only BM25F knows (V3).
    normal: Vocabularies,
}

/// The words and the compounds of the same tokens.
#[derive(Debug, Default)]
struct Vocabularies {
    words: Vocabulary,
    compounds: Vocabulary,
}

impl Vocabularies {
    fn of(&self, term: &[u8]) -> &Vocabulary {
        if is_word(term) { &self.words } else { &self.compounds }
    }
}

impl InvertedIndex {
    pub(super) fn of(occurrences: &Occurrences, forms: &Forms) -> Self {
        let Occurrences { tokens, forward, titles, .. } = occurrences;
        let changed: Vec<(u32, Counted)> = if forms.is_empty() {
            Vec::new()
        } else {
            forward.postings().filter(|(token, _)| forms.get(*token).is_some()).collect()
        };
        Self {
            shared: shared(occurrences, forms),
            written: written(tokens, forms, &changed),
            normal: normal(tokens, forms, changed, titles),
        }
    }

    /// The matches of a folded term in a segment of `concepts` concepts.
    pub(super) fn matches(&self, term: &[u8], concepts: usize) -> Matches {
        let shared = self.shared.of(term).lists_with(term);
        let written = self.written.of(term).lists_with(term);
        Matches::union(concepts, shared.lists().chain(written.lists()))
    }

    /// Adds, for every concept, the fields that have a token which contains the term and is not in normal form.
    pub(super) fn add_written(&self, term: &[u8], fields: &mut [u8]) {
        add_fields(self.written.of(term), term, fields);
    }

    /// How often each concept of a segment of `concepts` concepts has a term in normal form.
    pub(super) fn frequencies(&self, term: &str, concepts: usize) -> Frequencies {
        let vocabularies = [self.shared.of(term.as_bytes()), self.normal.of(term.as_bytes())];
        let stem = stem(term);
        Frequencies::of_term(concepts, &vocabularies.map(|vocabulary| vocabulary.counted_with(term, stem)))
    }

    /// The same of a term of one or two bytes that is a word. `fields` has the fields of every concept in which it
    /// stands as written there.
    pub(super) fn short_term_frequencies(&self, term: &str, mut fields: Vec<u8>) -> Frequencies {
        add_fields(&self.normal.words, term.as_bytes(), &mut fields);
        let vocabularies = [&self.shared.words, &self.normal.words];
        Frequencies::of_short_term(&vocabularies.map(|vocabulary| vocabulary.short_words_with(term)), &fields)
    }

    /// For every concept, the fields that have a word as written which is its normal form, and contains the term.
    pub(super) fn shared_fields(&self, term: &[u8], concepts: usize) -> Vec<u8> {
        let mut fields = vec![0; concepts];
        add_fields(&self.shared.words, term, &mut fields);
        fields
    }

    /// About how many strings or offsets are compared to find a folded term.
    pub(super) fn lookup_cost(&self, term: &[u8]) -> usize {
        self.shared.of(term).lookup_cost(term)
    }
}

fn add_fields(vocabulary: &Vocabulary, term: &[u8], fields: &mut [u8]) {
    for posting in vocabulary.lists_with(term).lists().flatten() {
        let (concept, found) = posting::unpack(*posting);
        fields[concept as usize] |= found;
    }
}

fn shared(Occurrences { tokens, forward, titles, .. }: &Occurrences, forms: &Forms) -> Vocabularies {
    // Tokens that stand only in titles which only BM25F knows have no postings here.
    let mut is_there = vec![titles.is_empty(); tokens.len()];
    if !titles.is_empty() {
        forward.postings().for_each(|(token, _)| is_there[token as usize] = true);
    }
    let (mut words, mut compounds) = (Interner::default(), StringPool::default());
    // For each token, its number among the compounds.
    let mut compound_of = Vec::with_capacity(tokens.len());
    let words_of = PackedLists::from_fn(tokens.len(), |token, numbers| {
        let text = tokens.get(token);
        debug_assert!(!text.contains(&SEPARATOR));
        let is_there = is_there[token as usize];
        let is_compound = is_there && !is_word(text) && (forms.is_empty() || forms.get(token).is_none());
        compound_of.push(if is_compound { compounds.push(text) } else { NO_COMPOUND });
        if is_there && !forms.changes_words(token) {
            numbers.extend(split(text).map(|word| words.intern(word)));
        }
    });
    let words = words.finish();
    compounds.shrink_to_fit();
    let of_compounds = forward.postings().filter_map(|(token, counted)| {
        let compound = compound_of[token as usize];
        (compound != NO_COMPOUND).then_some((compound, counted))
    });
    let of_words = forward
        .postings()
        .flat_map(|(token, counted)| words_of.get(token).iter().map(move |word| (*word, counted)));
    let word_postings = PostingLists::of(words.len(), of_words);
    let compound_postings = PostingLists::of(compounds.len(), of_compounds);
    Vocabularies {
        words: Vocabulary::new(words, word_postings, Indexed::All),
        // Only terms with punctuation are looked for here: for others, the words are enough.
        compounds: Vocabulary::new(compounds, compound_postings, Indexed::WithPunctuation),
    }
}

fn written(tokens: &StringPool, forms: &Forms, changed: &[(u32, Counted)]) -> Vocabularies {
    if changed.is_empty() {
        return Vocabularies::default();
    }
    let words = vocabulary(tokens.len(), changed, Indexed::All, |token, add| {
        if forms.changes_words(token) {
            split(tokens.get(token)).for_each(add);
        }
    });
    let compounds = vocabulary(tokens.len(), changed, Indexed::WithPunctuation, |token, add| {
        let text = tokens.get(token);
        if forms.get(token).is_some() && !is_word(text) {
            add(text);
        }
    });
    Vocabularies { words, compounds }
}

/// `titles` are the tokens of titles that only BM25F knows.
fn normal(
    tokens: &StringPool,
    forms: &Forms,
    mut changed: Vec<(u32, Counted)>,
    titles: &[(u32, Counted)],
) -> Vocabularies {
    // A token of a title stands behind all tokens: there, all of its words count, and not only changed ones.
    let first_title = to_u32(tokens.len());
    changed.extend(titles.iter().map(|(token, counted)| (first_title + token, *counted)));
    if changed.is_empty() {
        return Vocabularies::default();
    }
    changed.sort_by_key(|(_, (posting, _))| posting::unpack(*posting).0);
    let mut is_in_a_title = vec![false; tokens.len()];
    for (token, _) in titles {
        is_in_a_title[*token as usize] = true;
    }
    let text = |token: u32| str::from_utf8(tokens.get(token)).unwrap_or_default();
    let form = |row: u32| match row.checked_sub(first_title) {
        None => forms.get(row),
        Some(token) => forms.get(token).filter(|_| is_in_a_title[token as usize]),
    };
    // The token of a title that is written in normal form.
    let plain = |row: u32| {
        let token = row.checked_sub(first_title).filter(|token| is_in_a_title[*token as usize])?;
        forms.get(token).is_none().then(|| text(token))
    };
    let rows = 2 * tokens.len();
    let words = vocabulary(rows, &changed, Indexed::All, |row, add| {
        let letters = match (form(row), row.checked_sub(first_title)) {
            (Some(form), None) => form.letters(),
            (Some(form), Some(token)) => Some(form.letters().unwrap_or_else(|| text(token))),
            (None, _) => plain(row),
        };
        letters.into_iter().flat_map(|letters| split(letters.as_bytes())).for_each(add);
    });
    let compounds = vocabulary(rows, &changed, Indexed::WithPunctuation, |row, add| {
        let token = row.checked_sub(first_title).unwrap_or(row);
        let normal = form(row).map(|form| form.normal(text(token))).or_else(|| plain(row));
        normal.into_iter().flat_map(compounds).for_each(add);
    });
    Vocabularies { words, compounds }
}

/// The vocabulary of strings that `strings_of` makes of each row (a token), with the postings of the rows.
fn vocabulary<'text>(
    rows: usize,
    postings: &[(u32, Counted)],
    indexed: Indexed,
    strings_of: impl Fn(u32, &mut dyn FnMut(&'text [u8])),
) -> Vocabulary {
    let mut strings = Interner::default();
    let of_row = PackedLists::from_fn(rows, |row, numbers| {
        strings_of(row, &mut |string| numbers.push(strings.intern(string)));
    });
    let strings = strings.finish();
    let pairs = postings
        .iter()
        .flat_map(|(row, counted)| of_row.get(*row).iter().map(move |string| (*string, *counted)));
    let postings = PostingLists::of(strings.len(), pairs);
    Vocabulary::new(strings, postings, indexed)
}
