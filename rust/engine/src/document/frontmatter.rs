//! The frontmatter of a file: where it is, its YAML, and the fields that the YAML sets (B4 to B6).
//!
//! YAML is read in up to three ways, until one succeeds: as the standard says; as common readers do, which accept
//! more ([`lenient`]); and entry by entry, so that a slip in one field costs no other field ([`entries`]).

mod budget;
mod cursor;
mod delimiters;
mod entries;
mod fields;
mod lenient;
mod line;
mod surrogate;
#[cfg(test)]
mod tests;
mod tree;
mod verified;

pub(crate) use delimiters::Frontmatter;
pub(crate) use fields::{Fields, Scalar};

use std::borrow::Cow;

use crate::{document::remark_collector::RemarkCollector, text::decode::BYTE_ORDER_MARK};
use budget::{Budget, MAX_YAML_BYTES};
use tree::{Tree, Value};

/// Reads the fields from the YAML between the two `---` lines. An empty text sets no field. `None` if the text is
/// no mapping.
///
/// The lines of remarks and of fields count from 1 in `yaml`.
pub(crate) fn read(yaml: &str, remarks: &mut RemarkCollector) -> Option<Fields> {
    let tree = parse(yaml, remarks)?;
    match tree.root() {
        Some(Value::Mapping) => Some(fields::read(&tree, yaml, remarks)),
        _ => Some(Fields::default()),
    }
}

/// All nodes of the YAML in the order they are written, each as its kind and its text.
pub(crate) fn nodes(yaml: &str) -> Vec<(&'static str, String)> {
    parse(yaml, &mut RemarkCollector::default()).map_or_else(Vec::new, |tree| tree.kinds_and_texts())
}

/// Parses the YAML as one text, or entry by entry if that fails (B5). `None` if it is no mapping.
fn parse(yaml: &str, remarks: &mut RemarkCollector) -> Option<Tree> {
    let yaml = without_byte_order_marks(yaml);
    let short_enough = Some(&*yaml).filter(|yaml| yaml.len() <= MAX_YAML_BYTES);
    short_enough.and_then(parse_whole).or_else(|| entries::parse(&yaml, remarks))
}

/// Parses the YAML as one mapping, or as an empty document.
fn parse_whole(yaml: &str) -> Option<Tree> {
    let parse = |yaml: &str| {
        let tree = Tree::parse(yaml, &mut Budget::for_expanding(yaml)).ok()?;
        matches!(tree.root(), None | Some(Value::Mapping | Value::Null)).then_some(tree)
    };
    parse(yaml).or_else(|| match lenient::to_strict(yaml) {
        Cow::Owned(yaml) => parse(&yaml),
        Cow::Borrowed(_) => None,
    })
}

/// The text without byte-order marks at the start of its lines, where YAML allows none.
fn without_byte_order_marks(yaml: &str) -> Cow<'_, str> {
    if !yaml.starts_with(BYTE_ORDER_MARK)
        && memchr::memmem::find(yaml.as_bytes(), "\n\u{FEFF}".as_bytes()).is_none()
    {
        return Cow::Borrowed(yaml);
    }
    Cow::Owned(yaml.split_inclusive('\n').map(|line| line.trim_start_matches(BYTE_ORDER_MARK)).collect())
}
