//! YAML that common readers accept although the standard does not. It is read without a remark.

use std::borrow::Cow;

use super::helpers::{read, tags, title};
use crate::document::frontmatter::lenient::to_strict;

/// Asserts that each text has this title, and that nothing is lost. Rows are a name, the YAML and the title.
fn assert_titles(rows: &[(&str, &str, &str)]) {
    for (name, yaml, expected) in rows {
        assert_eq!(title(&format!("{yaml}\n")).as_deref(), Some(*expected), "{name}");
    }
}

#[test]
fn quoted_scalars_may_go_on_at_column_0() {
    assert_titles(&[
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
    ]);
}

#[test]
fn flow_collections_may_have_any_indentation() {
    assert_titles(&[
        ("brackets", "x: [\n\"a\",\n'b'\n]\ntitle: t", "t"),
        ("items after the first", "x: [a,\nb]\ntitle: t", "t"),
        ("braces", "x: {\na: b,\n\"c\": [d,\ne]\n}\ntitle: t", "t"),
        ("nested", "x:\n  y: [\n \"a\"\n ]\ntitle: t", "t"),
        ("at the indentation of the key", "x:\n  y: [\n  a,\n  b\n  ]\ntitle: t", "t"),
        ("at the indentation of a dash", "x:\n- [\na\n]\n-  {\n a: b\n}\ntitle: t", "t"),
        ("comments between", "x: [ # ]\n# ]\na, # it's\nb]\ntitle: t", "t"),
        ("quotes inside words", "x: [it's, 5\"\n]\ntitle: t", "t"),
        ("text in quotes over lines", "x: [\"a\nb]\", 'c\n'\n]\ntitle: t", "t"),
    ]);
}

#[test]
fn a_tab_may_follow_a_key_or_a_dash() {
    assert_titles(&[
        ("tab", "title:\tt", "t"),
        ("tabs and spaces", "title:\t \tt", "t"),
        ("tab before quotes", "title:\t'One\ntwo'", "One two"),
        ("tab between brackets", "x: {a:\tb}\ntitle: t", "t"),
        ("tab in a list", "x:\n-\ta\n-\tb: c\ntitle:\tt", "t"),
        ("tab before a comment", "title: t\t# c\nx:\ty", "t"),
    ]);
}

#[test]
fn escaped_surrogates_are_joined() {
    assert_titles(&[
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
    ]);
}

#[test]
fn plain_and_block_scalars_are_not_rewritten() {
    assert_titles(&[
        ("plain text escapes nothing", "title: \\ud83d\nx: \"\\ud83d\"", "\\ud83d"),
        ("block text escapes nothing", "title: |-\n  \"\\ud83d\nx: \"\\ud83d\"", "\"\\ud83d"),
        ("block text keeps its quotes", "title: |-\n  \"a\n   b:\tc\n  [\nx: [\n]", "\"a\n b:\tc\n["),
        ("plain text keeps its quotes", "title: a\n  \"b\n  [c\nx: [\n]", "a \"b [c"),
    ]);
}

#[test]
fn a_comment_may_follow_a_quote_or_a_bracket_at_once() {
    assert_titles(&[
        ("a comment right after quotes", "title: \"t\"# \"c\nx: 'a'# b: c", "t"),
        ("a comment right after a bracket", "x: [a]# [b\ny: {# }\na: b,# }\n'c': \"d\"# }\n}\ntitle: t", "t"),
        ("no comment within a word", "x: [it'#s, 5\"#\n]\ntitle: t", "t"),
    ]);
}

#[test]
fn byte_order_marks_and_outer_indentation_do_not_matter() {
    assert_titles(&[
        ("a mark in front of a line", "type: x\n\u{FEFF}title: t", "t"),
        ("marks in front", "\u{FEFF}\u{FEFF}title: t", "t"),
        ("all indented", "  title: \"One\ntwo\"", "One two"),
        ("all in braces", "{\ntitle: \"One\ntwo\"\n}", "One two"),
    ]);
}

#[test]
fn an_unclosed_quote_in_another_script_does_not_panic() {
    let yaml = "é: [\né\n]\n\"数\": '数\n数'\ntitle: \"é\n\\é\n";
    assert_eq!(read(yaml).0.unwrap().title, None);
}

#[test]
fn tags_are_read_whatever_the_indentation_of_their_brackets() {
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
fn valid_yaml_is_not_rewritten() {
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
        assert!(matches!(to_strict(yaml), Cow::Borrowed(_)), "{:?}", to_strict(yaml));
    }
}
