//! The units of an answer: what one passage is.

use crate::named_enum::named_enum;

named_enum! {
    /// What a passage of an answer is (V9).
    pub enum Unit {
        /// A whole concept.
        Concept = "concept",
        /// A part of a concept that can be read alone.
        Section = "section",
    }
}
