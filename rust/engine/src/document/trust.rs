//! Who confirmed a concept (L5).

use crate::named_enum::named_enum;

named_enum! {
    /// Who confirmed a concept, from the lowest tier to the highest (L5).
    #[derive(Default)]
    pub enum Trust {
        /// Nobody confirmed it.
        #[default]
        Unverified = "unverified",
        /// It was confirmed, but not by a named person.
        MachineConfirmed = "machine_confirmed",
        /// At least one person confirmed it.
        HumanReviewed = "human_reviewed",
    }
}

/// The trust tier that a `verified` field gives, under both rules of L5. The version of the bundle decides which
/// rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verified {
    /// The tier if every entry counts, whatever its date.
    pub at_any_time: Trust,
    /// The tier if only entries count that are not older than `generated.at`.
    pub since_generated: Trust,
}
