//! What one file says (B3 to B6).

pub mod concept;
mod frontmatter;
pub(crate) mod name;
pub mod problem;
pub mod remark;
pub mod status;
pub mod trust;
pub mod version;

use crate::{
    document::remark::{Counts, MOST_REMARKS, Remark, RemarkCode},
    text::{
        decode::{self, Invalid},
        instant::Instant,
    },
};
pub use status::Status;
pub use trust::{Trust, Verified};

use frontmatter::{Fields, Front, Written};

/// What one file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `tags`, in order (B6).
    pub tags: Vec<String>,
    /// `type`.
    pub concept_type: Option<String>,
    /// `status` (L1).
    pub status: Status,
    /// `stale_after` as written.
    pub stale_after: Option<String>,
    /// The instant `stale_after` names, if it names one (L2).
    pub stale_at: Option<Instant>,
    /// The trust that `verified` gives it where it stands: one of the two in `verified`, by the version of its
    /// bundle (L5).
    pub trust: Trust,
    /// What `verified` amounts to.
    pub verified: Verified,
    /// The text after the frontmatter. Its lines end at `\n`.
    pub body: String,
}

/// A document, and what its author may want to know of how it was read (B11).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    /// What the file says. `trust` is what `verified` gives at any time.
    pub document: Document,
    /// `okf_version` as written: in a root `index.md`, the version of the format of its bundle.
    pub okf_version: Option<String>,
    /// In the order of the lines they are about; of each code the first [`MOST_REMARKS`].
    pub remarks: Vec<Remark>,
    /// How many remarks there are of each code.
    pub remark_counts: Counts,
}

/// Remarks while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    remarks: Vec<Remark>,
    counts: Counts,
    /// What is to be added to the lines that are given.
    lines_before: u32,
}

impl Noted {
    /// None yet, on the same lines.
    pub(crate) fn like(&self) -> Self {
        Self { lines_before: self.lines_before, ..Self::default() }
    }

    pub(crate) fn note(&mut self, line: Option<u32>, code: RemarkCode, sentence: impl FnOnce() -> String) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MOST_REMARKS {
            let line = line.map(|line| line.saturating_add(self.lines_before));
            self.remarks.push(Remark { line, code, sentence: sentence() });
        }
    }

    #[cfg(test)]
    pub(crate) fn into_remarks(self) -> impl Iterator<Item = Remark> {
        self.remarks.into_iter()
    }

    pub(crate) fn append(&mut self, other: Self) {
        for (code, count) in other.counts {
            *self.counts.entry(code).or_default() += count;
        }
        // At most twice as many as are kept, until the document is read.
        self.remarks.extend(other.remarks);
    }
}

impl Document {
    /// Reads a file's bytes (B3 to B6).
    ///
    /// Whatever the text is, something can be read of it: fields that are not valid are left out, and a
    /// frontmatter that is none is text. The remarks say so.
    ///
    /// # Errors
    ///
    /// The file is binary, and a problem (B7). The reason is one short line.
    ///
    /// ```
    /// use okf_engine::Document;
    ///
    /// let read = Document::read(b"---\ntitle: ADR-1: Use X\ntype: ADR\n---\nBecause.\n")?;
    /// assert_eq!(read.document.title.as_deref(), Some("ADR-1: Use X"));
    /// assert_eq!(read.document.body, "Because.\n");
    /// assert_eq!(read.remarks[0].code.as_str(), "FIELD_NOT_READ");
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(bytes: &[u8]) -> Result<Read, String> {
        let text = decode::decode(bytes)?;
        let mut noted = Noted::default();
        if let Some(Invalid { line, count }) = text.invalid {
            noted.note(Some(line), RemarkCode::InvalidText, || match count {
                1 => "A byte that is not valid text is read as U+FFFD.".to_owned(),
                _ => format!("{count} bytes that are not valid text are read as U+FFFD; the first is here."),
            });
        }
        let (fields, body) = front(&text.text, &mut noted);
        let okf_version = fields.okf_version.as_ref().map(|version| version.text.clone());
        let document = document(fields, body, &mut noted);
        let Noted { mut remarks, counts, .. } = noted;
        remarks.sort_by_key(|remark| remark.line);
        Ok(Read { document, okf_version, remarks, remark_counts: counts })
    }

