//! What a host writes.

/// A section, and the concept to which it is appended.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name of the concept's file, without `.md`.
    pub name: String,
    /// The frontmatter of the concept if it has yet to be created, in this order.
    pub frontmatter: Vec<(String, Value)>,
    /// The body of a new concept, or the text that is appended to the body of an existing one.
    pub section: String,
}

/// The value of a key of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// Texts by their keys, in this order.
    Mapping(Vec<(String, String)>),
}
