//! Each property of the root and of a source.

use super::helpers::{codes, faults, source, with, with_sources};
use crate::manifest::{
    MAX_SOURCES, parse,
    source::{Role, Source, Tier},
};

#[test]
fn only_id_and_path_are_required() {
    let text = with_sources(r#"{"id": "finance", "path": "bundles/finance"}"#);
    assert_eq!(parse(text.as_bytes()), Ok(vec![source("finance", "bundles/finance")]));
}

#[test]
fn every_property_is_read_and_the_order_of_the_file_is_kept() {
    let text = r#" {
        "sources": [
            {"tier": "user", "role": "memory", "enabled": false, "priority": -7, "path": "z", "id": "z"},
            {"id": "b", "path": "b", "role": "knowledge", "priority": 2147483647, "enabled": true},
            {"id": "_", "path": "a", "role": "memory", "tier": "session"},
            {"id": "9.-_", "path": "a", "role": "memory", "tier": "tenant", "priority": -2147483648}
        ],
        "version": 1
    } "#;
    let expected = vec![
        Source {
            priority: -7,
            enabled: false,
            role: Role::Memory,
            tier: Some(Tier::User),
            ..source("z", "z")
        },
        Source { priority: i32::MAX, ..source("b", "b") },
        Source { role: Role::Memory, tier: Some(Tier::Session), ..source("_", "a") },
        Source { priority: i32::MIN, role: Role::Memory, tier: Some(Tier::Tenant), ..source("9.-_", "a") },
    ];
    assert_eq!(parse(text.as_bytes()), Ok(expected));
}

#[test]
fn the_root_is_an_object() {
    for text in ["[]", "null", "true", "1", "\"{}\"", "[{\"version\": 1}]"] {
        assert_eq!(codes(text), ["PARSE_ERROR"], "{text}");
    }
}

#[test]
fn the_root_has_no_other_properties_than_version_and_sources() {
    let text = r#"{"$schema": "x", "Version": 1, "version": 1, "sources": [{"id": "a", "path": "p"}]}"#;
    assert_eq!(codes(text), ["UNKNOWN_ROOT_PROPERTY", "UNKNOWN_ROOT_PROPERTY"]);
}

