//! YAML that is not valid as a whole, and is read entry by entry.

use super::helpers::{read, text};
use crate::document::{remark::RemarkCode, trust::Trust};

/// Asserts that a slip costs no other field, whether it comes first, last or between them, and that the title is
/// this one.
fn assert_slip_costs_no_other_field(slip: &str, expected: Option<&str>) {
    for yaml in [
        format!("type: T\ntags: [\na\n]\n{slip}\nstatus: \"dra\nft\"\n"),
        format!("{slip}\nstatus: 'dra\n\nft'\ntags:\n- a\ntype: T\n"),
        format!("status: x\nstatus: \"dra ft\"\ntags: a\ntype: T\n{slip}\n"),
    ] {
        let (fields, _) = read(&yaml);
        let fields = fields.unwrap_or_else(|| panic!("{yaml:?}"));
        assert_eq!(text(fields.title).as_deref(), expected, "{yaml:?}");
        assert_eq!(text(fields.concept_type).as_deref(), Some("T"), "{yaml:?}");
        assert_eq!(fields.tags, ["a"], "{yaml:?}");
        let status = text(fields.status).unwrap_or_default().replace('\n', " ");
        assert_eq!(status, "dra ft", "{yaml:?}");
    }
}

#[test]
fn a_slip_in_the_title_costs_no_other_field() {
    for (slip, expected) in [
        ("title: ADR-1: Use X", Some("ADR-1: Use X")),
        ("title: @x", Some("@x")),
        ("title: *x", Some("*x")),
        ("title: `x` y", Some("`x` y")),
        ("title: [Draft] x", Some("[Draft] x")),
        ("title: {Draft} x", Some("{Draft} x")),
        ("title: \"A\" b", Some("\"A\" b")),
        ("title: 'A' b", Some("'A' b")),
        ("title: %x", Some("%x")),
        ("title: - x", Some("- x")),
        ("title: \"C:\\Users\"", Some("\"C:\\Users\"")),
        ("title: \"open", Some("\"open")),
        ("title: 'tis", Some("'tis")),
        ("title: [open", Some("[open")),
        ("title: {{ title }", Some("{{ title }")),
        ("title: {{ title }}", None),
        ("title: !x!y z", Some("!x!y z")),
        ("title: a: b # c", Some("a: b # c")),
        ("title: ]", Some("]")),
        ("title: , x", Some(", x")),
        ("title: > x", Some("> x")),
        ("title: &a", None),
        ("title:\t@x \u{3000}", Some("@x")),
        ("\"title\": @x", Some("@x")),
        ("'title' : @x", Some("@x")),
        ("title: @x\n\n# comment\n  # comment", Some("@x")),
        ("title: a: b\n  c", None),
        ("title:\n  @x", None),
        ("title:\n\t- a", None),
        ("title: a\n title: b", None),
        ("title: a\u{FEFF}b", Some("a\u{FEFF}b")),
    ] {
        assert_slip_costs_no_other_field(slip, expected);
    }
}

#[test]
fn a_slip_outside_of_the_fields_costs_no_field() {
    for slip in [
        "x:\n  - %",
        "x: @",
        "x:\n- [a\n- b",
        "x: {a: [}",
        "<<<<<<< HEAD",
        "stray",
        "stray\n  title: x",
        "title:x",
        "--- # two",
        "... x",
        "%YAML 1.2",
        "? a: b: c\n: d",
        "[a: b",
    ] {
        assert_slip_costs_no_other_field(slip, None);
    }
}

#[test]
fn text_below_an_entry_that_continues_it_makes_it_invalid() {
    for slip in ["  title: x", "]", "\tx", "- x"] {
        let fields = read(&format!("type: T\ntags: [a]\n{slip}\nstatus: draft\n")).0.unwrap();
        assert_eq!((text(fields.title), fields.tags), (None, Vec::new()), "{slip:?}");
        assert_eq!(text(fields.concept_type).as_deref(), Some("T"), "{slip:?}");
        assert_eq!(text(fields.status).as_deref(), Some("draft"), "{slip:?}");
    }
}

