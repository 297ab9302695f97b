//! The snippet: what a reader should see of a concept that matched (K7), one line of at most 320 code points.
//!
//! It is the line of the body with the most distinct terms, the first of equals. Under BM25F (V7), it is the line whose
//! distinct terms have the greatest sum of rarities. A heading that only repeats
//! the title does not count. If no line has a term, it is the description. Without a description, it is the
//! first line of the body that shows text and is no heading. Otherwise it is empty.
//!
//! Lines are trimmed. Only a line itself and the line below it decide what it is, also inside code. A heading
//! repeats the title if both have the same words (K2) without emphasis, links and tags. A line that shows no
//! text (a rule, the rule of a table, a fence of code, a comment, a tag alone) is shown only if it has a
//! term. A line is shown as it is written, except that form feeds, separators and other characters that may
//! end a line are shown as spaces.

mod heading;
mod window;

use std::borrow::Cow;

use crate::{
    ask::finder::{Finder, LineScanner, Span},
    document::Document,
    text::terms::{Terms, is_blank},
};
use heading::{heading, shows_no_text, visible_words};
use window::{cut, is_line_end};

/// A snippet has at most this many code points, `…` included.
pub const MAX_CHARS: usize = 320;
/// A window has at least this many code points, so that there is room for `…` at both ends and some text.
const MIN_WINDOW: usize = 8;

/// The snippet of a document (K7).
#[must_use]
pub(crate) fn snippet(document: &Document, finder: &Finder) -> String {
    let mut scanner = LineScanner::new(finder);
    if let Some((line, first)) = best_line(document, &mut scanner) {
        return cut(line, MAX_CHARS, first);
    }
    match document.description.as_deref() {
        Some(description) if !is_blank(description) => {
            around(&one_line(description), MAX_CHARS, &mut scanner)
        }
        _ => cut(first_text(&document.body).unwrap_or_default(), MAX_CHARS, None),
    }
}

/// A text as one line of at most `max_chars` code points, or 8 if that is less. A longer text is cut to a
/// window around its first term.
///
/// ```
/// use okf_engine::{Terms, snippet_window as window};
///
/// let text = "Revenue is counted when it is earned,\nnot when it is paid, net of refunds.";
/// assert_eq!(window(text, &Terms::parse("REFUNDS"), 33), "…when it is paid, net of refunds.");
/// assert_eq!(window(text, &Terms::default(), 32), "Revenue is counted when it is…");
/// ```
#[must_use]
pub fn window(text: &str, terms: &Terms, max_chars: usize) -> String {
    let finder = Finder::new(terms);
    around(&one_line(text), max_chars.max(MIN_WINDOW), &mut LineScanner::new(&finder))
}

/// A line, cut to a window around its first term if it is too long.
fn around(line: &str, max_chars: usize, scanner: &mut LineScanner<'_>) -> String {
    let first = scanner.scan(line).map(|found| scanner.locate(line, found, max_chars));
    cut(line, max_chars, first)
}

/// The line with the most terms (under BM25F: with the greatest sum of their rarities) and, if the line may be too long, the first term in it.
fn best_line<'body>(
    document: &'body Document,
    scanner: &mut LineScanner<'_>,
) -> Option<(&'body str, Option<Span>)> {
    let title = document.title.as_deref().map(visible_words).filter(|title| !title.is_empty());
    let (mut best, mut most) = (None, 0);
    for (line, below) in lines(&document.body) {
        let Some(found) = scanner.scan(line).filter(|found| found.weight > most) else { continue };
        if let Some(title) = &title
            && heading(line, below).is_some_and(|text| visible_words(text) == *title)
        {
            continue;
        }
        most = found.weight;
        let first = (line.len() > MAX_CHARS).then(|| scanner.locate(line, found, MAX_CHARS));
        best = Some((line, first));
        if most == scanner.weight() {
            break;
        }
    }
    best
}

/// The first line that shows text and is no heading.
fn first_text(body: &str) -> Option<&str> {
    let mut in_comment = false;
    for (line, below) in lines(body) {
        let comment = in_comment || line.starts_with("<!--");
        in_comment = comment && !line.contains("-->");
        let follows_comment = || line.split_once("-->").is_some_and(|(_, rest)| !shows_no_text(rest.trim()));
        if (!comment || follows_comment()) && !shows_no_text(line) && heading(line, below).is_none() {
            return Some(line);
        }
    }
    None
}

/// The lines that are not empty, trimmed, each with the text below it.
fn lines(body: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = Some(body);
    std::iter::from_fn(move || {
        loop {
            let (line, below) = rest.map(|text| {
                text.split_once('\n').map_or((text, None), |(line, below)| (line, Some(below)))
            })?;
            rest = below;
            let line = line.trim();
            if !line.is_empty() {
                return Some((line, below.unwrap_or_default()));
            }
        }
    })
}

/// The lines of a text, trimmed, those that are not empty joined by a space.
fn one_line(text: &str) -> Cow<'_, str> {
    // The bytes with which a line end may begin. Most texts have none of them and are not copied.
    let may_begin = |byte: &u8| matches!(byte, 0x0a..=0x0d | 0x1c..=0x1e | 0xc2 | 0xe2);
    let has_any = |block: &[u8]| block.iter().fold(false, |any, byte| any | may_begin(byte));
    if !text.as_bytes().chunks(1 << 10).any(has_any) {
        return Cow::Borrowed(text.trim());
    }
    let mut joined = String::with_capacity(text.len());
    for line in text.split(is_line_end).map(str::trim).filter(|line| !line.is_empty()) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    Cow::Owned(joined)
}
