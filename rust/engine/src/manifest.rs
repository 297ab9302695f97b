//! Reads `catalog.json`: its sources, or everything that is wrong with it (M1, M2).

pub mod diagnostic;
mod json;
mod shown;
pub mod snapshot;
pub mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};

use crate::manifest::{
    diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode as Code, Faults},
    source::{Role, Source, Tier},
};

use self::json::Field;
use self::json::Node;
pub(crate) use self::shown::text as quoted;

/// So many sources may a manifest have. Each costs every search something, and a reload a look at the disk.
pub const MOST_SOURCES: usize = 100_000;

const ROOT_PROPERTIES: [&str; 2] = ["version", "sources"];
const SOURCE_PROPERTIES: [&str; 6] = ["id", "path", "priority", "enabled", "role", "tier"];

/// The sources of a manifest in the order of the file, or all that is wrong with it (M1).
///
/// What is said about a source names it by index, and by id if that is usable. Whether the paths
/// lead to directories is not looked at here; [`containment`](crate::disk::fence) does.
///
/// ```
/// use okf_engine::manifest;
///
/// let sources = manifest::parse(br#"{"version": 1, "sources": [{"id": "docs", "path": "docs"}]}"#);
/// assert_eq!(sources.unwrap()[0].id, "docs");
///
/// let faults = manifest::parse(br#"{"version": 1, "sources": [{"id": "a b"}]}"#).unwrap_err();
/// let codes: Vec<_> = faults.iter().map(|fault| fault.code.as_str()).collect();
/// assert_eq!(codes, ["INVALID_SOURCE_ID", "EMPTY_PATH"]);
/// ```
///
/// # Errors
///
/// One diagnostic for each fault: first what keeps the text from being one JSON value without
/// repeated keys, then the root's faults, then those of each source in turn. A key that is repeated
/// in one object is one fault; none of its values is looked at any further. So is a key with a NUL,
/// and a text with one where a value is expected. Of a great many faults the first
/// [`MOST_FAULTS`](crate::manifest::diagnostic::MOST_FAULTS) are given, and the last of these says how many there are.
/// More than [`MOST_SOURCES`] sources are one fault of the root.
pub fn parse(bytes: &[u8]) -> Result<Vec<Source>, Vec<CatalogDiagnostic>> {
    let text = decode(bytes).map_err(|fault| vec![fault])?;
    let reading = json::read(text);
    let mut checks = Checks::default();

    // Found once for each source: one object may repeat many keys.
    let ids: Vec<_> = entries(&reading.root).iter().map(usable_id).collect();
    for repeat in &reading.repeats {
        let subject = match repeat.source {
            Some(index) => label(index, ids.get(index).copied().flatten()) + ": ",
            None => String::new(),
        };
        let key = shown::text(&repeat.key);
        let place = &repeat.place;
        checks.fault(Code::ParseError, || format!("{subject}key {key} is repeated at {place}; keep one"));
    }

    let sources = match &reading.root {
        Ok(root) => checks.root(root),
        Err(broken) => {
            let (reason, place) = (&broken.reason, &broken.place);
            checks.fault(Code::ParseError, || format!("the manifest is not valid JSON: {reason} at {place}"));
            Vec::new()
        }
    };
    checks.faults.or(sources)
}

/// The sources of a manifest, whatever is wrong with them.
fn entries(root: &Result<Node, json::Broken>) -> &[Node] {
    if let Ok(Node::Object { members, .. }) = root
        && let Field::Once(Node::List { items, .. }) = json::field(members, "sources")
    {
        items
    } else {
        &[]
    }
}

/// The manifest's text, without a leading byte-order mark.
fn decode(bytes: &[u8]) -> Result<&str, CatalogDiagnostic> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let place = json::Place::after(bytes, error.valid_up_to() + 1);
        let message = format!("the manifest is not UTF-8: illegal byte at {place}; save it as UTF-8");
        CatalogDiagnostic { code: Code::ParseError, message }
    })
}

/// How messages name a source: by its index, and by a beginning of its id.
pub(crate) fn label(index: usize, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("sources[{index}] (id {})", shown::text(id)),
        None => format!("sources[{index}]"),
    }
}

/// An id is one segment (M2).
pub(crate) fn is_segment(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut bytes = text.bytes();
    bytes.next().is_some_and(word) && bytes.all(|byte| word(byte) || byte == b'.' || byte == b'-')
}

fn usable_id(source: &Node) -> Option<&str> {
    let Node::Object { members, .. } = source else {
        return None;
    };
    match json::field(members, "id") {
        Field::Once(Node::Text(id)) if is_segment(id) => Some(id),
        _ => None,
    }
}

/// What has been found so far, and what later sources are compared with.
#[derive(Default)]
struct Checks {
    faults: Faults,
    // Hashed with a secret: no choice of ids makes them collide.
    ids: HashMap<String, usize>,
    tiers: BTreeMap<Tier, usize>,
}

