//! Finds the terms of a question in the text of a passage.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use aho_corasick::{
    Anchored,
    automaton::{Automaton, StateID},
    nfa::contiguous::NFA,
};
use memchr::memmem;

use crate::{
    ask::form::Form,
    text::terms::Terms,
    work::task::{Abandoned, Task},
};

/// Up to this many terms are looked for one after the other. For more, automata are built.
const MAX_SEPARATE_TERMS: usize = 8;
/// An automaton looks for terms of at most this many bytes in all. It takes about a hundred times as much
/// memory, and some hundredths of a second to build, in which the task cannot be abandoned.
const AUTOMATON_BYTES: usize = 64 << 10;
/// A line is folded in blocks of this many bytes. To get from an offset in the folded line to the offset in
/// the line, characters are counted only within one block.
const BLOCK: usize = 4 << 10;

/// Finds any of the terms of a question in one pass over a text, however many terms there are.
#[derive(Debug)]
pub(crate) struct Finder {
    kind: Kind,
    form: Form,
    /// What each term counts for in a line.
    weights: Vec<u32>,
}

#[derive(Debug)]
enum Kind {
    /// A searcher for each term.
    Separate(Vec<memmem::Finder<'static>>),
    /// Automata that look for many terms each.
    Automata(Vec<Group>),
}

/// Consecutive terms of a question that one automaton looks for.
#[derive(Debug)]
struct Group {
    /// The number of the first of them.
    first: usize,
    automaton: NFA,
}

impl Finder {
    /// A finder of any of the terms.
    #[allow(clippy::missing_panics_doc)] // The task is local.
    #[must_use]
    pub(crate) fn new(terms: &Terms) -> Self {
        Self::new_for(terms, &Task::default())
            .expect("only this function has the task, and it abandons nothing")
    }

    /// A finder of any of the terms, as [`new`](Self::new) makes it, unless the task is abandoned.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub(crate) fn new_for(terms: &Terms, task: &Task) -> Result<Self, Abandoned> {
        let weights = vec![1; terms.as_slice().len()];
        Ok(Self { kind: Kind::of(terms, task)?, form: Form::Folded, weights })
    }

    /// A finder of terms in normal form (V2). In a line, each counts for its rarity (V7).
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub(crate) fn of_rarities(terms: &Terms, rarities: &[u32], task: &Task) -> Result<Self, Abandoned> {
        Ok(Self { kind: Kind::of(terms, task)?, form: Form::Normal, weights: rarities.to_vec() })
    }

    /// What all terms together count for.
    fn weight(&self) -> u64 {
        self.weights.iter().map(|weight| u64::from(*weight)).sum()
    }

    /// How many distinct terms there are.
    fn count(&self) -> usize {
        self.weights.len()
    }

    /// Whether a text contains any of the terms. `form` is a buffer.
    pub(crate) fn is_in(&self, text: &str, form: &mut String) -> bool {
        form.clear();
        self.form.append(text, form);
        match &self.kind {
            Kind::Separate(finders) => finders.iter().any(|finder| finder.find(form.as_bytes()).is_some()),
            Kind::Automata(groups) => groups.iter().any(|group| {
                group.automaton.try_find(&form.as_str().into()).is_ok_and(|found| found.is_some())
            }),
        }
    }
}

impl Kind {
    fn of(terms: &Terms, task: &Task) -> Result<Self, Abandoned> {
        let words: Vec<&[u8]> = terms.as_slice().iter().map(|(term, _)| term.as_bytes()).collect();
        let separate = || words.iter().map(|word| memmem::Finder::new(word).into_owned()).collect();
        if words.len() <= MAX_SEPARATE_TERMS {
            return Ok(Kind::Separate(separate()));
        }
        let mut groups = Vec::new();
        let mut first = 0;
        while first < words.len() {
            task.go_on()?;
            let mut bytes = 0;
            let fits = words[first..].iter().take_while(|word| {
                bytes += word.len();
                bytes <= AUTOMATON_BYTES
            });
            let end = first + fits.count().max(1);
            match NFA::new(&words[first..end]) {
                Ok(automaton) => groups.push(Group { first, automaton }),
                Err(_) => return Ok(Kind::Separate(separate())),
            }
            first = end;
        }
        Ok(Kind::Automata(groups))
    }
}

/// The terms that a line contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineMatch {
    /// What its terms count for together; at least 1.
    pub(crate) weight: u64,
    /// The first term, as bytes of the folded line. If several begin there, the longest of them.
    start: usize,
    len: usize,
}

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// The byte at which it begins.
    pub(crate) at: usize,
    /// How many code points it has.
    pub(crate) chars: usize,
}

/// Looks for the terms in one line after the other.
#[derive(Debug)]
pub(crate) struct LineScanner<'finder> {
    finder: &'finder Finder,
    /// For each term, the number of the last line that contains it; 0 if none does.
    last_line: Vec<usize>,
    /// The number of the current line, from 1.
    line: usize,
    /// The form of the beginning of the line, up to where all terms were found.
    folded: String,
    /// The offset of each block, in the line and in its form.
    blocks: Vec<(usize, usize)>,
}

impl<'finder> LineScanner<'finder> {
    pub(crate) fn new(finder: &'finder Finder) -> Self {
        let last_line = vec![0; finder.count()];
        Self { finder, last_line, line: 0, folded: String::new(), blocks: Vec::new() }
    }

