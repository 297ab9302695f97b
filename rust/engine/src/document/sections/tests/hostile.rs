//! Bodies that were made to take long: the time stays linear, and nothing recurses.

use std::time::{Duration, Instant};

use super::super::cut;

/// More than ten times what the slowest of these bodies takes without optimisations.
const DEADLINE: Duration = Duration::from_secs(60);
const LENGTH: usize = 1 << 18;

/// Marks that begin something, or could.
#[rustfmt::skip]
const MARKS: &[&str] = &[
    "[", "![", "[a](", "[a](b \"", "[a][", "](", "`", "`a", "``a`b", "*a", "a*", "*a **b ", "_a*b", "<",
    "a <!-- ", "a<?", "a<![CDATA[", "a <a b=\"", "<a\n", "<!--\n\n", "<div>\n\n", "<a b='\n\n", "&", "\\",
    "a\\\n", "#\n", "# a\n", "###### a\n", "a\n=\n", "```\n", "~~~\n\n", "    a\n\n", "-\n", "|", "a|",
    "|a|\n|-|\n\n", "|a|\n|-|\n", "[a]: b\n", "[a]: b 't\n", "[a]: (\n", "a\n", "a ", "a", "\u{301}",
    " \u{301}", "文", "。", "\n", " ", "\t", "\u{a0}", "\u{1f1eb}", "a.\"",
];

fn assert_fast(name: &str, body: &str) {
    let start = Instant::now();
    let (mut end, mut sections) = (0, 0);
    for section in cut(body, 0) {
        assert!(body[end..section.range.start].trim().is_empty(), "{name}");
        assert!(section.range.len() <= 4 * 2_900, "{name}");
        assert!(section.heading.iter().map(String::len).sum::<usize>() <= 6 * 4 * 200, "{name}");
        end = section.range.end;
        sections += 1;
    }
    assert!(body[end..].trim().is_empty(), "{name}");
    let time = start.elapsed();
    assert!(time < DEADLINE, "{name}: {sections} sections took {time:?}");
}

/// A text that is repeated up to a length.
fn repeated(text: &str, length: usize) -> String {
    text.repeat(length / text.len())
}

#[test]
fn nested_containers_are_cut_in_linear_time() {
    for opening in ["> ", ">", "- ", "1. ", "-\t", "> - "] {
        for below in ["", "\na", "\n", "\n> a", "\n- a", "\n\n  a", "\n  a\n"] {
            let body =
                format!("{}x{}", repeated(opening, LENGTH / 2), repeated(&format!("{below} "), LENGTH / 2));
            assert_fast(&format!("{opening:?} then {below:?}"), &body);
        }
    }
    let mut stairs = String::new();
    for step in 0..700 {
        stairs.extend(["  ".repeat(step).as_str(), "- a\n"]);
    }
    assert_fast("stairs", &format!("{stairs}{}", "\n".repeat(LENGTH / 2)));
    assert_fast("stairs, continued", &format!("{stairs}{}", "a\n".repeat(LENGTH / 4)));
}

#[test]
fn repeated_marks_are_cut_in_linear_time() {
    for text in MARKS {
        assert_fast(text, &repeated(text, LENGTH));
        assert_fast(text, &format!("{}\n\nb", repeated(text, LENGTH / 4)));
        assert_fast(text, &format!("# {}", repeated(text, LENGTH / 4)));
    }
    let row = "|a".repeat(LENGTH / 8);
    assert_fast(
        "a wide table",
        &format!("{row}\n{}\n{row}\n{}", row.replace('a', "-"), "a\n".repeat(LENGTH / 8)),
    );
    assert_fast("pairs", &format!("{}a{}", "[".repeat(LENGTH / 4), "](b)".repeat(LENGTH / 4)));
}

#[test]
fn long_lines_and_long_bodies_are_cut_in_linear_time() {
    assert_fast("one line", &"a".repeat(3 << 20));
    assert_fast("one line of words", &repeated("word ", 3 << 20));
    assert_fast("one line of quotations", &">".repeat(3 << 20));
    assert_fast("one mark", &format!("a{}", "\u{301}".repeat(1 << 20)));
    assert_fast("one fence", &format!("```\n{}", repeated("line of code\n\n", 3 << 20)));
    assert_fast("an open tag", &format!("<script>\n{}", repeated("a\n\n", 3 << 20)));
    assert_fast("a long table", &format!("|a|\n|-|\n{}", repeated("|b|\n", 3 << 20)));
    assert_fast("a long list", &repeated("- an item\n", 3 << 20));
    assert_fast("blank lines in an item", &format!("- a\n{}  b", "\n".repeat(3 << 20)));
    assert_fast("a short line, then a long one", &format!("a\n{}", "b".repeat(3 << 20)));
    assert_fast(
        "a long heading",
        &format!("# {}\n\n{}", repeated("word ", 2 << 20), repeated("a\n\n", 1 << 20)),
    );
}
