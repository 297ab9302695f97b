//! Headings: their texts as a reader sees them, and the path of those that are in force.

use std::sync::Arc;

use pulldown_cmark::Event;

use crate::text::grapheme::last_end;

/// A longer text of a heading is cut: each section repeats it. In characters.
const MAX_CHARS: usize = 200;

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// From 1, the outermost, to 6.
    pub(super) level: u8,
    /// Its text as a reader sees it, on one line.
    pub(super) text: String,
}

/// The headings in force at a place of the body.
#[derive(Debug, Default)]
pub(super) struct Path {
    headings: Vec<Heading>,
    /// The texts of the headings, once they were asked for.
    texts: Option<Arc<[String]>>,
}

impl Path {
    /// A heading ends what is below headings of its own level or deeper.
    pub(super) fn enter(&mut self, heading: Heading) {
        while self.headings.last().is_some_and(|last| last.level >= heading.level) {
            self.headings.pop();
        }
        self.headings.push(heading);
        self.texts = None;
    }

    /// The level of the last heading.
    pub(super) fn level(&self) -> Option<u8> {
        self.headings.last().map(|heading| heading.level)
    }

    /// The texts that are not empty, outermost first.
    pub(super) fn texts(&mut self) -> Arc<[String]> {
        let texts = self.texts.get_or_insert_with(|| {
            let texts = self.headings.iter().map(|heading| &heading.text);
            texts.filter(|text| !text.is_empty()).cloned().collect()
        });
        Arc::clone(texts)
    }
}

/// Collects what a reader sees of a heading from the events inside it.
#[derive(Debug, Default)]
pub(super) struct HeadingText(String);

impl HeadingText {
    /// What is kept of a text before it is tidied. White space and attributes may still go.
    const MAX_BYTES: usize = 16 * MAX_CHARS;

    pub(super) fn add(&mut self, event: &Event<'_>) {
        let text: &str = match event {
            Event::Text(text) | Event::Code(text) => text,
            Event::SoftBreak | Event::HardBreak => " ",
            // Other tags are between letters of one word as often as not.
            Event::InlineHtml(tag) if is_line_break(tag) => " ",
            _ => return,
        };
        if self.0.len() < Self::MAX_BYTES {
            self.0.extend(text.chars().take(Self::MAX_BYTES));
        }
    }

    pub(super) fn finish(self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for word in without_attributes(&self.0).split_whitespace() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
        if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
            let window = &text[..end + text[end..].chars().next().map_or(0, char::len_utf8)];
            let kept = last_end(window, MAX_CHARS - 1);
            let end = text.char_indices().nth(kept).map_or(0, |(end, _)| end);
            text.truncate(end);
            text.push('…');
        }
        text
    }
}

fn is_line_break(tag: &str) -> bool {
    tag.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("<br"))
        && tag[3..].starts_with(['>', '/', ' '])
}

/// Without `{#id}`, `{.class}` or `{: ...}` at the end, which give a heading its id and are not shown.
fn without_attributes(text: &str) -> &str {
    let trimmed = text.trim_end();
    let attributes = trimmed.strip_suffix('}').and_then(|text| text.rsplit_once('{'));
    match attributes {
        Some((before, inner)) if inner.starts_with(['#', '.', ':']) && !inner.contains('}') => before,
        _ => text,
    }
}
