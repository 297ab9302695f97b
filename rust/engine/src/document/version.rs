//! The version of the format that a bundle declares in its root `index.md`.

/// The first version in which a verification counts only if it is not older than the content (L5): 0.3.
const FIRST_DATED: [u64; 2] = [0, 3];

/// Whether a verification in this version counts only if it is not older than the content.
///
/// `text` is the `okf_version` of the root `index.md`. A version consists of numbers separated by dots, after an
/// optional `v`; versions are compared number by number. Any other text declares no version.
#[must_use]
pub(crate) fn is_dated(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let numbers: Option<Vec<u64>> = text.split('.').map(number).collect();
    // A missing number counts as 0. Slices compare the same way, because 0.3 does not end in 0.
    numbers.is_some_and(|numbers| numbers[..] >= FIRST_DATED[..])
}

/// The number that digits stand for. A number that is too large for `u64` counts as the largest one.
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
    fn a_text_that_is_no_version_declares_nothing() {
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
