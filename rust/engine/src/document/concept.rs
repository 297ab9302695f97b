//! A concept: a document and its id in the bundle.

use std::cmp::Ordering;

use crate::document::parsed::Document;

/// A document and its id (B2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concept {
    /// The path below the bundle root, with `/` between parts and without the final `.md`.
    pub id: String,
    /// What the file says.
    pub document: Document,
}

impl Concept {
    /// The path of the file below the bundle root.
    #[must_use]
    pub fn bundle_relative_path(&self) -> String {
        format!("{}.md", self.id)
    }

    /// The length of the text that a search looks at, in bytes.
    #[must_use]
    pub fn text_len(&self) -> usize {
        let Document { title, description, tags, body, .. } = &self.document;
        let optional = [title, description].into_iter().flatten().map(String::len);
        optional.chain(tags.iter().map(String::len)).sum::<usize>() + body.len()
    }
}

/// Compares two ids part by part (R1), where `a/b` comes before `a-b`.
#[must_use]
pub(crate) fn compare_by_parts(a: &str, b: &str) -> Ordering {
    // With `/` as the lowest byte, a part that ends comes before a longer part. No file name holds a NUL, so no
    // other byte is as low.
    let key = |byte: u8| if byte == b'/' { 0 } else { byte };
    a.bytes().map(key).cmp(b.bytes().map(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_compare_like_lists_of_their_parts(a in "[a-b/. é]{0,8}", b in "[a-b/. é]{0,8}") {
            let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(compare_by_parts(&a, &b), parts(&a).cmp(&parts(&b)));
        }
    }
}
