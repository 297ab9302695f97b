//! The YAML in front of a document: which fields it sets (B5, B6, L5).
//!
//! The parser's events become a flat list in which each node knows where it ends. Aliases stay
//! names until a field needs them, so nothing is ever expanded, and nothing recurses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use crate::document::Trust;

/// The longest frontmatter that is parsed, in bytes.
///
/// The parser is linear, but with a large factor at worst: it holds all tokens of a `[...]` or
/// `{...}` until that closes (some 200 bytes for each byte), and puts each key it recognises late
/// in front of them, 255 times at most. The worst MiB found takes about a second; ordinary ones
/// take a tenth of that. Depth needs no limit of ours: the parser refuses more than 255 levels of
/// brackets, and neither it nor we recurse on levels of indentation.
const MAX_LEN: usize = 1 << 20;

/// What the frontmatter says, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) concept_type: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) stale_after: Option<String>,
    pub(crate) trust: Trust,
}

impl Fields {
    /// Reads a YAML 1.2 mapping, or nothing at all.
    ///
    /// # Errors
    ///
    /// One line that says why `yaml` is neither.
    pub(crate) fn parse(yaml: &str) -> Result<Self, String> {
        if yaml.len() > MAX_LEN {
            return Err(format!("the frontmatter is longer than {MAX_LEN} bytes"));
        }
        // The parser takes NUL for the end of its input, YAML does not allow it anywhere.
        if memchr::memchr(0, yaml.as_bytes()).is_some() {
            return Err("the frontmatter contains U+0000".to_owned());
        }
        let mut budget = Budget::for_input(yaml);
        let tree = Tree::read(yaml, &mut budget)?;
        match tree.nodes.first().map(|root| &root.content) {
            Some(Content::Mapping) => tree.fields(&mut budget),
            None | Some(Content::Null) => Ok(Fields::default()),
            Some(_) => Err("the frontmatter is not a mapping".to_owned()),
        }
    }
}

/// The work a document may cause: a multiple of its length. Only aliases and `%TAG` prefixes can
/// exceed it, because they make much of little.
struct Budget {
    left: usize,
}

impl Budget {
    fn for_input(yaml: &str) -> Self {
        Budget { left: 16 * yaml.len() + 4096 }
    }

    fn spend(&mut self, work: usize) -> Result<(), String> {
        self.left = self
            .left
            .checked_sub(work)
            .ok_or_else(|| "aliases or tags expand to more than 16 times the frontmatter".to_owned())?;
        Ok(())
    }
}

/// The nodes of one YAML document in the order they are written.
#[derive(Default)]
struct Tree<'yaml> {
    nodes: Vec<Node<'yaml>>,
    /// Where the node is that an anchor stands for, by the parser's number of the anchor.
    anchors: BTreeMap<usize, usize>,
}

struct Node<'yaml> {
    content: Content<'yaml>,
    /// The index after this node and all it holds.
    end: usize,
}

enum Content<'yaml> {
    Scalar(Cow<'yaml, str>),
    Null,
    Sequence,
    /// Its children alternate: key, value.
    Mapping,
    /// The number of the anchor.
    Alias(usize),
}

impl<'yaml> Tree<'yaml> {
    fn read(yaml: &'yaml str, budget: &mut Budget) -> Result<Self, String> {
        let mut tree = Tree::default();
        let mut open = Vec::new();
        let mut started = false;
        for event in Parser::new_from_str(yaml) {
            let (event, _) = event.map_err(|error| broken(&error))?;
            match event {
                Event::DocumentStart(_) if started => {
                    return Err("the frontmatter holds more than one YAML document".to_owned());
                }
                Event::DocumentStart(_) => started = true,
                Event::Scalar(text, style, anchor, tag) => {
                    let tag = tag.as_deref();
                    // Each use of a `%TAG` prefix copies it.
                    budget.spend(tag.map_or(0, |tag| tag.handle.len()))?;
                    let content =
                        if is_null(&text, style, tag) { Content::Null } else { Content::Scalar(text) };
                    tree.add(content, anchor);
                }
                Event::SequenceStart(anchor, tag) => {
                    budget.spend(tag.map_or(0, |tag| tag.handle.len()))?;
                    open.push(tree.add(Content::Sequence, anchor));
                }
                Event::MappingStart(anchor, tag) => {
                    budget.spend(tag.map_or(0, |tag| tag.handle.len()))?;
                    open.push(tree.add(Content::Mapping, anchor));
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let end = tree.nodes.len();
                    if let Some(node) = open.pop().and_then(|at| tree.nodes.get_mut(at)) {
                        node.end = end;
                    }
                }
                Event::Alias(anchor) => {
                    tree.add(Content::Alias(anchor), 0);
                }
                Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => {}
            }
        }
        Ok(tree)
    }

    /// Appends a node and gives its index. The parser numbers anchors from 1.
    fn add(&mut self, content: Content<'yaml>, anchor: usize) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node { content, end: at + 1 });
        if anchor > 0 {
            self.anchors.insert(anchor, at);
        }
        at
    }

