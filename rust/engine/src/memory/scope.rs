//! Whose memories: a tenant, a user and a session, each of which may be missing (A1).

use crate::manifest::{is_segment, source::Tier};

/// Every tier, from the one that the fewest scopes share to the one that the most share.
const TIERS: [Tier; 3] = [Tier::Session, Tier::User, Tier::Tenant];

/// The name of a directory for a missing id. No id may be equal to it.
pub(super) const LOCAL: &str = "_local";

/// The ids of a tenant, a user and a session. Without any id it is the local scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Tenant, user, session.
    ids: [Option<String>; 3],
}

/// A text that cannot be an id of a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "an id of a scope is one segment of letters, digits, '_', '.' and '-' that starts with a letter, a digit \
     or '_', and is not '_local'; {0:?} is not"
)]
pub struct RefusedId(pub String);

impl Scope {
    /// The scope with these ids.
    ///
    /// # Errors
    /// An id is not one segment (M2), or is the reserved `_local`.
    pub fn new(
        tenant: Option<String>,
        user: Option<String>,
        session: Option<String>,
    ) -> Result<Self, RefusedId> {
        let ids = [tenant, user, session];
        match ids.iter().flatten().find(|id| !is_segment(id) || *id == LOCAL) {
            Some(id) => Err(RefusedId(id.clone())),
            None => Ok(Self { ids }),
        }
    }

    /// The tier that only this scope uses: that of its last id. `None` for the local scope.
    #[must_use]
    pub fn own_tier(&self) -> Option<Tier> {
        TIERS.into_iter().find(|tier| self.has_id_of(*tier))
    }

    /// Whether a tier holds memories of this scope (Y2): the scope is local, or has the tier's own id.
    #[must_use]
    pub fn uses(&self, tier: Tier) -> bool {
        self.has_id_of(tier) || self.own_tier().is_none()
    }

    /// The ids by which a tier tells scopes apart; the tier's own id is the last.
    pub(super) fn ids(&self, tier: Tier) -> &[Option<String>] {
        &self.ids[..id_count(tier)]
    }

    fn has_id_of(&self, tier: Tier) -> bool {
        self.ids(tier).last().is_some_and(Option::is_some)
    }
}

/// The tier that a manifest calls by this word.
#[must_use]
pub fn tier_of_word(word: &str) -> Option<Tier> {
    TIERS.into_iter().find(|tier| tier.as_str() == word)
}

/// How many ids a tier tells scopes apart by. The directory of a scope lies so many levels below the directory of
/// its tier.
pub(super) fn id_count(tier: Tier) -> usize {
    match tier {
        Tier::Tenant => 1,
        Tier::User => 2,
        Tier::Session => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(ids: [Option<&str>; 3]) -> Result<Scope, RefusedId> {
        let [tenant, user, session] = ids.map(|id| id.map(str::to_owned));
        Scope::new(tenant, user, session)
    }

    #[test]
    fn an_id_is_one_segment_and_not_the_reserved_word() {
        for id in ["acme", "A.b-c_9", "_", "_locals"] {
            assert!(scope([Some(id), None, None]).is_ok(), "{id:?}");
        }
        for id in ["", ".", "..", "a/b", "-a", "a b", "é", "a\0", "_local"] {
            assert_eq!(scope([None, Some(id), None]), Err(RefusedId(id.to_owned())), "{id:?}");
        }
    }

    #[test]
    fn a_scope_uses_the_tiers_whose_own_id_it_has() {
        for (ids, own, used) in [
            ([None, None, None], None, &[Tier::Session, Tier::User, Tier::Tenant][..]),
            ([Some("t"), None, None], Some(Tier::Tenant), &[Tier::Tenant]),
            ([None, Some("u"), None], Some(Tier::User), &[Tier::User]),
            ([Some("t"), Some("u"), None], Some(Tier::User), &[Tier::User, Tier::Tenant]),
            ([Some("t"), None, Some("s")], Some(Tier::Session), &[Tier::Session, Tier::Tenant]),
        ] {
            let scope = scope(ids).unwrap();
            assert_eq!(scope.own_tier(), own, "{ids:?}");
            let uses: Vec<Tier> = TIERS.into_iter().filter(|tier| scope.uses(*tier)).collect();
            assert_eq!(uses, used, "{ids:?}");
        }
    }

    #[test]
    fn every_tier_is_found_by_its_word() {
        for tier in TIERS {
            assert_eq!(tier_of_word(tier.as_str()), Some(tier));
        }
        assert_eq!(tier_of_word("User"), None);
    }
}
