mod hostile;
mod properties;

use super::{Rules, cut, cut_by};
use crate::document::Document;

/// The texts of the sections of a body, each with its path and its lines.
fn shown(body: &str) -> Vec<(String, &str, (u32, u32))> {
    cut(body, 0)
        .map(|section| {
            let lines = (section.first_line, section.last_line);
            (section.heading.join(" > "), &body[section.range], lines)
        })
        .collect()
}

fn texts(body: &str) -> Vec<&str> {
    shown(body).into_iter().map(|(_, text, _)| text).collect()
}

fn path_of(body: &str) -> Vec<String> {
    cut(body, 0).last().map(|section| section.heading.to_vec()).unwrap_or_default()
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

#[test]
fn a_heading_begins_a_section_and_belongs_to_what_follows_it() {
    for (name, body, expected) in [
        ("nothing", "", &[][..]),
        ("white space", " \n\t\n \u{a0}\n", &[]),
        ("text above", "a\n\n# b\n\nc", &[("", "a", (1, 1)), ("b", "# b\n\nc", (3, 5))]),
        ("no blank lines", "a\n# b\nc", &[("", "a", (1, 1)), ("b", "# b\nc", (2, 3))]),
        ("deeper ones", "# a\n## b\n\n### c\nd", &[("a > b > c", "# a\n## b\n\n### c\nd", (1, 5))]),
        ("nothing below", "# a\n# b\n\nc", &[("a", "# a", (1, 1)), ("b", "# b\n\nc", (2, 4))]),
        ("at the end", "a\n\n# b\n", &[("", "a", (1, 1)), ("b", "# b", (3, 3))]),
        (
            "one that skips a level",
            "# a\n\n#### b\n\nc\n\n## d\n\ne",
            &[("a > b", "# a\n\n#### b\n\nc", (1, 5)), ("a > d", "## d\n\ne", (7, 9))],
        ),
        ("outermost in the middle", "## a\nb\n# c\nd", &[("a", "## a\nb", (1, 2)), ("c", "# c\nd", (3, 4))]),
        (
            "underlined",
            "a\n===\nb\n\nc\nd\n---\ne",
            &[("a", "a\n===\nb", (1, 3)), ("a > c d", "c\nd\n---\ne", (5, 8))],
        ),
        ("without a text", "# a\n\n##\n\nb", &[("a", "# a\n\n##\n\nb", (1, 5))]),
        (
            "in other blocks",
            "> # a\n\n- # b\n\n    # c\n\n```\n# d\n```",
            &[("", "> # a\n\n- # b\n\n    # c\n\n```\n# d\n```", (1, 9))],
        ),
        ("of HTML", "<h1>a</h1>\n\nb", &[("", "<h1>a</h1>\n\nb", (1, 3))]),
        ("none", "#a\n\n####### b\n\n\\# c", &[("", "#a\n\n####### b\n\n\\# c", (1, 5))]),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|(path, text, lines)| ((*path).to_owned(), *text, *lines)).collect();
        assert_eq!(shown(body), expected, "{name}");
    }
}

#[test]
fn a_path_shows_headings_as_a_reader_sees_them() {
    for (heading, text) in [
        ("# Net *revenue* and **orders**", "Net revenue and orders"),
        ("# `order_items` table", "order_items table"),
        ("# [Orders](https://example.com) ![of a shop](a.png)", "Orders of a shop"),
        ("# [Orders][o] [undefined]\n\n[o]: x", "Orders [undefined]"),
        ("# <a name=\"x\"></a>Orders", "Orders"),
        ("# a<br>b<BR/>c<br />d", "a b c d"),
        ("# a &amp; b &lt;c&gt; \\*d\\*", "a & b <c> *d*"),
        ("# Orders {#orders}", "Orders"),
        ("# Orders {.big #orders} ##", "Orders"),
        ("# Orders {: .big }", "Orders"),
        ("# {{ template }}", "{{ template }}"),
        ("# C#", "C#"),
        ("#  a\tb   c ", "a b c"),
        ("a\n  b\\\nc\n===", "a b c"),
        ("# 注文の合計", "注文の合計"),
    ] {
        assert_eq!(path_of(heading), [text], "{heading}");
    }
}

#[test]
fn the_path_is_short_however_long_a_heading_is() {
    for text in ["a".repeat(5_000), words(2_000), "e\u{301}".repeat(400), "`a`*b*".repeat(5_000)] {
        let path = path_of(&format!("# {text}\n\nb"));
        let length = path[0].chars().count();
        assert!((199..=200).contains(&length) && path[0].ends_with('…'), "{path:?}");
    }
    assert!(path_of(&format!("# {}", "e\u{301}".repeat(400)))[0].ends_with("e\u{301}…"));
    assert_eq!(path_of(&format!("# {}", "a".repeat(200)))[0], "a".repeat(200));
    let body = format!("{}\n===\n\n{}", words(10_000), "b\n\n".repeat(10_000));
    assert!(cut(&body, 0).map(|section| section.heading[0].len()).max() < Some(300));
}

