//! Reads frontmatter for tests.

use crate::document::{
    frontmatter::{self, Fields, Scalar},
    remark::RemarkCode,
    remark_collector::RemarkCollector,
    trust::Trust,
};

/// The fields of a text, and the codes and lines of the remarks on it.
pub(super) fn read(yaml: &str) -> (Option<Fields>, Vec<(RemarkCode, u32)>) {
    let mut collector = RemarkCollector::default();
    let fields = frontmatter::read(yaml, &mut collector);
    let (remarks, _) = collector.finish();
    (fields, remarks.into_iter().map(|remark| (remark.code, remark.line.unwrap_or(0))).collect())
}

/// The fields of a text of which nothing is lost.
pub(super) fn parse(yaml: &str) -> Fields {
    let (fields, lost) = read(yaml);
    assert!(lost.iter().all(|(code, _)| *code != RemarkCode::FieldNotRead), "{lost:?}: {yaml:?}");
    fields.unwrap_or_else(|| panic!("no mapping: {yaml:?}"))
}

pub(super) fn text(scalar: Option<Scalar>) -> Option<String> {
    scalar.map(|scalar| scalar.text)
}

pub(super) fn title(yaml: &str) -> Option<String> {
    text(parse(yaml).title)
}

pub(super) fn tags(yaml: &str) -> Vec<String> {
    parse(&format!("tags: {yaml}\n")).tags
}

pub(super) fn trust(yaml: &str) -> Trust {
    parse(&format!("verified: {yaml}\n")).verified.at_any_time
}
