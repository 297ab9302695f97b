//! What the manifest says about one bundle.

use std::fmt;

/// What a source is for. Only `Knowledge` is ever searched by a resolver (S1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Searched.
    Knowledge,
    /// Where a host writes what it wants to remember.
    Memory,
}

impl Role {
    /// The word that stands in the manifest.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Knowledge => "knowledge",
            Role::Memory => "memory",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far a memory source reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// One conversation.
    Session,
    /// One user.
    User,
    /// Everybody of one tenant.
    Tenant,
}

impl Tier {
    /// The word that stands in the manifest.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Session => "session",
            Tier::User => "user",
            Tier::Tenant => "tenant",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
