//! Reading the files whose stamp does not prove that they are unchanged.

use std::{collections::BTreeMap, io, sync::Arc};

use crate::{
    bundle::{
        error::CompareError,
        options::CompareOptions,
        state::{DirectoryState, FileChange, FileContent, FileState},
    },
    disk::{
        directory::Directory,
        listing::{Listed, Listing},
        read::{self, Content},
        settling::Trust,
    },
    document::Document,
    work::parallel,
};

/// For each listed directory and each file in it, what became of the file. Files are read on several threads.
pub(super) fn read_changed(
    root: &Directory,
    listings: &[(String, Listing)],
    known: &BTreeMap<Arc<str>, Arc<DirectoryState>>,
    options: CompareOptions<'_>,
) -> Result<Vec<Vec<FileChange>>, CompareError> {
    let unchanged: Vec<Vec<Option<usize>>> = listings
        .iter()
        .map(|(path, listing)| {
            let known = known.get(&**path).map_or(&[][..], |directory| &directory.files);
            unchanged(&listing.files, known)
        })
        .collect();
    let files = listings.iter().zip(&unchanged).flat_map(|((_, listing), unchanged)| {
        listing.files.iter().zip(unchanged).filter(|(_, at)| at.is_none()).map(|(file, _)| file)
    });
    let to_read: Vec<&Listed> = files.collect();
    let progress = options.task.begin(options.source, to_read.len());
    let read = parallel::map(&to_read, options.threads, |file| {
        options.task.go_on()?;
        let read = read_file(root, file, options)?;
        progress.advance();
        Ok(read)
    });
    let mut read = read.into_iter().collect::<Result<Vec<_>, CompareError>>()?.into_iter();
    let changes = unchanged.into_iter().map(|files| {
        let files = files.into_iter().map(|at| match at {
            Some(at) => FileChange::None(at),
            None => read.next().flatten().map_or(FileChange::Gone, |read| FileChange::Read(Box::new(read))),
        });
        files.collect()
    });
    Ok(changes.collect())
}

/// For each listed file, the place of the same file among the known ones, if its stamp proves that it is
/// unchanged. Both are sorted by path.
fn unchanged(listed: &[Listed], known: &[FileState]) -> Vec<Option<usize>> {
    let mut known = known.iter().enumerate().peekable();
    listed
        .iter()
        .map(|file| {
            while known.next_if(|(_, known)| known.path < file.path).is_some() {}
            known
                .next_if(|(_, known)| known.path == file.path)
                .filter(|(_, known)| known.trust == Trust::Full && known.stamp == file.stamp)
                .map(|(at, _)| at)
        })
        .collect()
}

/// Reads one file; `None` if it is gone.
fn read_file(
    directory: &Directory,
    file: &Listed,
    options: CompareOptions<'_>,
) -> io::Result<Option<FileContent>> {
    let content = read::read(directory, file, options.sealed, options.max_bytes)?;
    let Some(Content { bytes, stamp, settled }) = content else { return Ok(None) };
    let document = bytes.and_then(|bytes| Document::read(&bytes));
    Ok(Some(FileContent { stamp, settled, document }))
}
