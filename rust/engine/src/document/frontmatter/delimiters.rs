//! Finds the frontmatter of a text (B4).

use crate::text::decode::BYTE_ORDER_MARK;

/// What stands at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frontmatter<'text> {
    /// No frontmatter.
    Absent,
    /// A first line `+++`, which begins TOML. Lines count from 1, here and below.
    Toml { line: u32 },
    /// A first line `---` without a second one.
    Unclosed { line: u32 },
    /// A block between two lines `---`.
    Block {
        /// The text between the two lines.
        yaml: &'text str,
        /// The number of the first line `---`.
        line: u32,
        /// The text after the second line `---`, without one leading newline.
        body: &'text str,
    },
}

impl<'text> Frontmatter<'text> {
    /// Looks for the frontmatter of a text. Blank lines may stand above it.
    pub(crate) fn find(text: &'text str) -> Self {
        let mut next_line_at = 0;
        let mut number = 0;
        // The start of the YAML, and the number of the line above it.
        let mut opened = None;
        for line in text.split_inclusive('\n') {
            next_line_at += line.len();
            number += 1;
            match opened {
                None if is_delimiter(line, "---") => opened = Some((next_line_at, number)),
                None if is_delimiter(line, "+++") => return Frontmatter::Toml { line: number },
                None if !is_blank(line) => return Frontmatter::Absent,
                Some((start, opened)) if is_delimiter(line, "---") => {
                    let yaml = &text[start..next_line_at - line.len()];
                    let body = &text[next_line_at..];
                    let body = body.strip_prefix('\n').unwrap_or(body);
                    return Frontmatter::Block { yaml, line: opened, body };
                }
                _ => {}
            }
        }
        opened.map_or(Frontmatter::Absent, |(_, line)| Frontmatter::Unclosed { line })
    }
}

/// Whether a line is the delimiter at column 0; white space may follow it. Files that were joined from others have
/// byte-order marks at the start of lines, which do not count.
fn is_delimiter(line: &str, delimiter: &str) -> bool {
    line.trim_start_matches(BYTE_ORDER_MARK).trim_end() == delimiter
}

fn is_blank(line: &str) -> bool {
    line.trim_start_matches(BYTE_ORDER_MARK).trim().is_empty()
}
