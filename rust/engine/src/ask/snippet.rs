//! What a reader should see of a concept that matched (K7): one line of at most 320 code points.
//!
//! The line of the body with the most distinct terms, the first of equals; a heading that only repeats the
//! title is passed over. If no line has a term: the description; without one, the first line of the body
//! that shows text and is no heading; else nothing.
//!
//! Each line is judged by itself and by the one below it, trimmed, wherever it stands: in code, too. A
//! heading repeats the title if both read alike (K2), whatever emphasis, links or tags are in them. Lines
//! that show no text by themselves (rules, rules of tables, fences, comments, lone tags) are shown only for
//! a term in them. What stands within a line is shown as it is written, but nothing ends the line: line and form
//! feeds, separators and their kin are spaces.

mod heading;
mod window;

use std::borrow::Cow;

use crate::{
    ask::finder::{Finder, Place, Survey},
    document::Document,
    text::terms::{Terms, is_blank},
};
use heading::{heading, is_bare, seen};
use window::{cut, is_break};

/// How many code points a snippet has at most, `…` included.
pub const MOST: usize = 320;

/// The snippet of a document (K7).
///
/// ```
/// use okf_engine::{Document, ask::excerpt::Finder, ask::snippet::snippet, text::terms::Terms};
///
/// let document = Document::read(b"---\ntitle: Net revenue\n---\n# Net revenue\n\nRevenue net of refunds.\n")?.document;
/// assert_eq!(snippet(&document, &Finder::new(&Terms::parse("revenue"))), "Revenue net of refunds.");
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn snippet(document: &Document, finder: &Finder) -> String {
    let mut survey = Survey::new(finder);
    if let Some((line, first)) = best_line(document, &mut survey) {
        return cut(line, MOST, first);
    }
    match document.description.as_deref() {
        Some(description) if !is_blank(description) => around(&one_line(description), MOST, &mut survey),
        _ => cut(first_text(&document.body).unwrap_or_default(), MOST, None),
    }
}

/// A text on one line of at most `most` code points, at least 8; if it is cut, then to a window around the
/// first of the terms.
///
/// ```
/// use okf_engine::{ask::snippet::window, text::terms::Terms};
///
/// let text = "Revenue is counted when it is earned,\nnot when it is paid, net of refunds.";
/// assert_eq!(window(text, &Terms::parse("REFUNDS"), 33), "…when it is paid, net of refunds.");
/// assert_eq!(window(text, &Terms::default(), 32), "Revenue is counted when it is…");
/// ```
#[must_use]
pub fn window(text: &str, terms: &Terms, most: usize) -> String {
    around(&one_line(text), most.max(8), &mut Survey::new(&Finder::new(terms)))
}

fn around(line: &str, most: usize, survey: &mut Survey<'_>) -> String {
    let first = survey.look(line).map(|sighting| survey.place(line, sighting, most));
    cut(line, most, first)
}

/// The line with the most terms, and where the first of them is, if the line may be too long.
fn best_line<'body>(
    document: &'body Document,
    survey: &mut Survey<'_>,
) -> Option<(&'body str, Option<Place>)> {
    let title = document.title.as_deref().map(seen).filter(|title| !title.is_empty());
    let (mut best, mut most) = (None, 0);
    for (line, below) in lines(&document.body) {
        let Some(sighting) = survey.look(line).filter(|sighting| sighting.terms > most) else { continue };
        if let Some(title) = &title
            && heading(line, below).is_some_and(|text| seen(text) == *title)
        {
            continue;
        }
        most = sighting.terms;
        let first = (line.len() > MOST).then(|| survey.place(line, sighting, MOST));
        best = Some((line, first));
        if most == survey.count() {
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
        let is_shown = !comment || line.split_once("-->").is_some_and(|(_, rest)| !is_bare(rest.trim()));
        if is_shown && !is_bare(line) && heading(line, below).is_none() {
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
    // The bytes that a break begins with: most often there is none, and the text stands as it is.
    let may_begin = |byte: &u8| matches!(byte, 0x0a..=0x0d | 0x1c..=0x1e | 0xc2 | 0xe2);
    let has_any = |block: &[u8]| block.iter().fold(false, |any, byte| any | may_begin(byte));
    if !text.as_bytes().chunks(1 << 10).any(has_any) {
        return Cow::Borrowed(text.trim());
    }
    let mut joined = String::with_capacity(text.len());
    for line in text.split(is_break).map(str::trim).filter(|line| !line.is_empty()) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    Cow::Owned(joined)
}
