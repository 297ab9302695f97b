//! What `verified` amounts to (L5).

use super::budget::Budget;
use super::tree::Content;
use super::tree::Tree;
use crate::{
    document::{Noted, Trust, Verified, remark::RemarkCode},
    text::instant::Instant,
};

/// What is left of trust when it would take too many steps to find out.
const TOO_MUCH: &str = "`verified` is left out: its aliases expand to more than 16 times the frontmatter.";

/// Reads `verified`. `generated_at` is when the content was made, if that can be read.
pub(super) fn read(
    tree: &Tree,
    at: usize,
    generated_at: Option<Instant>,
    budget: &mut Budget,
    noted: &mut Noted,
) -> Verified {
    let line = tree.line(at);
    let at = tree.target(at);
    let mut verified = Verified::default();
    let entries: Vec<usize> = match tree.content(at) {
        Content::Mapping => vec![at],
        Content::Sequence => tree.children(at).collect(),
        Content::Scalar(_) => {
            noted.note(Some(line), RemarkCode::FieldIgnored, || {
                "`verified` is ignored: it should be a list of mappings with `by` and `at`.".to_owned()
            });
            return verified;
        }
        Content::Null | Content::Alias(_) => return verified,
    };
    for entry in entries {
        let line = tree.line(entry);
        match tree.content(entry) {
            Content::Mapping => {}
            Content::Null => continue,
            _ => {
                noted.note(Some(line), RemarkCode::FieldIgnored, || {
                    "An entry of `verified` is ignored: it should be a mapping with `by` and `at`.".to_owned()
                });
                continue;
            }
        }
        let Some(confirmed) = Confirmation::read(tree, tree.target(entry), budget, noted) else {
            noted.note(Some(line), RemarkCode::FieldNotRead, || TOO_MUCH.to_owned());
            return Verified::default();
        };
        verified.at_any_time = verified.at_any_time.max(confirmed.trust);
        if generated_at.is_none_or(|generated| confirmed.at.is_some_and(|at| at >= generated)) {
            verified.since_generated = verified.since_generated.max(confirmed.trust);
        }
    }
    verified
}

/// One mapping of `verified`.
struct Confirmation {
    trust: Trust,
    at: Option<Instant>,
}

impl Confirmation {
    fn read(tree: &Tree, mapping: usize, budget: &mut Budget, noted: &mut Noted) -> Option<Self> {
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
            Some(name) if name.starts_with("human:") => Trust::HumanReviewed,
            _ => Trust::MachineConfirmed,
        };
        let at = at.and_then(|at| instant(tree, at, "the `at` of an entry of `verified`", noted));
        Some(Self { trust, at })
    }
}

/// When the content was made: `at` in the mapping `generated`.
pub(super) fn generated_at(tree: &Tree, generated: usize, noted: &mut Noted) -> Option<Instant> {
    let Content::Mapping = tree.content(generated) else { return None };
    let pairs = tree.pairs(tree.target(generated));
    let at = pairs.filter(|(key, _)| tree.text(*key) == Some("at")).last()?.1;
    instant(tree, at, "`generated.at`", noted)
}

/// An instant; a remark if there is something else.
fn instant(tree: &Tree, at: usize, name: &str, noted: &mut Noted) -> Option<Instant> {
    if let Content::Null = tree.content(at) {
        return None;
    }
    let instant = tree.text(at).and_then(Instant::parse);
    if instant.is_none() {
        noted.note(Some(tree.line(at)), RemarkCode::UnreadableDate, || {
            format!("The date of {name} cannot be read: write it as 2026-07-01T12:00:00Z.")
        });
    }
    instant
}
