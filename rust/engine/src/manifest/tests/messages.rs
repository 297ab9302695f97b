//! What messages say, and how long they are.

use super::helpers::{codes, faults, with, with_sources};
use crate::manifest::{diagnostic::MAX_FAULTS, parse};

#[test]
fn all_faults_are_reported_in_the_order_of_the_file() {
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
fn no_message_is_long() {
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
    assert_eq!(found.len(), MAX_FAULTS);
    let last = &found[MAX_FAULTS - 1].message;
    assert!(last.ends_with("(398997 more faults are not listed, 399997 in all)"), "{last}");

    let keys: Vec<_> = (0..100_000).map(|key| format!("\"{key}\":0,\"{key}\":0,")).collect();
    let text = with_sources(&format!(r#"{{{}"path": "p", "id": "a"}}"#, keys.concat()));
    let found = faults(text);
    assert_eq!(found.len(), MAX_FAULTS);
    let last = &found[MAX_FAULTS - 1].1;
    assert!(last.ends_with("(199000 more faults are not listed, 200000 in all)"), "{last}");
}
