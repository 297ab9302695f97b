use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::document::{remark::MAX_REMARKS, trust::Verified};

fn parse(text: &str) -> Document {
    read_file(text.as_bytes()).document
}

fn read_file(bytes: &[u8]) -> ParsedFile {
    Document::read(bytes).unwrap_or_else(|reason| panic!("{reason}: {bytes:?}"))
}

/// Codes and lines of the remarks, without those on a missing type.
fn remarks(bytes: &[u8]) -> Vec<(RemarkCode, Option<u32>)> {
    let remarks = read_file(bytes).remarks.into_iter().map(|remark| (remark.code, remark.line));
    remarks.filter(|(code, _)| *code != RemarkCode::MissingType).collect()
}

/// The title and the body of a text.
fn read(text: &str) -> (Option<String>, String) {
    let document = parse(text);
    (document.title, document.body)
}

#[test]
fn the_frontmatter_is_separated_from_the_body() {
    for (name, text, title, body) in [
        ("nothing", "", None, ""),
        ("no frontmatter", "text\n", None, "text\n"),
        ("leading newline without frontmatter", "\ntext", None, "\ntext"),
        ("frontmatter and body", "---\ntitle: t\n---\nbody\n", Some("t"), "body\n"),
        ("one leading newline is dropped", "---\ntitle: t\n---\n\nbody", Some("t"), "body"),
        ("only one", "---\ntitle: t\n---\n\n\nbody", Some("t"), "\nbody"),
        ("a line of white space is kept", "---\ntitle: t\n---\n \nbody", Some("t"), " \nbody"),
        ("end of file after the fence", "---\ntitle: t\n---", Some("t"), ""),
        ("empty frontmatter", "---\n---\nbody", None, "body"),
        ("only fences", "---\n---", None, ""),
        ("blank frontmatter", "---\n\n  \n---\nbody", None, "body"),
        ("comments only", "---\n# title: t\n---\nbody", None, "body"),
        ("null", "---\n~\n---\nbody", None, "body"),
        ("white space after fences", "---\t\ntitle: t\n---\u{3000}\u{85} \nbody", Some("t"), "body"),
        ("an indented first fence is text", " ---\ntitle: t\n---\nb", None, " ---\ntitle: t\n---\nb"),
        ("an indented fence is text", "---\ntitle: t\n ---\nb", None, "---\ntitle: t\n ---\nb"),
        ("four dashes are no fence", "----\ntitle: t\n---\n", None, "----\ntitle: t\n---\n"),
        ("blank lines before the fence", "\n \t\n\n---\ntitle: t\n---\nb", Some("t"), "b"),
        ("blank lines before text are kept", "\n \nx\n---\n", None, "\n \nx\n---\n"),
        ("text before the fence", "x\n---\ntitle: t\n---\n", None, "x\n---\ntitle: t\n---\n"),
        ("a fence that never closes", "---\ntitle: t\n\ntext\n", None, "---\ntitle: t\n\ntext\n"),
        ("nothing but a fence", "---", None, "---"),
        ("dots close nothing", "---\ntitle: t\n...\nb", None, "---\ntitle: t\n...\nb"),
        ("a letterhead", "---\nACME\n---\nb", None, "---\nACME\n---\nb"),
        ("a list", "---\n- a\n---\nb", None, "---\n- a\n---\nb"),
        ("TOML", "+++\ntitle = \"t\"\n+++\nb", None, "+++\ntitle = \"t\"\n+++\nb"),
        ("TOML before a block", "+++\n+++\n---\ntitle: t\n---\n", None, "+++\n+++\n---\ntitle: t\n---\n"),
        ("text after the dashes", "--- x\ntitle: t\n---\n", None, "--- x\ntitle: t\n---\n"),
        ("a rule in the body", "---\ntitle: t\n---\na\n---\nb", Some("t"), "a\n---\nb"),
        ("a fence ends a block scalar", "---\ntitle: |\n  t\n---\nb", Some("t\n"), "b"),
        ("an indented fence in a block scalar", "---\ntitle: |\n  t\n  ---\n---\nb", Some("t\n---\n"), "b"),
        ("a fence in quotes closes", "---\ntype: t\ntitle: \"\n---\nb\"\n---\n", Some("\""), "b\"\n---\n"),
    ] {
        assert_eq!(read(text), (title.map(str::to_owned), body.to_owned()), "{name}");
    }
}

