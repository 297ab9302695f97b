//! The fields that a frontmatter sets (B5, B6).

use std::collections::BTreeMap;

use super::budget::Budget;
use super::shown;
use super::tree::Content;
use super::tree::ROOT;
use super::tree::Tree;
use super::trust;
use crate::document::{Noted, Verified, remark::RemarkCode};

/// What the frontmatter says, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) title: Option<Written>,
    pub(crate) description: Option<Written>,
    pub(crate) tags: Vec<String>,
    pub(crate) concept_type: Option<Written>,
    pub(crate) status: Option<Written>,
    pub(crate) stale_after: Option<Written>,
    pub(crate) okf_version: Option<Written>,
    pub(crate) verified: Verified,
}

/// A text, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) line: u32,
}

/// Fields that mean something here. What holds none of them may be a letterhead as well as a frontmatter.
pub(super) const USED: [&str; 9] =
    ["title", "description", "tags", "type", "status", "stale_after", "verified", "generated", "okf_version"];

/// Fields that hold one text: those that are taken as they stand if they are no YAML.
pub(super) const TEXTS: [&str; 5] = ["title", "description", "type", "status", "stale_after"];

/// Reads the entries of the root, which is a mapping. `length` is that of the text.
pub(super) fn read(tree: &Tree, yaml: &str, noted: &mut Noted) -> Fields {
    let values = last_values(tree, noted);
    note_other_spellings(&values, tree, noted);
    let mut text = |key: &str| {
        let at = *values.get(key)?;
        let text = tree.text(at).map(|text| Written { text: text.to_owned(), line: tree.line(at) });
        if text.is_none() && !matches!(tree.content(at), Content::Null) {
            noted.note(Some(tree.line(at)), RemarkCode::FieldIgnored, || {
                format!("`{key}` is ignored: it should be one text, not a list or a mapping.")
            });
        }
        text
    };
    let mut fields = Fields {
        title: text("title"),
        description: text("description"),
        concept_type: text("type"),
        status: text("status"),
        stale_after: text("stale_after"),
        okf_version: values
            .get("okf_version")
            .and_then(|at| Some(Written { text: tree.text(*at)?.to_owned(), line: tree.line(*at) })),
        ..Fields::default()
    };
    if let Some(at) = values.get("tags") {
        fields.tags = tags(tree, *at, &mut Budget::for_expanding(yaml), noted);
    }
    let generated = values.get("generated").and_then(|at| trust::generated_at(tree, *at, noted));
    if let Some(at) = values.get("verified") {
        fields.verified = trust::read(tree, *at, generated, &mut Budget::for_expanding(yaml), noted);
    }
    fields
}

/// The value of each key. Of a repeated one the last counts, usable or not.
fn last_values<'tree>(tree: &'tree Tree, noted: &mut Noted) -> BTreeMap<&'tree str, usize> {
    let mut values = BTreeMap::new();
    for (key, value) in tree.pairs(ROOT) {
        let Some(name) = tree.text(key) else { continue };
        if values.insert(name, value).is_some() {
            noted.note(Some(tree.line(key)), RemarkCode::DuplicateKey, || {
                format!("`{}` stands here again: this one counts, not the one above.", shown(name))
            });
        }
    }
    values
}

/// Notes keys that are spelled otherwise than the field they look like (`Status`, `stale-after`, `staleAfter`),
/// if that field is missing: its author will think that it is there.
fn note_other_spellings(values: &BTreeMap<&str, usize>, tree: &Tree, noted: &mut Noted) {
    for (name, at) in values {
        // None of the fields is longer, however it is spelled.
        if name.len() > 20 || USED.contains(name) {
            continue;
        }
        let wanted = bare(name);
        let field = USED.iter().find(|field| bare(field) == wanted && !values.contains_key(**field));
        if let Some(field) = field {
            noted.note(Some(tree.line(*at)), RemarkCode::FieldIgnored, || {
                format!("`{}` is ignored: the field is written `{field}`.", shown(name))
            });
        }
    }
}

/// A key without what its spellings differ in.
fn bare(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Tags from a list, or from one scalar (B6).
fn tags(tree: &Tree, at: usize, budget: &mut Budget, noted: &mut Noted) -> Vec<String> {
    let line = tree.line(at);
    let mut ignored = |line, sentence: &str| {
        noted.note(Some(line), RemarkCode::FieldIgnored, || sentence.to_owned());
    };
    let mut tags = Vec::new();
    match tree.content(at) {
        Content::Scalar(text) => return split_tags(text),
        Content::Null | Content::Alias(_) => {}
        Content::Mapping => ignored(line, "`tags` is ignored: it should be a list of texts, not a mapping."),
        Content::Sequence => {
            for item in tree.children(tree.target(at)) {
                match tree.content(item) {
                    Content::Scalar(text) => {
                        if budget.spend(text.len()).is_none() {
                            let sentence = "`tags` is left out: its aliases expand to more than 16 times the \
                                            frontmatter.";
                            noted.note(Some(line), RemarkCode::FieldNotRead, || sentence.to_owned());
                            return Vec::new();
                        }
                        tags.push(text.clone());
                    }
                    Content::Null | Content::Alias(_) => {}
                    Content::Sequence | Content::Mapping => {
                        ignored(
                            tree.line(item),
                            "A tag is ignored: it should be one text, not a list or a mapping.",
                        );
                    }
                }
            }
        }
    }
    tags
}

/// `a, b` and `[a, b]` are both the tags `a` and `b`.
fn split_tags(text: &str) -> Vec<String> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