impl Checks {
    fn fault(&mut self, code: Code, message: impl FnOnce() -> String) {
        self.faults.push(code, message);
    }

    /// What an object says under a key that is known. A NUL in the value is said.
    fn field<'a>(&mut self, subject: &str, members: &'a [json::Member], key: &str) -> Field<'a> {
        if members.iter().any(|member| member.key == key && member.has_nul()) {
            self.fault(Code::EmbeddedNul, || format!("{subject}{key} contains U+0000; remove it"));
        }
        json::field(members, key)
    }

    /// Says what is wrong with each key that is not known, and each NUL in it or its value.
    fn unknown(&mut self, subject: &str, members: &[json::Member], code: Code, known: &[&str]) {
        for member in members.iter().filter(|member| !known.contains(&member.key.as_str())) {
            let key = || shown::text(&member.key);
            if member.key.contains('\0') {
                self.fault(Code::EmbeddedNul, || {
                    format!("{subject}key {} contains U+0000; remove it", key())
                });
            } else {
                let known = || known.join(if known.len() == 2 { " and " } else { ", " });
                self.fault(code, || {
                    format!("{subject}property {} is unknown; write only {}", key(), known())
                });
            }
            if member.has_nul() {
                self.fault(Code::EmbeddedNul, || {
                    format!("{subject}the value of {} contains U+0000; remove it", key())
                });
            }
        }
    }

    /// Says that what should be an object is none; of a text with a NUL that is said instead.
    fn no_object(&mut self, subject: &str, node: &Node, members: &str) {
        let found = shown::node(node);
        let is_text = matches!(node, Node::Text(_));
        if node.has_nul() {
            self.fault(Code::EmbeddedNul, || format!("{subject} contains U+0000; remove it"));
        }
        if !(node.has_nul() && is_text) {
            self.fault(Code::ParseError, || format!("{subject} is {found}; write an object with {members}"));
        }
    }

    fn root(&mut self, root: &Node) -> Vec<Source> {
        let Node::Object { members, .. } = root else {
            self.no_object("the manifest", root, "version and sources");
            return Vec::new();
        };
        self.unknown("", members, Code::UnknownRootProperty, &ROOT_PROPERTIES);
        let version = self.field("", members, "version");
        self.version(version);
        let sources = self.field("", members, "sources");
        self.sources(sources)
    }

    fn version(&mut self, version: Field<'_>) {
        let found = match version {
            Field::Faulty => return,
            Field::Once(Node::Number(number)) if number == "1" => return,
            Field::Once(other) => shown::node(other),
            Field::Absent => "missing".to_owned(),
        };
        self.fault(Code::WrongVersion, || format!("version is {found}; write the integer 1"));
    }

    fn sources(&mut self, sources: Field<'_>) -> Vec<Source> {
        let found = match sources {
            Field::Faulty => return Vec::new(),
            Field::Once(Node::List { items, .. }) if !items.is_empty() => {
                let count = items.len();
                if count > MOST_SOURCES {
                    self.fault(Code::ParseError, || {
                        format!("sources has {count} entries; write at most {MOST_SOURCES} in one catalog")
                    });
                }
                return items
                    .iter()
                    .enumerate()
                    .filter_map(|(index, entry)| self.source(index, entry))
                    .collect();
            }
            Field::Once(Node::List { .. }) => "an empty list".to_owned(),
            Field::Once(other) => shown::node(other),
            Field::Absent => "missing".to_owned(),
        };
        self.fault(Code::EmptySources, || format!("sources is {found}; write a list of at least one source"));
        Vec::new()
    }

    /// Every field is checked, whatever is wrong with the others. What comes back counts only if no
    /// fault was found.
    fn source(&mut self, index: usize, entry: &Node) -> Option<Source> {
        let Node::Object { members, .. } = entry else {
            self.no_object(&label(index, None), entry, "id and path");
            return None;
        };
        let name = label(index, usable_id(entry));
        let before = format!("{name}: ");
        self.unknown(&before, members, Code::UnknownSourceProperty, &SOURCE_PROPERTIES);
        let mut subject = Subject { name, checks: self };
        let field = |subject: &mut Subject<'_>, key| subject.checks.field(&before, members, key);
        let value = field(&mut subject, "id");
        let id = subject.id(index, value);
        let value = field(&mut subject, "path");
        let path = subject.path(value);
        let value = field(&mut subject, "priority");
        let priority = subject.priority(value);
        let value = field(&mut subject, "enabled");
        let enabled = subject.enabled(value);
        let value = field(&mut subject, "role");
        let role = subject.role(value);
        // Which tiers are right hangs on the role: without a legal one there is nothing to say.
        let value = field(&mut subject, "tier");
        let tier = role.and_then(|role| subject.tier(index, role, value));
        Some(Source { id: id?, path: path?, priority: priority?, enabled: enabled?, role: role?, tier })
    }
}

