//! Divides blocks that are too long.

use std::ops::Range;

use crate::{
    document::sections::blocks::{Block, Blocks},
    text::grapheme::{is_boundary, last_end},
};

/// A block of more characters is divided.
const MAX_WHOLE: usize = 2_000;
/// The most characters of a part of a divided block.
const MAX_PART: usize = 900;

/// Blocks, those that are too long in parts.
#[derive(Debug)]
pub(super) struct Divided<'body> {
    body: &'body str,
    blocks: Blocks<'body>,
    /// What is left of the block that is being divided.
    rest: Option<Block>,
}

impl<'body> Divided<'body> {
    pub(super) fn new(body: &'body str, blocks: Blocks<'body>) -> Self {
        Self { body, blocks, rest: None }
    }
}

impl Iterator for Divided<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let Block { range, heading } = if let Some(rest) = self.rest.take() {
            rest
        } else {
            let block = self.blocks.next()?;
            if char_at(&self.body[block.range.clone()], MAX_WHOLE).is_none() {
                return Some(block);
            }
            block
        };
        let Some(cut) = first_cut(&self.body[range.clone()]) else {
            return Some(Block { range, heading });
        };
        // A heading that is too long has its text in the path of every part.
        self.rest = Some(Block { range: range.start + cut.next..range.end, heading: None });
        Some(Block { range: range.start..range.start + cut.end, heading })
    }
}

/// Where a text is cut, in bytes. What is between the two positions is white space.
#[derive(Debug, Clone, Copy)]
struct Cut {
    end: usize,
    next: usize,
}

/// Where a text may be cut, the better the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    LineEnd,
    SentenceEnd,
    WhiteSpace,
}

/// Where the first part of a text ends; `None` if the text is short enough for one part.
///
/// It ends at the last line end in the second half of the characters that a part may have; without one, at the last
/// end of a sentence there; without one, at the last white space there. Only then it ends in the first half, in the
/// same manner, and only without any of these inside a word. It never ends inside a grapheme, unless the grapheme
/// is longer than a part.
fn first_cut(text: &str) -> Option<Cut> {
    let end = char_at(text, MAX_PART)?;
    let window = &text[..end + text[end..].chars().next().map_or(0, char::len_utf8)];
    let middle = char_at(window, MAX_PART / 2).unwrap_or(end);
    let best = best_cut(text, middle..window.len()).or_else(|| best_cut(text, 0..middle));
    let inside_word = || {
        let end = match last_end(window, MAX_PART) {
            0 => end,
            count => char_at(window, count).unwrap_or(end),
        };
        Cut { end, next: end }
    };
    Some(best.unwrap_or_else(inside_word))
}

/// The last of the best places to cut a text that are in front of the characters in a range of it.
fn best_cut(text: &str, range: Range<usize>) -> Option<Cut> {
    let mut best: Option<(Place, Cut)> = None;
    let mut before = text[..range.start].chars().next_back();
    for (position, character) in text[range.clone()].char_indices() {
        if let Some(last) = before.replace(character)
            && !last.is_whitespace()
            && (character.is_whitespace() || ends_or_closes_sentence(last))
            && let Some((place, cut)) = place(text, range.start + position, last)
            && best.is_none_or(|(better, _)| place <= better)
        {
            best = Some((place, cut));
        }
    }
    best.map(|(_, cut)| cut)
}

/// The place at a position, behind the character `last` that is no white space, if the text may be cut there.
fn place(text: &str, position: usize, last: char) -> Option<(Place, Cut)> {
    let rest = &text[position..];
    let is_white = rest.starts_with(char::is_whitespace);
    let is_sentence_end = ends_sentence(&text[..position], last, is_white);
    if !(is_white || is_sentence_end && !rest.starts_with(ends_or_closes_sentence))
        || !is_boundary(text, position)
    {
        return None;
    }
    let white = rest.len() - rest.trim_start().len();
    if let Some(line_end) = memchr::memrchr(b'\n', &rest.as_bytes()[..white]) {
        return Some((Place::LineEnd, Cut { end: position, next: position + line_end + 1 }));
    }
    let mut next = position;
    for character in rest[..white].chars() {
        let after = next + character.len_utf8();
        if !is_boundary(text, after) {
            // A mark stands on this white space: it can be seen.
            break;
        }
        next = after;
    }
    let place = if is_sentence_end { Place::SentenceEnd } else { Place::WhiteSpace };
    (is_sentence_end || next > position).then_some((place, Cut { end: position, next }))
}

/// Whether a text that ends with the character `last` ends a sentence.
fn ends_sentence(text: &str, last: char, before_white_space: bool) -> bool {
    if !ends_or_closes_sentence(last) {
        return false;
    }
    match text.chars().rev().take(MAX_CLOSING + 1).find(|character| !closes_sentence(*character)) {
        Some(end) if is_wide_end(end) => true,
        Some(end) => before_white_space && is_end(end),
        None => false,
    }
}

/// More quotes and brackets than these do not close a sentence.
const MAX_CLOSING: usize = 8;

fn ends_or_closes_sentence(character: char) -> bool {
    is_end(character) || is_wide_end(character) || closes_sentence(character)
}

/// Whether a character ends a sentence if white space follows.
fn is_end(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '॥' | '։' | '።' | '។')
}

/// Whether a character ends a sentence in scripts that are written without spaces.
fn is_wide_end(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '．' | '｡')
}

/// Whether a character may stand between the end of a sentence and the white space after it.
fn closes_sentence(character: char) -> bool {
    matches!(
        character,
        '"' | '\'' | ')' | ']' | '*' | '_' | '`' | '”' | '’' | '»' | '」' | '』' | '）' | '】' | '》'
    )
}

/// The position of the character with this index.
fn char_at(text: &str, index: usize) -> Option<usize> {
    // Most blocks are short: their bytes say so.
    if text.len() <= index {
        return None;
    }
    text.char_indices().nth(index).map(|(position, _)| position)
}
