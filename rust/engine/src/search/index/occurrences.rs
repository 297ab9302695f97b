//! Which tokens each concept contains: the forward index, from which the inverted one is built.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{
    interner::{Entry, Interner, StringPool, to_u32},
    posting::{self, BODY, TAGS_OR_DESCRIPTION, TITLE},
    posting_lists::Counted,
};
use crate::{
    document::{concept::Concept, title::title_without_field},
    text::{
        fold::{fold, fold_into},
        script::{ascii_length, length},
        terms::is_blank,
    },
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// A thread is used for each this many bytes of text. For less, starting a thread costs more than it saves.
const BYTES_PER_THREAD: usize = 1 << 20;

/// The tokens of a run of concepts.
#[derive(Default)]
pub(super) struct Occurrences {
    pub(super) tokens: StringPool,
    pub(super) forward: ForwardIndex,
    /// The tokens of titles that only BM25F knows (V3), with the postings of their concepts.
    pub(super) titles: Vec<(u32, Counted)>,
    /// The lengths of the fields of each concept.
    pub(super) lengths: Vec<Lengths>,
}

/// The lengths of the fields of a concept under BM25F: title, tags and description, body. Each is a number of
/// words, and of characters of scripts without spaces.
pub(crate) type Lengths = [u32; 3];

/// The tokens of each concept.
#[derive(Debug, Default)]
pub(super) struct ForwardIndex {
    /// The number of a token, packed with the fields that contain it; concept after concept, each token of a
    /// concept once.
    items: Vec<u32>,
    /// For each item, how often the body has the token; 255 if it has it more often.
    counts: Vec<u8>,
    /// Where in `items` each concept ends.
    ends: Vec<u32>,
}

impl ForwardIndex {
    /// For each concept, its tokens and the fields that contain them.
    pub(super) fn concepts(&self) -> impl Iterator<Item = impl Iterator<Item = (u32, u8)> + Clone> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| {
            self.items[*start as usize..*end as usize].iter().map(|item| posting::unpack(*item))
        })
    }

    /// Tokens with a posting for each concept that contains them, concept after concept.
    pub(super) fn postings(&self) -> impl Iterator<Item = (u32, Counted)> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        (0_u32..).zip(starts.zip(&self.ends)).flat_map(|(concept, (start, end))| {
            let range = *start as usize..*end as usize;
            let counted = self.items[range.clone()].iter().zip(&self.counts[range]);
            counted.map(move |(item, count)| {
                let (token, fields) = posting::unpack(*item);
                (token, (posting::pack(concept, fields), *count))
            })
        })
    }

    /// Appends the concepts of another index. `numbers` gives the number here of each of its tokens.
    fn append(&mut self, other: &ForwardIndex, numbers: &[u32]) {
        let before = to_u32(self.items.len());
        self.items.extend(other.items.iter().map(|item| {
            let (token, fields) = posting::unpack(*item);
            posting::pack(numbers[token as usize], fields)
        }));
        self.counts.extend(&other.counts);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }
}

impl Occurrences {
    /// Reads the text of all concepts, on up to `threads` threads.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub(super) fn of(concepts: &[Arc<Concept>], threads: usize, task: &Task) -> Result<Self, Abandoned> {
        let text: usize = concepts.iter().map(|concept| concept.text_len()).sum();
        let pieces = threads.min(text / BYTES_PER_THREAD).max(1);
        Self::of_pieces(concepts, pieces, threads, task)
    }

    /// Reads the concepts in pieces, each with its own interner; then numbers their tokens together.
    fn of_pieces(
        concepts: &[Arc<Concept>],
        pieces: usize,
        threads: usize,
        task: &Task,
    ) -> Result<Self, Abandoned> {
        let size = concepts.len().div_ceil(pieces).max(1);
        let pieces: Vec<&[Arc<Concept>]> = concepts.chunks(size).collect();
        let mut built = parallel::map(&pieces, threads, |piece| {
            let mut builder = Builder::default();
            for concept in *piece {
                task.go_on()?;
                builder.add_concept(concept);
            }
            Ok(builder)
        })
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
        let Some(mut all) = built.next() else { return Ok(Self::default()) };
        for Builder { tokens, forward, titles, lengths, .. } in built {
            let tokens = tokens.finish();
            let numbers: Vec<u32> =
                (0..to_u32(tokens.len())).map(|token| all.tokens.intern(tokens.get(token))).collect();
            let before = to_u32(all.lengths.len());
            all.titles.extend(titles.into_iter().map(|(token, (posting, count))| {
                let (concept, fields) = posting::unpack(posting);
                (numbers[token as usize], (posting::pack(before + concept, fields), count))
            }));
            all.forward.append(&forward, &numbers);
            all.lengths.extend(lengths);
        }
        let Builder { tokens, forward, titles, lengths, .. } = all;
        Ok(Self { tokens: tokens.finish(), forward, titles, lengths })
    }
}

