//! Which token occurs where.

use std::sync::Arc;

use super::interner::Entry;
use super::interner::Interner;
use super::interner::Strings;
use super::interner::narrow;
use super::matches::field;
use crate::{
    document::concept::Concept,
    text::fold::fold_into,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// Below this much text, one thread is as quick as several.
const WORTH_A_THREAD: usize = 1 << 20;

/// All tokens of a run of concepts.
pub(super) struct Occurrences {
    pub(super) tokens: Strings,
    pub(super) seen: Seen,
}

/// Which tokens each concept has.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// `token << field::BITS | fields`, concept after concept; each token of a concept once.
    items: Vec<u32>,
    /// Where the items of each concept end.
    ends: Vec<u32>,
}

impl Seen {
    /// The tokens of each concept, and the fields they are in.
    pub(super) fn concepts(&self) -> impl Iterator<Item = impl Iterator<Item = (u32, u8)> + Clone> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| {
            self.items[*start as usize..*end as usize].iter().map(|item| field::split(*item))
        })
    }

    /// Tokens and postings (`concept << field::BITS | fields`), concept after concept.
    pub(super) fn postings(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        (0_u32..).zip(self.concepts()).flat_map(|(concept, tokens)| {
            tokens.map(move |(token, fields)| (token, concept << field::BITS | u32::from(fields)))
        })
    }

    /// Appends what was seen in other concepts, whose tokens have these numbers here.
    fn extend(&mut self, other: &Seen, numbers: &[u32]) {
        let before = narrow(self.items.len());
        self.items.extend(other.items.iter().map(|item| {
            let (token, fields) = field::split(*item);
            numbers[token as usize] << field::BITS | u32::from(fields)
        }));
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }
}

impl Occurrences {
    pub(super) fn of(concepts: &[Arc<Concept>], threads: usize, task: &Task) -> Result<Self, Abandoned> {
        let text: usize = concepts.iter().map(|concept| concept.text_len()).sum();
        let pieces = threads.min(text / WORTH_A_THREAD).max(1);
        let size = concepts.len().div_ceil(pieces).max(1);
        let pieces: Vec<&[Arc<Concept>]> = concepts.chunks(size).collect();
        let mut collected = parallel::map(&pieces, threads, |piece| {
            let mut collector = Collector::default();
            for concept in *piece {
                task.go_on()?;
                collector.concept(concept);
            }
            Ok(collector)
        })
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
        let Some(mut all) = collected.next() else {
            return Ok(Self { tokens: Strings::default(), seen: Seen::default() });
        };
        for Collector { tokens, seen, .. } in collected {
            let tokens = tokens.finish();
            let numbers: Vec<u32> =
                (0..narrow(tokens.len())).map(|token| all.tokens.number(tokens.get(token))).collect();
            all.seen.extend(&seen, &numbers);
        }
        Ok(Self { tokens: all.tokens.finish(), seen: all.seen })
    }
}

#[derive(Default)]
struct Collector {
    tokens: Interner,
    seen: Seen,
    folded: String,
}

impl Collector {
    fn concept(&mut self, concept: &Concept) {
        let document = &concept.document;
        if let Some(title) = &document.title {
            self.text(field::TITLE, title);
        }
        for text in document.description.iter().chain(&document.tags) {
            self.text(field::TAGS_OR_DESCRIPTION, text);
        }
        self.text(field::BODY, &document.body);
        self.seen.ends.push(narrow(self.seen.items.len()));
    }

    fn text(&mut self, field: u32, text: &str) {
        self.folded.clear();
        fold_into(text, &mut self.folded);
        let folded = std::mem::take(&mut self.folded);
        // Splitting bytes is several times quicker than decoding characters, which few stretches need.
        let is_all_ascii = folded.is_ascii();
        let stretches = folded.as_bytes().split(|byte| matches!(byte, b'\t'..=b'\r' | b' '));
        for stretch in stretches.filter(|stretch| !stretch.is_empty()) {
            if is_all_ascii || stretch.is_ascii() {
                self.note(stretch, field);
            } else if let Ok(stretch) = str::from_utf8(stretch) {
                for token in stretch.split_whitespace() {
                    self.note(token.as_bytes(), field);
                }
            }
        }
        self.folded = folded;
    }

    fn note(&mut self, token: &[u8], field: u32) {
        let Seen { items, ends } = &mut self.seen;
        // Noted of each token is where in `items` it was last.
        let Entry { number, note } = self.tokens.entry(token);
        let is_of_this_concept = ends.last().is_none_or(|end| *note >= *end);
        match items.get_mut(*note as usize) {
            Some(item) if is_of_this_concept => *item |= field,
            _ => {
                *note = narrow(items.len());
                items.push(*number << field::BITS | field);
            }
        }
    }
}
