//! How finished a concept is (L1).

use crate::named_enum::named_enum;

named_enum! {
    /// How finished a concept is (L1).
    #[derive(Default)]
    pub enum Status {
        /// Still being written.
        Draft = "draft",
        /// Ready. A concept without a `status`, or with an unknown one, counts as stable.
        #[default]
        Stable = "stable",
        /// Replaced or no longer right, and kept for those who still use it.
        Deprecated = "deprecated",
    }
}

impl Status {
    /// The status that the text of a `status` field names. White space around the name and its case do not count.
    pub(super) fn from_field(text: &str) -> Option<Self> {
        let text = text.trim();
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }
}
