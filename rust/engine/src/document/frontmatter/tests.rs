use std::thread;

use proptest::prelude::*;

use super::budget::MAX_LEN;
use super::entries::Start;
use super::entries::start;
use super::lenient::relaxed;
use super::*;
use crate::document::{Trust, Verified, remark::RemarkCode};

/// Fields, and codes and lines of the remarks.
fn read(yaml: &str) -> (Option<Fields>, Vec<(RemarkCode, u32)>) {
    let mut noted = Noted::default();
    let fields = Fields::read(yaml, &mut noted);
    (fields, noted.into_remarks().map(|remark| (remark.code, remark.line.unwrap_or(0))).collect())
}

fn parse(yaml: &str) -> Fields {
    let (fields, lost) = read(yaml);
    assert!(lost.iter().all(|(code, _)| *code != RemarkCode::FieldNotRead), "{lost:?}: {yaml:?}");
    fields.unwrap_or_else(|| panic!("no mapping: {yaml:?}"))
}

fn text(written: Option<Written>) -> Option<String> {
    written.map(|written| written.text)
}

fn title(yaml: &str) -> Option<String> {
    text(parse(yaml).title)
}

fn tags(yaml: &str) -> Vec<String> {
    parse(&format!("tags: {yaml}\n")).tags
}

fn trust(yaml: &str) -> Trust {
    parse(&format!("verified: {yaml}\n")).verified.at_any_time
}

/// Runs where recursion by depth would overflow.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(256 * 1024).spawn(work);
    thread.unwrap().join().unwrap();
}

