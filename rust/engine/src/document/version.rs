//! The version of the format that a bundle declares.

/// The first version in which a verification says nothing of content that was made after it (L5).
const DATED: [u64; 2] = [0, 3];

/// Whether verifications count only for what was there when they were made.
///
/// `text` is the `okf_version` of the root `index.md`. Versions are numbers with dots between them, compared
/// number by number; a `v` may stand in front. What is no such version declares nothing.
///
/// ```
/// use okf_engine::document::version::is_dated;
///
/// assert!(is_dated("0.3") && is_dated("0.10") && is_dated("1"));
/// assert!(!is_dated("0.2") && !is_dated("latest"));
/// ```
#[must_use]
pub fn is_dated(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let numbers: Option<Vec<u64>> = text.split('.').map(number).collect();
    // What is missing at the end is 0, and lists compare like that as long as 0.3 ends in no 0.
    numbers.is_some_and(|numbers| numbers[..] >= DATED[..])
}

/// Digits as a number. What is too large for one is as good as the largest.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_number_by_number() {
        for text in ["0.3", "0.10", "1.0", "1", "v0.3", "V1", " 0.3\n", "0.3.0", "0.3.1", "00.03", "2026.1"] {
            assert!(is_dated(text), "{text}");
        }
        assert!(is_dated("0.99999999999999999999999"));
        for text in ["0.2", "0.2.99", "0", "0.0.3", "0.02", "v0.2"] {
            assert!(!is_dated(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_version_declares_nothing() {
        for text in [
            "",
            " ",
            "v",
            "latest",
            "1.x",
            "1.",
            ".3",
            "0..3",
            "0,3",
            "+1",
            "-1",
            "0.3-draft",
            "1 0",
            "vv1",
            "１",
        ] {
            assert!(!is_dated(text), "{text}");
        }
    }
}