#[test]
fn byte_order_marks_at_the_start_of_lines_hide_no_frontmatter() {
    let front = "---\ntitle: t\ntype: x\n---\nbody";
    for text in [
        format!("\u{FEFF}{front}"),
        format!("\u{FEFF}\u{FEFF}{front}"),
        format!("\u{FEFF}\n\u{FEFF}{front}"),
        front.replace("title", "\u{FEFF}title"),
        front.replace("type", "\u{FEFF}\u{FEFF}type"),
        front.replace("---", "\u{FEFF}---"),
        front.replace("---\nt", "---\n\u{FEFF}\nt"),
    ] {
        let ParsedFile { document, remarks, .. } = read_file(text.as_bytes());
        assert_eq!((document.title.as_deref(), &*document.body), (Some("t"), "body"), "{text:?}");
        assert_eq!(remarks, [], "{text:?}");
    }
    assert_eq!(read("---\n---\n\u{FEFF}body").1, "\u{FEFF}body", "a byte-order mark in the body is kept");
}

#[test]
fn every_kind_of_line_end_ends_a_line() {
    for ends in ["\n", "\r\n", "\r"] {
        let text = "---\ntitle: |\n  a\n  b\ntype: \"x\ny\"\n---\n\nx\n\ny".replace('\n', ends);
        let ParsedFile { document, remarks, .. } = read_file(text.as_bytes());
        assert_eq!((document.title.as_deref(), &*document.body), (Some("a\nb\n"), "x\n\ny"), "{text:?}");
        assert_eq!((document.concept_type.as_deref(), remarks), (Some("x y"), Vec::new()), "{text:?}");
    }
    assert_eq!(read("a\rb\r\r\nc\r").1, "a\nb\n\nc\n");
    assert_eq!(read("---\n---\n\rx").1, "x", "one newline is dropped");
    assert_eq!(read("---\r---\r\r\nx").1, "x");
}

#[test]
fn utf16_is_read_like_utf8() {
    let text = "\n---\r\ntitle: é 🛒\ntype: \"x\r\ny\"\r\n---\r\nbödy";
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(unit).collect();
        assert_eq!(read_file(&bytes), read_file(text.as_bytes()));
        assert_eq!(remarks(&bytes), []);
    }
}

#[test]
fn a_binary_file_is_a_problem() {
    for bytes in [&b"a\0"[..], b"---\ntitle: \0\n---\n", b"\xFF\xFEa\0\0\0"] {
        assert_eq!(Document::read(bytes), Err("it is binary: it holds a NUL".to_owned()));
    }
    assert_eq!(read("---\ntitle: \"a\\0b\"\n---\n").0.as_deref(), Some("a\0b"), "an escape is no NUL");
}

