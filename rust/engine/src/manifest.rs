//! Reads `catalog.json`: its sources, or everything that is wrong with it (M1, M2).

mod checker;
pub(crate) mod diagnostic;
mod json;
mod quote;
pub(crate) mod segment;
pub(crate) mod snapshot;
pub(crate) mod source;
mod source_checker;
#[cfg(test)]
mod tests;

pub(crate) use quote::{source_label, text as quoted};

use diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode as Code};
use source::Source;

use self::checker::Checker;
use self::json::{Field, Node};
use self::source_checker::{SourceChecker, usable_id};

/// The most sources that a manifest may have. Each source costs every search some time, and every reload a look at
/// its directory.
pub(crate) const MAX_SOURCES: usize = 100_000;

const ROOT_PROPERTIES: [&str; 2] = ["version", "sources"];

/// Parses a manifest: its sources in the order of the file, or everything that is wrong with it (M1).
///
/// A message about a source names its index, and its id if that is valid. The directories of the sources are not
/// looked at.
///
/// ```
/// use okf_engine::parse_manifest;
///
/// let sources = parse_manifest(br#"{"version": 1, "sources": [{"id": "docs", "path": "docs"}]}"#);
/// assert_eq!(sources.unwrap()[0].id, "docs");
///
/// let faults = parse_manifest(br#"{"version": 1, "sources": [{"id": "a b"}]}"#).unwrap_err();
/// let codes: Vec<_> = faults.iter().map(|fault| fault.code.as_str()).collect();
/// assert_eq!(codes, ["INVALID_SOURCE_ID", "EMPTY_PATH"]);
/// ```
///
/// # Errors
///
/// One diagnostic for each fault: first repeated keys and what is not valid JSON, then the faults of the root, then
/// those of each source in turn. A key that is repeated in one object is one fault, and its values are not checked.
/// A key with a NUL is one fault, and so is a text with a NUL where a value is expected. More than `MAX_SOURCES`
/// sources are one fault of the root. At most `MAX_FAULTS` diagnostics are returned; if
/// there are more faults, the last message says how many.
pub fn parse(bytes: &[u8]) -> Result<Vec<Source>, Vec<CatalogDiagnostic>> {
    let text = decode(bytes).map_err(|fault| vec![fault])?;
    let json = json::parse(text);
    let mut checker = Checker::default();
    report_repeated_keys(&json, &mut checker);
    let sources = match &json.root {
        Ok(root) => check_root(root, &mut checker),
        Err(error) => {
            let (reason, position) = (&error.reason, &error.position);
            checker.fault(Code::ParseError, || {
                format!("the manifest is not valid JSON: {reason} at {position}")
            });
            Vec::new()
        }
    };
    checker.into_result(sources)
}

/// The manifest's text, without a leading byte-order mark.
fn decode(bytes: &[u8]) -> Result<&str, CatalogDiagnostic> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let position = json::Position::before(bytes, error.valid_up_to() + 1);
        let message = format!("the manifest is not UTF-8: illegal byte at {position}; save it as UTF-8");
        CatalogDiagnostic { code: Code::ParseError, message }
    })
}

fn report_repeated_keys(json: &json::ParsedJson, checker: &mut Checker) {
    // Looked up once for each source: one source may repeat many keys.
    let ids: Vec<_> = source_nodes(&json.root).iter().map(usable_id).collect();
    for repeated in &json.repeated_keys {
        let subject = match repeated.source {
            Some(index) => source_label(index, ids.get(index).copied().flatten()) + ": ",
            None => String::new(),
        };
        let key = quoted(&repeated.key);
        let position = &repeated.position;
        checker.fault(Code::ParseError, || format!("{subject}key {key} is repeated at {position}; keep one"));
    }
}

/// The items of `sources`; none if the manifest has no such list.
fn source_nodes(root: &Result<Node, json::SyntaxError>) -> &[Node] {
    if let Ok(Node::Object { members, .. }) = root
        && let Field::Present(Node::List { items, .. }) = json::field(members, "sources")
    {
        items
    } else {
        &[]
    }
}

/// The sources of the manifest. They are valid only if no fault was found.
fn check_root(root: &Node, checker: &mut Checker) -> Vec<Source> {
    let Node::Object { members, .. } = root else {
        checker.not_an_object("the manifest", root, "version and sources");
        return Vec::new();
    };
    checker.unknown_properties("", members, Code::UnknownRootProperty, &ROOT_PROPERTIES);
    let version = checker.field("", members, "version");
    check_version(version, checker);
    let sources = checker.field("", members, "sources");
    check_sources(sources, checker)
}

fn check_version(version: Field<'_>, checker: &mut Checker) {
    let found = match version {
        Field::Reported => return,
        Field::Present(Node::Number(number)) if number == "1" => return,
        Field::Present(other) => quote::node(other),
        Field::Absent => "missing".to_owned(),
    };
    checker.fault(Code::WrongVersion, || format!("version is {found}; write the integer 1"));
}

fn check_sources(sources: Field<'_>, checker: &mut Checker) -> Vec<Source> {
    let found = match sources {
        Field::Reported => return Vec::new(),
        Field::Present(Node::List { items, .. }) if !items.is_empty() => {
            let count = items.len();
            if count > MAX_SOURCES {
                checker.fault(Code::ParseError, || {
                    format!("sources has {count} entries; write at most {MAX_SOURCES} in one catalog")
                });
            }
            let mut sources = SourceChecker::new(checker);
            return items.iter().enumerate().filter_map(|(index, node)| sources.check(index, node)).collect();
        }
        Field::Present(Node::List { .. }) => "an empty list".to_owned(),
        Field::Present(other) => quote::node(other),
        Field::Absent => "missing".to_owned(),
    };
    checker.fault(Code::EmptySources, || format!("sources is {found}; write a list of at least one source"));
    Vec::new()
}