#[test]
fn blocks_are_added_up_to_900_characters() {
    let block = |letter: char, length: usize| letter.to_string().repeat(length);
    for (name, lengths, expected) in [
        ("two that fit", &[400, 498][..], &[2][..]),
        ("two that do not", &[400, 499], &[1, 1]),
        ("the next one is counted anew", &[600, 299, 598, 300], &[1, 2, 1]),
        ("a long one", &[10, 2_000, 10], &[1, 1, 1]),
        ("one that would fit later", &[500, 500, 100], &[1, 2]),
    ] {
        let blocks: Vec<_> = lengths.iter().map(|length| block('é', *length)).collect();
        let body = blocks.join("\n\n");
        let found: Vec<_> = texts(&body).iter().map(|text| text.split("\n\n").count()).collect();
        assert_eq!(found, expected, "{name}");
    }
    let body = format!("# a\n\n{}\n\nb", block('a', 1_999));
    assert_eq!(texts(&body), [&body[..body.len() - 3], "b"], "a heading stays with a long block");
}

#[test]
fn nothing_is_cut_inside_a_block_of_2000_characters() {
    let long = |line: &str| line.repeat(1_900 / line.len());
    for block in [
        format!("```\n{}```", long("a\n\n# b\n\n")),
        format!("~~~ text\n{}~~~", long("```\n\n")),
        format!("    a\n{}    b", long("    a\n\n")),
        format!("|a|b|\n|-|-|\n{}", long("|c|d|\n")),
        format!("a|b\n-|-\n{}", long("c|d\n")),
        format!("- a\n{}", long("\n  b\n\n  ```\n  c\n  ```\n")),
        format!("1. a\n{}", long("\n   - b\n   - c\n")),
        long("> a\n>\n> b\n> - c\n"),
        format!("<div>\n{}</div>", long("<p>a</p>\n")),
        format!("<!--\n{}-->", long("a\n\n")),
        long("a b\n"),
    ] {
        let block = block.trim_end();
        let body = format!("# h\n\nabove\n\n{block}\n\nbelow\n");
        assert_eq!(texts(&body), ["# h\n\nabove", block, "below"]);
    }
}

#[test]
fn a_list_is_cut_between_its_items() {
    let item = |marker: &str| format!("{marker} {}\n\n  {}\n", "a".repeat(300), "b".repeat(100));
    for markers in [["-", "-", "-"], ["+", "+", "+"], ["*", "-", "*"]] {
        let items = markers.map(item);
        let body = items.concat();
        let (two, one) = (format!("{}{}", items[0], items[1]), &items[2]);
        assert_eq!(texts(&body), [two.trim_end(), one.trim_end()]);
    }
    let nested = format!("- a\n  - {}\n  - {}\n- c", "b".repeat(600), "b".repeat(600));
    assert_eq!(texts(&nested), [nested.strip_suffix("\n- c").unwrap(), "- c"], "not between nested items");
}

#[test]
fn a_longer_block_is_divided_at_its_best_places() {
    let line = format!("{}\n", "a".repeat(99));
    let lines = line.repeat(30);
    let body = format!("```\n{lines}```");
    let found = texts(&body);
    assert_eq!(found.iter().map(|text| text.lines().count()).collect::<Vec<_>>(), [9, 9, 9, 5]);
    assert!(found[1].starts_with('a') && found[1].ends_with('a'));

    let sentence = format!("{} end. ", words(10));
    let found = sentence.repeat(60);
    assert!(texts(&found).iter().all(|text| text.starts_with("word") && text.ends_with("end.")));
    for end in ["。", "！」", "？）"] {
        let body = format!("{}{end}", "文".repeat(40)).repeat(60);
        assert!(texts(&body).iter().all(|text| text.starts_with('文') && text.ends_with(end)), "{end}");
    }
    let spaces = format!("{}\u{3000}b", words(500));
    assert!(texts(&spaces).iter().all(|text| text.starts_with('w') && text.chars().count() <= 900));
    let word = "é".repeat(2_001);
    assert_eq!(texts(&word).iter().map(|text| text.chars().count()).collect::<Vec<_>>(), [900, 900, 201]);
    let abbreviation = format!("{} i.e. {}", "a".repeat(400), "b".repeat(2_000));
    assert!(texts(&abbreviation)[0].ends_with("i.e."), "in the first half if there is no other place");
}