#[test]
fn remarks_have_the_line_of_the_file() {
    use RemarkCode::{
        DuplicateKey, FieldIgnored, FieldNotRead, FrontmatterNotRead, InvalidText, UnknownStatus,
        UnreadableDate,
    };
    for (name, bytes, expected) in [
        ("nothing", &b"---\ntitle: t\n---\n"[..], &[][..]),
        ("no frontmatter", b"text", &[]),
        ("empty", b"", &[]),
        ("invalid", b"a\r\nb\xFF\xFE", &[(InvalidText, 2)]),
        ("invalid in the block", b"\n---\ntitle: \xE2\x82\n---\n", &[(InvalidText, 3)]),
        ("unclosed", b"\n\n---\ntitle: t\n", &[(FrontmatterNotRead, 3)]),
        ("letterhead", b"---\rACME\r---\r", &[(FrontmatterNotRead, 1)]),
        ("TOML", b"\r\n+++ \ntitle = 1", &[(FrontmatterNotRead, 2)]),
        ("a slip", b"\n---\na: b\ntitle: @x\n---\n", &[(FieldNotRead, 4)]),
        (
            "in order",
            b"---\nstatus: x\nstale_after: y\ntags: {}\na: @\ntags: [[]]\n---\n\xFF",
            &[
                (UnknownStatus, 2),
                (UnreadableDate, 3),
                (FieldNotRead, 5),
                (DuplicateKey, 6),
                (FieldIgnored, 6),
                (InvalidText, 8),
            ],
        ),
        (
            "dates",
            b"---\ngenerated: {at: x}\nverified:\n- at: y\n- at: [z]\n- {}\n- at: 2026-07-01\n---\n",
            &[(UnreadableDate, 2), (UnreadableDate, 4), (UnreadableDate, 5)],
        ),
        ("blank status", b"---\nstatus: ''\n---\n", &[(UnknownStatus, 2)]),
        ("null status", b"---\nstatus:\nstale_after: ~\n---\n", &[]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(code, line)| (*code, Some(*line))).collect();
        assert_eq!(remarks(bytes), expected, "{name}");
    }
}

#[test]
fn a_missing_type_is_a_remark_without_a_line() {
    for (text, is_missing) in [
        ("", true),
        ("text", true),
        ("---\ntitle: t\n---\n", true),
        ("---\ntype:\n---\n", true),
        ("---\ntype: ' '\n---\n", true),
        ("---\ntype: [a]\n---\n", true),
        ("---\ntype: t\n", true),
        ("---\ntype: t\n---\n", false),
        ("---\ntype: @t\n---\n", false),
    ] {
        let read = read_file(text.as_bytes());
        let missing = read.remarks.iter().filter(|remark| remark.code == RemarkCode::MissingType);
        assert_eq!(
            missing.map(|remark| remark.line).collect::<Vec<_>>(),
            vec![None; usize::from(is_missing)]
        );
    }
}

#[test]
fn remarks_are_short_lines_and_the_first_of_each_code_are_kept() {
    let key = "k\u{7}".repeat(100_000);
    let text = format!("---\n{key}: @\n{key}: 1\n{key}: 2\n{}---\n", "stale_after: [\nx: @\n".repeat(3_000));
    let ParsedFile { remarks, remark_counts, .. } = read_file(text.as_bytes());
    assert!(remark_counts.values().sum::<usize>() > 6_000, "{remark_counts:?}");
    for (code, count) in remark_counts {
        let kept = remarks.iter().filter(|remark| remark.code == code).count();
        assert_eq!(kept, count.min(MAX_REMARKS), "{code:?}");
    }
    for remark in remarks {
        let sentence = remark.sentence;
        assert!(sentence.len() < 300 && !sentence.contains(char::is_control), "{sentence:?}");
        assert!(sentence.ends_with('.') && !sentence.ends_with(".."), "{sentence:?}");
    }
}

#[test]
fn status_is_one_of_three_words() {
    for (written, status, is_known) in [
        ("draft", Status::Draft, true),
        ("stable", Status::Stable, true),
        ("deprecated", Status::Deprecated, true),
        ("'deprecated'", Status::Deprecated, true),
        ("Draft", Status::Draft, true),
        ("DEPRECATED", Status::Deprecated, true),
        ("\" draft\\u3000\\n\"", Status::Draft, true),
        ("retired", Status::Stable, false),
        ("drafts", Status::Stable, false),
        ("\u{17F}table", Status::Stable, false),
        ("[draft]", Status::Stable, true),
        ("", Status::Stable, true),
    ] {
        let read = read_file(format!("---\nstatus: {written}\n---\n").as_bytes());
        assert_eq!(read.document.status, status, "{written:?}");
        let unknown = read.remarks.iter().any(|remark| remark.code == RemarkCode::UnknownStatus);
        assert_eq!(unknown, !is_known, "{written:?}");
    }
    assert_eq!(parse("").status, Status::Stable);
    for status in Status::ALL {
        assert_eq!(Status::from_field(status.as_str()), Some(status));
    }
}

