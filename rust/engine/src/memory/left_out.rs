//! Sentences about files of memories that are left out (Y11).

use crate::document::problem::Problem;

/// At most this many files are named; the others are only counted.
const MAX_NAMED: usize = 20;
/// At most this many characters of a path are shown, those at its end.
const MAX_PATH_CHARACTERS: usize = 500;

/// One sentence for each file that is named, and one that counts the others.
pub(super) fn sentences(problems: &[Problem]) -> Vec<String> {
    let named = problems.iter().take(MAX_NAMED);
    let mut sentences: Vec<String> = named
        .map(|problem| format!("{:?} is left out: {}", shortened(&problem.path), problem.reason))
        .collect();
    let more = problems.len() - sentences.len();
    if more > 0 {
        sentences.push(format!("and {more} more are left out"));
    }
    sentences
}

fn shortened(path: &str) -> String {
    match path.chars().count().checked_sub(MAX_PATH_CHARACTERS) {
        None | Some(0) => path.to_owned(),
        Some(cut) => "…".chars().chain(path.chars().skip(cut)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str) -> Problem {
        Problem { path: path.to_owned(), reason: "it is a link".to_owned() }
    }

    #[test]
    fn the_first_files_are_named_and_the_others_counted() {
        let problems = vec![problem("a.md"); MAX_NAMED + 2];
        assert_eq!(sentences(&problems[..1]), [r#""a.md" is left out: it is a link"#]);
        assert_eq!(sentences(&problems[..MAX_NAMED]).len(), MAX_NAMED);
        assert_eq!(sentences(&problems).last().unwrap(), "and 2 more are left out");
    }

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        let longest = "é".repeat(MAX_PATH_CHARACTERS);
        assert_eq!(shortened(&longest), longest);
        assert_eq!(shortened(&format!("x{longest}")), format!("…{longest}"));
    }
}
