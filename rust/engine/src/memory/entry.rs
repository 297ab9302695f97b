//! What a host writes.

/// A section, and the concept that gets it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name of the concept's file, without `.md`.
    pub name: String,
    /// The frontmatter of the concept if it is created or replaced, in this order.
    pub frontmatter: Vec<(String, Value)>,
    /// The body of a new concept or of one that replaces another, or the text that is appended to a body.
    pub section: String,
}

/// What a write does with the concept of this name, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfThere {
    /// The section is appended to it.
    Append,
    /// It is replaced as a whole, frontmatter and body.
    Replace,
}

/// The value of a key of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// Texts by their keys, in this order.
    Mapping(Vec<(String, String)>),
}
