//! Reads one file: its frontmatter, its body, and what the fields mean (B3 to B6).

pub(crate) mod concept;
mod frontmatter;
pub(crate) mod name;
mod parsed;
pub(crate) mod problem;
mod quote;
pub(crate) mod remark;
mod remark_collector;
pub(crate) mod sections;
pub(crate) mod status;
#[cfg(test)]
mod tests;
pub(crate) mod title;
pub(crate) mod trust;
pub(crate) mod version;

pub use parsed::{Document, ParsedFile};
pub use status::Status;
pub use trust::Trust;

use crate::{
    document::{
        frontmatter::{Fields, Frontmatter, Scalar},
        quote::quote,
        remark::RemarkCode,
        remark_collector::RemarkCollector,
    },
    text::{
        decode::{self, InvalidBytes},
        instant::Instant,
    },
};

impl Document {
    /// Reads a file's bytes (B3 to B6).
    ///
    /// Every text can be read: fields that are not valid are left out, and frontmatter that cannot be read is part
    /// of the body. The remarks say so.
    ///
    /// # Errors
    ///
    /// The file is binary, which makes it a problem (B7). The reason is one short line.
    ///
    /// ```
    /// use okf_engine::Document;
    ///
    /// let file = Document::read(b"---\ntitle: ADR-1: Use X\ntype: ADR\n---\nBecause.\n")?;
    /// assert_eq!(file.document.title.as_deref(), Some("ADR-1: Use X"));
    /// assert_eq!(file.document.body, "Because.\n");
    /// assert_eq!(file.remarks[0].code.as_str(), "FIELD_NOT_READ");
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(bytes: &[u8]) -> Result<ParsedFile, String> {
        let decoded = decode::decode(bytes)?;
        let mut remarks = RemarkCollector::default();
        if let Some(InvalidBytes { line, count }) = decoded.invalid {
            remarks.add(Some(line), RemarkCode::InvalidText, || match count {
                1 => "A byte that is not valid text is read as U+FFFD.".to_owned(),
                _ => format!("{count} bytes that are not valid text are read as U+FFFD; the first is here."),
            });
        }
        let (fields, body, mut field_remarks) = split(&decoded.text);
        let lines_above_body = lines_above(body, &decoded.text);
        let okf_version = fields.okf_version.as_ref().map(|version| version.text.clone());
        let document = Document { lines_above_body, ..document(fields, body, &mut field_remarks) };
        remarks.append(field_remarks);
        let (remarks, remark_counts) = remarks.finish();
        Ok(ParsedFile { document, okf_version, remarks, remark_counts })
    }
}

/// The YAML nodes of a file's frontmatter, in the order they are written, each as its kind and its text. The kind
/// is `text`, `null`, `alias`, `list`, `mapping` or `end` (of a list or mapping); only `text` nodes have a text.
///
/// Tests compare this reader with other YAML readers by it. It is empty if there is no frontmatter that can be
/// read.
#[must_use]
pub fn nodes(bytes: &[u8]) -> Vec<(&'static str, String)> {
    match decode::decode(bytes).as_ref().map(|decoded| Frontmatter::find(&decoded.text)) {
        Ok(Frontmatter::Block { yaml, .. }) => frontmatter::nodes(yaml),
        _ => Vec::new(),
    }
}

/// The fields of a text, its body, and the remarks on its frontmatter. The lines of the fields count from the
/// first line of the YAML; the collector turns them into lines of the file.
fn split(text: &str) -> (Fields, &str, RemarkCollector) {
    let (line, reason) = match Frontmatter::find(text) {
        Frontmatter::Absent => return (Fields::default(), text, RemarkCollector::default()),
        Frontmatter::Block { yaml, line, body } => {
            let mut remarks = RemarkCollector::after_line(line);
            if let Some(fields) = frontmatter::read(yaml, &mut remarks) {
                return (fields, body, remarks);
            }
            (line, "the lines between the two `---` lines are no YAML mapping")
        }
        Frontmatter::Unclosed { line } => (line, "there is no closing `---` line"),
        Frontmatter::Toml { line } => {
            (line, "it is TOML, between `+++` lines; only YAML between `---` lines is read")
        }
    };
    let mut remarks = RemarkCollector::default();
    remarks.add(Some(line), RemarkCode::FrontmatterNotRead, || {
        format!("The frontmatter is not read and becomes part of the body: {reason}.")
    });
    (Fields::default(), text, remarks)
}

/// The number of lines above the body, which is the end of the text.
fn lines_above(body: &str, text: &str) -> u32 {
    let above = &text.as_bytes()[..text.len() - body.len()];
    u32::try_from(memchr::memchr_iter(b'\n', above).count()).unwrap_or(u32::MAX)
}

/// The document that the fields describe, with remarks on values that have no meaning.
fn document(fields: Fields, body: &str, remarks: &mut RemarkCollector) -> Document {
    if fields.concept_type.as_ref().is_none_or(|concept_type| concept_type.text.trim().is_empty()) {
        remarks.add(None, RemarkCode::MissingType, || {
            "There is no `type`, the one field that the format requires.".to_owned()
        });
    }
    let text = |scalar: Option<Scalar>| scalar.map(|scalar| scalar.text);
    Document {
        title: text(fields.title),
        description: text(fields.description),
        tags: fields.tags,
        concept_type: text(fields.concept_type),
        status: status(fields.status, remarks),
        stale_at: fields.stale_after.as_ref().and_then(|written| stale_at(written, remarks)),
        stale_after: text(fields.stale_after),
        trust: fields.verified.at_any_time,
        verified: fields.verified,
        body: body.to_owned(),
        lines_above_body: 0,
    }
}

fn status(field: Option<Scalar>, remarks: &mut RemarkCollector) -> Status {
    let Some(Scalar { text, line }) = field else { return Status::default() };
    Status::from_field(&text).unwrap_or_else(|| {
        remarks.add(Some(line), RemarkCode::UnknownStatus, || {
            format!(
                "The `status` \"{}\" is not known and counts as `stable`: write draft, stable or deprecated.",
                quote(&text)
            )
        });
        Status::default()
    })
}

fn stale_at(field: &Scalar, remarks: &mut RemarkCollector) -> Option<Instant> {
    let instant = Instant::parse(&field.text);
    if instant.is_none() {
        remarks.add(Some(field.line), RemarkCode::UnreadableDate, || {
            format!(
                "The `stale_after` \"{}\" cannot be read, so it never makes the concept stale: write it as \
                 2026-07-01 or 2026-07-01T12:00:00Z.",
                quote(&field.text)
            )
        });
    }
    instant
}