#[test]
fn verifications_older_than_the_content_do_not_count_since_generated() {
    use Trust::{HumanReviewed, MachineConfirmed, Unverified};
    let at = "generated: {by: x, at: 2026-07-01T12:00:00Z}\n";
    let person = "{by: 'human:a', at: 2026-07-01T14:00:00+02:00}";
    for (name, text, at_any_time, since_generated) in [
        ("no generated", "verified: {by: human:a}".to_owned(), HumanReviewed, HumanReviewed),
        ("same instant", format!("{at}verified: {person}"), HumanReviewed, HumanReviewed),
        ("before", format!("{at}verified: {{by: human:a, at: 2026-07-01}}"), HumanReviewed, Unverified),
        (
            "after",
            format!("verified:\n- {{by: human:a, at: 2026-07-02}}\n{at}"),
            HumanReviewed,
            HumanReviewed,
        ),
        ("no date", format!("{at}verified: [{{by: human:a}}]"), HumanReviewed, Unverified),
        ("no readable date", format!("{at}verified: [{{by: human:a, at: soon}}]"), HumanReviewed, Unverified),
        (
            "a list as date",
            format!("{at}verified: [{{by: human:a, at: [2026-08-01]}}]"),
            HumanReviewed,
            Unverified,
        ),
        (
            "a machine since",
            format!("{at}verified: [{{by: human:a, at: 2026-06-30}}, {{by: b, at: 2026-07-02}}]"),
            HumanReviewed,
            MachineConfirmed,
        ),
        (
            "generated cannot be read",
            "generated: {at: soon}\nverified: {by: human:a, at: 2020-01-01}".to_owned(),
            HumanReviewed,
            HumanReviewed,
        ),
        (
            "generated is no mapping",
            "generated: 2026-07-01\nverified: {by: human:a, at: 2020-01-01}".to_owned(),
            HumanReviewed,
            HumanReviewed,
        ),
        (
            "last of repeated dates",
            format!("{at}verified: {{by: human:a, at: 2026-08-01, at: 2020-01-01}}"),
            HumanReviewed,
            Unverified,
        ),
        (
            "by alias",
            "generated: &g {by: human:a, at: 2026-07-01}\nverified: [*g]".to_owned(),
            HumanReviewed,
            HumanReviewed,
        ),
    ] {
        let mut document = parse(&format!("---\n{text}\n---\n"));
        assert_eq!(document.verified, Verified { at_any_time, since_generated }, "{name}");
        assert_eq!(document.trust, at_any_time, "{name}");
        document.count_verified(true);
        assert_eq!(document.trust, since_generated, "{name}");
    }
}

#[test]
fn stale_after_is_kept_as_written_and_read_as_an_instant_if_possible() {
    for (written, text, instant) in [
        ("2026-07-01", "2026-07-01", Some("2026-07-01T00:00:00Z")),
        ("2026-07-01 12:00:00", "2026-07-01 12:00:00", Some("2026-07-01T12:00:00Z")),
        ("'2026-07-01T12:00:00+02:00'", "2026-07-01T12:00:00+02:00", Some("2026-07-01T10:00:00Z")),
        ("12:30:00", "12:30:00", None),
        ("2026-13-01", "2026-13-01", None),
        ("next summer", "next summer", None),
    ] {
        let document = parse(&format!("---\nstale_after: {written}\n---\n"));
        assert_eq!(document.stale_after.as_deref(), Some(text));
        assert_eq!(document.stale_at, instant.and_then(Instant::parse), "{written}");
        assert_eq!(document.stale_at.is_some(), instant.is_some(), "{written}");
    }
    assert_eq!(parse("---\nstale_after: [2026-07-01]\n---\n").stale_after, None);
}

