//! Secrets of this process: where they are read from, and that no one else can write files with secrets.

use super::system::reason;
use crate::diagnostic::{Code, Diagnostic, Result};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// The maximum number of bytes of a secret.
const MAX_SECRET_BYTES: usize = 16 << 10;

/// Where a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretFile<'a> {
    /// In a file of the user.
    Own(&'a str),
    /// In the folder that the system's service manager made for this service: there root may own it, and an access
    /// list shows as rights of the group.
    Credential(&'a str),
}

/// Reads a secret variable of the environment. A file is better: other processes of the user can read the environment of a process.
pub fn secret_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

//= docs/spec.md#secrets
//# A secret file MUST be refused unless it is a regular file of the user or of root that no one else
//# can write.
/// Reads the secret in a file; `what` describes it. `None` if a credential does not exist.
///
/// # Errors
/// The file cannot be read, others can write it, or it holds anything else than one line.
pub fn read_secret(what: &str, file: SecretFile<'_>) -> Result<Option<String>> {
    let (SecretFile::Own(path) | SecretFile::Credential(path)) = file;
    let diagnostic = |why: &str| Diagnostic::new(Code("usage"), format!("{what} file {path} {why}"));
    // Links are followed, as Kubernetes mounts secrets: what counts is the file that was opened. Does not wait for the
    // writer of a pipe of that name.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(rustix::io::Errno::NOENT) if matches!(file, SecretFile::Credential(_)) => return Ok(None),
        Err(error) => return Err(diagnostic(&format!("cannot be read: {}", reason(&error.into())))),
    };
    let metadata =
        opened.metadata().map_err(|error| diagnostic(&format!("cannot be looked at: {}", reason(&error))))?;
    if !metadata.is_file() {
        return Err(diagnostic("is not a regular file")
            .help("devices and pipes are not opened; a descriptor is given by number"));
    }
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user && metadata.uid() != 0 {
        return Err(diagnostic(&format!("belongs to user {}", metadata.uid())).help(format!("chown {user} {path}")));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(diagnostic("can be changed by others").help(format!("chmod 600 {path}")));
    }
    // The group of a credential is that of the service.
    let readers = if matches!(file, SecretFile::Credential(_)) { 0o004 } else { 0o044 };
    if metadata.mode() & readers != 0 {
        tracing::warn!("{what} file {path} is readable by others; `chmod 600 {path}` prevents that");
    }
    if metadata.nlink() > 1 {
        let help = format!("make one that has no other: `cp {path} NEW && rm {path}`");
        return Err(diagnostic("has a second name, which may lie where scripts read").help(help));
    }
    one_line(opened).map(Some).map_err(|why| diagnostic(&why))
}

//= docs/spec.md#secrets
//# A secret MUST be refused if it is set twice, if it is too short, or if its file is in a folder that packs
//# may be granted.
/// Checks that a file with a secret is outside of all these folders, by any name that leads to them.
///
/// # Errors
/// It does, or it cannot be known.
pub fn check_secret_place(what: &str, file: &str, folders: &[String]) -> Result<()> {
    let diagnostic = |why: String| Diagnostic::new(Code("usage"), format!("{what} file {file} {why}"));
    let unknown = |error: io::Error| diagnostic(format!("cannot be looked at: {}", reason(&error)));
    let real = std::fs::canonicalize(file).map_err(unknown)?;
    let identity = |path: &std::path::Path| path.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok();
    let within: Vec<_> = real.ancestors().skip(1).filter_map(identity).collect();
    let found = folders.iter().find(|folder| identity(folder.as_ref()).is_some_and(|folder| within.contains(&folder)));
    match found {
        None => Ok(()),
        Some(folder) => Err(diagnostic(format!("is in `{folder}`, where packs may be granted to read"))
            .help("move it out of the workspace, for example to ~/.config/toolsd")),
    }
}

/// Reads the secret from a descriptor until its end. The descriptor is closed: no program that is started later has it.
///
/// # Errors
/// It is not open, or does not contain exactly one line.
pub fn read_secret_descriptor(what: &str, number: u32) -> Result<String> {
    let diagnostic = |why: &str| Diagnostic::new(Code("usage"), format!("{what} descriptor {number} {why}"));
    let opened = RawFd::try_from(number).map_err(|_| io::ErrorKind::InvalidInput.into()).and_then(descriptor);
    let opened = opened.map_err(|error| diagnostic(&format!("cannot be read: {}", reason(&error))))?;
    one_line(opened).map_err(|why| diagnostic(&why))
}

