//! The secrets of a server: their sources, and how they are read again.

use super::context::environment_variable;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::mcp::Secret;
use crate::world::disk::{SecretFile, check_secret_place, read_secret, read_secret_descriptor, secret_variable};
use crate::world::path;
use clap::Args;

/// Where secrets come from.
#[derive(Args, Clone, Debug)]
pub struct SecretOptions {
    /// File with the bearer token that HTTP clients must send, in one line; only its owner should be able to read it.
    /// Without a token only this machine is served.
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "token_fd")]
    token_file: Option<String>,
    /// Number of an open descriptor to read the token from.
    #[arg(long, value_name = "N", requires = "http")]
    token_fd: Option<u32>,
    /// File with the key shared by several server processes, so that any of them can resume a request.
    #[arg(long, value_name = "FILE", conflicts_with = "state_key_fd")]
    state_key_file: Option<String>,
    /// Number of an open descriptor to read this key from.
    #[arg(long, value_name = "N")]
    state_key_fd: Option<u32>,
}

struct SecretKind {
    what: &'static str,
    option: &'static str,
    credential: &'static str,
    variable: &'static str,
    /// Minimum number of bytes: a shorter secret can be guessed.
    least: usize,
}

const TOKEN: SecretKind = SecretKind {
    what: "token",
    option: "--token-file",
    credential: "toolsd-token",
    variable: "TOOLSD_HTTP_TOKEN",
    least: 16,
};

const STATE_KEY: SecretKind = SecretKind {
    what: "state key",
    option: "--state-key-file",
    credential: "toolsd-state-key",
    variable: "TOOLSD_STATE_KEY",
    least: 32,
};

/// A secret, and the file from which it can be read again: its path, and whether it is a credential of the service.
#[derive(Clone, Debug)]
struct FoundSecret {
    secret: Secret,
    file: Option<(String, bool)>,
}

/// The secrets that were found.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    token: Option<FoundSecret>,
    state_key: Option<FoundSecret>,
}

impl SecretOptions {
    /// Returns the named files, with the options that name them.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let files = [(TOKEN.option, &self.token_file), (STATE_KEY.option, &self.state_key_file)];
        files.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?)))
    }

    /// Returns the error of the state key of a server that is started with the variables `handed`, and no open
    /// descriptors. Its file is ignored unless `is_known` returns `true` for it.
    pub fn diagnostic(
        &self,
        is_known: fn(&str) -> bool,
        handed: impl Fn(&str) -> Option<String>,
    ) -> Option<Diagnostic> {
        let SecretKind { what, option, variable, .. } = STATE_KEY;
        if let Some(number) = self.state_key_fd {
            let message = format!("clients do not pass on the descriptor {number} of the {what}");
            return Some(*Diagnostic::new(Code("usage"), message).help(format!("name a file by `{option}`")));
        }
        let read = match &self.state_key_file {
            Some(file) if !is_known(file) => return None,
            Some(file) => {
                STATE_KEY.read(file.clone(), false).map(|found| found.map(|found| (found, format!("in `{file}`"))))
            }
            None => Ok(handed(variable)
                .map(|held| (FoundSecret { secret: Secret::new(held), file: None }, format!("in `{variable}`")))),
        };
        let judged =
            read.and_then(|found| found.map(|(found, whence)| STATE_KEY.check_length(found, &whence)).transpose());
        judged.err().map(|diagnostic| *diagnostic)
    }

    /// Finds the secrets. Nothing may have been opened before: descriptors are taken by their numbers.
    pub fn find(&self, over_http: bool) -> Result<Secrets> {
        let state_key = STATE_KEY.find(self.state_key_file.as_deref(), self.state_key_fd)?;
        let token = match over_http {
            true => TOKEN.find(self.token_file.as_deref(), self.token_fd)?,
            false => None,
        };
        Ok(Secrets { token, state_key })
    }
}

