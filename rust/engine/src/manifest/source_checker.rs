//! Checks the sources of a manifest (M1, M2).

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};

use super::checker::Checker;
use super::diagnostic::CatalogDiagnosticCode as Code;
use super::json::{self, Field, Node};
use super::quote::{self, source_label};
use super::segment::is_segment;
use super::source::{Role, Source, Tier};

const PROPERTIES: [&str; 6] = ["id", "path", "priority", "enabled", "role", "tier"];

/// Checks one source after the other. The method for a field returns its value, or `None` after it reported what
/// is wrong.
pub(super) struct SourceChecker<'checker> {
    checker: &'checker mut Checker,
    /// From an id to the index of the first source with it. The standard hash map has random keys, so no choice of
    /// ids makes their hashes collide.
    ids: HashMap<String, usize>,
    /// From a tier to the index of the first memory source with it.
    tiers: BTreeMap<Tier, usize>,
    /// The index of the source that is checked.
    index: usize,
    /// How messages name it.
    label: String,
}

impl<'checker> SourceChecker<'checker> {
    pub(super) fn new(checker: &'checker mut Checker) -> Self {
        Self { checker, ids: HashMap::new(), tiers: BTreeMap::new(), index: 0, label: String::new() }
    }

    /// Checks every field, whatever is wrong with the others. The source that is returned is valid only if no
    /// fault was found.
    pub(super) fn check(&mut self, index: usize, node: &Node) -> Option<Source> {
        let Node::Object { members, .. } = node else {
            self.checker.not_an_object(&source_label(index, None), node, "id and path");
            return None;
        };
        self.index = index;
        self.label = source_label(index, usable_id(node));
        let subject = format!("{}: ", self.label);
        self.checker.unknown_properties(&subject, members, Code::UnknownSourceProperty, &PROPERTIES);
        let field = |checks: &mut Self, key| checks.checker.field(&subject, members, key);
        let value = field(self, "id");
        let id = self.id(value);
        let value = field(self, "path");
        let path = self.path(value);
        let value = field(self, "priority");
        let priority = self.priority(value);
        let value = field(self, "enabled");
        let enabled = self.enabled(value);
        let value = field(self, "role");
        let role = self.role(value);
        // Which tiers are legal depends on the role, so the tier of an illegal role is not checked.
        let value = field(self, "tier");
        let tier = role.and_then(|role| self.tier(role, value));
        Some(Source { id: id?, path: path?, priority: priority?, enabled: enabled?, role: role?, tier })
    }

    /// Reports what a field is, and what would be right.
    fn fault<T>(&mut self, code: Code, key: &str, found: &str, advice: &str) -> Option<T> {
        self.checker.fault(code, || format!("{}: {key} is {found}; {advice}", self.label));
        None
    }

    fn id(&mut self, id: Field<'_>) -> Option<String> {
        let found = match id {
            Field::Reported => return None,
            Field::Present(Node::Text(id)) if is_segment(id) => return self.unique_id(id),
            Field::Present(other) => quote::node(other),
            Field::Absent => "missing".to_owned(),
        };
        let advice = "write ASCII letters, digits, `_`, `.` and `-`, and start with neither `.` nor `-`";
        self.fault(Code::InvalidSourceId, "id", &found, advice)
    }

    fn unique_id(&mut self, id: &str) -> Option<String> {
        let first = match self.ids.entry(id.to_owned()) {
            Entry::Vacant(slot) => {
                slot.insert(self.index);
                return Some(id.to_owned());
            }
            Entry::Occupied(slot) => *slot.get(),
        };
        let found = format!("the one of sources[{first}] too");
        self.fault(Code::DuplicateSourceId, "id", &found, "write one that no other source has")
    }

    fn path(&mut self, path: Field<'_>) -> Option<String> {
        let found = match path {
            Field::Reported => return None,
            Field::Present(Node::Text(path)) if !path.is_empty() => return Some(path.clone()),
            Field::Present(other) => quote::node(other),
            Field::Absent => "missing".to_owned(),
        };
        let advice = "write the bundle's directory, relative to the manifest's";
        self.fault(Code::EmptyPath, "path", &found, advice)
    }

    fn priority(&mut self, priority: Field<'_>) -> Option<i32> {
        let found = match priority {
            Field::Absent => return Some(0),
            Field::Reported => return None,
            Field::Present(Node::Number(number)) => match number.parse() {
                Ok(priority) => return Some(priority),
                Err(_) => quote::number(number),
            },
            Field::Present(other) => quote::node(other),
        };
        let advice = format!("write an integer from {} to {}", i32::MIN, i32::MAX);
        self.fault(Code::MalformedPriority, "priority", &found, &advice)
    }

    fn enabled(&mut self, enabled: Field<'_>) -> Option<bool> {
        let found = match enabled {
            Field::Absent => return Some(true),
            Field::Reported => return None,
            Field::Present(Node::Bool(enabled)) => return Some(*enabled),
            Field::Present(other) => quote::node(other),
        };
        self.fault(Code::MalformedEnabled, "enabled", &found, "write true or false")
    }

    fn role(&mut self, role: Field<'_>) -> Option<Role> {
        let found = match role {
            Field::Absent => return Some(Role::Knowledge),
            Field::Reported => return None,
            Field::Present(Node::Text(text)) => match Role::named(text) {
                Some(role) => return Some(role),
                None => quote::text(text),
            },
            Field::Present(other) => quote::node(other),
        };
        self.fault(Code::IllegalRole, "role", &found, "write \"knowledge\" or \"memory\"")
    }

    /// A knowledge source must have no tier, a memory source must have one.
    fn tier(&mut self, role: Role, tier: Field<'_>) -> Option<Tier> {
        let found = match (role, tier) {
            (_, Field::Reported) | (Role::Knowledge, Field::Absent) => return None,
            (Role::Knowledge, Field::Present(found)) => {
                let advice = "leave it out, only memory sources have one";
                return self.fault(Code::IllegalTier, "tier", &quote::node(found), advice);
            }
            (Role::Memory, Field::Absent) => "missing".to_owned(),
            (Role::Memory, Field::Present(Node::Text(text))) => match Tier::named(text) {
                Some(tier) => return self.unique_tier(tier),
                None => quote::text(text),
            },
            (Role::Memory, Field::Present(other)) => quote::node(other),
        };
        let advice = "write \"session\", \"user\" or \"tenant\", as a memory source needs";
        self.fault(Code::IllegalTier, "tier", &found, advice)
    }

    /// Disabled sources count too, so that enabling a source cannot make the manifest invalid.
    fn unique_tier(&mut self, tier: Tier) -> Option<Tier> {
        let first = *self.tiers.entry(tier).or_insert(self.index);
        if first == self.index {
            return Some(tier);
        }
        let message = || {
            let label = &self.label;
            format!(
                "{label}: tier \"{tier}\" is the one of sources[{first}] too; keep one memory source for each tier"
            )
        };
        self.checker.fault(Code::DuplicateMemoryTier, message);
        None
    }
}

/// The id of a source, if it is valid.
pub(super) fn usable_id(source: &Node) -> Option<&str> {
    let Node::Object { members, .. } = source else {
        return None;
    };
    match json::field(members, "id") {
        Field::Present(Node::Text(id)) if is_segment(id) => Some(id),
        _ => None,
    }
}
