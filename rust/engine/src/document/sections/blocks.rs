//! The blocks of a body, by CommonMark with tables.
//!
//! A body is parsed in windows: first the blocks of its first mebibyte, then, from the start of the last of these
//! blocks, those of the next. A parser needs many times the bytes it reads, and so needs them only for a window.

use std::{collections::vec_deque::VecDeque, ops::Range};

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::document::sections::heading::{Heading, HeadingText};

/// At most this many bytes are parsed at a time. A block that is longer ends there, and a line that is longer is a
/// block of its own.
const WINDOW: usize = 1 << 20;

/// A block that belongs to no other, or an item of a list that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Whole lines of the body, without blank lines around them and without white space at the end.
    pub(super) range: Range<usize>,
    /// Set if it is a heading.
    pub(super) heading: Option<Heading>,
}

/// The blocks of a body, in order. What is between them is white space.
#[derive(Debug)]
pub(super) struct Blocks<'body> {
    body: &'body str,
    /// Where the next window begins: at the start of a line.
    position: usize,
    window: usize,
    found: VecDeque<Block>,
}

impl<'body> Blocks<'body> {
    pub(super) fn new(body: &'body str) -> Self {
        Self::by_window(body, WINDOW)
    }

    /// Like [`Blocks::new`], with windows of this many bytes.
    pub(super) fn by_window(body: &'body str, window: usize) -> Self {
        Self { body, position: 0, window, found: VecDeque::new() }
    }

    /// Finds the blocks of the next window.
    fn parse_window(&mut self) {
        let start = self.position;
        let rest = &self.body[start..];
        let Some(window) = rest.as_bytes().get(..self.window) else {
            self.position = self.body.len();
            self.found.extend(blocks(self.body, start..self.body.len()));
            return;
        };
        let Some(end) = memchr::memrchr(b'\n', window) else {
            let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
            self.position = start + end;
            self.found.extend(paragraphs(self.body, start..self.position));
            return;
        };
        self.position = start + end + 1;
        let mut found = blocks(self.body, start..self.position);
        // The last block may go on below the window: it is parsed again, in the next window.
        if let Some(last) = found.pop_if(|last| last.range.start > start) {
            self.position = last.range.start;
        }
        self.found.extend(found);
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        while self.found.is_empty() && self.position < self.body.len() {
            self.parse_window();
        }
        self.found.pop_front()
    }
}

/// The blocks in a part of the body that begins with a line and ends with one.
fn blocks(body: &str, part: Range<usize>) -> Vec<Block> {
    let text = &body[part.clone()];
    if is_too_nested(text) {
        return paragraphs(body, part).collect();
    }
    let mut found = Vec::new();
    let mut end = part.start;
    for block in parsed(text) {
        let start = part.start + line_start(text, block.range.start);
        let block_end = part.start + text_end(text, block.range);
        if start < end || block_end <= start || body[start..block_end].trim_start().is_empty() {
            continue;
        }
        let start = start + blank_lines(&body[start..block_end]);
        // What the parser finds no block for defines the targets of links.
        found.extend(paragraphs(body, end..start));
        found.push(Block { range: start..block_end, heading: block.heading });
        end = block_end;
    }
    found.extend(paragraphs(body, end..part.end));
    found
}

