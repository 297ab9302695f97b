//! The nodes of a YAML text.
//!
//! The parser's events become a flat list in which each node knows where its children end. An alias stays a
//! reference to its anchor until a field needs the value, so nothing is expanded, and no function recurses.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::budget::{Budget, tags_expand_too_much};

/// The nodes of one YAML document in the order they are written. A node is named by its index in this list, an
/// anchor by a number from 1.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// From the number of an anchor to its node.
    anchors: BTreeMap<usize, usize>,
    /// How many numbers of anchors are in use.
    anchor_count: usize,
}

#[derive(Debug)]
struct Node {
    value: Value,
    /// The line in which it begins, from 1.
    line: u32,
    /// The index after this node and all nodes in it.
    end: usize,
}

#[derive(Debug)]
pub(super) enum Value {
    Scalar(String),
    Null,
    Sequence,
    /// Its children are keys and values in turn.
    Mapping,
    /// The number of the anchor.
    Alias(usize),
}

/// The index of the root.
pub(super) const ROOT: usize = 0;

impl Tree {
    /// Parses one YAML document. The budget bounds what `%TAG` prefixes expand to.
    ///
    /// # Errors
    /// Why the text is not valid, in a few words.
    pub(super) fn parse(yaml: &str, budget: &mut Budget) -> Result<Self, String> {
        let mut tree = Tree::default();
        let mut open = Vec::new();
        let mut started = false;
        // The parser copies the `%TAG` prefix for each tag that uses it.
        let mut pay = |tag: Option<&Tag>| {
            budget.spend(tag.map_or(0, |tag| tag.handle.len())).ok_or_else(tags_expand_too_much)
        };
        for event in Parser::new_from_str(yaml) {
            let (event, span) = event.map_err(|error| reason(&error))?;
            let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
            match event {
                Event::DocumentStart(_) if started => {
                    return Err("there is more than one YAML document".to_owned());
                }
                Event::DocumentStart(_) => started = true,
                Event::Scalar(text, style, anchor, tag) => {
                    let tag = tag.as_deref();
                    pay(tag)?;
                    let is_null = is_null(&text, style, tag);
                    let value = if is_null { Value::Null } else { Value::Scalar(text.into_owned()) };
                    tree.push(value, line, anchor);
                }
                Event::SequenceStart(anchor, tag) => {
                    pay(tag.as_deref())?;
                    open.push(tree.push(Value::Sequence, line, anchor));
                }
                Event::MappingStart(anchor, tag) => {
                    pay(tag.as_deref())?;
                    open.push(tree.push(Value::Mapping, line, anchor));
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let end = tree.nodes.len();
                    if let Some(node) = open.pop().and_then(|at| tree.nodes.get_mut(at)) {
                        node.end = end;
                    }
                }
                Event::Alias(anchor) => {
                    tree.push(Value::Alias(anchor), line, 0);
                }
                Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => {}
            }
        }
        Ok(tree)
    }

    /// A mapping without entries.
    pub(super) fn empty_mapping() -> Self {
        let mut tree = Tree::default();
        tree.push(Value::Mapping, 1, 0);
        tree
    }

    /// Adds an entry to the root: a key and a text.
    pub(super) fn push_entry(&mut self, key: String, text: String, line: u32) {
        self.push(Value::Scalar(key), line, 0);
        self.push(Value::Scalar(text), line, 0);
        self.nodes[ROOT].end = self.nodes.len();
    }

