use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::manifest::diagnostic::MOST_FAULTS;

/// What is wrong with a manifest, as code and message.
fn faults(text: impl AsRef<[u8]>) -> Vec<(&'static str, String)> {
    parse(text.as_ref()).unwrap_err().into_iter().map(|fault| (fault.code.as_str(), fault.message)).collect()
}

fn codes(text: impl AsRef<[u8]>) -> Vec<&'static str> {
    faults(text).into_iter().map(|(code, _)| code).collect()
}

fn with_sources(sources: &str) -> String {
    format!(r#"{{"version": 1, "sources": [{sources}]}}"#)
}

/// A manifest of one source that has, besides id and path, these properties.
fn with(properties: &str) -> String {
    with_sources(&format!(r#"{{"id": "a", "path": "p", {properties}}}"#))
}

fn source(id: &str, path: &str) -> Source {
    Source {
        id: id.to_owned(),
        path: path.to_owned(),
        priority: 0,
        enabled: true,
        role: Role::Knowledge,
        tier: None,
    }
}

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
fn one_leading_byte_order_mark_is_accepted() {
    let text = with_sources(r#"{"id": "a", "path": "p"}"#);
    assert!(parse(format!("\u{FEFF}{text}").as_bytes()).is_ok());
    assert_eq!(codes(format!("\u{FEFF}\u{FEFF}{text}")), ["PARSE_ERROR"]);
}

#[test]
fn what_is_not_one_json_value_says_where() {
    let rows: &[(&str, &[u8], &str)] = &[
        ("empty", b"", "line 1, column 1"),
        ("white space", b"\n\n  ", "line 3, column 2"),
        ("cut", b"{\"version\": 1,\n \"sources\": [", "line 2, column 13"),
        ("trailing comma", b"{\"version\": 1,}", "line 1, column 15"),
        ("comment", b"// no\n{}", "line 1, column 1"),
        ("trailing garbage", b"{\"version\": 1, \"sources\": []} x", "line 1, column 31"),
        ("two values", b"{}\n{}", "line 2, column 1"),
        ("single quotes", b"{'version': 1}", "line 1, column 2"),
        ("a number no float holds", b"{\"version\": 1e999}", "line 1, column 18"),
        ("NaN", b"{\"version\": NaN}", "line 1, column 13"),
        ("raw control character", b"{\"a\nb\": 1}", "line 2, column 1"),
        ("lone surrogate", br#"{"a": "\ud800"}"#, "line 1, column 14"),
        ("columns are characters", "{\"äöü\": x}".as_bytes(), "line 1, column 9"),
        ("UTF-16", b"\xff\xfe{\0}\0", "line 1, column 1"),
        ("Latin-1", b"{\n  \"\xe4\": 1}", "line 2, column 4"),
    ];
    for (name, text, place) in rows {
        let found = faults(text);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].0, "PARSE_ERROR", "{name}");
        assert!(found[0].1.contains(place), "{name}: {}", found[0].1);
    }
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        for depth in [200, 1_000_000] {
            let value = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(codes(&value), ["PARSE_ERROR"]);
            assert_eq!(codes(with(&format!(r#""priority": {value}"#))), ["PARSE_ERROR"]);
        }
    }
    let value = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(codes(with(&format!(r#""priority": {value}"#))), ["MALFORMED_PRIORITY"]);
}

#[test]
fn a_repeated_key_is_noticed_at_any_depth() {
    let rows = [
        ("root", r#"{"version": 1, "version": 1, "sources": [{"id": "a", "path": "p"}]}"#.to_owned()),
        ("sources", r#"{"version": 1, "sources": [], "sources": []}"#.to_owned()),
        ("source", with(r#""path": "q""#)),
        ("escaped", with(r#""\u0070ath": "q""#)),
        ("three times is one fault", with(r#""path": "q", "path": "r""#)),
    ];
    for (name, text) in rows {
        assert_eq!(codes(text), ["PARSE_ERROR"], "{name}");
    }
    let nested = [r#"{"a": 1, "a": 1}"#, r#"[0, [{"b": {"a": 1, "a": 1}}]]"#];
    for value in nested {
        let text = with(&format!(r#""x": {value}"#));
        assert_eq!(codes(text), ["PARSE_ERROR", "UNKNOWN_SOURCE_PROPERTY"], "{value}");
        let text = format!(r#"{{"x": {value}, "version": 1, "sources": [{{"id": "a", "path": "p"}}]}}"#);
        assert_eq!(codes(text), ["PARSE_ERROR", "UNKNOWN_ROOT_PROPERTY"], "{value}");
    }
}

#[test]
fn a_repeated_key_says_whose_and_where_and_hides_no_other_fault() {
    let text = "{\"version\": 2, \"sources\": [
        {\"id\": \"a\", \"path\": \"p\", \"priority\": true},
        {\"path\": \"p\", \"ü\": 1, \"ü\": 2, \"id\": \"b\"},
        {\"id\": \"c\", \"id\": \"d\", \"path\": \"p\"}
    ]}";
    let found = faults(text);
    let expected = [
        ("PARSE_ERROR", r#"sources[1] (id "b"): key "ü" is repeated at line 3, column 33; keep one"#),
        ("PARSE_ERROR", r#"sources[2]: key "id" is repeated at line 4, column 24; keep one"#),
        ("WRONG_VERSION", "version is 2; write the integer 1"),
    ];
    for (found, (code, message)) in found.iter().zip(expected) {
        assert_eq!((found.0, found.1.as_str()), (code, message));
    }
    let rest: Vec<_> = found.iter().skip(3).map(|(code, _)| *code).collect();
    assert_eq!(rest, ["MALFORMED_PRIORITY", "UNKNOWN_SOURCE_PROPERTY"]);
}

#[test]
fn repeats_before_broken_json_are_told_too() {
    let found = faults("{\"version\": 1, \"version\": 1,\n\"sources\": [{\"id\": \"a\", \"id\": \"a\"}");
    assert_eq!(found[0].1, r#"key "version" is repeated at line 1, column 24; keep one"#);
    assert_eq!(found[1].1, r#"sources[0]: key "id" is repeated at line 2, column 28; keep one"#);
    assert!(found[2].1.starts_with("the manifest is not valid JSON: EOF"), "{}", found[2].1);
    assert_eq!(found.len(), 3);
}

#[test]
fn the_root_is_an_object() {
    for text in ["[]", "null", "true", "1", "\"{}\"", "[{\"version\": 1}]"] {
        assert_eq!(codes(text), ["PARSE_ERROR"], "{text}");
    }
}

#[test]
fn the_root_knows_version_and_sources() {
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
fn a_source_is_an_object() {
    let text = with_sources(r#"null, {"id": "a", "path": "p"}, [], "a""#);
    let found = faults(text);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], ("PARSE_ERROR", "sources[0] is null; write an object with id and path".to_owned()));
    assert!(found[1].1.starts_with("sources[2] is a list"));
    assert!(found[2].1.starts_with("sources[3] is \"a\""));
}

#[test]
fn a_source_knows_six_properties() {
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
fn nul_in_an_id_or_a_path_is_one_fault() {
    let text = with_sources(r#"{"id": "a\u0000b", "path": "p"}, {"id": "b", "path": "\u0000"}"#);
    let found = faults(text);
    assert_eq!(found[0], ("EMBEDDED_NUL", "sources[0]: id contains U+0000; remove it".to_owned()));
    assert_eq!(found[1].0, "EMBEDDED_NUL");
    assert_eq!(found.len(), 2);
}

#[test]
fn nul_is_found_in_every_value_and_is_one_fault() {
    let rows = [
        // Instead of a text that is expected, or of anything else.
        (with(r#""role": "knowledge\u0000""#), &["EMBEDDED_NUL"][..]),
        (with(r#""role": "\u0000""#), &["EMBEDDED_NUL"]),
        (with(r#""role": "memory\u0000", "tier": "user\u0000""#), &["EMBEDDED_NUL"; 2]),
        (with(r#""role": "memory", "tier": "user\u0000""#), &["EMBEDDED_NUL"]),
        (with(r#""tier": "\u0000""#), &["EMBEDDED_NUL"]),
        (with(r#""priority": "1\u0000\u0000""#), &["EMBEDDED_NUL"]),
        (with(r#""enabled": "true\u0000""#), &["EMBEDDED_NUL"]),
        (r#"{"version": "1\u0000", "sources": [{"id": "a", "path": "p"}]}"#.to_owned(), &["EMBEDDED_NUL"]),
        (r#"{"version": 1, "sources": "\u0000"}"#.to_owned(), &["EMBEDDED_NUL"]),
        (with_sources(r#""\u0000""#), &["EMBEDDED_NUL"]),
        (r#""\u0000""#.to_owned(), &["EMBEDDED_NUL"]),
        // Below something of the wrong kind, which is another fault; once, however many there are.
        (with(r#""priority": ["\u0000", "\u0000"]"#), &["EMBEDDED_NUL", "MALFORMED_PRIORITY"]),
        (with(r#""role": {"a": {"b": [[{"c\u0000": 1}]]}}"#), &["EMBEDDED_NUL", "ILLEGAL_ROLE"]),
        (with_sources(r#"["\u0000"]"#), &["EMBEDDED_NUL", "PARSE_ERROR"]),
        (r#"["\u0000"]"#.to_owned(), &["EMBEDDED_NUL", "PARSE_ERROR"]),
        // Of a property that is not known.
        (with(r#""note": "\u0000""#), &["UNKNOWN_SOURCE_PROPERTY", "EMBEDDED_NUL"]),
        (with(r#""note": {"a": [1, "b\u0000"]}"#), &["UNKNOWN_SOURCE_PROPERTY", "EMBEDDED_NUL"]),
        (with(r#""role\u0000": "memory""#), &["EMBEDDED_NUL"]),
        (with(r#""role\u0000": "memory\u0000""#), &["EMBEDDED_NUL"; 2]),
        (
            r#"{"a": "\u0000", "\u0000": 1, "version": 1, "sources": [{"id": "a", "path": "p"}]}"#.to_owned(),
            &["UNKNOWN_ROOT_PROPERTY", "EMBEDDED_NUL", "EMBEDDED_NUL"],
        ),
        // Of a repeated key no value is looked at.
        (with(r#""role": "\u0000", "role": "memory""#), &["PARSE_ERROR"]),
        (with(r#""role": "memory", "role": "\u0000""#), &["PARSE_ERROR"]),
        (with(r#""priority": {"a": "\u0000", "a": 1}"#), &["PARSE_ERROR", "MALFORMED_PRIORITY"]),
        // A bare one is no JSON at all, and six characters that only look like it are none.
        (with("\"role\": \"\0\""), &["PARSE_ERROR"]),
        (with(r#""role": "\\u0000""#), &["ILLEGAL_ROLE"]),
    ];
    for (text, expected) in rows {
        assert_eq!(codes(&text), expected, "{text}");
    }
    let found = faults(with(r#""role": "\u0000", "a\u0000": ["\u0000"]"#));
    let messages: Vec<_> = found.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(
        messages,
        [
            r#"sources[0] (id "a"): key "a\u0000" contains U+0000; remove it"#,
            r#"sources[0] (id "a"): the value of "a\u0000" contains U+0000; remove it"#,
            r#"sources[0] (id "a"): role contains U+0000; remove it"#,
        ]
    );
}

#[test]
fn a_manifest_has_a_bounded_number_of_sources() {
    let many = |count: usize| {
        let sources: Vec<_> = (0..count).map(|at| format!(r#"{{"id":"{at}","path":"p"}}"#)).collect();
        with_sources(&sources.join(","))
    };
    assert_eq!(parse(many(MOST_SOURCES).as_bytes()).unwrap().len(), MOST_SOURCES);
    let message = "sources has 100001 entries; write at most 100000 in one catalog".to_owned();
    assert_eq!(faults(many(MOST_SOURCES + 1)), [("PARSE_ERROR", message)]);
}

#[test]
fn no_message_is_long_whatever_is_wrong() {
    let long = "x".repeat(1 << 20);
    let texts = [
        with_sources(&format!(r#"{{"id": "{long}", "path": ""}}"#)),
        with_sources(&format!(r#"{{"id": "{long}/", "path": "p", "role": "{long}", "{long}": 1}}"#)),
        with_sources(&format!(
            r#"{{"id": "a", "path": "p", "{long}\u0000": "\u0000", "{long}": 1, "{long}": 1}}"#
        )),
        with_sources(&format!(r#"{{"id": "a", "path": "p", "priority": {}}}"#, "1".repeat(1 << 20))),
        with_sources(&format!(r#"{{"id": "a", "path": "p\u0000{long}", "tier": "{long}"}}"#)),
        format!(r#"{{"{long}": 1}}"#),
        format!(r#"{{"version": "{long}", "sources": "{long}"}}"#),
        format!(r#""{long}""#),
        long.clone(),
    ];
    for text in texts {
        for (code, message) in faults(text) {
            assert!(message.len() < 1000, "{code}: {} bytes", message.len());
        }
    }
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
fn numbers_are_quoted_as_written() {
    for number in ["1.0", "1e2", "-0.0", "-2147483649", "100000000000000000000", "1.50E+3"] {
        let found = faults(with(&format!(r#""priority": {number}"#)));
        let start = format!(r#"sources[0] (id "a"): priority is {number}; write an integer from"#);
        assert!(found[0].1.starts_with(&start), "{}", found[0].1);
        assert_eq!(
            faults(number)[0].1,
            format!("the manifest is {number}; write an object with version and sources")
        );
    }
}

#[test]
fn enabled_is_a_boolean() {
    for enabled in ["null", "1", "0", "\"true\"", "[]", "{}"] {
        assert_eq!(codes(with(&format!(r#""enabled": {enabled}"#))), ["MALFORMED_ENABLED"], "{enabled}");
    }
}

#[test]
fn an_illegal_role_says_nothing_of_the_tier() {
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
fn a_tier_belongs_to_one_memory_source_enabled_or_not() {
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

#[test]
fn all_faults_are_told_in_the_order_of_the_file() {
    let text = r#"{"sources": [
        {"tier": 1, "role": "memory", "enabled": 1, "priority": 1.5, "path": "", "id": "", "x": 0},
        {"id": "b", "path": "p", "role": "boss"},
        3,
        {"id": "b", "path": "p\u0000", "tier": "user"}
    ], "version": "1", "y": 0}"#;
    let expected = [
        "UNKNOWN_ROOT_PROPERTY",
        "WRONG_VERSION",
        "UNKNOWN_SOURCE_PROPERTY",
        "INVALID_SOURCE_ID",
        "EMPTY_PATH",
        "MALFORMED_PRIORITY",
        "MALFORMED_ENABLED",
        "ILLEGAL_TIER",
        "ILLEGAL_ROLE",
        "PARSE_ERROR",
        "DUPLICATE_SOURCE_ID",
        "EMBEDDED_NUL",
        "ILLEGAL_TIER",
    ];
    assert_eq!(codes(text), expected);
}

#[test]
fn quotes_are_short_and_on_one_line() {
    let long = "x".repeat(100_000);
    let rows = [
        (with(&format!(r#""role": "{long}""#)), format!("\"{}…\"", "x".repeat(60))),
        (
            with(r#""role": "a\nb\u001b[2J\u202e\u0085\"b\\c""#),
            r#""a\nb\u001b[2J\u202e\u0085\"b\\c""#.to_owned(),
        ),
        (with(&format!(r#""{long}": 0"#)), format!("\"{}…\"", "x".repeat(60))),
        (with(&format!(r#""priority": 1{}"#, "0".repeat(300))), format!("1{}…", "0".repeat(59))),
        (with_sources(&format!(r#"{{"id": "{long}"}}"#)), format!("(id \"{}…\")", "x".repeat(60))),
        (with(r#""priority": "Größe""#), "\"Größe\"".to_owned()),
    ];
    for (text, quote) in rows {
        let message = &faults(&text)[0].1;
        assert!(message.contains(&quote), "{message}");
        assert!(message.chars().count() < 250 && !message.contains('\n'), "{message}");
    }
}

#[test]
fn messages_carry_no_absolute_path() {
    let absolute = [
        "/srv/secret",
        "file:///srv/secret",
        "see /srv/secret",
        "C:\\\\secret",
        "c:secret",
        "\\\\\\\\host\\\\secret",
    ];
    for path in absolute {
        let text = format!(
            r#"{{"version": "{path}", "{path}": 1, "sources": [
                {{"id": "{path}", "path": "{path}\u0000", "{path}": 1, "{path}": 1}},
                {{"id": "a", "path": "p", "priority": "{path}", "role": "{path}"}},
                "{path}"]}}"#
        );
        let found = faults(text);
        assert_eq!(found.len(), 9);
        for (_, message) in found {
            assert!(!message.contains("secret"), "{message}");
        }
    }
    assert!(faults(with(r#""role": "a/b""#))[0].1.contains("a/b"));
}

#[test]
fn many_faults_take_linear_time() {
    let empty = r#"{"a":0,"a":0},"#.repeat(99_999);
    let found = parse(with_sources(&format!("{empty}0")).as_bytes()).unwrap_err();
    assert_eq!(found.len(), MOST_FAULTS);
    let last = &found[MOST_FAULTS - 1].message;
    assert!(last.ends_with("(398997 more faults are not listed, 399997 in all)"), "{last}");

    let keys: Vec<_> = (0..100_000).map(|key| format!("\"{key}\":0,\"{key}\":0,")).collect();
    let text = with_sources(&format!(r#"{{{}"path": "p", "id": "a"}}"#, keys.concat()));
    let found = faults(text);
    assert_eq!(found.len(), MOST_FAULTS);
    let last = &found[MOST_FAULTS - 1].1;
    assert!(last.ends_with("(199000 more faults are not listed, 200000 in all)"), "{last}");
}

/// Text that is nearly JSON, and nearly a manifest.
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

fn sources() -> impl Strategy<Value = Vec<Source>> {
    let source = (
        "[A-Za-z0-9_][A-Za-z0-9_.-]{0,3}",
        any::<String>().prop_map(|path| path.replace('\0', "") + "p"),
        any::<i32>(),
        any::<bool>(),
        prop::option::weighted(0.2, prop::sample::select(vec![Tier::Session, Tier::User, Tier::Tenant])),
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
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_text_makes_it_panic(text in near_manifests()) {
        if let Err(faults) = parse(text.as_bytes()) {
            prop_assert!(!faults.is_empty());
        }
    }

    #[test]
    fn what_serde_json_reads_is_read(text in near_manifests()) {
        let text = text.trim_start_matches('\u{FEFF}');
        let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
        let is_broken = json::read(text).root.is_err();
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
