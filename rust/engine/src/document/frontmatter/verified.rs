//! The trust tiers that `verified` gives (L5).

use super::budget::{Budget, expands_too_much};
use super::tree::{Tree, Value};
use crate::{
    document::{
        remark::RemarkCode,
        remark_collector::RemarkCollector,
        trust::{Trust, Verified},
    },
    text::instant::Instant,
};

/// Names with this prefix are names of people.
const PERSON_PREFIX: &str = "human:";

/// Reads `verified`. `generated_at` is when the content was made, if that can be read.
pub(super) fn read(
    tree: &Tree,
    at: usize,
    generated_at: Option<Instant>,
    budget: &mut Budget,
    remarks: &mut RemarkCollector,
) -> Verified {
    let mut verified = Verified::default();
    for entry in entries(tree, at, remarks) {
        let line = tree.line(entry);
        let Some(entry) = mapping(tree, entry, remarks) else { continue };
        let Some(verification) = Verification::read(tree, entry, budget, remarks) else {
            remarks.add(Some(line), RemarkCode::FieldNotRead, || expands_too_much("verified"));
            return Verified::default();
        };
        verified.at_any_time = verified.at_any_time.max(verification.trust);
        if generated_at.is_none_or(|generated| verification.at.is_some_and(|at| at >= generated)) {
            verified.since_generated = verified.since_generated.max(verification.trust);
        }
    }
    verified
}

/// The items of the list; one mapping counts as a list of it.
fn entries(tree: &Tree, at: usize, remarks: &mut RemarkCollector) -> Vec<usize> {
    match tree.value(at) {
        Value::Mapping => vec![tree.resolve(at)],
        Value::Sequence => tree.children(tree.resolve(at)).collect(),
        Value::Scalar(_) => {
            remarks.add(Some(tree.line(at)), RemarkCode::FieldIgnored, || {
                "`verified` is ignored: it should be a list of mappings with `by` and `at`.".to_owned()
            });
            Vec::new()
        }
        Value::Null | Value::Alias(_) => Vec::new(),
    }
}

/// The mapping of an entry; `None` if it is something else, with a remark if it is not null.
fn mapping(tree: &Tree, entry: usize, remarks: &mut RemarkCollector) -> Option<usize> {
    match tree.value(entry) {
        Value::Mapping => return Some(tree.resolve(entry)),
        Value::Null => {}
        _ => remarks.add(Some(tree.line(entry)), RemarkCode::FieldIgnored, || {
            "An entry of `verified` is ignored: it should be a mapping with `by` and `at`.".to_owned()
        }),
    }
    None
}

/// One entry of `verified`.
struct Verification {
    trust: Trust,
    at: Option<Instant>,
}

impl Verification {
    /// Reads a mapping; `None` if the budget is used up.
    fn read(tree: &Tree, mapping: usize, budget: &mut Budget, remarks: &mut RemarkCollector) -> Option<Self> {
        let (mut by, mut at) = (None, None);
        for (key, value) in tree.pairs(mapping) {
            budget.spend(1)?;
            match tree.text(key) {
                Some("by") => by = tree.text(value),
                Some("at") => at = Some(value),
                _ => {}
            }
        }
        let trust = match by {
            Some(name) if name.starts_with(PERSON_PREFIX) => Trust::HumanReviewed,
            _ => Trust::MachineConfirmed,
        };
        let at = at.and_then(|at| instant(tree, at, "the `at` of an entry of `verified`", remarks));
        Some(Self { trust, at })
    }
}

/// When the content was made: `at` in the mapping `generated`.
pub(super) fn generated_at(tree: &Tree, generated: usize, remarks: &mut RemarkCollector) -> Option<Instant> {
    let Value::Mapping = tree.value(generated) else { return None };
    let pairs = tree.pairs(tree.resolve(generated));
    let at = pairs.filter(|(key, _)| tree.text(*key) == Some("at")).last()?.1;
    instant(tree, at, "`generated.at`", remarks)
}

/// The instant of a scalar; `None` with a remark if it is anything else but null.
fn instant(tree: &Tree, at: usize, name: &str, remarks: &mut RemarkCollector) -> Option<Instant> {
    if let Value::Null = tree.value(at) {
        return None;
    }
    let instant = tree.text(at).and_then(Instant::parse);
    if instant.is_none() {
        remarks.add(Some(tree.line(at)), RemarkCode::UnreadableDate, || {
            format!("The date of {name} cannot be read: write it as 2026-07-01T12:00:00Z.")
        });
    }
    instant
}