    /// Adds the entries of another mapping to the root.
    ///
    /// If `header_anchors` is not empty, the first entry of `other` is a header in the first line, which is left
    /// out. Its anchors stand for the anchors of this tree that have these numbers. `line` is the line of the
    /// file in which the text below the header begins.
    ///
    /// Returns how much the numbers of the other anchors grow.
    pub(super) fn append_entries(&mut self, other: Tree, header_anchors: &[usize], line: u32) -> usize {
        let has_header = !header_anchors.is_empty();
        // A key and a value.
        let header_nodes = if has_header { 2 } else { 0 };
        let first = (0..header_nodes).fold(ROOT + 1, |child, _| other.nodes[child].end);
        let shift = self.nodes.len();
        let numbers_before = self.anchor_count;
        let new_number =
            |number: usize| header_anchors.get(number - 1).copied().unwrap_or(number + numbers_before);
        for (number, at) in other.anchors.range(header_anchors.len() + 1..) {
            // The root of `other` may have an anchor too, but it is left out.
            if *at >= first {
                self.anchors.insert(number + numbers_before, at - first + shift);
            }
        }
        let lines_before = line.saturating_sub(1 + u32::from(has_header));
        for node in other.nodes.into_iter().skip(first) {
            let value = match node.value {
                Value::Alias(number) => Value::Alias(new_number(number)),
                value => value,
            };
            let line = node.line.saturating_add(lines_before);
            self.nodes.push(Node { value, line, end: node.end - first + shift });
        }
        self.anchor_count += other.anchor_count;
        self.nodes[ROOT].end = self.nodes.len();
        numbers_before
    }

    /// Appends a node and returns its index. The parser numbers anchors from 1; 0 is no anchor.
    fn push(&mut self, value: Value, line: u32, anchor: usize) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node { value, line, end: at + 1 });
        if anchor > 0 {
            self.anchors.insert(anchor, at);
            self.anchor_count = self.anchor_count.max(anchor);
        }
        at
    }

    /// All nodes in order, each as the name of its kind and its text. The end of a list or mapping counts as a
    /// node too.
    pub(super) fn kinds_and_texts(&self) -> Vec<(&'static str, String)> {
        let mut nodes = Vec::new();
        let mut open_ends: Vec<usize> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            while open_ends.pop_if(|end| *end <= at).is_some() {
                nodes.push(("end", String::new()));
            }
            nodes.push(match &node.value {
                Value::Scalar(text) => ("text", text.clone()),
                Value::Null => ("null", String::new()),
                Value::Alias(_) => ("alias", String::new()),
                Value::Sequence => ("list", String::new()),
                Value::Mapping => ("mapping", String::new()),
            });
            if let Value::Sequence | Value::Mapping = node.value {
                open_ends.push(node.end);
            }
        }
        nodes.extend(open_ends.iter().map(|_| ("end", String::new())));
        nodes
    }

    pub(super) fn anchor_count(&self) -> usize {
        self.anchor_count
    }

    /// The value of the root; `None` if the text is empty.
    pub(super) fn root(&self) -> Option<&Value> {
        self.nodes.first().map(|root| &root.value)
    }

    /// The value of a node. For an alias, that is the value of the node with its anchor.
    pub(super) fn value(&self, at: usize) -> &Value {
        &self.nodes[self.resolve(at)].value
    }

    /// The line in which a node begins, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.nodes[at].line
    }

    /// The text of a scalar; `None` for null, lists and mappings.
    pub(super) fn text(&self, at: usize) -> Option<&str> {
        match self.value(at) {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The node with the anchor of an alias; for other nodes, the node itself. The result is an alias only if its
    /// anchor is unknown: an alias cannot have an anchor of its own.
    pub(super) fn resolve(&self, at: usize) -> usize {
        match self.nodes[at].value {
            Value::Alias(anchor) => self.anchors.get(&anchor).copied().unwrap_or(at),
            _ => at,
        }
    }

    /// The items of a list, or the keys and values of a mapping in turn.
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

/// The parser's message, without its position: a remark has a line of its own.
fn reason(error: &ScanError) -> String {
    error.info().to_owned()
}

/// Whether a scalar is null: a plain one without a tag as in the core schema, or one with the tag for null.
fn is_null(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    match tag {
        Some(tag) => "tag:yaml.org,2002:null".strip_prefix(tag.handle.as_str()) == Some(&tag.suffix),
        None => style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL"),
    }
}
