//! One source of the manifest: a bundle, and how the catalog uses it.

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
    /// The bundle's directory, relative to the directory of the manifest.
    pub path: String,
    /// Sources with a higher priority come first.
    pub priority: i32,
    /// A disabled source is not searched, and its directory is not checked.
    pub enabled: bool,
    /// The use of the source.
    pub role: Role,
    /// Set for memory sources only.
    pub tier: Option<Tier>,
}
