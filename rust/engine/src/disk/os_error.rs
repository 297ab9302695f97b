//! Errors of the operating system: their words, and which of them say nothing about the file.

use std::io;

use rustix::io::Errno;

/// The error in words, without the number that `io::Error` appends.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Whether the process or the system is out of file descriptors or memory. Such an error says nothing about the
/// file that was being opened or read.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    matches!(errno(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}

/// Passes an error on if it [is exhaustion](is_exhausted): the whole operation then fails instead of the one file.
///
/// # Errors
/// The same error.
pub(super) fn fail_if_exhausted(error: &io::Error) -> io::Result<()> {
    match errno(error) {
        Some(errno) if is_exhausted(error) => Err(errno.into()),
        _ => Ok(()),
    }
}

/// The number of an error, if it came from the operating system.
pub(super) fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_without_its_number() {
        assert_eq!(plain(&Errno::ACCESS.into()), "permission denied");
        assert_eq!(plain(&io::Error::other("It has more than 3 bytes")), "it has more than 3 bytes");
    }

    #[test]
    fn only_a_lack_of_descriptors_or_memory_is_exhaustion() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
            assert!(is_exhausted(&errno.into()));
            assert_eq!(
                fail_if_exhausted(&errno.into()).unwrap_err().raw_os_error(),
                Some(errno.raw_os_error())
            );
        }
        for error in [Errno::ACCESS.into(), Errno::NOENT.into(), io::Error::other("other")] {
            assert!(!is_exhausted(&error));
            assert!(fail_if_exhausted(&error).is_ok());
        }
    }
}
