//! What holds for every body.

use proptest::{collection::vec, prelude::*, sample::select};
use unicode_segmentation::UnicodeSegmentation;

use super::super::{RULES, Rules, blocks::Blocks, cut, cut_by};
use crate::document::Document;

/// Lines that begin, continue and end every kind of block.
fn lines() -> impl Strategy<Value = String> {
    let line = select(
        &[
            "",
            "",
            "",
            " ",
            "a",
            "b.",
            "文。",
            "e\u{301} ",
            "# a",
            "## b",
            "### *c*",
            "#",
            "===",
            "---",
            "- a",
            "  b",
            "-",
            "1. a",
            "   - b",
            "> a",
            ">",
            "> - b",
            "```",
            "~~~",
            "    a",
            "\tb",
            "|a|b|",
            "|-|-|",
            "<div>",
            "</div>",
            "<!--",
            "-->",
            "[a]: b",
            "[a]",
            "\u{a0}",
            "* * *",
            "\u{301}",
            "**a",
            "`b",
            "\\",
        ][..],
    );
    let long =
        (select(&["a", "b ", "c. ", "文", "e\u{301}", " \u{301}", "|", "> ", "- "][..]), 300..3_000_usize);
    let long = long.prop_map(|(text, length)| text.repeat(length / text.chars().count()));
    prop_oneof![30 => line.prop_map(str::to_owned), 1 => long]
}

fn bodies() -> impl Strategy<Value = String> {
    prop_oneof![vec(lines(), 0..60).prop_map(|lines| lines.join("\n")), "[a# \n`>|*-]{0,200}",]
}

fn rules() -> impl Strategy<Value = Rules> {
    (select(&[0, 200][..]), any::<bool>()).prop_map(|(small, spans_deeper)| Rules {
        small,
        spans_deeper,
        ..RULES
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_no_white_space_is_in_exactly_one_section(body in bodies(), rules in rules()) {
        let mut end = 0;
        for section in cut_by(rules, &body, 0) {
            prop_assert!(section.range.start >= end);
            prop_assert!(body[end..section.range.start].trim().is_empty());
            let text = &body[section.range.clone()];
            prop_assert_eq!(text.trim_end(), text);
            prop_assert!(!text.lines().next().unwrap().trim().is_empty());
            prop_assert!(text.chars().count() <= 2_900);
            end = section.range.end;
        }
        prop_assert!(body[end..].trim().is_empty());
    }

    #[test]
    fn sections_begin_and_end_between_graphemes(body in bodies()) {
        let mut starts: Vec<_> = body.grapheme_indices(true).map(|(start, _)| start).collect();
        starts.push(body.len());
        for section in cut(&body, 0) {
            prop_assert!(starts.binary_search(&section.range.start).is_ok());
            prop_assert!(starts.binary_search(&section.range.end).is_ok());
        }
    }

    #[test]
    fn the_first_line_of_a_section_is_that_line_of_the_file(
        front in select(&["", "\n", "---\n---\n", "---\ntitle: a\n---\n\n", "\u{FEFF}\n---\na: [\n---\n", "---\nb\n"][..]),
        body in bodies(),
        line_end in select(&["\n", "\r\n", "\r"][..]),
    ) {
        let file = format!("{front}{body}").replace('\n', line_end);
        let decoded = file.trim_start_matches('\u{FEFF}').replace(line_end, "\n");
        let file_lines: Vec<_> = decoded.split('\n').collect();
        let document = Document::read(file.as_bytes()).unwrap().document;
        for section in document.sections() {
            let text = &document.body[section.range];
            let mut last = section.first_line as usize;
            for (at, line) in text.split('\n').enumerate() {
                last = section.first_line as usize + at;
                prop_assert!(file_lines[last - 1].contains(line), "{:?} is not in line {}", line, last);
            }
            prop_assert_eq!(last, section.last_line as usize);
        }
    }

    #[test]
    fn the_size_of_a_window_decides_nothing_if_every_block_fits(body in bodies(), more in 1..200_usize) {
        // A definition above and a use below are in one window or not.
        let body = body.replace('[', "");
        let whole: Vec<_> = Blocks::new(&body).collect();
        let starts = whole.iter().map(|block| block.range.start).chain([body.len()]);
        let longest = starts.scan(0, |start, next| Some(next - std::mem::replace(start, next))).max();
        let window = longest.unwrap_or(0) * 2 + more;
        prop_assert_eq!(Blocks::by_window(&body, window).collect::<Vec<_>>(), whole);
    }

    #[test]
    fn a_long_block_ends_at_the_end_of_a_window_and_nothing_is_lost(body in bodies(), window in 1..64_usize) {
        let mut end = 0;
        for block in Blocks::by_window(&body, window) {
            prop_assert!(body[end..block.range.start].trim().is_empty());
            prop_assert!(block.range.start == 0 || body[..block.range.start].ends_with('\n'));
            end = block.range.end;
        }
        prop_assert!(body[end..].trim().is_empty());
    }
}