#[test]
fn no_grapheme_is_divided_unless_it_is_longer_than_a_part() {
    for grapheme in [
        "e\u{301}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{1f1eb}\u{1f1f7}",
        "\u{1112}\u{1161}\u{11ab}",
    ] {
        let body = grapheme.repeat(3_001);
        for text in texts(&body) {
            assert_eq!(text.len() % grapheme.len(), 0, "{grapheme}");
            assert!(body.ends_with(text) || text.chars().count() > 890);
        }
    }
    // A mark that stands on a space is seen with it.
    let body = format!("{} \u{301}b", "a".repeat(899)).repeat(3);
    assert!(texts(&body).iter().all(|text| !text.starts_with('\u{301}')));
    let endless = format!("a{}", "\u{301}".repeat(5_000));
    assert!(texts(&endless).iter().all(|text| text.chars().count() <= 900));
    assert_eq!(texts(&endless).concat(), endless);
}

#[test]
fn lines_keep_their_indentation_when_a_block_is_divided() {
    let body = format!("```python\ndef f():\n\n{}\n```", "    call()  \n\n".repeat(300));
    let found = texts(&body);
    assert!(found.len() > 3);
    for text in &found[1..] {
        assert!(text.starts_with("    call()") || text.starts_with("```"), "{text:?}");
    }
}

#[test]
fn definitions_of_links_are_in_the_section_where_they_stand() {
    assert_eq!(texts("[a]: b\n\nc [a]\n\n[d]: e\n[f]: g"), ["[a]: b\n\nc [a]\n\n[d]: e\n[f]: g"]);
    assert_eq!(texts("[a]: b\n# c\n\n[d]: e\n\n# f\nd"), ["[a]: b", "# c\n\n[d]: e", "# f\nd"]);
    let definitions = "[a]: https://example.com/a-longer-path\n".repeat(100);
    assert!(texts(&definitions).iter().all(|text| text.len() < 900 && text.starts_with("[a]")));
}

#[test]
fn sections_tell_the_lines_of_the_file() {
    for (name, file, first_line) in [
        ("no frontmatter", "# a\n", 1),
        ("blank lines", "\n\n# a\n", 3),
        ("frontmatter", "---\ntitle: t\n---\n# a\n", 4),
        ("a blank line below it", "---\ntitle: t\n---\n\n# a\n", 5),
        ("more of them", "---\ntitle: t\n---\n\n\n\n# a\n", 7),
        ("blank lines above it", "\n \n---\n---\n# a\n", 5),
        ("a mark", "\u{FEFF}---\n---\n# a\n", 3),
        ("line ends of another system", "---\r\ntitle: t\r\n---\r\n\r\n# a\r\n", 5),
        ("line ends of an old system", "---\rtitle: t\r---\r\r# a\r", 5),
        ("unclosed", "---\ntitle: t\n\n# a\n", 4),
        ("a text that needs more lines", "---\ntitle: |\n  a\n  b\n---\n# a\n", 6),
    ] {
        let document = Document::read(file.as_bytes()).unwrap().document;
        let found = document.sections().last().unwrap();
        assert_eq!((found.first_line, found.last_line), (first_line, first_line), "{name}");
        assert_eq!(&document.body[found.range], "# a", "{name}");
    }
}

#[test]
fn other_rules_join_over_headings() {
    let texts = |rules: Rules, body: &'static str| -> Vec<_> {
        cut_by(rules, body, 0).map(|section| &body[section.range]).collect()
    };
    let (spanning, small) =
        (Rules { spans_deeper: true, ..super::RULES }, Rules { small: 10, ..super::RULES });
    let body = "# a\n\nb\n\n## c\n\nd\n\n# e\n\nf";
    assert_eq!(texts(spanning, body), ["# a\n\nb\n\n## c\n\nd", "# e\n\nf"]);
    assert_eq!(texts(small, body), ["# a\n\nb\n\n## c\n\nd", "# e\n\nf"]);
    let body = "## a\n\nb\n\n# c\n\nd";
    assert_eq!(texts(spanning, body), ["## a\n\nb", "# c\n\nd"]);
    assert_eq!(texts(small, body), ["## a\n\nb\n\n# c\n\nd"]);
}

#[test]
fn what_is_nested_too_deeply_to_be_parsed_is_cut_at_blank_lines() {
    let deep = format!("{}a", "> ".repeat(5_000));
    let lazy = format!("{deep}{}", "\nb".repeat(2_000));
    assert!(texts(&format!("# h\n\n{deep}\n\n# i")).contains(&"# i"), "few lines are parsed");
    let body = format!("c\n\n{lazy}\n\n# i\n\nd");
    let found = shown(&body);
    let (path, last, lines) = found.last().unwrap();
    assert_eq!((path.as_str(), lines.1), ("", 2_007));
    assert!(last.ends_with("# i\n\nd"));
    assert!(found.iter().all(|(_, text, _)| text.chars().count() <= 2_000));
}
