//! The nodes of a YAML text.
//!
//! The parser's events become a flat list in which each node knows where it ends. Aliases stay
//! names until a field needs them, so nothing is ever expanded, and nothing recurses.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::budget::Budget;

/// The nodes of one YAML document in the order they are written.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Where the node is that an anchor stands for, by the number of the anchor, from 1.
    anchors: BTreeMap<usize, usize>,
    /// How many anchors have numbers.
    numbered: usize,
}

#[derive(Debug)]
struct Node {
    content: Content,
    /// The line of the text it begins in, from 1.
    line: u32,
    /// The index after this node and all it holds.
    end: usize,
}

#[derive(Debug)]
pub(super) enum Content {
    Scalar(String),
    Null,
    Sequence,
    /// Its children alternate: key, value.
    Mapping,
    /// The number of the anchor.
    Alias(usize),
}

/// Where the root is.
pub(super) const ROOT: usize = 0;

impl Tree {
    /// Reads one YAML document.
    ///
    /// # Errors
    /// Why the text is none, in one short line.
    pub(super) fn read(yaml: &str, budget: &mut Budget) -> Result<Self, String> {
        let mut tree = Tree::default();
        let mut open = Vec::new();
        let mut started = false;
        let tag_costs = |tag: Option<&Tag>| tag.map_or(0, |tag| tag.handle.len());
        // Each use of a `%TAG` prefix copies it.
        let mut pay =
            |steps| budget.spend(steps).ok_or("its tags expand to more than 16 times the frontmatter");
        for event in Parser::new_from_str(yaml) {
            let (event, span) = event.map_err(|error| broken(&error))?;
            let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
            match event {
                Event::DocumentStart(_) if started => {
                    return Err("there is more than one YAML document".to_owned());
                }
                Event::DocumentStart(_) => started = true,
                Event::Scalar(text, style, anchor, tag) => {
                    let tag = tag.as_deref();
                    pay(tag_costs(tag))?;
                    let content = if is_null(&text, style, tag) {
                        Content::Null
                    } else {
                        Content::Scalar(text.into_owned())
                    };
                    tree.add(content, line, anchor);
                }
                Event::SequenceStart(anchor, tag) => {
                    pay(tag_costs(tag.as_deref()))?;
                    open.push(tree.add(Content::Sequence, line, anchor));
                }
                Event::MappingStart(anchor, tag) => {
                    pay(tag_costs(tag.as_deref()))?;
                    open.push(tree.add(Content::Mapping, line, anchor));
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let end = tree.nodes.len();
                    if let Some(node) = open.pop().and_then(|at| tree.nodes.get_mut(at)) {
                        node.end = end;
                    }
                }
                Event::Alias(anchor) => {
                    tree.add(Content::Alias(anchor), line, 0);
                }
                Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => {}
            }
        }
        Ok(tree)
    }

    /// A mapping without entries, to which some can be added.
    pub(super) fn mapping() -> Self {
        let mut tree = Tree::default();
        tree.add(Content::Mapping, 1, 0);
        tree
    }

    /// Adds a key and a text to the root.
    pub(super) fn add_text(&mut self, key: String, text: String, line: u32) {
        self.add(Content::Scalar(key), line, 0);
        self.add(Content::Scalar(text), line, 0);
        self.nodes[ROOT].end = self.nodes.len();
    }

    /// Adds the entries of another mapping to the root, but for the first ones, of which there are `known.len()`
    /// anchors: these stand for those of this tree that have the numbers in `known`. The first line of the rest is
    /// `line`. Gives what is to be added to the number of an anchor of the other tree.
    pub(super) fn add_entries(&mut self, other: Tree, skipped: usize, known: &[usize], line: u32) -> usize {
        let first = (0..skipped).fold(ROOT + 1, |child, _| other.nodes[child].end);
        let shift = self.nodes.len();
        let renumbered = self.numbered;
        let number = |local: usize| known.get(local - 1).copied().unwrap_or(local + renumbered);
        for (number, at) in other.anchors.range(known.len() + 1..) {
            // The root may have an anchor too, and is no entry.
            if *at >= first {
                self.anchors.insert(number + renumbered, at - first + shift);
            }
        }
        let lines_before = line.saturating_sub(1 + u32::from(skipped > 0));
        for node in other.nodes.into_iter().skip(first) {
            let content = match node.content {
                Content::Alias(local) => Content::Alias(number(local)),
                content => content,
            };
            let line = node.line.saturating_add(lines_before);
            self.nodes.push(Node { content, line, end: node.end - first + shift });
        }
        self.numbered += other.numbered;
        self.nodes[ROOT].end = self.nodes.len();
        renumbered
    }

    /// Every node in order: what it is, and its text. The end of a list or mapping is a node too.
    pub(super) fn flat(&self) -> Vec<(&'static str, String)> {
        let mut flat = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            while open.pop_if(|end| *end <= at).is_some() {
                flat.push(("end", String::new()));
            }
            flat.push(match &node.content {
                Content::Scalar(text) => ("text", text.clone()),
                Content::Null => ("null", String::new()),
                Content::Alias(_) => ("alias", String::new()),
                Content::Sequence => ("list", String::new()),
                Content::Mapping => ("mapping", String::new()),
            });
            if let Content::Sequence | Content::Mapping = node.content {
                open.push(node.end);
            }
        }
        flat.extend(open.iter().map(|_| ("end", String::new())));
        flat
    }

    /// Appends a node and gives its index. The parser numbers anchors from 1.
    fn add(&mut self, content: Content, line: u32, anchor: usize) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node { content, line, end: at + 1 });
        if anchor > 0 {
            self.anchors.insert(anchor, at);
            self.numbered = self.numbered.max(anchor);
        }
        at
    }

    /// How many anchors there are.
    pub(super) fn numbered(&self) -> usize {
        self.numbered
    }

    /// What the document is; `None` if the text holds none.
    pub(super) fn root(&self) -> Option<&Content> {
        self.nodes.first().map(|root| &root.content)
    }

    /// What a node is, or what the alias in its place stands for.
    pub(super) fn content(&self, at: usize) -> &Content {
        &self.nodes[self.target(at)].content
    }

    /// The line in which a node begins, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.nodes[at].line
    }

    /// The text of a scalar; `None` for null and for everything that is not a scalar.
    pub(super) fn text(&self, at: usize) -> Option<&str> {
        match self.content(at) {
            Content::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The node itself, or the one an alias stands for. That one is never an alias: YAML has no
    /// anchors on aliases.
    pub(super) fn target(&self, at: usize) -> usize {
        match self.nodes[at].content {
            Content::Alias(anchor) => self.anchors.get(&anchor).copied().unwrap_or(at),
            _ => at,
        }
    }

    /// What a list holds, or a mapping: key, value, key, value.
    pub(super) fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes[parent].end;
        let first = Some(parent + 1).filter(|&child| child < end);
        std::iter::successors(first, move |&child| Some(self.nodes[child].end).filter(|&next| next < end))
    }

    /// The keys of a mapping with their values.
    pub(super) fn pairs(&self, mapping: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut children = self.children(mapping);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }
}

/// The parser's complaint, without its place.
fn broken(error: &ScanError) -> String {
    error.info().to_owned()
}

/// Whether a scalar is null: the untagged plain ones of the core schema, and what is tagged so.
fn is_null(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    match tag {
        Some(tag) => "tag:yaml.org,2002:null".strip_prefix(tag.handle.as_str()) == Some(&tag.suffix),
        None => style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL"),
    }
}