    fn fields(&self, budget: &mut Budget) -> Result<Fields, String> {
        let (mut title, mut description, mut concept_type) = (None, None, None);
        let (mut status, mut stale_after) = (None, None);
        let (mut tags, mut verified) = (None, None);
        for (key, value) in self.pairs(0) {
            let field = match self.text(key) {
                Some("title") => &mut title,
                Some("description") => &mut description,
                Some("tags") => &mut tags,
                Some("type") => &mut concept_type,
                Some("status") => &mut status,
                Some("stale_after") => &mut stale_after,
                Some("verified") => &mut verified,
                _ => continue,
            };
            // The last one counts, usable or not.
            *field = Some(value);
        }
        let text = |at: Option<usize>| at.and_then(|at| self.text(at)).map(str::to_owned);
        Ok(Fields {
            title: text(title),
            description: text(description),
            tags: tags.map_or_else(|| Ok(Vec::new()), |at| self.tags(at, budget))?,
            concept_type: text(concept_type),
            status: text(status),
            stale_after: text(stale_after),
            trust: verified.map_or(Ok(Trust::Unverified), |at| self.trust(at, budget))?,
        })
    }

    /// Tags from a list, or from one scalar (B6).
    fn tags(&self, at: usize, budget: &mut Budget) -> Result<Vec<String>, String> {
        let at = self.target(at);
        if let Some(text) = self.text(at) {
            return Ok(split_tags(text));
        }
        let mut tags = Vec::new();
        if let Content::Sequence = self.nodes[at].content {
            for text in self.children(at).filter_map(|item| self.text(item)) {
                budget.spend(text.len())?;
                tags.push(text.to_owned());
            }
        }
        Ok(tags)
    }

    /// The highest trust that one of the mappings of `verified` gives (L5).
    fn trust(&self, at: usize, budget: &mut Budget) -> Result<Trust, String> {
        let at = self.target(at);
        let mut trust = Trust::Unverified;
        match self.nodes[at].content {
            Content::Mapping => trust = self.trust_of(at, budget)?,
            Content::Sequence => {
                for entry in self.children(at).map(|entry| self.target(entry)) {
                    if let Content::Mapping = self.nodes[entry].content {
                        trust = trust.max(self.trust_of(entry, budget)?);
                    }
                }
            }
            Content::Scalar(_) | Content::Null | Content::Alias(_) => {}
        }
        Ok(trust)
    }

    /// The trust that one mapping of `verified` gives.
    fn trust_of(&self, mapping: usize, budget: &mut Budget) -> Result<Trust, String> {
        let mut by = None;
        for (key, value) in self.pairs(mapping) {
            budget.spend(1)?;
            if self.text(key) == Some("by") {
                by = self.text(value);
            }
        }
        Ok(match by {
            Some(name) if name.starts_with("human:") => Trust::HumanReviewed,
            _ => Trust::MachineConfirmed,
        })
    }