    /// What all terms count for together.
    pub(crate) fn weight(&self) -> u64 {
        self.finder.weight()
    }

    /// The terms that a line contains, if it contains any. The line is read until all terms are found.
    pub(crate) fn scan(&mut self, line: &str) -> Option<LineMatch> {
        self.line += 1;
        self.folded.clear();
        self.blocks.clear();
        let mut found = Found::default();
        let mut states = self.start_states();
        // Each piece is twice as long as the one before. The end of a piece is searched twice, because a term
        // may lie across it.
        let mut piece = BLOCK;
        let mut read = 0;
        while read < line.len() && found.terms < self.last_line.len() {
            let from = self.folded.len();
            read = self.fold(line, read, piece);
            self.search(from, &mut states, &mut found);
            piece = piece.saturating_mul(2);
        }
        found.first.map(|(start, Reverse(len))| LineMatch { weight: found.weight, start, len })
    }

    /// The first term in the line that was scanned last. Its length is counted up to `max_chars`.
    pub(crate) fn locate(&self, line: &str, found: LineMatch, max_chars: usize) -> Span {
        let LineMatch { start, len, .. } = found;
        let block = self.blocks.partition_point(|(_, folded)| *folded <= start).saturating_sub(1);
        let (original, folded) = self.blocks[block];
        let end = self.blocks.get(block + 1).map_or(line.len(), |(original, _)| *original);
        let at = original + self.finder.form.original_offset(&line[original..end], start - folded);
        Span { at, chars: self.folded[start..start + len].chars().take(max_chars).count() }
    }

    /// Folds at least `len` more bytes of a line after the first `read`; gives how many are folded then.
    fn fold(&mut self, line: &str, mut read: usize, len: usize) -> usize {
        let until = read.saturating_add(len);
        while read < line.len() && read < until {
            let form = self.finder.form;
            let can_cut = |at: &usize| {
                line.is_char_boundary(*at) && line[*at..].starts_with(|c| form.can_cut_before(c))
            };
            let end = (read + BLOCK..line.len()).find(can_cut).unwrap_or(line.len());
            self.blocks.push((read, self.folded.len()));
            form.append(&line[read..end], &mut self.folded);
            read = end;
        }
        read
    }

    /// The start state of each group's automaton; `None` if it cannot start at any offset.
    fn start_states(&self) -> Vec<Option<StateID>> {
        match &self.finder.kind {
            Kind::Separate(_) => Vec::new(),
            Kind::Automata(groups) => {
                groups.iter().map(|group| group.automaton.start_state(Anchored::No).ok()).collect()
            }
        }
    }

    /// Searches what was folded from the offset `from` on.
    fn search(&mut self, from: usize, states: &mut [Option<StateID>], found: &mut Found) {
        let text = self.folded.as_bytes();
        match &self.finder.kind {
            Kind::Separate(finders) => {
                let weights = &self.finder.weights;
                for ((finder, last_line), weight) in finders.iter().zip(&mut self.last_line).zip(weights) {
                    let len = finder.needle().len();
                    let begin = from.saturating_sub(len.saturating_sub(1));
                    if *last_line != self.line
                        && let Some(at) = finder.find(&text[begin..])
                    {
                        *last_line = self.line;
                        found.add(begin + at, len, *weight);
                    }
                }
            }
            Kind::Automata(groups) => {
                for (group, state) in groups.iter().zip(states) {
                    let Some(state) = state else { continue };
                    for (at, byte) in text.iter().enumerate().skip(from) {
                        *state = group.automaton.next_state(Anchored::No, *state, *byte);
                        if group.automaton.is_match(*state) {
                            let terms = &mut TermsOfLine {
                                weights: &self.finder.weights,
                                last_line: &mut self.last_line,
                                line: self.line,
                            };
                            add_matches(group, *state, at + 1, terms, found);
                            if found.terms == self.last_line.len() {
                                return;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// All terms, and in which line each was found last.
struct TermsOfLine<'line> {
    weights: &'line [u32],
    last_line: &'line mut [usize],
    line: usize,
}

/// Adds the terms that end at the offset `end`.
fn add_matches(group: &Group, state: StateID, end: usize, terms: &mut TermsOfLine<'_>, found: &mut Found) {
    // The longest term comes first, and each of the others is a suffix of it. So if one was found in this
    // line before, those after it were found, too. Going over them again would take quadratic time for terms
    // such as a, aa, aaa.
    for index in 0..group.automaton.match_len(state) {
        let term = group.automaton.match_pattern(state, index);
        let number = group.first + term.as_usize();
        if terms.last_line[number] == terms.line {
            return;
        }
        terms.last_line[number] = terms.line;
        let len = group.automaton.pattern_len(term);
        found.add(end - len, len, terms.weights[number]);
    }
}

/// The terms that were found in a line so far.
#[derive(Debug, Default)]
struct Found {
    /// How many distinct terms.
    terms: usize,
    /// What they count for together.
    weight: u64,
    /// The first term: its offset and its length. The longer of two at the same offset is the lesser pair.
    first: Option<(usize, Reverse<usize>)>,
}

impl Found {
    fn add(&mut self, start: usize, len: usize, weight: u32) {
        self.terms += 1;
        self.weight += u64::from(weight);
        let this = (start, Reverse(len));
        self.first = Some(self.first.map_or(this, |first| first.min(this)));
    }
}
