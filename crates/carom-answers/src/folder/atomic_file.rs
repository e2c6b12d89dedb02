//! Atomic files: written under another name, brought to the disk and renamed, so that a file is there whole or not at all, whatever ends the
//! program.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Ends the name of a file that is being written.
pub const UNFINISHED: &str = ".tmp";

/// Replaces a file, or makes it.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, |mut file| {
        file.write_all(bytes)?;
        Ok(file)
    })
}

/// Replaces a file with what `fill` writes.
pub fn write(path: &Path, fill: impl FnOnce(File) -> io::Result<File>) -> io::Result<()> {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(UNFINISHED);
    let unfinished = path.with_file_name(name);
    let result = File::create(&unfinished)
        .and_then(fill)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, path))
        .and_then(|()| match path.parent() {
            // A name alone is one in the present folder.
            Some(parent) if parent.as_os_str().is_empty() => sync(Path::new(".")),
            parent => parent.map_or(Ok(()), sync),
        });
    result.map_err(|error| {
        // On a full disk every byte counts; whether this succeeds does not matter.
        let _ = fs::remove_file(&unfinished);
        at(path, &error)
    })
}

/// Brings the names in a folder to the disk, where the system can.
pub fn sync(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// An error with the path that it concerns.
pub fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
