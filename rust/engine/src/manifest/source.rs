//! What the manifest says about one bundle.

use crate::named_enum::named_enum;

named_enum! {
    /// What a source is for.
    pub enum Role {
        /// Resolvers search it (S1).
        Knowledge = "knowledge",
        /// A host stores memories in it. Resolvers never search it.
        Memory = "memory",
    }
}

named_enum! {
    /// Who shares the memories of a memory source.
    pub enum Tier {
        /// One conversation.
        Session = "session",
        /// One user, in all conversations.
        User = "user",
        /// All users of one tenant.
        Tenant = "tenant",
    }
}

/// One entry of the manifest's `sources`, as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// One segment, unique in its manifest (M2).
    pub id: String,
    /// The bundle's directory, relative to the manifest's directory.
    pub path: String,
    /// Higher is asked first.
    pub priority: i32,
    /// A disabled source is neither checked nor searched.
    pub enabled: bool,
    /// What the source is for.
    pub role: Role,
    /// Set for memory sources, and only for them.
    pub tier: Option<Tier>,
}