    /// The text of a scalar; `None` for null and for everything that is not a scalar.
    fn text(&self, at: usize) -> Option<&str> {
        match &self.nodes[self.target(at)].content {
            Content::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The node itself, or the one an alias stands for. That one is never an alias: YAML has no
    /// anchors on aliases.
    fn target(&self, at: usize) -> usize {
        match self.nodes[at].content {
            Content::Alias(anchor) => self.anchors.get(&anchor).copied().unwrap_or(at),
            _ => at,
        }
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes[parent].end;
        let first = Some(parent + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| Some(self.nodes[child].end).filter(|&next| next < end))
    }

    fn pairs(&self, mapping: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut children = self.children(mapping);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }
}

/// The parser's complaint, with the line of the file: line 1 is the opening `---`.
fn broken(error: &ScanError) -> String {
    let line = error.marker().line() + 1;
    format!("broken YAML in line {line}: {}", error.info())
}

/// Whether a scalar is null: the untagged plain ones of the core schema, and what is tagged so.
fn is_null(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    match tag {
        Some(tag) => "tag:yaml.org,2002:null".strip_prefix(tag.handle.as_str()) == Some(&tag.suffix),
        None => style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL"),
    }
}

/// `a, b` and `[a, b]` are both the tags `a` and `b`.
fn split_tags(text: &str) -> Vec<String> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    fn parse(yaml: &str) -> Fields {
        Fields::parse(yaml).unwrap_or_else(|reason| panic!("{reason}: {yaml:?}"))
    }

    fn title(yaml: &str) -> Option<String> {
        parse(yaml).title
    }

    fn tags(yaml: &str) -> Vec<String> {
        parse(&format!("tags: {yaml}\n")).tags
    }

    fn trust(yaml: &str) -> Trust {
        parse(&format!("verified: {yaml}\n")).trust
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
             status: draft\nstale_after: 2026-07-01\nverified: {by: human:ann}\nother: x\n",
        );
        assert_eq!(
            fields,
            Fields {
                title: Some("Orders".to_owned()),
                description: Some("One row per order.".to_owned()),
                tags: vec!["a".to_owned()],
                concept_type: Some("table".to_owned()),
                status: Some("draft".to_owned()),
                stale_after: Some("2026-07-01".to_owned()),
                trust: Trust::HumanReviewed,
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
        assert_eq!(parse(aliases).trust, HumanReviewed);
    }

    #[test]
    fn what_is_not_one_mapping_is_a_problem() {
        for (name, yaml, reason) in [
            ("list", "- a", "not a mapping"),
            ("text", "title", "not a mapping"),
            ("missing space", "title:x", "not a mapping"),
            ("quoted nothing", "''", "not a mapping"),
            ("unclosed bracket", "a: [b", "broken YAML in line 3"),
            ("unclosed quote", "\n\na: \"b", "broken YAML in line 4"),
            ("closing bracket alone", "a: ]", "broken YAML"),
            ("two colons", "a: b: c", "broken YAML"),
            ("text after the mapping", "a: b\nc", "broken YAML"),
            ("indentation falls back too far", "  a: b\nc: d", "broken YAML"),
            ("tab as indentation", "a:\n\tb: c", "broken YAML"),
            ("unknown alias", "a: *b", "broken YAML"),
            ("alias before its anchor", "a: *b\nc: &b d", "broken YAML"),
            ("undeclared tag handle", "a: !x!y z", "broken YAML"),
            ("reserved character", "a: @b", "broken YAML"),
            ("byte order mark inside", "a: b\u{FEFF}c", "broken YAML"),
            ("byte order mark between keys", "a: b\n\u{FEFF}c: d", "broken YAML"),
            ("directive without document", "%YAML 1.2", "broken YAML"),
            ("directive inside", "a: b\n%YAML 1.2\n", "broken YAML"),
            ("text after the end", "a: b\n... c", "broken YAML"),
            ("NUL", "a: b\0c", "U+0000"),
            ("NUL in a comment", "a: b # \0\ntitle: c", "U+0000"),
            ("NUL in quotes", "a: '\0'", "U+0000"),
            ("NUL in a block scalar", "a: |\n  \0\n", "U+0000"),
            ("document after the end", "a: b\n...\ntitle: c", "more than one YAML document"),
            ("second document", "a: b\n--- # two\ntitle: c", "more than one YAML document"),
            ("empty second document", "a: b\n--- # two", "more than one YAML document"),
        ] {
            let error = Fields::parse(&format!("{yaml}\n")).expect_err(name);
            assert!(error.contains(reason), "{name}: {error}");
            assert!(error.len() < 200 && !error.contains('\n'), "{name}: {error}");
        }
    }

    #[test]
    fn small_texts_that_mean_much_are_problems() {
        let long = "x".repeat(20_000);
        for (name, yaml) in [
            ("tags", format!("a: &a {long}\ntags: [{}]\n", "*a,".repeat(5_000))),
            (
                "verified",
                format!("a: &a {{{}}}\nverified: [{}]\n", "b: c,".repeat(5_000), "*a,".repeat(5_000)),
            ),
            ("tag prefixes", format!("%TAG !t! {long}\n--- !t!a\nb:\n{}", "- !t!c\n".repeat(5_000))),
        ] {
            let error = Fields::parse(&yaml).expect_err(name);
            assert!(error.contains("more than 16 times"), "{name}: {error}");
        }
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
    fn long_frontmatter_is_a_problem() {
        let fits = "#".repeat(MAX_LEN);
        assert_eq!(Fields::parse(&fits), Ok(Fields::default()));
        for start in ["#", "[", "{", "- ", "\"", "title: x", "&a ", "*a,", "!"] {
            let error = Fields::parse(&start.repeat(10_000_000 / start.len()));
            assert_eq!(error, Err("the frontmatter is longer than 1048576 bytes".to_owned()));
        }
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
                    let _ = Fields::parse(&format!("{start}{soup}"));
                    let _ = Fields::parse(&format!("{start}{soup}\ntitle: x\n"));
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
            "a", "title", "tags", "verified", "by", "human:x", ": ", ":", "\n", "\n", "\n", " ", "  ",
            "\n  ", "- ", "-", "[", "]", "{", "}", ",", "&x ", "*x", "*x ", "!t ", "!!str ", "! ", "!!null ",
            "'", "\"", "|", ">", "|-\n", ">+2\n", "#", " # ", "? ", "?", "\t", "---", "--- ", "...", "%",
            "%TAG ! x", "\\", "\\x4", "@", "é", "\u{85}", "\u{2028}", "\u{FEFF}", "<<", "~", "null", "\r",
            "\0", "%C3", "!<",
        ]);
        prop::collection::vec(pieces, 0..25).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_soup_makes_it_panic(yaml in soup()) {
            let _ = Fields::parse(&yaml);
            let _ = Fields::parse(&format!("title: &x a\nverified:\n- {yaml}\ntags: {yaml}"));
        }
    }
}
