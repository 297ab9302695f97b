//! What stands in front of a document, and which fields it sets (B4 to B6).

mod budget;
mod entries;
mod fields;
mod lenient;
mod tree;
mod trust;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::{document::Noted, text::decode::MARK};
use budget::{Budget, MAX_LEN};
pub(crate) use fields::{Fields, Written};
use tree::{Content, Tree};

/// How a text begins (B4).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Front<'text> {
    /// With nothing but text.
    None,
    /// With a frontmatter in TOML, between lines `+++`, in this line.
    Toml(u32),
    /// With a line `---`, in this line, and there is no other one.
    Unclosed(u32),
    /// With a block between two lines `---`.
    Block {
        /// What stands between them.
        yaml: &'text str,
        /// The line of the first `---`, from 1.
        line: u32,
        /// What follows, without the line end at its start.
        body: &'text str,
    },
}

impl<'text> Front<'text> {
    /// Looks for the lines. Those above the first that are blank are passed over.
    pub(crate) fn of(text: &'text str) -> Self {
        let mut at = 0;
        let mut number = 0;
        let mut opened = None;
        for line in text.split_inclusive('\n') {
            at += line.len();
            number += 1;
            match opened {
                None if is_fence(line) => opened = Some((at, number)),
                None if is_toml_fence(line) => return Front::Toml(number),
                None if !line.trim_start_matches(MARK).trim().is_empty() => return Front::None,
                Some((start, opened)) if is_fence(line) => {
                    let yaml = &text[start..at - line.len()];
                    let body = &text[at..];
                    return Front::Block {
                        yaml,
                        line: opened,
                        body: body.strip_prefix('\n').unwrap_or(body),
                    };
                }
                _ => {}
            }
        }
        opened.map_or(Front::None, |(_, line)| Front::Unclosed(line))
    }
}

/// Whether a line is `---` at column 0, after which white space may stand. Files that were put together from
/// others have marks at the start of lines.
fn is_fence(line: &str) -> bool {
    line.trim_start_matches(MARK).trim_end() == "---"
}

fn is_toml_fence(line: &str) -> bool {
    line.trim_start_matches(MARK).trim_end() == "+++"
}

impl Fields {
    /// Reads what stands between the lines `---`: a YAML mapping, or nothing at all. `None` if it is neither.
    ///
    /// Notes are on lines of `yaml`, from 1.
    pub(crate) fn read(yaml: &str, noted: &mut Noted) -> Option<Self> {
        let tree = read(yaml, noted)?;
        match tree.root() {
            Some(Content::Mapping) => Some(fields::read(&tree, yaml, noted)),
            _ => Some(Fields::default()),
        }
    }
}

/// All that a block says, node by node in the order they are written; collections end with a node too.
pub(crate) fn nodes(yaml: &str) -> Vec<(&'static str, String)> {
    read(yaml, &mut Noted::default()).map_or_else(Vec::new, |tree| tree.flat())
}

/// Reads a block as the standard says; or else as common readers do; or else entry by entry (B5). `None` if it
/// is no mapping even then.
fn read(yaml: &str, noted: &mut Noted) -> Option<Tree> {
    let yaml = without_marks(yaml);
    let short = Some(&*yaml).filter(|yaml| yaml.len() <= MAX_LEN);
    short.and_then(whole).or_else(|| entries::read(&yaml, noted))
}

/// The block as one mapping, or as nothing.
fn whole(yaml: &str) -> Option<Tree> {
    let read = |yaml: &str| {
        let tree = Tree::read(yaml, &mut Budget::for_expanding(yaml)).ok()?;
        matches!(tree.root(), None | Some(Content::Mapping | Content::Null)).then_some(tree)
    };
    read(yaml).or_else(|| match lenient::relaxed(yaml) {
        Cow::Owned(yaml) => read(&yaml),
        Cow::Borrowed(_) => None,
    })
}

/// The text without the marks at the start of its lines, where YAML allows none.
fn without_marks(yaml: &str) -> Cow<'_, str> {
    if !yaml.starts_with(MARK) && memchr::memmem::find(yaml.as_bytes(), "\n\u{FEFF}".as_bytes()).is_none() {
        return Cow::Borrowed(yaml);
    }
    Cow::Owned(yaml.split_inclusive('\n').map(|line| line.trim_start_matches(MARK)).collect())
}

/// A key, short enough for a sentence and without what a terminal would obey.
pub(crate) fn shown(key: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = key.chars().take(MOST).filter(|c| !c.is_control()).collect();
    if key.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
