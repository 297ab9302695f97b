//! Checks that every object of a manifest needs, and the faults that were found.

use super::diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode as Code, Faults};
use super::json::{self, Field, Member, Node};
use super::quote;

/// Checks objects and collects faults. A `subject` is the start of a message: the source that the message is
/// about, or nothing for the root.
#[derive(Default)]
pub(super) struct Checker {
    faults: Faults,
}

impl Checker {
    /// Adds a fault. The message is made only if it is kept.
    pub(super) fn fault(&mut self, code: Code, message: impl FnOnce() -> String) {
        self.faults.push(code, message);
    }

    /// The value if no fault was found, or the faults.
    pub(super) fn into_result<T>(self, value: T) -> Result<T, Vec<CatalogDiagnostic>> {
        self.faults.into_result(value)
    }

    /// The value of a known key. A NUL in the value is reported.
    pub(super) fn field<'a>(&mut self, subject: &str, members: &'a [Member], key: &str) -> Field<'a> {
        if members.iter().any(|member| member.key == key && member.has_nul()) {
            self.fault(Code::EmbeddedNul, || format!("{subject}{key} contains U+0000; remove it"));
        }
        json::field(members, key)
    }

    /// Reports each key that is not known, and each NUL in such a key or its value.
    pub(super) fn unknown_properties(
        &mut self,
        subject: &str,
        members: &[Member],
        code: Code,
        known: &[&str],
    ) {
        for member in members.iter().filter(|member| !known.contains(&member.key.as_str())) {
            let key = || quote::text(&member.key);
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

    /// Reports a value that should be an object with these members. Of a text with a NUL, only the NUL is
    /// reported.
    pub(super) fn not_an_object(&mut self, subject: &str, node: &Node, members: &str) {
        let is_text = matches!(node, Node::Text(_));
        if node.has_nul() {
            self.fault(Code::EmbeddedNul, || format!("{subject} contains U+0000; remove it"));
        }
        if !(node.has_nul() && is_text) {
            let found = quote::node(node);
            self.fault(Code::ParseError, || format!("{subject} is {found}; write an object with {members}"));
        }
    }
}