    /// Sets the trust that holds in a bundle: whether only those count there who looked at what was generated
    /// last (L5).
    pub(crate) fn count_verified(&mut self, since_generated: bool) {
        let Verified { at_any_time, since_generated: since } = self.verified;
        self.trust = if since_generated { since } else { at_any_time };
    }

    /// Whether its trust differs between bundles.
    pub(crate) fn depends_on_version(&self) -> bool {
        self.verified.at_any_time != self.verified.since_generated
    }

    /// Whether the files of two documents say the same, wherever they stand.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let Self {
            title,
            description,
            tags,
            concept_type,
            status,
            stale_after,
            stale_at: _,
            trust: _,
            verified,
            body,
        } = self;
        *body == other.body
            && *title == other.title
            && *description == other.description
            && *tags == other.tags
            && *concept_type == other.concept_type
            && *status == other.status
            && *stale_after == other.stale_after
            && *verified == other.verified
    }
}

/// All that the frontmatter of a file says, node by node: `text`, `null`, `alias`, `list`, `mapping` or `end`,
/// and the text of a scalar. For who compares this reader with others; it is empty if nothing is read.
#[must_use]
pub fn nodes(bytes: &[u8]) -> Vec<(&'static str, String)> {
    match decode::decode(bytes).as_ref().map(|text| Front::of(&text.text)) {
        Ok(Front::Block { yaml, .. }) => frontmatter::nodes(yaml),
        _ => Vec::new(),
    }
}

/// The fields of a text, and its body.
fn front<'text>(text: &'text str, noted: &mut Noted) -> (Fields, &'text str) {
    let (line, why) = match Front::of(text) {
        Front::None => return (Fields::default(), text),
        Front::Block { yaml, line, body } => {
            noted.lines_before = line;
            let fields = Fields::read(yaml, noted);
            if let Some(fields) = fields {
                return (fields, body);
            }
            noted.lines_before = 0;
            (line, "what stands between the `---` lines is no YAML mapping")
        }
        Front::Unclosed(line) => (line, "there is no closing `---` line"),
        Front::Toml(line) => (line, "it is TOML, between `+++` lines; only YAML between `---` lines is read"),
    };
    noted.note(Some(line), RemarkCode::FrontmatterNotRead, || {
        format!("The frontmatter is not read, and is text of the body: {why}.")
    });
    (Fields::default(), text)
}

/// What the fields mean.
fn document(fields: Fields, body: &str, noted: &mut Noted) -> Document {
    if fields.concept_type.as_ref().is_none_or(|written| written.text.trim().is_empty()) {
        noted.note(None, RemarkCode::MissingType, || {
            "There is no `type`, the one field that the format requires.".to_owned()
        });
    }
    let status = fields.status.map_or(Status::default(), |Written { text, line }| {
        Status::from_field(&text).unwrap_or_else(|| {
            noted.note(Some(line), RemarkCode::UnknownStatus, || {
                format!(
                    "The `status` \"{}\" is not known, and counts as `stable`: write draft, stable or deprecated.",
                    frontmatter::shown(&text)
                )
            });
            Status::default()
        })
    });
    let stale_at = fields.stale_after.as_ref().and_then(|Written { text, line }| {
        let instant = Instant::parse(text);
        if instant.is_none() {
            noted.note(Some(*line), RemarkCode::UnreadableDate, || {
                format!(
                    "The `stale_after` \"{}\" cannot be read, and never makes this stale: write it as 2026-07-01 \
                     or 2026-07-01T12:00:00Z.",
                    frontmatter::shown(text)
                )
            });
        }
        instant
    });
    let text = |written: Option<Written>| written.map(|written| written.text);
    Document {
        title: text(fields.title),
        description: text(fields.description),
        tags: fields.tags,
        concept_type: text(fields.concept_type),
        status,
        stale_at,
        stale_after: text(fields.stale_after),
        trust: fields.verified.at_any_time,
        verified: fields.verified,
        body: body.to_owned(),
    }
}

#[cfg(test)]
mod tests;
