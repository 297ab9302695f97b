//! What one file says, as values.

use crate::{
    document::{
        remark::{Counts, Remark},
        status::Status,
        trust::{Trust, Verified},
    },
    text::instant::Instant,
};

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
    /// `stale_after` as an instant, if it can be read (L2).
    pub stale_at: Option<Instant>,
    /// The trust tier in the bundle that holds the file: one of the two tiers in `verified`. Which one depends on
    /// the version that the bundle declares (L5).
    pub trust: Trust,
    /// The trust tiers that the `verified` field gives.
    pub verified: Verified,
    /// The text after the frontmatter. Its lines end at `\n`.
    pub body: String,
    /// The number of lines of the file above the body: those of the frontmatter, and a blank line below it.
    pub lines_above_body: u32,
}

/// One file after reading: the document, and what its author may want to know about how it was read (B11).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedFile {
    /// What the file says. Its `trust` is `verified.at_any_time`: the version of the bundle is not known yet.
    pub document: Document,
    /// `okf_version` as written. In a root `index.md` it is the version of the format of the bundle.
    pub okf_version: Option<String>,
    /// Sorted by line. At most a fixed number of each code.
    pub remarks: Vec<Remark>,
    /// How many remarks of each code there are, also those that are not kept.
    pub remark_counts: Counts,
}

impl Document {
    /// Sets `trust` to the tier that holds in a bundle. `since_generated` is true if the bundle's version ignores
    /// verifications that are older than the content (L5).
    pub(crate) fn count_verified(&mut self, since_generated: bool) {
        let Verified { at_any_time, since_generated: since } = self.verified;
        self.trust = if since_generated { since } else { at_any_time };
    }

    /// Whether the trust tier depends on the version that the bundle declares.
    pub(crate) fn depends_on_version(&self) -> bool {
        self.verified.at_any_time != self.verified.since_generated
    }

    /// Whether the files of two documents say the same, on the same lines of the body. The bundles that hold them do
    /// not matter.
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
            lines_above_body,
        } = self;
        *body == other.body
            && *lines_above_body == other.lines_above_body
            && *title == other.title
            && *description == other.description
            && *tags == other.tags
            && *concept_type == other.concept_type
            && *status == other.status
            && *stale_after == other.stale_after
            && *verified == other.verified
    }
}
