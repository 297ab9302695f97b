//! Which token occurs where.

use std::sync::Arc;

use super::{
    interner::{Entry, Interner, Strings, narrow},
    matches::field,
};
use crate::{
    concept::Concept,
    fold::fold_into,
    parallel,
    task::{Abandoned, Task},
};

/// Below this much text, one thread is as quick as several.
const WORTH_A_THREAD: usize = 1 << 20;

/// All tokens of a run of concepts.
pub(super) struct Occurrences {
    pub(super) tokens: Strings,
    /// Tokens and postings (`concept << field::BITS | fields`), concept after concept; each token of a
    /// concept once.
    pub(super) seen: Vec<(u32, u32)>,
}

impl Occurrences {
    pub(super) fn of(concepts: &[Arc<Concept>], threads: usize, task: &Task) -> Result<Self, Abandoned> {
        let text: usize = concepts.iter().map(|concept| concept.text_len()).sum();
        let pieces = threads.min(text / WORTH_A_THREAD).max(1);
        let size = concepts.len().div_ceil(pieces).max(1);
        let pieces: Vec<(usize, &[Arc<Concept>])> =
            concepts.chunks(size).enumerate().map(|(at, piece)| (at * size, piece)).collect();
        let mut collected = parallel::map(&pieces, threads, |(first, piece)| {
            let mut collector = Collector::default();
            for (number, concept) in (*first..).zip(*piece) {
                task.go_on()?;
                collector.concept(narrow(number), concept);
            }
            Ok(collector)
        })
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
        let Some(mut all) = collected.next() else {
            return Ok(Self { tokens: Strings::default(), seen: Vec::new() });
        };
        for Collector { tokens, seen, .. } in collected {
            let tokens = tokens.finish();
            let numbers: Vec<u32> =
                (0..narrow(tokens.len())).map(|token| all.tokens.number(tokens.get(token))).collect();
            all.seen.extend(seen.iter().map(|(token, posting)| (numbers[*token as usize], *posting)));
        }
        Ok(Self { tokens: all.tokens.finish(), seen: all.seen })
    }
}

#[derive(Default)]
struct Collector {
    tokens: Interner,
    seen: Vec<(u32, u32)>,
    folded: String,
}

impl Collector {
    fn concept(&mut self, number: u32, concept: &Concept) {
        let document = &concept.document;
        if let Some(title) = &document.title {
            self.text(number, field::TITLE, title);
        }
        for text in document.description.iter().chain(&document.tags) {
            self.text(number, field::TAGS_OR_DESCRIPTION, text);
        }
        self.text(number, field::BODY, &document.body);
    }

    fn text(&mut self, concept: u32, field: u32, text: &str) {
        self.folded.clear();
        fold_into(text, &mut self.folded);
        let folded = std::mem::take(&mut self.folded);
        let posting = concept << field::BITS | field;
        // Splitting bytes is several times quicker than decoding characters, which few stretches need.
        let is_all_ascii = folded.is_ascii();
        let stretches = folded.as_bytes().split(|byte| matches!(byte, b'\t'..=b'\r' | b' '));
        for stretch in stretches.filter(|stretch| !stretch.is_empty()) {
            if is_all_ascii || stretch.is_ascii() {
                self.note(stretch, posting);
            } else if let Ok(stretch) = str::from_utf8(stretch) {
                for token in stretch.split_whitespace() {
                    self.note(token.as_bytes(), posting);
                }
            }
        }
        self.folded = folded;
    }

    fn note(&mut self, token: &[u8], posting: u32) {
        // Noted of each token is where in `seen` it was last.
        let Entry { number, note } = self.tokens.entry(token);
        match self.seen.get_mut(*note as usize) {
            Some((_, known)) if *known >> field::BITS == posting >> field::BITS => *known |= posting,
            _ => {
                *note = narrow(self.seen.len());
                self.seen.push((*number, posting));
            }
        }
    }
}
