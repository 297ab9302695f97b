//! The paths of memories below a memory source (Y1). No other code makes them.

use sha2::{Digest, Sha256};

use crate::{
    manifest::source::Tier,
    memory::{
        failure::FailureKind,
        scope::{LOCAL, Scope, id_count},
    },
};

/// How many bytes of the SHA-256 of an id its directory's name ends with, two hexadecimal digits each.
const HASH_BYTES: usize = 8;

/// The directory in which a memory source keeps the scopes of its tier.
pub(crate) fn tier_directory(tier: Tier) -> String {
    format!("memory-{tier}")
}

/// The directory of a scope's memories of one tier, with `/` between parts.
///
/// Ids that differ in any way, if only in case, have different directories on every file system: the name is the
/// id in lower case and the beginning of its hash.
///
/// ```
/// use okf_engine::{Scope, Tier, scope_directory};
///
/// let scope = Scope::new(Some("acme".to_owned()), Some("alice".to_owned()), None).unwrap();
/// assert_eq!(
///     scope_directory(Tier::User, &scope),
///     "memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af"
/// );
/// ```
#[must_use]
pub fn scope_directory(tier: Tier, scope: &Scope) -> String {
    directory(tier, scope.ids(tier))
}

/// The directory of a tier that holds a scope and every scope below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScopeTree {
    /// The directory, with `/` between parts.
    pub(super) path: String,
    /// How many levels below it the directories of scopes lie. With 0 it is the directory of one scope itself.
    pub(super) levels: usize,
}

/// What a tier keeps for a scope and for every scope below it; `None` if other scopes share it: the scope has more
/// ids than the tier tells scopes apart by.
///
/// No scope lies below the local one: a user without a tenant is not below it.
pub(super) fn scope_tree(tier: Tier, scope: &Scope) -> Option<ScopeTree> {
    let Some(own) = scope.own_tier() else {
        return Some(ScopeTree { path: scope_directory(tier, scope), levels: 0 });
    };
    let levels = id_count(tier).checked_sub(id_count(own))?;
    Some(ScopeTree { path: directory(tier, scope.ids(own)), levels })
}

/// The file of a concept in the directory of its scope.
///
/// # Errors
/// No file that readers see can have the name.
pub(super) fn concept_file(name: &str) -> Result<String, FailureKind> {
    if name.starts_with('.') || name.contains(['/', '\0']) {
        return Err(FailureKind::NotAFileName);
    }
    Ok(format!("{name}.md"))
}

fn directory(tier: Tier, ids: &[Option<String>]) -> String {
    let mut path = tier_directory(tier);
    for id in ids {
        path.push('/');
        match id {
            Some(id) => push_id(&mut path, id),
            None => path.push_str(LOCAL),
        }
    }
    path
}

fn push_id(path: &mut String, id: &str) {
    path.push_str(&id.to_ascii_lowercase());
    path.push('-');
    for byte in &Sha256::digest(id)[..HASH_BYTES] {
        for digit in [byte >> 4, byte & 0xF] {
            path.extend(char::from_digit(digit.into(), 16));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(ids: [Option<&str>; 3]) -> Scope {
        let [tenant, user, session] = ids.map(|id| id.map(str::to_owned));
        Scope::new(tenant, user, session).unwrap()
    }

    #[test]
    fn each_tier_and_scope_has_its_directory() {
        let alice = scope([Some("acme"), Some("alice"), None]);
        for (tier, scope, path) in [
            (Tier::Tenant, &alice, "memory-tenant/acme-822b33ad87c148a0"),
            (Tier::User, &alice, "memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af"),
            (Tier::Session, &alice, "memory-session/acme-822b33ad87c148a0/alice-2bd806c97f0e00af/_local"),
            (Tier::User, &scope([None; 3]), "memory-user/_local/_local"),
        ] {
            assert_eq!(scope_directory(tier, scope), path);
        }
    }

    #[test]
    fn ids_that_differ_only_in_case_have_directories_that_differ_in_more() {
        let paths = ["Alice", "ALICE", "alice"]
            .map(|id| scope_directory(Tier::Tenant, &scope([Some(id), None, None])));
        assert!(paths.iter().all(|path| path.starts_with("memory-tenant/alice-")));
        assert!(paths[0] != paths[1] && paths[1] != paths[2] && paths[0] != paths[2]);
    }

    #[test]
    fn a_deletion_covers_the_scopes_below_and_never_what_others_share() {
        let tree = |tier, ids| scope_tree(tier, &scope(ids)).map(|tree| (tree.path, tree.levels));
        let covers = |path: &str, levels| Some((path.to_owned(), levels));
        let tenant = [Some("acme"), None, None];
        let user = [Some("acme"), Some("alice"), None];
        assert_eq!(tree(Tier::Tenant, tenant), covers("memory-tenant/acme-822b33ad87c148a0", 0));
        assert_eq!(tree(Tier::Session, tenant), covers("memory-session/acme-822b33ad87c148a0", 2));
        let sessions = "memory-session/acme-822b33ad87c148a0/alice-2bd806c97f0e00af";
        assert_eq!(tree(Tier::Session, user), covers(sessions, 1));
        assert_eq!(tree(Tier::Tenant, user), None, "the tenant has other users");
        assert_eq!(tree(Tier::User, [None; 3]), covers("memory-user/_local/_local", 0));
    }

    #[test]
    fn the_file_of_a_concept_is_one_that_readers_see() {
        assert_eq!(concept_file("a b").unwrap(), "a b.md");
        for name in [".hidden", "a/b", "a\0"] {
            assert!(concept_file(name).is_err(), "{name:?}");
        }
    }
}
