//! Loading the manifest, and checking the paths it names (C1, C2).

use std::{io, path::Path};

use rustix::fs::{CWD, FileType};

use crate::{
    disk::{
        entry::Links,
        fence::Fence,
        os_error::plain,
        regular::{NotOpened, NotRead, open_regular, read_at_most},
    },
    manifest::{
        self,
        diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode, Faults},
        source::Source,
    },
};

/// A manifest of more bytes is not read.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// The sources of a manifest file, or everything that is wrong with it. Paths are not checked.
pub(super) fn read_sources(manifest: &Path) -> Result<Vec<Source>, Vec<CatalogDiagnostic>> {
    let bytes = read_manifest(manifest).map_err(|error| vec![unreadable(manifest, &error)])?;
    manifest::parse(&bytes)
}

/// The manifest's bytes. The file may be a link, as mounted configuration maps are.
fn read_manifest(manifest: &Path) -> io::Result<Vec<u8>> {
    let (file, stat) = open_regular(CWD, manifest, Links::Follow).map_err(|reason| match reason {
        NotOpened::NotRegular(FileType::Directory) => io::ErrorKind::IsADirectory.into(),
        NotOpened::NotRegular(_) => io::Error::other("it is not a regular file"),
        NotOpened::Failed(errno) => errno.into(),
    })?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    read_at_most(&file, size, MAX_MANIFEST_BYTES).map_err(|reason| match reason {
        NotRead::TooLarge => io::Error::other(format!("it has more than {MAX_MANIFEST_BYTES} bytes")),
        NotRead::Failed(error) => error,
    })
}

/// The diagnostic of a manifest that cannot be read.
pub(super) fn unreadable(manifest: &Path, error: &io::Error) -> CatalogDiagnostic {
    let name = manifest.file_name().unwrap_or_default().to_string_lossy();
    CatalogDiagnostic {
        code: CatalogDiagnosticCode::ParseError,
        message: format!("the manifest {name:?} cannot be read: {}", plain(error)),
    }
}

/// Checks the path of every enabled source.
pub(super) fn check_paths(fence: &Fence, sources: &[Source]) -> Result<(), Vec<CatalogDiagnostic>> {
    let mut faults = Faults::default();
    for (at, source) in sources.iter().enumerate().filter(|(_, source)| source.enabled) {
        if let Err(breach) = fence.enter(&source.path) {
            let name = || manifest::source_label(at, Some(&source.id));
            faults.push(breach.code, || format!("{}: {}", name(), breach.reason));
        }
    }
    faults.into_result(())
}
