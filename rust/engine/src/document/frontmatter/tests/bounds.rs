//! Long, deep, wide and random texts: bounded work, and no panic.

use std::thread;

use proptest::prelude::*;

use super::helpers::{parse, read, text, title};
use crate::document::{
    frontmatter::{Fields, budget::MAX_YAML_BYTES},
    remark::RemarkCode,
    trust::Verified,
};

#[test]
fn a_small_text_that_expands_to_a_large_one_costs_only_its_field() {
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
    let fits = format!("#{}", "x".repeat(MAX_YAML_BYTES - 1));
    assert_eq!(read(&fits), (Some(Fields::default()), Vec::new()));
    let long = format!("title: {}\n", "x".repeat(MAX_YAML_BYTES - 10));
    assert_eq!(title(&long).map(|title| title.len()), Some(MAX_YAML_BYTES - 10));
    let (fields, remarks) =
        read(&format!("{long}a: &a t\nx: {{{}}}\ntype: *a\nb: c\n", "y".repeat(MAX_YAML_BYTES)));
    let fields = fields.unwrap();
    assert_eq!(fields.title.map(|title| title.text.len()), Some(MAX_YAML_BYTES - 10));
    assert_eq!(text(fields.concept_type).as_deref(), Some("t"));
    assert_eq!(remarks, [(RemarkCode::FieldNotRead, 3)]);
    for start in
        ["#", "[", "{", "- ", "\"", "title: x", "title: x\n", "&a ", "*a,", "!", "a: \"\n", "a: [\n", "a:\n"]
    {
        let _ = read(&start.repeat(1_100_000 / start.len()));
    }
}

#[test]
fn entries_that_never_close_take_linear_time_together() {
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
fn ordinary_use_of_aliases_is_within_the_bound() {
    let yaml = format!("a: &a quarterly revenue\ntags: [{}]\n", "*a, ".repeat(1_000));
    assert_eq!(parse(&yaml).tags.len(), 1_000);
}

/// Runs on a stack that recursion over nested nodes would overflow.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(256 * 1024).spawn(work);
    thread.unwrap().join().unwrap();
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
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

/// Texts made of pieces of YAML, so that they reach every part of a parser.
fn near_yaml() -> impl Strategy<Value = String> {
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
    fn random_yaml_does_not_panic(yaml in near_yaml()) {
        let _ = read(&yaml);
        let _ = read(&format!("title: &x a\nverified:\n- {yaml}\ntags: {yaml}"));
    }
}