#[test]
fn trust_tiers_are_ordered_and_named() {
    assert!(Trust::Unverified < Trust::MachineConfirmed);
    assert!(Trust::MachineConfirmed < Trust::HumanReviewed);
    let names = [Trust::Unverified, Trust::MachineConfirmed, Trust::HumanReviewed];
    assert_eq!(names.map(Trust::as_str), ["unverified", "machine_confirmed", "human_reviewed"]);
}

#[test]
fn real_bundles_have_no_remarks() {
    let bundles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bundles");
    if !bundles.is_dir() {
        return;
    }
    let files = markdown_below(bundles);
    assert!(files.len() > 50, "{} files", files.len());
    for path in files {
        let read = read_file(&fs::read(&path).unwrap());
        let reserved = path.ends_with("index.md") || path.ends_with("log.md");
        assert!(reserved || read.document.concept_type.is_some(), "{}", path.display());
        assert!(reserved || read.remarks.is_empty(), "{}: {:?}", path.display(), read.remarks);
    }
}

fn markdown_below(root: PathBuf) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn a_body_on_other_lines_of_the_file_is_a_change() {
    let document = parse("---\ntitle: t\n---\nbody");
    for (name, text, same) in [
        ("a remark in the frontmatter", "---\n# a remark\ntitle: t\n---\nbody", false),
        ("a blank line below it", "---\ntitle: t\n---\n\nbody", false),
        ("a blank line above it", "\n---\ntitle: t\n---\nbody", false),
        ("a byte-order mark", "\u{FEFF}---\ntitle: t\n---\nbody", true),
        ("other line ends", "---\r\ntitle: t\r\n---\r\nbody", true),
        ("quotes", "---\ntitle: 't'\n---\nbody", true),
    ] {
        assert_eq!(document.says_the_same(&parse(text)), same, "{name}");
    }
}

proptest! {
    #[test]
    fn the_body_begins_below_the_lines_above_it(
        lines in prop::collection::vec(prop::sample::select(&["---", "", " ", "a: b", "+++", "\u{FEFF}", "c"][..]), 0..12),
    ) {
        let text = lines.join("\n");
        let document = parse(&text);
        let decoded = text.trim_start_matches('\u{FEFF}');
        let above = decoded.strip_suffix(document.body.as_str()).unwrap();
        prop_assert_eq!(above.matches('\n').count(), document.lines_above_body as usize);
        prop_assert!(above.is_empty() || above.ends_with('\n') || document.body.is_empty());
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::read(&bytes);
        let _ = Document::read(&[b"---\n", &bytes[..], b"\n---\n"].concat());
    }

    #[test]
    fn the_body_is_kept_as_written(body in "[a\\-\r\n \u{FEFF}\u{85}é]{0,30}") {
        let expected = decode::unix_lines(&body);
        let expected = expected.strip_prefix('\n').unwrap_or(&expected);
        let document = parse(&format!("---\ntitle: t\n---\n{body}"));
        prop_assert_eq!(document.body, expected);
    }

    #[test]
    fn text_without_frontmatter_is_kept_as_written(text in "x[a\\-\r\n \u{FEFF}\u{85}é]{0,30}") {
        prop_assert_eq!(parse(&text).body, decode::unix_lines(&text));
    }

    #[test]
    fn every_title_can_be_written_in_quotes(title in any::<String>()) {
        // A JSON string is a YAML one.
        let quoted = serde_json::to_string(&title).unwrap();
        let document = parse(&format!("---\ntitle: {quoted}\n---\n"));
        prop_assert_eq!(document.title, Some(title));
    }
}