/// One source while its fields are checked. Each method gives the field's value, or says what is
/// wrong with it; of a repeated field that has been said already.
struct Subject<'a> {
    name: String,
    checks: &'a mut Checks,
}

impl Subject<'_> {
    fn fault(&mut self, code: Code, what: &str) {
        self.checks.fault(code, || format!("{}: {what}", self.name));
    }

    fn id(&mut self, index: usize, id: Field<'_>) -> Option<String> {
        let found = match id {
            Field::Faulty => return None,
            Field::Once(Node::Text(id)) if is_segment(id) => return self.unique_id(index, id),
            Field::Once(other) => shown::node(other),
            Field::Absent => "missing".to_owned(),
        };
        self.fault(
            Code::InvalidSourceId,
            &format!(
                "id is {found}; write ASCII letters, digits, `_`, `.` and `-`, and start with neither `.` nor `-`"
            ),
        );
        None
    }

    fn unique_id(&mut self, index: usize, id: &str) -> Option<String> {
        let first = match self.checks.ids.entry(id.to_owned()) {
            Entry::Vacant(slot) => {
                slot.insert(index);
                return Some(id.to_owned());
            }
            Entry::Occupied(slot) => *slot.get(),
        };
        self.fault(
            Code::DuplicateSourceId,
            &format!("id is the one of sources[{first}] too; write one that no other source has"),
        );
        None
    }

    /// What is wrong with a path is said without the path: it may be absolute (D4).
    fn path(&mut self, path: Field<'_>) -> Option<String> {
        let found = match path {
            Field::Faulty => return None,
            Field::Once(Node::Text(path)) if !path.is_empty() => return Some(path.clone()),
            Field::Once(other) => shown::node(other),
            Field::Absent => "missing".to_owned(),
        };
        self.fault(
            Code::EmptyPath,
            &format!("path is {found}; write the bundle's directory, relative to the manifest's"),
        );
        None
    }

    fn priority(&mut self, priority: Field<'_>) -> Option<i32> {
        let found = match priority {
            Field::Absent => return Some(0),
            Field::Faulty => return None,
            Field::Once(Node::Number(number)) => match number.parse() {
                Ok(priority) => return Some(priority),
                Err(_) => shown::number(number),
            },
            Field::Once(other) => shown::node(other),
        };
        self.fault(
            Code::MalformedPriority,
            &format!("priority is {found}; write an integer from {} to {}", i32::MIN, i32::MAX),
        );
        None
    }

    fn enabled(&mut self, enabled: Field<'_>) -> Option<bool> {
        let found = match enabled {
            Field::Absent => return Some(true),
            Field::Faulty => return None,
            Field::Once(Node::Bool(enabled)) => return Some(*enabled),
            Field::Once(other) => shown::node(other),
        };
        self.fault(Code::MalformedEnabled, &format!("enabled is {found}; write true or false"));
        None
    }

    fn role(&mut self, role: Field<'_>) -> Option<Role> {
        let found = match role {
            Field::Absent => return Some(Role::Knowledge),
            Field::Faulty => return None,
            Field::Once(Node::Text(text)) => match Role::named(text) {
                Some(role) => return Some(role),
                None => shown::text(text),
            },
            Field::Once(other) => shown::node(other),
        };
        self.fault(Code::IllegalRole, &format!("role is {found}; write \"knowledge\" or \"memory\""));
        None
    }

    /// Nothing is right for a knowledge source.
    fn tier(&mut self, index: usize, role: Role, tier: Field<'_>) -> Option<Tier> {
        let found = match (role, tier) {
            (_, Field::Faulty) | (Role::Knowledge, Field::Absent) => return None,
            (Role::Knowledge, Field::Once(found)) => {
                let found = shown::node(found);
                self.fault(
                    Code::IllegalTier,
                    &format!("tier is {found}; leave it out, only memory sources have one"),
                );
                return None;
            }
            (Role::Memory, Field::Absent) => "missing".to_owned(),
            (Role::Memory, Field::Once(Node::Text(text))) => match Tier::named(text) {
                Some(tier) => return self.unique_tier(index, tier),
                None => shown::text(text),
            },
            (Role::Memory, Field::Once(other)) => shown::node(other),
        };
        self.fault(
            Code::IllegalTier,
            &format!("tier is {found}; write \"session\", \"user\" or \"tenant\", as a memory source needs"),
        );
        None
    }

    /// Disabled sources count too: enabling one must not make the manifest illegal.
    fn unique_tier(&mut self, index: usize, tier: Tier) -> Option<Tier> {
        let first = *self.checks.tiers.entry(tier).or_insert(index);
        if first == index {
            return Some(tier);
        }
        self.fault(
            Code::DuplicateMemoryTier,
            &format!(
                "tier \"{tier}\" is the one of sources[{first}] too; keep one memory source for each tier"
            ),
        );
        None
    }
}
