//! A frontmatter that is not valid as a whole, entry by entry (B5).

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::budget::Budget;
use super::budget::MAX_LEN;
use super::fields::TEXTS;
use super::fields::USED;
use super::lenient::Extent;
use super::lenient::extent;
use super::lenient::line;
use super::lenient::relaxed;
use super::shown;
use super::tree::Content;
use super::tree::Tree;
use crate::document::{Noted, remark::RemarkCode};

/// The mapping of all entries that can be read alone, or stand for themselves.
///
/// An entry begins at a line at column 0 that is `key:`, and goes on over what is indented, over list items at
/// column 0, and over all lines that quotes or brackets which it opens hold together. If it cannot be read, it
/// goes on to the next such line.
///
/// `None` if the text is no frontmatter: there is no entry, or there is text that belongs to none, or
/// nothing that can be read, and no entry sets a field that is used.
pub(super) fn read(yaml: &str, noted: &mut Noted) -> Option<Tree> {
    let mut entries = Entries {
        tree: Tree::mapping(),
        names: BTreeMap::new(),
        parsing: Budget::for_parsing(),
        looking: Budget::for_looking_ahead(yaml),
        noted: noted.like(),
        counted: false,
        used: false,
        strayed: false,
    };
    let (mut at, mut number) = (0, 1);
    while at < yaml.len() {
        let rest = &yaml[at..];
        let len = match start(line(rest)) {
            Start::Key { key, after } => entries.entry(rest, key, after, number),
            Start::None => line_len(rest),
            Start::Within | Start::Stray => entries.stray(rest, number),
        };
        number += lines(&rest[..len]);
        at += len;
    }
    let is_frontmatter = entries.used || (entries.counted && !entries.strayed);
    is_frontmatter.then(|| {
        noted.append(entries.noted);
        entries.tree
    })
}

struct Entries<'yaml> {
    tree: Tree,
    /// The numbers of anchors, by their names.
    names: BTreeMap<&'yaml str, usize>,
    parsing: Budget,
    looking: Budget,
    noted: Noted,
    /// Whether an entry counts.
    counted: bool,
    /// Whether an entry sets a field that is used.
    used: bool,
    /// Whether there is text outside of all entries.
    strayed: bool,
}

impl<'yaml> Entries<'yaml> {
    /// Takes the entry with which a text begins, and gives its length.
    fn entry(&mut self, rest: &'yaml str, key: &str, after: usize, number: u32) -> usize {
        self.used |= USED.contains(&key);
        let is_end = |line: &str| matches!(start(line), Start::Key { .. } | Start::Stray);
        let most = self.looking.left().max(to_next(rest, is_end));
        let extent = extent(rest, most, is_end);
        self.looking.spend(extent.looked.min(self.looking.left()));
        let reason = match extent.len {
            Some(len) => match self.parse(&rest[..len], &extent, number) {
                Ok(()) => {
                    self.counted = true;
                    return len;
                }
                Err(reason) => Cow::Owned(reason),
            },
            None => Cow::Borrowed("a quote or a bracket is not closed"),
        };
        let len = to_next(rest, is_key);
        let is_line = rest[..len].split('\n').skip(1).all(|line| matches!(start(line), Start::None));
        if is_line && TEXTS.contains(&key) {
            self.tree.add_text(key.to_owned(), line(rest)[after..].trim().to_owned(), number);
            self.counted = true;
            self.noted.note(Some(number), RemarkCode::FieldNotRead, || {
                let cure = if line(rest)[after..].trim_start().starts_with(['"', '\'']) {
                    "Mend its quotes"
                } else {
                    "Put it in quotes"
                };
                format!("`{key}` is taken as it stands, because it is not valid YAML: {reason}. {cure}.")
            });
        } else {
            self.noted.note(Some(number), RemarkCode::FieldNotRead, || {
                format!("`{}` is left out, because it is not valid YAML: {reason}.", shown(key))
            });
        }
        len
    }

    /// Passes over text that belongs to no entry.
    fn stray(&mut self, rest: &str, number: u32) -> usize {
        self.strayed = true;
        self.noted.note(Some(number), RemarkCode::FieldNotRead, || {
            "Text that belongs to no field is left out: a field is `key: value`, at the start of a line."
                .to_owned()
        });
        to_next(rest, is_key)
    }