/// The blocks that the parser finds, with the ranges that it gives them.
fn parsed(text: &str) -> impl Iterator<Item = Block> + '_ {
    let mut events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    let mut depth = 0_usize;
    // Whether the block that belongs to no other is a list.
    let mut in_list = false;
    let mut heading: Option<(u8, HeadingText)> = None;
    std::iter::from_fn(move || {
        loop {
            let (event, range) = events.next()?;
            let block = match &event {
                Event::Start(tag) => {
                    depth += 1;
                    match tag {
                        Tag::Heading { level, .. } if depth == 1 => {
                            heading = Some((*level as u8, HeadingText::default()));
                            false
                        }
                        Tag::List(_) if depth == 1 => {
                            in_list = true;
                            false
                        }
                        _ => depth == 1 || (depth == 2 && in_list),
                    }
                }
                Event::End(_) => {
                    depth -= 1;
                    if depth == 0 {
                        in_list = false;
                        if let Some((level, text)) = heading.take() {
                            let heading = Some(Heading { level, text: text.finish() });
                            return Some(Block { range, heading });
                        }
                    }
                    false
                }
                event => {
                    if let Some((_, text)) = &mut heading {
                        text.add(event);
                    }
                    depth == 0
                }
            };
            if block {
                return Some(Block { range, heading: None });
            }
        }
    })
}

/// The start of the line that holds a position.
fn line_start(text: &str, position: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..position]).map_or(0, |end| end + 1)
}

/// The length of the lines at the start that show nothing. To the parser some kinds of white space are text.
fn blank_lines(text: &str) -> usize {
    let white = text.len() - text.trim_start().len();
    memchr::memrchr(b'\n', &text.as_bytes()[..white]).map_or(0, |end| end + 1)
}

/// The end of the last line of a range that shows something, without the white space at its end.
fn text_end(text: &str, range: Range<usize>) -> usize {
    let end = range.start + text[range.clone()].trim_end().len();
    let line = &text.as_bytes()[end..];
    let end = end + memchr::memchr(b'\n', line).unwrap_or(line.len());
    range.start + text[range.start..end].trim_end().len()
}

/// The lines of a part of the body that begins and ends with a line, in blocks with blank lines between them.
fn paragraphs(body: &str, part: Range<usize>) -> impl Iterator<Item = Block> + '_ {
    let mut lines = body[part.clone()].split_inclusive('\n');
    let mut position = part.start;
    std::iter::from_fn(move || {
        let mut range: Option<Range<usize>> = None;
        for line in lines.by_ref() {
            let start = position;
            position += line.len();
            match (&mut range, line.trim_end()) {
                (None, "") => {}
                (Some(_), "") => break,
                (range @ None, text) => *range = Some(start..start + text.len()),
                (Some(range), text) => range.end = start + text.len(),
            }
        }
        range.map(|range| Block { range, heading: None })
    })
}

/// Whether lists and quotations may be nested so deeply that the parser would need more than linear time.
///
/// For each line the parser looks at every container that is open, so lines that continue a paragraph inside many
/// containers cost as much as these containers. The depth is estimated from above: no line opens or continues more
/// containers than it has columns of white space and markers at its start. Other lines leave open what was open.
fn is_too_nested(text: &str) -> bool {
    /// The containers that may be looked at: for each byte of the text, and in any text. A million take milliseconds.
    const PER_BYTE: usize = 16;
    const IN_ANY: usize = 1 << 20;
    let mut budget = text.len().saturating_mul(PER_BYTE).saturating_add(IN_ANY);
    let bytes = text.as_bytes();
    let (mut depth, mut after_blank, mut start) = (0, true, 0);
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        let (columns, is_blank) = marker_columns(&bytes[start..end]);
        start = end + 1;
        depth = match (is_blank, after_blank) {
            (true, _) => depth,
            (false, true) => columns,
            (false, false) => columns.max(depth),
        };
        after_blank = is_blank;
        let Some(left) = budget.checked_sub(depth) else { return true };
        budget = left;
    }
    false
}

/// The columns of white space and of characters of markers at the start of a line, and whether it is blank.
fn marker_columns(line: &[u8]) -> (usize, bool) {
    let (mut columns, mut is_blank) = (0, true);
    for byte in line {
        columns += match byte {
            b' ' => 1,
            b'\t' => 4,
            b'>' | b'-' | b'+' | b'*' | b'.' | b')' | b'0'..=b'9' => {
                is_blank = false;
                1
            }
            _ => return (columns, false),
        };
    }
    (columns, is_blank)
}