#[test]
fn each_entry_that_is_lost_or_taken_as_it_stands_gives_a_remark() {
    use RemarkCode::{DuplicateKey, FieldIgnored, FieldNotRead};
    for (name, yaml, remarks) in [
        ("none", "title: a\nb: [\nc\n]\n", &[][..]),
        ("taken", "a: b\ntitle: a: b\n", &[(FieldNotRead, 2)]),
        ("lost", "x:\n  - %\n\ntags: @a\ntitle: t\n", &[(FieldNotRead, 1), (FieldNotRead, 4)]),
        ("stray text", "title: t\n<<<<\na: b\n====\n>>>>\n", &[(FieldNotRead, 2), (FieldNotRead, 4)]),
        ("repeated", "title: a\ntype: b\ntitle: c\ntitle: ~\n", &[(DuplicateKey, 3), (DuplicateKey, 4)]),
        ("repeated, taken", "title: a\ntitle: @c\n", &[(FieldNotRead, 2), (DuplicateKey, 2)]),
        ("list as a text", "title: [a]\ntype: {b: c}\n", &[(FieldIgnored, 1), (FieldIgnored, 2)]),
        ("tags", "tags:\n- a\n- [b]\n- c: d\n-\n", &[(FieldIgnored, 3), (FieldIgnored, 4)]),
        ("tags as a mapping", "\ntags:\n  a: b\n", &[(FieldIgnored, 3)]),
        ("nulls", "title: ~\ntags:\nverified:\nstatus: null\n", &[]),
        ("unused fields of any shape", "x: [a]\ny: {b: c}\nz: [[d]]\n", &[]),
        ("verified", "verified: yes\n", &[(FieldIgnored, 1)]),
        ("keys in another case", "Title: a\nTAGS: [b]\n", &[(FieldIgnored, 1), (FieldIgnored, 2)]),
        ("keys in another style", "stale-after: a\nStaleAfter: b\n", &[(FieldIgnored, 1), (FieldIgnored, 2)]),
        ("another case beside the field", "Title: a\ntitle: b\n", &[]),
        ("keys that mean something else", "subtitle: a\nlayout: b\ntitles: c\n", &[]),
        ("in verified", "verified:\n- by: a\n- human:b\n- [c]\n", &[(FieldIgnored, 3), (FieldIgnored, 4)]),
        ("after a text over lines", "x: \"a\n\nb\"\ntitle: @c\n", &[(FieldNotRead, 4)]),
        (
            "after an alias",
            "a: &a 1\nx: @\nb: [*a, {c: d}]\ntags: [*a, [e]]\n",
            &[(FieldNotRead, 2), (FieldIgnored, 4)],
        ),
    ] {
        let mut expected = remarks.to_vec();
        let mut found = read(yaml).1;
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn aliases_refer_to_anchors_of_earlier_entries_that_can_be_read() {
    for (name, yaml, expected) in [
        ("before", "a: &x t\nb: @\ntitle: *x", Some("t")),
        ("nested", "a: [1, {c: &x t}]\nb: @\ntitle: *x", Some("t")),
        ("the latest", "a: &x s\nb: @\nc: &x t\ntitle: *x", Some("t")),
        ("two", "a: &x s\nb: &y t\nc: @\nd: [*x, *y]\ntitle: *y", Some("t")),
        ("in the entry itself", "b: @\ntitle: &x t\ntype: *x", Some("t")),
        ("one that an entry takes over", "a: &x s\nb: @\ntitle: [*x, &x t]\ntitle: *x", Some("t")),
        ("by quoted text that goes on", "b: @\na: &x \"s\nt\"\ntitle: *x", Some("s t")),
        ("after", "title: *x\nb: @\na: &x t", Some("*x")),
        ("in an entry that is lost", "a: [&x t\ntitle: *x", Some("*x")),
        ("a list", "a: &x [t]\nb: @\ntitle: *x", None),
        ("itself", "b: @\ntitle: &x [*x]", None),
    ] {
        let fields = read(&format!("{yaml}\n")).0.unwrap();
        assert_eq!(text(fields.title).as_deref(), expected, "{name}");
    }
    let yaml = "a: &x t\nb: @\nc: &y [*x, u, *x]\ntags: *y\nverified: [&v {by: &h human:ann}, *v]\n";
    let fields = read(yaml).0.unwrap();
    assert_eq!(fields.tags, ["t", "u", "t"]);
    assert_eq!(fields.verified.at_any_time, Trust::HumanReviewed);
    let whole = read(&yaml.replace("b: @\n", "")).0.unwrap();
    assert_eq!(fields, whole);
}

#[test]
fn of_a_repeated_key_the_last_entry_that_is_read_counts() {
    for (yaml, expected) in [
        ("title: a\ntitle: b\nx: @\n", Some("b")),
        ("title: a\ntitle: @b\n", Some("@b")),
        ("title: @a\ntitle: b\n", Some("b")),
        ("title: a\ntitle: @b\n  c\n", Some("a")),
        ("title: a\ntitle: ~\nx: @\n", None),
    ] {
        assert_eq!(text(read(yaml).0.unwrap().title).as_deref(), expected, "{yaml}");
    }
}