    /// Adds what a text says, if that can be read.
    fn parse(&mut self, text: &str, extent: &Extent<'yaml>, number: u32) -> Result<(), String> {
        // In front of it, what its aliases stand for, so that the parser knows their names.
        let mut header = String::new();
        let mut known = Vec::new();
        let aliases: BTreeSet<&str> = extent.aliases.iter().copied().collect();
        for name in aliases {
            if let Some(number) = self.names.get(name) {
                header.push_str(if known.is_empty() { "\"\": [&" } else { " 0, &" });
                header.push_str(name);
                known.push(*number);
            }
        }
        if !known.is_empty() {
            header.push_str(" 0]\n");
        }
        let tree = self.read(&header, text).or_else(|reason| match relaxed(text) {
            Cow::Owned(text) => self.read(&header, &text),
            Cow::Borrowed(_) => Err(reason),
        })?;
        let anchors = tree.numbered() - known.len();
        let before = self.tree.add_entries(tree, usize::from(!known.is_empty()) * 2, &known, number);
        if anchors == extent.anchors.len() {
            let numbers = before + known.len() + 1..;
            self.names.extend(extent.anchors.iter().copied().zip(numbers));
        }
        Ok(())
    }

    fn read(&mut self, header: &str, text: &str) -> Result<Tree, String> {
        let len = header.len() + text.len();
        if len > MAX_LEN || self.parsing.spend(len).is_none() {
            return Err("the frontmatter is too long".to_owned());
        }
        let text =
            if header.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{header}{text}")) };
        let tree = Tree::read(&text, &mut Budget::for_expanding(&text))?;
        match tree.root() {
            Some(Content::Mapping) => Ok(tree),
            _ => Err("it is no mapping".to_owned()),
        }
    }
}

/// What a line begins, outside of quotes and brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start<'line> {
    /// An entry; what follows the colon is at `after`.
    Key { key: &'line str, after: usize },
    /// Neither an entry nor a part of one.
    Stray,
    /// It belongs to what is above it.
    Within,
    /// A blank line, or a comment.
    None,
}

pub(super) fn start(line: &str) -> Start<'_> {
    let bytes = line.as_bytes();
    let is_blank = |at: usize| bytes.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    match bytes.first() {
        _ if matches!(line.trim_ascii_start().as_bytes().first(), None | Some(b'#')) => Start::None,
        Some(b' ' | b'\t' | b']' | b'}' | b',') => Start::Within,
        Some(b'-' | b':') if is_blank(1) => Start::Within,
        Some(b'[' | b'{') => Start::Stray,
        Some(b'?') if is_blank(1) => Start::Stray,
        Some(quote @ (b'"' | b'\'')) => quoted_key(line, *quote),
        _ => {
            let colon = memchr::memchr2_iter(b':', b'#', bytes)
                .find(|at| if bytes[*at] == b':' { is_blank(at + 1) } else { is_blank(at - 1) });
            match colon {
                Some(at) if bytes[at] == b':' => {
                    Start::Key { key: line[..at].trim_ascii_end(), after: at + 1 }
                }
                _ => Start::Stray,
            }
        }
    }
}

fn quoted_key(line: &str, quote: u8) -> Start<'_> {
    let bytes = line.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            byte if *byte == quote => {
                if quote == b'"' || bytes.get(at + 1) != Some(&quote) {
                    break;
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    let Some(rest) = line.get(at + 1..) else { return Start::Stray };
    let colon = line.len() - rest.trim_ascii_start().len();
    let is_key = bytes.get(colon) == Some(&b':')
        && bytes.get(colon + 1).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    if is_key { Start::Key { key: &line[1..at], after: colon + 1 } } else { Start::Stray }
}

fn is_key(line: &str) -> bool {
    matches!(start(line), Start::Key { .. })
}

/// How long the text is up to the first of its other lines that is such a one, or to its end.
fn to_next(text: &str, is_one: fn(&str) -> bool) -> usize {
    let mut len = line_len(text);
    while len < text.len() && !is_one(line(&text[len..])) {
        len += line_len(&text[len..]);
    }
    len
}

fn line_len(text: &str) -> usize {
    memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |end| end + 1)
}

fn lines(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}
