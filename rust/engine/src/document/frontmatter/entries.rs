//! Reads a frontmatter that is not valid YAML as a whole, entry by entry (B5).

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::budget::{Budget, MAX_YAML_BYTES};
use super::fields::{TEXT_FIELDS, USED_FIELDS};
use super::lenient::{ScannedEntry, scan_entry, to_strict};
use super::line::{LineKind, count_line_ends, first_line, first_line_len, is_key, len_to};
use super::tree::{Tree, Value};
use crate::document::{quote::quote, remark::RemarkCode, remark_collector::RemarkCollector};

/// The key of the header that defines anchors of earlier entries. It is not part of the frontmatter.
const HEADER_KEY: &str = "\"\"";

/// Parses each entry alone, and returns the mapping of all entries that can be read or are taken as they stand.
///
/// An entry begins at a line `key:` at column 0. It goes on over indented lines, over list items at column 0, and
/// over all lines of a quoted scalar or flow collection. An entry that cannot be read ends before the next line
/// `key:`, whatever quotes it opens.
///
/// `None` if the text is no frontmatter. It is frontmatter if an entry sets a field that this crate uses, or if
/// some entry can be read and there is no text outside of entries.
pub(super) fn parse(yaml: &str, remarks: &mut RemarkCollector) -> Option<Tree> {
    let mut reader = EntryReader {
        tree: Tree::empty_mapping(),
        anchors: BTreeMap::new(),
        parsing: Budget::for_parsing_entries(),
        scanning: Budget::for_scanning(yaml),
        remarks: remarks.new_empty(),
        has_entry: false,
        has_used_field: false,
        has_stray_text: false,
    };
    let (mut at, mut line) = (0, 1);
    while at < yaml.len() {
        let rest = &yaml[at..];
        let len = match LineKind::of(first_line(rest)) {
            LineKind::Key { key, value_at } => reader.entry(rest, key, value_at, line),
            LineKind::Blank => first_line_len(rest),
            LineKind::Continuation | LineKind::Stray => reader.stray_text(rest, line),
        };
        line += count_line_ends(&rest[..len]);
        at += len;
    }
    let is_frontmatter = reader.has_used_field || (reader.has_entry && !reader.has_stray_text);
    is_frontmatter.then(|| {
        remarks.append(reader.remarks);
        reader.tree
    })
}

struct EntryReader<'yaml> {
    /// The entries read so far.
    tree: Tree,
    /// The anchors of the entries read so far: from their names to their numbers in `tree`.
    anchors: BTreeMap<&'yaml str, usize>,
    parsing: Budget,
    scanning: Budget,
    remarks: RemarkCollector,
    /// Whether an entry was read or taken as it stands.
    has_entry: bool,
    /// Whether an entry, read or not, sets a field that this crate uses.
    has_used_field: bool,
    /// Whether there is text outside of entries.
    has_stray_text: bool,
}

impl<'yaml> EntryReader<'yaml> {
    /// Reads the entry at the start of `rest`, and returns its length in bytes.
    fn entry(&mut self, rest: &'yaml str, key: &str, value_at: usize, line: u32) -> usize {
        self.has_used_field |= USED_FIELDS.contains(&key);
        let entry = self.scan(rest);
        let reason = match entry.len {
            Some(len) => match self.parse(&rest[..len], &entry, line) {
                Ok(()) => {
                    self.has_entry = true;
                    return len;
                }
                Err(reason) => Cow::Owned(reason),
            },
            None => Cow::Borrowed("a quote or a bracket is not closed"),
        };
        let len = len_to(rest, is_key);
        let is_one_line =
            rest[..len].split('\n').skip(1).all(|line| matches!(LineKind::of(line), LineKind::Blank));
        if is_one_line && TEXT_FIELDS.contains(&key) {
            self.take_as_it_stands(key, first_line(rest)[value_at..].trim(), line, &reason);
        } else {
            self.remarks.add(Some(line), RemarkCode::FieldNotRead, || {
                format!("`{}` is left out because it is not valid YAML: {reason}.", quote(key))
            });
        }
        len
    }

