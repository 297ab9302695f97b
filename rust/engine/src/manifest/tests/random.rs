//! Random texts and random valid manifests.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::manifest::{
    json, parse,
    source::{Role, Source, Tier},
};

/// Texts made of pieces of JSON and of manifests.
fn near_manifests() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\u0000",
        "\\ud800",
        "1",
        "-0",
        "1e999",
        ".5",
        "null",
        "true",
        " ",
        "\n",
        "\"id\":",
        "\"path\":",
        "\"sources\":[",
        "\"version\":1,",
        "\"role\":\"memory\"",
        "é",
        "\u{FEFF}",
    ]);
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Sources that are valid together.
fn sources() -> impl Strategy<Value = Vec<Source>> {
    let source = (
        "[A-Za-z0-9_][A-Za-z0-9_.-]{0,3}",
        any::<String>().prop_map(|path| path.replace('\0', "") + "p"),
        any::<i32>(),
        any::<bool>(),
        prop::option::weighted(0.2, prop::sample::select(Tier::ALL.to_vec())),
    )
        .prop_map(|(id, path, priority, enabled, tier)| {
            let role = if tier.is_some() { Role::Memory } else { Role::Knowledge };
            Source { id, path, priority, enabled, role, tier }
        });
    vec(source, 1..8).prop_map(|mut sources| {
        let mut ids = Vec::new();
        let mut tiers = Vec::new();
        sources.retain(|source| {
            let is_new =
                !ids.contains(&source.id) && (source.tier.is_none() || !tiers.contains(&source.tier));
            ids.push(source.id.clone());
            tiers.push(source.tier);
            is_new
        });
        sources
    })
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn random_manifests_do_not_panic(text in near_manifests()) {
        if let Err(faults) = parse(text.as_bytes()) {
            prop_assert!(!faults.is_empty());
        }
    }

    #[test]
    fn the_same_texts_are_valid_json_as_for_serde_json(text in near_manifests()) {
        let text = text.trim_start_matches('\u{FEFF}');
        let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
        let is_broken = json::parse(text).root.is_err();
        prop_assert_eq!(is_json, !is_broken);
    }

    #[test]
    fn valid_manifests_round_trip(sources in sources(), pretty: bool, spare: bool) {
        let entries: Vec<_> = sources
            .iter()
            .map(|source| {
                let mut entry = json!({"id": source.id, "path": source.path});
                if source.priority != 0 || spare {
                    entry["priority"] = json!(source.priority);
                }
                if !source.enabled || spare {
                    entry["enabled"] = json!(source.enabled);
                }
                if source.role != Role::Knowledge || spare {
                    entry["role"] = json!(source.role.as_str());
                }
                if let Some(tier) = source.tier {
                    entry["tier"] = json!(tier.as_str());
                }
                entry
            })
            .collect();
        let manifest = json!({"version": 1, "sources": entries});
        let text = if pretty { format!("{manifest:#}") } else { manifest.to_string() };
        prop_assert_eq!(parse(text.as_bytes()), Ok(sources));
    }
}