#[test]
fn version_is_the_integer_one() {
    for version in ["1.0", "1e0", "0.1e1", "\"1\"", "true", "null", "0", "2", "-1", "[1]", "{}"] {
        let text = format!(r#"{{"version": {version}, "sources": [{{"id": "a", "path": "p"}}]}}"#);
        assert_eq!(codes(text), ["WRONG_VERSION"], "{version}");
    }
    assert_eq!(codes(r#"{"sources": [{"id": "a", "path": "p"}]}"#), ["WRONG_VERSION"]);
}

#[test]
fn sources_is_a_list_of_at_least_one() {
    for sources in ["[]", "null", "{}", "\"a\"", "{\"id\": \"a\", \"path\": \"p\"}", "0"] {
        let text = format!(r#"{{"version": 1, "sources": {sources}}}"#);
        assert_eq!(codes(text), ["EMPTY_SOURCES"], "{sources}");
    }
    assert_eq!(codes(r#"{"version": 1}"#), ["EMPTY_SOURCES"]);
    assert_eq!(codes("{}"), ["WRONG_VERSION", "EMPTY_SOURCES"]);
}

#[test]
fn the_number_of_sources_is_bounded() {
    let many = |count: usize| {
        let sources: Vec<_> = (0..count).map(|at| format!(r#"{{"id":"{at}","path":"p"}}"#)).collect();
        with_sources(&sources.join(","))
    };
    assert_eq!(parse(many(MAX_SOURCES).as_bytes()).unwrap().len(), MAX_SOURCES);
    let message = "sources has 100001 entries; write at most 100000 in one catalog".to_owned();
    assert_eq!(faults(many(MAX_SOURCES + 1)), [("PARSE_ERROR", message)]);
}

#[test]
fn a_source_is_an_object() {
    let text = with_sources(r#"null, {"id": "a", "path": "p"}, [], "a""#);
    let found = faults(text);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], ("PARSE_ERROR", "sources[0] is null; write an object with id and path".to_owned()));
    assert!(found[1].1.starts_with("sources[2] is a list"));
    assert!(found[2].1.starts_with("sources[3] is \"a\""));
}

#[test]
fn a_source_has_six_properties() {
    let found = faults(with(r#""colour": 1, "Tier": "user""#));
    let expected = r#"sources[0] (id "a"): property "colour" is unknown; write only id, path, priority, enabled, role, tier"#;
    assert_eq!(found[0], ("UNKNOWN_SOURCE_PROPERTY", expected.to_owned()));
    assert_eq!(found[1].0, "UNKNOWN_SOURCE_PROPERTY");
    assert_eq!(found.len(), 2);
}

#[test]
fn an_id_is_one_segment() {
    let wrong = [
        "\"\"",
        "\".\"",
        "\"..\"",
        "\".a\"",
        "\"-a\"",
        "\"a b\"",
        "\"a/b\"",
        "\"a\\\\b\"",
        "\"é\"",
        "\"a\\n\"",
        "null",
        "1",
        "true",
        "[]",
        "{}",
    ];
    for id in wrong {
        let text = with_sources(&format!(r#"{{"id": {id}, "path": "p"}}"#));
        assert_eq!(codes(text), ["INVALID_SOURCE_ID"], "{id}");
    }
    assert_eq!(codes(with_sources(r#"{"path": "p"}"#)), ["INVALID_SOURCE_ID"]);
    for id in ["a", "_", "0", "A.b-C_d", "a.", "a-", "_.."] {
        let text = with_sources(&format!(r#"{{"id": "{id}", "path": "p"}}"#));
        assert!(parse(text.as_bytes()).is_ok(), "{id}");
    }
}

#[test]
fn an_id_is_unique_and_case_counts() {
    let text = with_sources(
        r#"{"id": "a", "path": "p"}, {"id": "A", "path": "p"}, {"id": "a", "path": "q"}, {"id": "a", "path": "q"}"#,
    );
    let found = faults(text);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].0, "DUPLICATE_SOURCE_ID");
    assert!(found[0].1.starts_with(r#"sources[2] (id "a"): id is the one of sources[0] too"#));
    assert!(found[1].1.starts_with(r#"sources[3] (id "a"): id is the one of sources[0] too"#));
}

#[test]
fn a_path_is_text_that_is_not_empty() {
    for path in ["\"\"", "null", "1", "false", "[\"p\"]", "{}"] {
        let text = with_sources(&format!(r#"{{"id": "a", "path": {path}}}"#));
        assert_eq!(codes(text), ["EMPTY_PATH"], "{path}");
    }
    assert_eq!(codes(with_sources(r#"{"id": "a"}"#)), ["EMPTY_PATH"]);
    assert!(parse(with_sources(r#"{"id": "a", "path": " "}"#).as_bytes()).is_ok());
}

#[test]
fn a_priority_is_a_32_bit_signed_integer() {
    let wrong = [
        "1.0",
        "1e2",
        "1E0",
        "0.5",
        "-0.0",
        "\"1\"",
        "true",
        "null",
        "2147483648",
        "-2147483649",
        "18446744073709551616",
        "1e308",
        "[]",
        "{}",
    ];
    for priority in wrong {
        let found = faults(with(&format!(r#""priority": {priority}"#)));
        assert_eq!(found.len(), 1, "{priority}");
        assert_eq!(found[0].0, "MALFORMED_PRIORITY");
    }
    for (priority, value) in [("2147483647", i32::MAX), ("-2147483648", i32::MIN), ("0", 0), ("-0", 0)] {
        for text in [format!("{priority}\n"), priority.to_owned(), format!("  {priority} ")] {
            let text = with(&format!(r#""priority":{text}"#));
            assert_eq!(parse(text.as_bytes()).unwrap()[0].priority, value, "{text}");
        }
    }
}

#[test]
fn enabled_is_a_boolean() {
    for enabled in ["null", "1", "0", "\"true\"", "[]", "{}"] {
        assert_eq!(codes(with(&format!(r#""enabled": {enabled}"#))), ["MALFORMED_ENABLED"], "{enabled}");
    }
}

#[test]
fn the_tier_of_an_illegal_role_is_not_checked() {
    for role in ["null", "1", "\"\"", "\"Memory\"", "\"knowledge \"", "[]", "{}"] {
        assert_eq!(codes(with(&format!(r#""role": {role}"#))), ["ILLEGAL_ROLE"], "{role}");
        assert_eq!(codes(with(&format!(r#""tier": 1, "role": {role}"#))), ["ILLEGAL_ROLE"], "{role}");
    }
}

#[test]
fn memory_needs_a_tier_and_knowledge_has_none() {
    for tier in ["null", "1", "\"\"", "\"User\"", "\"global\"", "[]"] {
        let text = with(&format!(r#""role": "memory", "tier": {tier}"#));
        assert_eq!(codes(text), ["ILLEGAL_TIER"], "{tier}");
    }
    assert_eq!(codes(with(r#""role": "memory""#)), ["ILLEGAL_TIER"]);
    for tier in ["null", "\"user\"", "\"\""] {
        assert_eq!(codes(with(&format!(r#""tier": {tier}"#))), ["ILLEGAL_TIER"], "{tier}");
        let text = with(&format!(r#""role": "knowledge", "tier": {tier}"#));
        assert_eq!(codes(text), ["ILLEGAL_TIER"], "{tier}");
    }
}

#[test]
fn a_tier_belongs_to_one_memory_source_and_disabled_sources_count() {
    let text = with_sources(
        r#"{"id": "a", "path": "p", "role": "memory", "tier": "user", "enabled": false},
           {"id": "b", "path": "p", "role": "memory", "tier": "session"},
           {"id": "c", "path": "p", "role": "memory", "tier": "user"},
           {"id": "d", "path": "p", "role": "memory", "tier": "user", "enabled": false}"#,
    );
    let found = faults(text);
    assert_eq!(found.len(), 2);
    assert!(found[0].1.starts_with(r#"sources[2] (id "c"): tier "user" is the one of sources[0] too"#));
    assert_eq!(found[1].0, "DUPLICATE_MEMORY_TIER");
}
