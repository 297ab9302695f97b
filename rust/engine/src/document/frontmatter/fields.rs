//! The fields that a frontmatter sets (B5, B6).

use std::collections::BTreeMap;

use super::budget::{Budget, expands_too_much};
use super::tree::{ROOT, Tree, Value};
use super::verified;
use crate::document::{quote::quote, remark::RemarkCode, remark_collector::RemarkCollector, trust::Verified};

/// The fields of a frontmatter, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) title: Option<Scalar>,
    pub(crate) description: Option<Scalar>,
    pub(crate) tags: Vec<String>,
    pub(crate) concept_type: Option<Scalar>,
    pub(crate) status: Option<Scalar>,
    pub(crate) stale_after: Option<Scalar>,
    pub(crate) okf_version: Option<Scalar>,
    pub(crate) verified: Verified,
}

/// The text of a YAML scalar, and the line of the YAML in which it begins, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) line: u32,
}

/// The fields that this crate uses. A block without any of them may be a letterhead.
pub(super) const USED_FIELDS: [&str; 9] =
    ["title", "description", "tags", "type", "status", "stale_after", "verified", "generated", "okf_version"];

/// The fields that hold one text. Such a field is taken as it stands if it is no valid YAML.
pub(super) const TEXT_FIELDS: [&str; 5] = ["title", "description", "type", "status", "stale_after"];

/// Keys longer than this, in bytes, are not compared with the fields they may be misspelled from. No field is
/// longer, even with separators between its words.
const MAX_MISSPELLED_LEN: usize = 20;

/// Reads the fields from a tree whose root is a mapping. `yaml` is the text of the tree.
pub(super) fn read(tree: &Tree, yaml: &str, remarks: &mut RemarkCollector) -> Fields {
    let values = last_values(tree, remarks);
    remark_other_spellings(&values, tree, remarks);
    let mut scalar = |key: &str| scalar(tree, *values.get(key)?, key, remarks);
    let mut fields = Fields {
        title: scalar("title"),
        description: scalar("description"),
        concept_type: scalar("type"),
        status: scalar("status"),
        stale_after: scalar("stale_after"),
        okf_version: values
            .get("okf_version")
            .and_then(|at| Some(Scalar { text: tree.text(*at)?.to_owned(), line: tree.line(*at) })),
        ..Fields::default()
    };
    if let Some(at) = values.get("tags") {
        fields.tags = tags(tree, *at, &mut Budget::for_expanding(yaml), remarks);
    }
    let generated = values.get("generated").and_then(|at| verified::generated_at(tree, *at, remarks));
    if let Some(at) = values.get("verified") {
        fields.verified = verified::read(tree, *at, generated, &mut Budget::for_expanding(yaml), remarks);
    }
    fields
}

/// The text of a field; `None` with a remark if it is a list or a mapping.
fn scalar(tree: &Tree, at: usize, key: &str, remarks: &mut RemarkCollector) -> Option<Scalar> {
    let text = tree.text(at);
    if text.is_none() && !matches!(tree.value(at), Value::Null) {
        remarks.add(Some(tree.line(at)), RemarkCode::FieldIgnored, || {
            format!("`{key}` is ignored: it should be one text, not a list or a mapping.")
        });
    }
    text.map(|text| Scalar { text: text.to_owned(), line: tree.line(at) })
}

/// The value of each key. Of a repeated key the last value counts, usable or not.
fn last_values<'tree>(tree: &'tree Tree, remarks: &mut RemarkCollector) -> BTreeMap<&'tree str, usize> {
    let mut values = BTreeMap::new();
    for (key, value) in tree.pairs(ROOT) {
        let Some(name) = tree.text(key) else { continue };
        if values.insert(name, value).is_some() {
            remarks.add(Some(tree.line(key)), RemarkCode::DuplicateKey, || {
                format!("`{}` is repeated: this value counts, not the one above.", quote(name))
            });
        }
    }
    values
}

/// Adds a remark for each key that looks like a field and is spelled differently (`Status`, `stale-after`,
/// `staleAfter`), if the field itself is missing: the author may believe that it is set.
fn remark_other_spellings(values: &BTreeMap<&str, usize>, tree: &Tree, remarks: &mut RemarkCollector) {
    for (name, at) in values {
        if name.len() > MAX_MISSPELLED_LEN || USED_FIELDS.contains(name) {
            continue;
        }
        let wanted = without_style(name);
        let field =
            USED_FIELDS.iter().find(|field| without_style(field) == wanted && !values.contains_key(**field));
        if let Some(field) = field {
            remarks.add(Some(tree.line(*at)), RemarkCode::FieldIgnored, || {
                format!("`{}` is ignored: the field is written `{field}`.", quote(name))
            });
        }
    }
}

/// A key in lower case and without separators between its words.
fn without_style(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Tags from a list or from one scalar (B6).
fn tags(tree: &Tree, at: usize, budget: &mut Budget, remarks: &mut RemarkCollector) -> Vec<String> {
    let line = tree.line(at);
    match tree.value(at) {
        Value::Scalar(text) => split_tags(text),
        Value::Null | Value::Alias(_) => Vec::new(),
        Value::Mapping => {
            remarks.add(Some(line), RemarkCode::FieldIgnored, || {
                "`tags` is ignored: it should be a list of texts, not a mapping.".to_owned()
            });
            Vec::new()
        }
        Value::Sequence => listed_tags(tree, tree.resolve(at), budget, remarks).unwrap_or_else(|| {
            remarks.add(Some(line), RemarkCode::FieldNotRead, || expands_too_much("tags"));
            Vec::new()
        }),
    }
}

/// The scalar items of a list; `None` if the budget is used up.
fn listed_tags(
    tree: &Tree,
    list: usize,
    budget: &mut Budget,
    remarks: &mut RemarkCollector,
) -> Option<Vec<String>> {
    let mut tags = Vec::new();
    for item in tree.children(list) {
        match tree.value(item) {
            Value::Scalar(text) => {
                budget.spend(text.len())?;
                tags.push(text.clone());
            }
            Value::Null | Value::Alias(_) => {}
            Value::Sequence | Value::Mapping => {
                remarks.add(Some(tree.line(item)), RemarkCode::FieldIgnored, || {
                    "A tag is ignored: it should be one text, not a list or a mapping.".to_owned()
                });
            }
        }
    }
    Some(tags)
}

/// `a, b` and `[a, b]` are both the tags `a` and `b`.
fn split_tags(text: &str) -> Vec<String> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
