//! Manifests and their faults for tests.

use crate::manifest::{
    parse,
    source::{Role, Source},
};

/// The faults of a manifest, as codes and messages.
pub(super) fn faults(text: impl AsRef<[u8]>) -> Vec<(&'static str, String)> {
    parse(text.as_ref()).unwrap_err().into_iter().map(|fault| (fault.code.as_str(), fault.message)).collect()
}

/// The codes of the faults of a manifest.
pub(super) fn codes(text: impl AsRef<[u8]>) -> Vec<&'static str> {
    faults(text).into_iter().map(|(code, _)| code).collect()
}

/// A manifest with these sources, which are written as JSON.
pub(super) fn with_sources(sources: &str) -> String {
    format!(r#"{{"version": 1, "sources": [{sources}]}}"#)
}

/// A manifest of one source that has, besides id and path, these properties.
pub(super) fn with(properties: &str) -> String {
    with_sources(&format!(r#"{{"id": "a", "path": "p", {properties}}}"#))
}

/// A source with default values.
pub(super) fn source(id: &str, path: &str) -> Source {
    Source {
        id: id.to_owned(),
        path: path.to_owned(),
        priority: 0,
        enabled: true,
        role: Role::Knowledge,
        tier: None,
    }
}
