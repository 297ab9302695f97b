//! Syntax errors, repeated keys and NULs.

use super::helpers::{codes, faults, with, with_sources};
use crate::manifest::parse;

#[test]
fn one_leading_byte_order_mark_is_accepted() {
    let text = with_sources(r#"{"id": "a", "path": "p"}"#);
    assert!(parse(format!("\u{FEFF}{text}").as_bytes()).is_ok());
    assert_eq!(codes(format!("\u{FEFF}\u{FEFF}{text}")), ["PARSE_ERROR"]);
}

#[test]
fn a_syntax_error_says_where_it_is() {
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
fn nesting_is_bounded() {
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
fn a_repeated_key_is_found_at_any_depth() {
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
fn a_repeated_key_is_reported_with_its_source_and_position_and_hides_no_other_fault() {
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
fn repeated_keys_before_a_syntax_error_are_reported_too() {
    let found = faults("{\"version\": 1, \"version\": 1,\n\"sources\": [{\"id\": \"a\", \"id\": \"a\"}");
    assert_eq!(found[0].1, r#"key "version" is repeated at line 1, column 24; keep one"#);
    assert_eq!(found[1].1, r#"sources[0]: key "id" is repeated at line 2, column 28; keep one"#);
    assert!(found[2].1.starts_with("the manifest is not valid JSON: EOF"), "{}", found[2].1);
    assert_eq!(found.len(), 3);
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