impl SecretKind {
    //= docs/spec.md#secrets
    //# A secret MUST be read from a file or descriptor on the command line, otherwise from a service
    //# credential, otherwise from its variable with a warning.
    fn find(&self, file: Option<&str>, descriptor: Option<u32>) -> Result<Option<FoundSecret>> {
        let held = secret_variable(self.variable);
        //= docs/spec.md#secrets
        //# A secret MUST be refused if it is set twice, if it is too short, or if its file is in a folder
        //# that packs may be granted.
        if held.is_some() && (file.is_some() || descriptor.is_some()) {
            let Self { what, option, variable, .. } = self;
            let given = if file.is_some() { (*option).to_owned() } else { option.replace("-file", "-fd") };
            let message = format!("the {what} is given twice: by `{given}` and by `{variable}`");
            return Err(Diagnostic::new(Code("usage"), message).help(format!("unset `{variable}`")));
        }
        let named = match (file, descriptor) {
            (Some(file), _) => self.read(file.to_owned(), false)?,
            (None, Some(number)) => {
                let secret = Secret::new(read_secret_descriptor(self.what, number)?);
                Some(FoundSecret { secret, file: None })
            }
            (None, None) => {
                match environment_variable("CREDENTIALS_DIRECTORY").filter(|folder| path::is_absolute(folder)) {
                    Some(folder) => self.read(path::join(&folder, self.credential), true)?,
                    None => None,
                }
            }
        };
        let Self { what, option, variable, .. } = self;
        match (&named, &held) {
            (Some(_), Some(_)) => {
                tracing::warn!("`{variable}` is not used: the {what} is a credential of the service");
            }
            (None, Some(_)) => tracing::warn!(
                "the {what} is in `{variable}`, which other programs of the user can read: use `{option}`"
            ),
            _ => {}
        }
        let whence = match (&named, file, descriptor) {
            (Some(_), Some(file), _) => format!("in `{file}`"),
            (Some(_), None, Some(number)) => format!("from the descriptor {number}"),
            (Some(_), None, None) => format!("in the credential `{}`", self.credential),
            (None, ..) => format!("in `{variable}`"),
        };
        let found = named.or_else(|| Some(FoundSecret { secret: Secret::new(held?), file: None }));
        found.map(|found| self.check_length(found, &whence)).transpose()
    }

    fn check_length(&self, found: FoundSecret, whence: &str) -> Result<FoundSecret> {
        let Self { what, least, .. } = self;
        if found.secret.bytes().len() >= *least {
            return Ok(found);
        }
        let message = format!("the {what} {whence} is shorter than {least} bytes: it can be guessed");
        Err(Diagnostic::new(Code("usage"), message).help("for example the output of `openssl rand -hex 32`"))
    }

    fn read(&self, path: String, is_credential: bool) -> Result<Option<FoundSecret>> {
        let file = if is_credential { SecretFile::Credential(&path) } else { SecretFile::Own(&path) };
        let secret = read_secret(self.what, file)?.map(Secret::new);
        Ok(secret.map(|secret| FoundSecret { secret, file: Some((path, is_credential)) }))
    }
}

impl Secrets {
    /// Checks that no file with a secret is in one of these folders, which scripts may be granted.
    pub fn check_places(&self, folders: &[String]) -> Result<()> {
        for (kind, found) in [(&TOKEN, &self.token), (&STATE_KEY, &self.state_key)] {
            if let Some((path, _)) = found.as_ref().and_then(|found| found.file.as_ref()) {
                check_secret_place(kind.what, path, folders)?;
            }
        }
        Ok(())
    }

    /// The token that clients must send.
    pub fn token(&self) -> Option<Secret> {
        self.token.as_ref().map(|found| found.secret.clone())
    }

    /// The token, read again if it comes from a file.
    pub fn reread_token(&self) -> Result<Option<Secret>> {
        match self.token.as_ref().and_then(|found| found.file.clone()) {
            Some((path, is_credential)) => match TOKEN.read(path.clone(), is_credential)? {
                Some(found) => Ok(Some(TOKEN.check_length(found, &format!("in `{path}`"))?.secret)),
                None => Err(Diagnostic::new(Code("usage"), "the credential with the token is gone")),
            },
            None => Ok(self.token()),
        }
    }

    /// The key that seals the state of suspended requests.
    pub fn state_key(&self) -> Option<Secret> {
        self.state_key.as_ref().map(|found| found.secret.clone())
    }
}
