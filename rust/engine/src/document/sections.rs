//! Cuts the body of a concept into sections: parts that can be read alone (V9).
//!
//! A body is a list of blocks, by CommonMark with tables: headings, paragraphs, the items of lists, blocks of code,
//! tables, quotations, HTML ([`blocks`]). A block of more than 2,000 characters is divided ([`divide`]); any other
//! stays whole. Block after block is then added to a section while the section has at most 900 characters. A heading
//! begins a section, and what follows it belongs to it. Characters are code points.

mod blocks;
mod divide;
mod heading;
#[cfg(test)]
mod tests;

use std::{ops::Range, sync::Arc};

use blocks::{Block, Blocks};
use divide::Divided;
use heading::Path;

use crate::document::Document;

/// A part of a body that can be read alone (V9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The headings above its text, outermost first, those at its own start included. They are shown as a reader
    /// sees them: without emphasis, links, marks of code, tags and attributes. Headings without a text are left out.
    pub heading: Arc<[String]>,
    /// Where it is in the body, in bytes. It begins with a line of the body, or inside a line that was too long,
    /// and white space never ends it.
    pub range: Range<usize>,
    /// The line of its start. Lines count from 1 in the file.
    pub first_line: u32,
    /// The line of its end.
    pub last_line: u32,
}

/// What decides where a section ends. Lengths are in characters.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// A block is added to a section while the section is not longer than this.
    most: usize,
    /// A section that is shorter than this takes in the next block, also if that is a heading; 0 for never.
    small: usize,
    /// Whether a section takes in headings that are deeper than its own, if they make it no longer than `most`.
    spans_deeper: bool,
}

/// The rules of V9.
const RULES: Rules = Rules { most: 900, small: 0, spans_deeper: false };

impl Rules {
    /// Whether a block is added to a section. `gap` is the number of characters between the two.
    fn should_join(&self, section: &Open, gap: usize, block: &Block, chars: usize) -> bool {
        let before = section.chars + gap;
        let fits = before + chars <= self.most;
        match &block.heading {
            // A heading belongs to what follows it, and to the heading below it if that is of a deeper level.
            None => fits || (section.only_headings && before <= self.most),
            Some(heading) => {
                let deeper = section.level.is_some_and(|level| level < heading.level);
                (section.only_headings && deeper && before <= self.most)
                    || (self.spans_deeper && deeper && fits)
                    || (section.chars < self.small && fits)
            }
        }
    }
}

/// The sections of a body, in order. Every character that is no white space is in exactly one of them.
///
/// `lines_above` is the number of lines of the file above the body. Takes time linear in the length of the body, and
/// has only a bounded part of it in parsed form at any time.
///
/// ```
/// use okf_engine::cut;
///
/// let body = "# Refunds\n\n## How *long*\n\nFive days.\n\n## Who pays\n\nWe do.\n";
/// let sections: Vec<_> = cut(body, 0).collect();
/// assert_eq!(&body[sections[0].range.clone()], "# Refunds\n\n## How *long*\n\nFive days.");
/// assert_eq!(*sections[0].heading, ["Refunds", "How long"]);
/// assert_eq!((sections[1].first_line, sections[1].last_line), (7, 9));
/// ```
pub fn cut(body: &str, lines_above: u32) -> impl Iterator<Item = Section> + '_ {
    cut_by(RULES, body, lines_above)
}

impl Document {
    /// The sections of the body, in order, with lines of the file (V9).
    pub fn sections(&self) -> impl Iterator<Item = Section> + '_ {
        cut(&self.body, self.lines_above_body)
    }
}

fn cut_by(rules: Rules, body: &str, lines_above: u32) -> Sections<'_> {
    Sections {
        rules,
        body,
        blocks: Divided::new(body, Blocks::new(body)),
        path: Path::default(),
        open: None,
        lines: Lines { body, position: 0, line: lines_above.saturating_add(1) },
    }
}

/// The section that is growing.
struct Open {
    range: Range<usize>,
    chars: usize,
    heading: Arc<[String]>,
    /// The level of the last heading in force; `None` above all headings.
    level: Option<u8>,
    /// Whether it has nothing but headings so far.
    only_headings: bool,
}

struct Sections<'body> {
    rules: Rules,
    body: &'body str,
    blocks: Divided<'body>,
    path: Path,
    open: Option<Open>,
    lines: Lines<'body>,
}

impl Iterator for Sections<'_> {
    type Item = Section;

    fn next(&mut self) -> Option<Section> {
        loop {
            let Some(block) = self.blocks.next() else {
                return self.open.take().map(|open| self.close(open));
            };
            let chars = self.body[block.range.clone()].chars().count();
            let Some(open) = &mut self.open else {
                self.open = Some(open_with(block, chars, &mut self.path));
                continue;
            };
            let gap = self.body[open.range.end..block.range.start].chars().count();
            if self.rules.should_join(open, gap, &block, chars) {
                open.add(block, gap + chars, &mut self.path);
                continue;
            }
            let next = open_with(block, chars, &mut self.path);
            return self.open.replace(next).map(|open| self.close(open));
        }
    }
}

impl Sections<'_> {
    fn close(&mut self, Open { range, heading, .. }: Open) -> Section {
        let first_line = self.lines.at(range.start);
        let last_line = self.lines.at(range.end);
        Section { heading, range, first_line, last_line }
    }
}

/// A section that begins with a block.
fn open_with(block: Block, chars: usize, path: &mut Path) -> Open {
    let only_headings = block.heading.is_some();
    if let Some(heading) = block.heading {
        path.enter(heading);
    }
    Open { range: block.range, chars, heading: path.texts(), level: path.level(), only_headings }
}

impl Open {
    fn add(&mut self, block: Block, chars: usize, path: &mut Path) {
        self.range.end = block.range.end;
        self.chars += chars;
        match block.heading {
            Some(heading) => {
                path.enter(heading);
                if self.only_headings {
                    // What can be read below the headings is below all of them.
                    self.heading = path.texts();
                    self.level = path.level();
                }
            }
            None => self.only_headings = false,
        }
    }
}

/// Counts lines up to positions that only grow.
struct Lines<'body> {
    body: &'body str,
    position: usize,
    line: u32,
}

impl Lines<'_> {
    /// The line that holds a position of the body.
    fn at(&mut self, position: usize) -> u32 {
        let passed = &self.body.as_bytes()[self.position..position];
        let passed = u32::try_from(memchr::memchr_iter(b'\n', passed).count()).unwrap_or(u32::MAX);
        self.position = position;
        self.line = self.line.saturating_add(passed);
        self.line
    }
}
