//! Loading the manifest, and checking the paths it names (C1, C2).

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use rustix::fs::{FileType, Mode, OFlags};

use crate::{
    disk::{fence::Fence, open::plain},
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
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let handle = rustix::fs::open(manifest, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        _ => return Err(io::Error::other("it is not a regular file")),
    }
    let mut bytes = Vec::new();
    File::from(handle).take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_MANIFEST_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_MANIFEST_BYTES} bytes")));
    }
    Ok(bytes)
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
            let name = || manifest::label(at, Some(&source.id));
            faults.push(breach.code, || format!("{}: {}", name(), breach.reason));
        }
    }
    faults.or(())
}