#[test]
fn scalars_are_the_text_their_author_wrote() {
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
fn nulls_and_collections_are_absent_scalars() {
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
    let at = |line, text: &str| Some(Written { text: text.to_owned(), line });
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
fn trust_comes_from_who_verified() {
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

#[test]
fn what_common_readers_read_is_read_without_a_remark() {
    for (name, yaml, expected) in [
        ("double quotes", "title: \"One\ntwo\"", "One two"),
        ("single quotes", "title: 'It''s\none'", "It's one"),
        ("lines like entries", "title: \"One\ntype: two\ntags: x\"", "One type: two tags: x"),
        ("blank lines", "title: \"One\n\n\ntwo\n  three\"", "One\n\ntwo three"),
        ("blank lines with spaces", "title: 'One\n  \n\t\ntwo'", "One\n\ntwo"),
        ("a closing quote alone", "title: \"One\n\"", "One "),
        ("a comment after it", "title: \"One\ntwo\" # \"", "One two"),
        ("an escaped line end", "title: \"One \\\ntwo\"", "One two"),
        ("an escaped quote", "title: \"One \\\"\ntwo\"", "One \" two"),
        ("an anchor before it", "title: &a \"One\ntwo\"", "One two"),
        ("a tag before it", "title: !!str 'One\ntwo'", "One two"),
        ("a quoted key", "\"title\": \"One\ntwo\"", "One two"),
        ("below its key", "title:\n  \"One\ntwo\"", "One two"),
        ("in another field", "x: \"a\nb\"\ntitle: t\ny: 'c\n\nd'", "t"),
        ("in a list", "x:\n- \"a\nb\"\n- c: 'd\ne'\ntitle: t", "t"),
        ("deeper than column 0, too little", "x:\n  y:\n    z: \"a\n b\"\ntitle: t", "t"),
        ("at the end", "type: x\ntitle: 'One\ntwo'", "One two"),
        ("brackets", "x: [\n\"a\",\n'b'\n]\ntitle: t", "t"),
        ("items after the first", "x: [a,\nb]\ntitle: t", "t"),
        ("braces", "x: {\na: b,\n\"c\": [d,\ne]\n}\ntitle: t", "t"),
        ("nested", "x:\n  y: [\n \"a\"\n ]\ntitle: t", "t"),
        ("at the indentation of the key", "x:\n  y: [\n  a,\n  b\n  ]\ntitle: t", "t"),
        ("at the indentation of a dash", "x:\n- [\na\n]\n-  {\n a: b\n}\ntitle: t", "t"),
        ("comments between", "x: [ # ]\n# ]\na, # it's\nb]\ntitle: t", "t"),
        ("quotes inside words", "x: [it's, 5\"\n]\ntitle: t", "t"),
        ("text in quotes over lines", "x: [\"a\nb]\", 'c\n'\n]\ntitle: t", "t"),
        ("tab", "title:\tt", "t"),
        ("tabs and spaces", "title:\t \tt", "t"),
        ("tab before quotes", "title:\t'One\ntwo'", "One two"),
        ("tab between brackets", "x: {a:\tb}\ntitle: t", "t"),
        ("tab in a list", "x:\n-\ta\n-\tb: c\ntitle:\tt", "t"),
        ("tab before a comment", "title: t\t# c\nx:\ty", "t"),
        ("a pair", "title: \"\\ud83c\\udf89\"", "🎉"),
        ("pairs", "title: \"a\\uD83D\\uDE00\\ud83d\\ude00b\"", "a😀😀b"),
        ("a first half alone", "title: \"\\ud83d a\"", "\u{FFFD} a"),
        ("a second half alone", "title: \"\\ude00\"", "\u{FFFD}"),
        ("halves in the wrong order", "title: \"\\ude00\\ud83d\"", "\u{FFFD}\u{FFFD}"),
        ("two first halves", "title: \"\\ud83d\\ud83d\\ude00\"", "\u{FFFD}😀"),
        ("a half and another escape", "title: \"\\ud83d\\u0041\"", "\u{FFFD}A"),
        ("long escapes of halves", "title: \"\\U0000d83d\\U0000de00\"", "😀"),
        ("a backslash before", "title: \"\\\\ud83d\\ude00\"", "\\ud83d\u{FFFD}"),
        ("single quotes escape nothing", "title: '\\ud83d'\nx: \"\\ud83d\"", "\\ud83d"),
        ("plain text escapes nothing", "title: \\ud83d\nx: \"\\ud83d\"", "\\ud83d"),
        ("block text escapes nothing", "title: |-\n  \"\\ud83d\nx: \"\\ud83d\"", "\"\\ud83d"),
        ("block text keeps its quotes", "title: |-\n  \"a\n   b:\tc\n  [\nx: [\n]", "\"a\n b:\tc\n["),
        ("plain text keeps its quotes", "title: a\n  \"b\n  [c\nx: [\n]", "a \"b [c"),
        ("a comment right after quotes", "title: \"t\"# \"c\nx: 'a'# b: c", "t"),
        ("a comment right after a bracket", "x: [a]# [b\ny: {# }\na: b,# }\n'c': \"d\"# }\n}\ntitle: t", "t"),
        ("no comment within a word", "x: [it'#s, 5\"#\n]\ntitle: t", "t"),
        ("a mark in front of a line", "type: x\n\u{FEFF}title: t", "t"),
        ("marks in front", "\u{FEFF}\u{FEFF}title: t", "t"),
        ("all indented", "  title: \"One\ntwo\"", "One two"),
        ("all in braces", "{\ntitle: \"One\ntwo\"\n}", "One two"),
        ("other scripts", "é: [\né\n]\n\"数\": '数\n数'\ntitle: \"é\n\\é", "\"é"),
    ] {
        let yaml = format!("{yaml}\n");
        if name == "other scripts" {
            assert_eq!(read(&yaml).0.unwrap().title, None, "{name}");
            continue;
        }
        assert_eq!(title(&yaml).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn tags_are_read_wherever_their_brackets_stand() {
    for yaml in [
        "[\n  \"a\", b\n]",
        "[a,\nb]",
        "[\na\n,\nb\n]",
        "\n  [\na, b]",
        "[\n  a,\n  b,\n]",
        "[ a\n, 'b'\n]\n# c",
    ] {
        assert_eq!(tags(yaml), ["a", "b"], "{yaml}");
    }
}

#[test]
fn valid_text_is_not_rewritten() {
    for yaml in [
        "a: b\nc:\n  - d\n  - e: 'f'\n",
        "a: \"b\n  c\"\nd: [\n  e,\n\n  f ]\n",
        "a: |\n  \"b\n  c:\td\n\ne: >-\n  [f\n",
        "a: it's\n  5\" [b\nc: d\n",
        "a: \"\\t\\u00e9\\U0001F600\\\\ud83d\"\n",
        "? a\n: b\n? [c,\n  d]\n: e\n",
        "- \"a\n  b\"\n- [c,\n  d]\n",
        "\"a\n\nb\"\n",
        "{a: b,\nc: d}\n",
        "a: b # it's\nc: d#'e\n",
        "",
        "\n\n",
    ] {
        assert!(matches!(relaxed(yaml), Cow::Borrowed(_)), "{:?}", relaxed(yaml));
    }
}

#[test]
fn one_slip_costs_no_other_field() {
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
        ("x:\n  - %", None),
        ("x: @", None),
        ("x:\n- [a\n- b", None),
        ("x: {a: [}", None),
        ("<<<<<<< HEAD", None),
        ("stray", None),
        ("stray\n  title: x", None),
        ("title:x", None),
        ("--- # two", None),
        ("... x", None),
        ("%YAML 1.2", None),
        ("? a: b: c\n: d", None),
        ("[a: b", None),
    ] {
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
}

#[test]
fn what_is_indented_below_an_entry_belongs_to_it() {
    for slip in ["  title: x", "]", "\tx", "- x"] {
        let fields = read(&format!("type: T\ntags: [a]\n{slip}\nstatus: draft\n")).0.unwrap();
        assert_eq!((text(fields.title), fields.tags), (None, Vec::new()), "{slip:?}");
        assert_eq!(text(fields.concept_type).as_deref(), Some("T"), "{slip:?}");
        assert_eq!(text(fields.status).as_deref(), Some("draft"), "{slip:?}");
    }
}

#[test]
fn each_entry_that_is_lost_or_taken_as_it_stands_is_a_remark() {
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
fn aliases_reach_the_entries_that_can_be_read() {
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
fn a_repeated_key_counts_last_among_those_that_are_read() {
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

#[test]
fn lines_that_begin_entries_are_told_from_others() {
    for (line, key) in [
        ("a: b", "a"),
        ("a:", "a"),
        ("a b : c", "a b"),
        ("a:\tb", "a"),
        ("\"a\": b", "a"),
        ("'it''s': b", "it''s"),
        ("\"a\\\": b\" : c", "a\\\": b"),
        ("http://a: b", "http://a"),
        ("é: b", "é"),
        ("a#b: c", "a#b"),
        ("-a: b", "-a"),
        ("@a: b", "@a"),
        ("*a : b", "*a"),
        ("<<: *b", "<<"),
    ] {
        assert!(matches!(start(line), Start::Key { key: found, .. } if found == key), "{line:?}");
    }
    for line in
        ["a", "a:b", "\"a: b\"", "'a: b", "# a: b", "a # b: c", " a: b", "- a: b", "[a]: b", "? a: b", ""]
    {
        assert!(!matches!(start(line), Start::Key { .. }), "{line:?}");
    }
}

#[test]
fn small_texts_that_mean_much_cost_their_field_only() {
    let long = "x".repeat(20_000);
    let mapping = "b: c,".repeat(5_000);
    for (name, yaml) in [
        ("tags", format!("a: &a {long}\ntags: [{}]\ntitle: t\n", "*a,".repeat(5_000))),
        ("verified", format!("a: &a {{{mapping}}}\nverified: [{}]\ntitle: t\n", "*a,".repeat(5_000))),
        ("tag prefixes", format!("%TAG !t! {long}\n--- !t!a\nb:\n{}title: t\n", "- !t!c\n".repeat(5_000))),
    ] {
        let (fields, remarks) = read(&yaml);
        let fields = fields.unwrap();
        assert_eq!(text(fields.title).as_deref(), Some("t"), "{name}");
        assert!(fields.tags.is_empty() && fields.verified == Verified::default(), "{name}");
        assert!(
            !remarks.is_empty() && remarks.iter().all(|(code, _)| *code == RemarkCode::FieldNotRead),
            "{name}"
        );
    }
}

#[test]
fn long_frontmatter_is_read_entry_by_entry() {
    let fits = format!("#{}", "x".repeat(MAX_LEN - 1));
    assert_eq!(read(&fits), (Some(Fields::default()), Vec::new()));
    let long = format!("title: {}\n", "x".repeat(MAX_LEN - 10));
    assert_eq!(title(&long).map(|title| title.len()), Some(MAX_LEN - 10));
    let (fields, remarks) = read(&format!("{long}a: &a t\nx: {{{}}}\ntype: *a\nb: c\n", "y".repeat(MAX_LEN)));
    let fields = fields.unwrap();
    assert_eq!(fields.title.map(|title| title.text.len()), Some(MAX_LEN - 10));
    assert_eq!(text(fields.concept_type).as_deref(), Some("t"));
    assert_eq!(remarks, [(RemarkCode::FieldNotRead, 3)]);
    for start in
        ["#", "[", "{", "- ", "\"", "title: x", "title: x\n", "&a ", "*a,", "!", "a: \"\n", "a: [\n", "a:\n"]
    {
        let _ = read(&start.repeat(1_100_000 / start.len()));
    }
}

#[test]
fn what_never_closes_is_not_looked_for_again_and_again() {
    let began = std::time::Instant::now();
    for unit in [
        "a: \"\n",
        "a: '\n",
        "a: [\n",
        "a: {\n",
        "a: \"b\" c\n",
        "a: [b] c\n",
        "a: @\n",
        "x\n",
        "a: &b c\n",
        "a: *b\n",
    ] {
        let (fields, _) = read(&format!("title: t\nx: @\n{}", unit.repeat(20_000)));
        assert_eq!(text(fields.unwrap().title).as_deref(), Some("t"), "{unit:?}");
    }
    let deep: Vec<_> = (0..1_000).map(|depth| " ".repeat(depth) + "a:\n").collect();
    let flow = "c,\n".repeat(20_000);
    let _ = read(&format!("{}{}b: [\n{flow}]\n", deep.concat(), " ".repeat(1_000)));
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn unused_aliases_cost_nothing() {
    let levels: Vec<_> = (1..500)
        .map(|level| {
            let previous = format!("*a{},", level - 1).repeat(9);
            format!("a{level}: &a{level} [{previous}]\n")
        })
        .collect();
    let yaml = format!("a0: &a0 [x]\n{}title: x\n", levels.concat());
    assert_eq!(title(&yaml).as_deref(), Some("x"));
}

#[test]
fn ordinary_use_of_aliases_is_far_from_the_bound() {
    let yaml = format!("a: &a quarterly revenue\ntags: [{}]\n", "*a, ".repeat(1_000));
    assert_eq!(parse(&yaml).tags.len(), 1_000);
}

#[test]
fn depth_does_not_overflow_the_stack() {
    on_a_small_stack(|| {
        for unit in [
            "[", "{", "{a: ", "[a: ", "- ", "? ", "? - ", "- ? ", "-\n", "?\n", ":\n", "\"", "'", "&a ",
            "! ", "!!str ", "*a,", "a: ", "\t", "%a ", "...\n", "\u{FEFF}", "|\n",
        ] {
            let soup = unit.repeat(100_000 / unit.len());
            for start in ["", "title: x\na: ", "a: &a b\ntags: [", "a:\n"] {
                let _ = read(&format!("{start}{soup}"));
                let _ = read(&format!("{start}{soup}\ntitle: x\n"));
            }
        }
        let stairs: Vec<_> = (0..400).map(|depth| " ".repeat(depth) + "a:\n").collect();
        let stairs = stairs.concat() + "title: x\n";
        assert_eq!(title(&stairs).as_deref(), Some("x"));
        let deep = format!("a:\n{}x\ntitle: x\n", "- ".repeat(50_000));
        assert_eq!(title(&deep).as_deref(), Some("x"));
    });
}

#[test]
fn wide_collections_are_read() {
    let many = "[],".repeat(10_000) + "x";
    let nested = format!("{}{many}{}", "[".repeat(200), "]: a".repeat(200));
    let yaml = format!("a: [{nested}]\ntags: [{many}]\ntitle: x\n");
    assert_eq!(parse(&yaml).tags, ["x"]);
    assert_eq!(title(&yaml).as_deref(), Some("x"));
}

/// Text that looks enough like YAML to reach every corner of a parser.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a", "title", "tags", "verified", "by", "human:x", ": ", ":", "\n", "\n", "\n", " ", "  ", "\n  ",
        "- ", "-", "[", "]", "{", "}", ",", "&x ", "*x", "*x ", "!t ", "!!str ", "! ", "!!null ", "'", "\"",
        "|", ">", "|-\n", ">+2\n", "#", " # ", "? ", "?", "\t", "---", "--- ", "...", "%", "%TAG ! x", "\\",
        "\\x4", "@", "é", "\u{85}", "\u{2028}", "\u{FEFF}", "<<", "~", "null", "\r", "\0", "%C3", "!<",
    ]);
    prop::collection::vec(pieces, 0..25).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_soup_makes_it_panic(yaml in soup()) {
        let _ = read(&yaml);
        let _ = read(&format!("title: &x a\nverified:\n- {yaml}\ntags: {yaml}"));
    }
}