/// A descriptor that the parent of this process opened for it.
#[allow(unsafe_code, reason = "std cannot take a descriptor that is known by its number alone")]
fn descriptor(number: RawFd) -> io::Result<File> {
    // SAFETY: F_GETFD touches no memory; it fails for a number that is not open.
    let is_open = unsafe { libc::fcntl(number, libc::F_GETFD) } != -1;
    if number <= libc::STDERR_FILENO || !is_open {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is open, and it was opened before the program began: this is called before anything else is opened.
    Ok(unsafe { File::from_raw_fd(number) })
}

/// The only line of a text, without its end.
fn one_line(from: impl Read) -> std::result::Result<String, String> {
    let mut bytes = Vec::new();
    let read = from.take(MAX_SECRET_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot be read: {}", reason(&error)))?;
    if bytes.len() > MAX_SECRET_BYTES {
        return Err(format!("has more than {MAX_SECRET_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not valid UTF-8".to_owned())?;
    let line = text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
    match line {
        "" => Err("is empty".to_owned()),
        line if line.contains('\n') => Err("has more than one line".to_owned()),
        line => Ok(line.to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn with_mode(mode: u32, text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t");
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let path = file.to_str().unwrap().to_owned();
        (folder, path)
    }

    fn refused(file: SecretFile<'_>) -> String {
        let error = read_secret("token", file).unwrap_err();
        assert!(!error.message.contains("s3cret"), "a message shows the secret: {}", error.message);
        error.message.clone()
    }

    //= docs/spec.md#secrets
    //= type=test
    //# A secret file MUST be refused unless it is a regular file of the user or of root that no one else
    //# can write.
    #[test]
    fn a_file_that_others_may_change_is_refused() {
        for mode in 0..0o1000 {
            let (_folder, path) = with_mode(mode, "s3cret\n");
            for file in [SecretFile::Own(&path), SecretFile::Credential(&path)] {
                if mode & 0o022 != 0 {
                    let why = refused(file);
                    assert!(why.ends_with("changed by others") || why.contains("cannot be read"), "{mode:o}: {why}");
                } else if mode & 0o400 != 0 {
                    assert_eq!(read_secret("token", file).unwrap().as_deref(), Some("s3cret"), "{mode:o}");
                }
            }
        }
    }

    #[test]
    fn only_a_regular_file_with_one_line_is_read() {
        let (folder, path) = with_mode(0o600, "s3cret");
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(read_secret("token", SecretFile::Own(link.to_str().unwrap())).unwrap().as_deref(), Some("s3cret"));
        assert!(refused(SecretFile::Own(folder.path().to_str().unwrap())).contains("not a regular file"));
        assert!(refused(SecretFile::Own("/dev/null")).contains("not a regular file"));
        let gone = folder.path().join("gone");
        assert!(refused(SecretFile::Own(gone.to_str().unwrap())).contains("cannot be read"));
        assert_eq!(read_secret("token", SecretFile::Credential(gone.to_str().unwrap())), Ok(None));
        for (text, why) in [("", "empty"), ("\n", "empty"), ("s3cret\nx\n", "one line"), ("s3cret\n\n", "one line")] {
            let (_folder, path) = with_mode(0o600, text);
            assert!(refused(SecretFile::Own(&path)).contains(why), "{text:?}");
        }
        let (_folder, long) = with_mode(0o600, &"x".repeat(MAX_SECRET_BYTES + 1));
        assert!(refused(SecretFile::Own(&long)).contains("more than"));
    }

    #[test]
    fn a_pipe_is_refused_without_waiting_for_whoever_writes_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (done, refused) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(read_secret("token", SecretFile::Own(pipe.to_str().unwrap()))));
        let refused = refused.recv_timeout(std::time::Duration::from_secs(20)).expect("it waits for a writer");
        assert!(refused.unwrap_err().message.contains("is not a regular file"));
    }

    #[test]
    fn a_file_of_another_user_is_refused_by_all_but_its_owner() {
        let (_folder, path) = with_mode(0o600, "s3cret");
        // Only root gives files away; for others there is nothing to try.
        let given = rustix::fs::chown(&path, Some(rustix::fs::Uid::from_raw(65_534)), None);
        if given.is_ok() {
            assert!(refused(SecretFile::Own(&path)).contains("belongs to user 65534"));
            assert!(refused(SecretFile::Credential(&path)).contains("belongs to user 65534"));
        }
    }

    #[test]
    fn closed_descriptors_are_errors() {
        for number in [0, 1, 2, 999_999, u32::MAX] {
            assert!(read_secret_descriptor("token", number).is_err(), "{number}");
        }
    }
}