/// Builds a forward index, concept by concept.
#[derive(Default)]
struct Builder {
    tokens: Interner,
    forward: ForwardIndex,
    titles: Vec<(u32, Counted)>,
    lengths: Vec<Lengths>,
    /// The length of each token.
    token_lengths: Vec<u32>,
    /// The length of the text that was added last.
    length: u32,
    /// A buffer for folded text, reused.
    folded: String,
}

impl Builder {
    fn add_concept(&mut self, concept: &Concept) {
        let document = &concept.document;
        match &document.title {
            Some(title) if !is_blank(title) => self.add_text(TITLE, title),
            _ => self.add_title(&title_without_field(concept)),
        }
        let title = std::mem::take(&mut self.length);
        for text in document.description.iter().chain(&document.tags) {
            self.add_text(TAGS_OR_DESCRIPTION, text);
        }
        let tags_or_description = std::mem::take(&mut self.length);
        self.add_text(BODY, &document.body);
        let body = std::mem::take(&mut self.length);
        self.forward.ends.push(to_u32(self.forward.items.len()));
        self.lengths.push([title, tags_or_description, body]);
    }

    /// Adds a title that only BM25F knows.
    fn add_title(&mut self, title: &str) {
        let concept = to_u32(self.lengths.len());
        let first = self.titles.len();
        for token in fold(title).split_whitespace() {
            let Entry { number: token, .. } = *self.entry(token.as_bytes(), || length(token));
            self.titles.push((token, (posting::pack(concept, TITLE), 0)));
        }
        self.titles[first..].sort_unstable();
    }

    fn add_text(&mut self, field: u8, text: &str) {
        self.folded.clear();
        fold_into(text, &mut self.folded);
        let folded = std::mem::take(&mut self.folded);
        // Splitting bytes at ASCII white space is several times faster than decoding characters, which only
        // pieces with other characters need.
        let is_all_ascii = folded.is_ascii();
        let pieces = folded.as_bytes().split(|byte| matches!(byte, b'\t'..=b'\r' | b' '));
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            if is_all_ascii || piece.is_ascii() {
                self.add_token(piece, field, || ascii_length(piece));
            } else if let Ok(piece) = str::from_utf8(piece) {
                for token in piece.split_whitespace() {
                    self.add_token(token.as_bytes(), field, || length(token));
                }
            }
        }
        self.folded = folded;
    }

    /// The entry of a token. Its length is added; `length` computes it if the token is new.
    fn entry(&mut self, token: &[u8], length: impl FnOnce() -> u32) -> &mut Entry {
        let entry = self.tokens.entry(token);
        let known = self.token_lengths.get(entry.number as usize).copied();
        let length = known.unwrap_or_else(|| {
            let length = length();
            self.token_lengths.push(length);
            length
        });
        self.length = self.length.saturating_add(length);
        entry
    }

    fn add_token(&mut self, token: &[u8], field: u8, length: impl FnOnce() -> u32) {
        let in_body = u8::from(field == BODY);
        let end = self.forward.ends.last().copied().unwrap_or(0);
        let next = to_u32(self.forward.items.len());
        // The note of a token is the index in `items` of its last occurrence.
        let Entry { number, note } = self.entry(token, length);
        let is_of_this_concept = *note >= end && *note != u32::MAX;
        let at = if is_of_this_concept { *note } else { next };
        *note = at;
        let number = *number;
        let ForwardIndex { items, counts, .. } = &mut self.forward;
        if is_of_this_concept {
            items[at as usize] |= u32::from(field);
            counts[at as usize] = counts[at as usize].saturating_add(in_body);
        } else {
            items.push(posting::pack(number, field));
            counts.push(in_body);
        }
    }
}
