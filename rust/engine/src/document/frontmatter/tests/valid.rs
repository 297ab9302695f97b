//! Valid YAML: what each field means.

use super::helpers::{parse, read, tags, title, trust};
use crate::document::{
    frontmatter::{Fields, Scalar},
    trust::{Trust, Verified},
};

#[test]
fn scalars_are_read_as_the_text_that_the_author_wrote() {
    for (name, yaml, expected) in [
        ("plain", "title: Orders by day", "Orders by day"),
        ("number", "title: 3.10", "3.10"),
        ("octal", "title: 0o17", "0o17"),
        ("boolean", "title: True", "True"),
        ("date", "title: 2026-07-01", "2026-07-01"),
        ("time", "title: 12:30:00", "12:30:00"),
        ("URL", "title: https://example.com/#part", "https://example.com/#part"),
        ("comment", "title: a # b", "a"),
        ("folded plain", "title: a\n  b\n\n  c", "a b\nc"),
        ("single quotes", "title: 'it''s: # \\n'", "it's: # \\n"),
        ("double quotes", "title: \"a\\tb\\u00e9\\x41\"", "a\tbéA"),
        ("quoted null", "title: 'null'", "null"),
        ("quoted nothing", "title: \"\"", ""),
        ("literal", "title: |\n  a\n   b\n", "a\n b\n"),
        ("literal, stripped", "title: |-\n  a\n  b\n", "a\nb"),
        ("folded", "title: >-\n  a\n  b\n", "a b"),
        ("block null", "title: |-\n  null\n", "null"),
        ("tagged text", "title: !!str null", "null"),
        ("tagged empty text", "title: !!str", ""),
        ("non-specific tag", "title: ! null", "null"),
        ("tagged number", "title: !!int 0x1F", "0x1F"),
        ("application tag", "title: !name x", "x"),
        ("anchored", "title: &a x", "x"),
        ("alias", "a: &a x\ntitle: *a", "x"),
        ("latest anchor", "a: &a x\nb: &a y\ntitle: *a", "y"),
        ("anchor inside a list", "a: [1, &a x]\ntitle: *a", "x"),
        ("flow mapping", "{title: x}", "x"),
        ("flow mapping over lines", "{\n  title: x,\n}", "x"),
        ("explicit key", "? title\n: x", "x"),
        ("quoted key", "\"title\": x", "x"),
        ("key by alias", "a: &a title\n*a : x", "x"),
        ("explicit document", "--- # one\ntitle: x", "x"),
        ("version directive", "%YAML 1.2\n--- # one\ntitle: x", "x"),
        ("ended document", "title: x\n...\n", "x"),
        ("indented", "  title: x\n  type: y", "x"),
        ("tab after the value", "title: x\t# c", "x"),
        ("tab inside", "title: a\tb", "a\tb"),
        ("next line is text", "title: a\u{85}b\u{2028}c", "a\u{85}b\u{2028}c"),
        ("escaped NUL", "title: \"a\\0b\"", "a\0b"),
        ("last of repeated keys", "title: a\ntitle: x", "x"),
        ("unknown keys of any shape", "[a, b]: c\n? {d: e}\n: f\ng: [h, {i: j}]\ntitle: x", "x"),
        ("merge key is ordinary", "b: &b {title: b}\n<<: *b\ntitle: x", "x"),
        ("other scripts", "title: Ωmega 注文 🛒", "Ωmega 注文 🛒"),
    ] {
        assert_eq!(title(&format!("{yaml}\n")).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn null_and_collections_count_as_an_absent_scalar() {
    for (name, yaml) in [
        ("nothing at all", ""),
        ("empty mapping", "{}"),
        ("only another key", "type: x"),
        ("nothing", "title:"),
        ("tilde", "title: ~"),
        ("null", "title: null"),
        ("Null", "title: Null"),
        ("NULL", "title: NULL"),
        ("anchored nothing", "title: &a"),
        ("tagged null", "title: !!null x"),
        ("verbatim tagged null", "title: !<tag:yaml.org,2002:null> ''"),
        ("alias of null", "a: &a ~\ntitle: *a"),
        ("list", "title: [x]"),
        ("mapping", "title: {x: y}"),
        ("alias of a list", "a: &a [x]\ntitle: *a"),
        ("last of repeated keys is null", "title: x\ntitle: ~"),
        ("last of repeated keys is a list", "title: x\ntitle: [x]"),
        ("other case", "Title: x"),
        ("nested", "a: {title: x}"),
        ("merged", "b: &b {title: x}\n<<: *b"),
        ("inside a key", "? {title: x}\n: y"),
        ("alias of itself", "title: &a [*a]"),
    ] {
        assert_eq!(title(&format!("{yaml}\n")), None, "{name}");
    }
}

#[test]
fn every_field_is_read() {
    let fields = parse(
        "type: table\ntitle: Orders\ndescription: One row per order.\ntags: [a]\n\
         status: draft\nstale_after: 2026-07-01\nverified: {by: human:ann}\nother: x\nokf_version: 0.2\n",
    );
    let at = |line, text: &str| Some(Scalar { text: text.to_owned(), line });
    assert_eq!(
        fields,
        Fields {
            title: at(2, "Orders"),
            description: at(3, "One row per order."),
            tags: vec!["a".to_owned()],
            concept_type: at(1, "table"),
            status: at(5, "draft"),
            stale_after: at(6, "2026-07-01"),
            okf_version: at(9, "0.2"),
            verified: Verified { at_any_time: Trust::HumanReviewed, since_generated: Trust::HumanReviewed },
        }
    );
}

#[test]
fn tags_are_a_list_or_one_scalar_split_at_commas() {
    for (name, yaml, expected) in [
        ("flow list", "[a, b c]", &["a", "b c"][..]),
        ("block list", "\n- a\n- b c", &["a", "b c"]),
        ("indented block list", "\n  - a\n  - b", &["a", "b"]),
        ("order and repetition", "[b, a, b]", &["b", "a", "b"]),
        ("text as written", "[1.0, True, 2026-07-01]", &["1.0", "True", "2026-07-01"]),
        ("non-scalars are dropped", "[a, [b], {c: d}, ~, !!null x, e]", &["a", "e"]),
        ("a comma in a quoted item", "['a, b']", &["a, b"]),
        ("items keep their space", "[' a ']", &[" a "]),
        ("empty list", "[]", &[]),
        ("nothing", "", &[]),
        ("null", "~", &[]),
        ("mapping", "{a: b}", &[]),
        ("one scalar", "a", &["a"]),
        ("commas", "a, b c,d", &["a", "b c", "d"]),
        ("brackets in quotes", "\"[a, b]\"", &["a", "b"]),
        ("space around brackets", "' [ a , b ] '", &["a", "b"]),
        ("one pair only", "'[[a], b]'", &["[a]", "b"]),
        ("no pair", "'[a, b'", &["[a", "b"]),
        ("one bracket", "'['", &["["]),
        ("empty parts", "', a,, ,b,'", &["a", "b"]),
        ("empty text", "''", &[]),
        ("empty brackets", "'[]'", &[]),
        ("all white space is trimmed", "\"\\u3000a\\u0085,\\u2003b\"", &["a", "b"]),
        ("block scalar", "|\n  a,\n  b\n", &["a", "b"]),
        ("list by alias", "&x [a, *x, b]", &["a", "b"]),
    ] {
        assert_eq!(tags(yaml), expected, "{name}");
    }
    assert_eq!(parse("a: &a x\nb: &b [*a, y, *a]\ntags: *b\n").tags, ["x", "y", "x"]);
}

#[test]
fn the_trust_tier_depends_on_the_names_in_verified() {
    use Trust::{HumanReviewed, MachineConfirmed, Unverified};
    for (name, yaml, expected) in [
        ("nothing", "", Unverified),
        ("null", "~", Unverified),
        ("empty list", "[]", Unverified),
        ("scalar", "human:ann", Unverified),
        ("list of scalars", "[human:ann, x]", Unverified),
        ("list of lists", "[[{by: 'human:ann'}]]", Unverified),
        ("one person", "{by: human:ann, at: 2026-07-01}", HumanReviewed),
        ("one machine", "{by: agent/checker}", MachineConfirmed),
        ("list of machines", "\n- by: agent/a\n- by: agent/b", MachineConfirmed),
        ("a person among machines", "\n- by: agent/a\n- by: human:b\n- by: agent/c", HumanReviewed),
        ("other entries are ignored", "[x, [y], ~, {by: 'human:ann'}]", HumanReviewed),
        ("no name", "{at: 2026-07-01}", MachineConfirmed),
        ("no entries", "{}", MachineConfirmed),
        ("null name", "{by: ~}", MachineConfirmed),
        ("list as name", "{by: ['human:ann']}", MachineConfirmed),
        ("other case", "{by: Human:ann}", MachineConfirmed),
        ("no colon", "{by: human}", MachineConfirmed),
        ("not at the start", "{by: ' human:ann'}", MachineConfirmed),
        ("last of repeated names", "{by: human:ann, by: agent/a}", MachineConfirmed),
        ("nested names do not count", "{x: {by: human:ann}}", MachineConfirmed),
        ("itself", "&v [*v, {by: human:ann, also: *v}]", HumanReviewed),
    ] {
        assert_eq!(trust(yaml), expected, "{name}");
    }
    let aliases = "a: &a {by: &n human:ann}\nb: &b {by: *n}\nverified: [*b]\n";
    assert_eq!(parse(aliases).verified.at_any_time, HumanReviewed);
}

#[test]
fn text_that_is_no_mapping_is_no_frontmatter() {
    for (name, yaml) in [
        ("list", "- a"),
        ("list of mappings", "- a: b\n- c: d"),
        ("text", "title"),
        ("missing space", "title:x"),
        ("quoted nothing", "''"),
        ("quoted text", "\"title: x\""),
        ("brackets", "[a]: b: c"),
        ("letterhead", "ACME Ltd\n12 Main Street"),
        ("letterhead with colons", "ACME Ltd\nPhone: 555 12 34\nRe: your letter"),
        ("prose", "Note: this: that\nand so on."),
        ("an entry that means nothing here, and is broken", "a: b: c"),
        ("directive without document", "%YAML 1.2"),
        ("rule", "-----"),
    ] {
        assert_eq!(read(&format!("{yaml}\n")), (None, Vec::new()), "{name}");
    }
}