    fn scan(&mut self, rest: &'yaml str) -> ScannedEntry<'yaml> {
        let is_end = |line: &str| matches!(LineKind::of(line), LineKind::Key { .. } | LineKind::Stray);
        // Also with an empty budget, an entry may go on to the next line that could end it.
        let limit = self.scanning.left().max(len_to(rest, is_end));
        let entry = scan_entry(rest, limit, is_end);
        let paid = entry.scanned.min(self.scanning.left());
        self.scanning.spend(paid).expect("no more is paid than is left");
        entry
    }

    /// Uses the text after the colon as the value.
    fn take_as_it_stands(&mut self, key: &str, value: &str, line: u32, reason: &str) {
        self.tree.push_entry(key.to_owned(), value.to_owned(), line);
        self.has_entry = true;
        self.remarks.add(Some(line), RemarkCode::FieldNotRead, || {
            let advice =
                if value.starts_with(['"', '\'']) { "Correct its quotes" } else { "Put it in quotes" };
            format!("`{key}` is taken as it stands because it is not valid YAML: {reason}. {advice}.")
        });
    }

    /// Moves over text that belongs to no entry, and returns its length in bytes.
    fn stray_text(&mut self, rest: &str, line: u32) -> usize {
        self.has_stray_text = true;
        self.remarks.add(Some(line), RemarkCode::FieldNotRead, || {
            "Text that belongs to no field is left out: a field is `key: value` at the start of a line."
                .to_owned()
        });
        len_to(rest, is_key)
    }

    /// Parses the text of one entry, and adds its nodes to the tree.
    ///
    /// # Errors
    /// Why it is not valid, in a few words.
    fn parse(&mut self, text: &str, entry: &ScannedEntry<'yaml>, line: u32) -> Result<(), String> {
        // The parser refuses an alias without its anchor. So anchors of earlier entries that this entry uses are
        // defined in a header, one line `"": [&a 0, &b 0]`.
        let mut header = String::new();
        let mut header_anchors = Vec::new();
        let aliases: BTreeSet<&str> = entry.aliases.iter().copied().collect();
        for name in aliases {
            if let Some(number) = self.anchors.get(name) {
                if header_anchors.is_empty() {
                    header.push_str(HEADER_KEY);
                    header.push_str(": [&");
                } else {
                    header.push_str(" 0, &");
                }
                header.push_str(name);
                header_anchors.push(*number);
            }
        }
        if !header_anchors.is_empty() {
            header.push_str(" 0]\n");
        }
        let tree = self.parse_below(&header, text).or_else(|reason| match to_strict(text) {
            Cow::Owned(text) => self.parse_below(&header, &text),
            Cow::Borrowed(_) => Err(reason),
        })?;
        let own_anchors = tree.anchor_count() - header_anchors.len();
        let numbers_before = self.tree.append_entries(tree, &header_anchors, line);
        // If the scanner and the parser disagree about the anchors, later entries cannot use them.
        if own_anchors == entry.anchors.len() {
            let numbers = numbers_before + header_anchors.len() + 1..;
            self.anchors.extend(entry.anchors.iter().copied().zip(numbers));
        }
        Ok(())
    }

    /// Parses one entry below a header.
    fn parse_below(&mut self, header: &str, text: &str) -> Result<Tree, String> {
        let len = header.len() + text.len();
        if len > MAX_YAML_BYTES || self.parsing.spend(len).is_none() {
            return Err("the frontmatter is too long".to_owned());
        }
        let text =
            if header.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{header}{text}")) };
        let tree = Tree::parse(&text, &mut Budget::for_expanding(&text))?;
        match tree.root() {
            Some(Value::Mapping) => Ok(tree),
            _ => Err("it is no mapping".to_owned()),
        }
    }
}
