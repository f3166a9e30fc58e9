//! The certificates of a server and of its administrator, made at the first start and kept.
//!
//! One authority signs both: `ca`, `apiserver` and `admin`, each a certificate and a key, as files in a directory or
//! nowhere at all. The authority stays as long as it is valid, because clients have it in their kubeconfigs; the other
//! two are made anew whenever they are about to expire, do not come from the authority, or do not fit the server's
//! addresses.

mod examine;
mod folder;
mod issue;
mod names;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use issue::Authority;

pub use names::ServerNames;

/// Everything needed to serve over TLS and to be its administrator, in PEM.
#[derive(Clone)]
pub struct Pki {
    /// The certificate of the authority that signs the others.
    pub authority: String,
    /// What the server shows.
    pub server: Certified,
    /// What the administrator shows: `kubernetes-admin`, who may do everything.
    pub admin: Certified,
}

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Certified {
    /// The certificate.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

/// Why there are no certificates to serve with.
#[derive(Debug)]
pub enum PkiError {
    /// The operating system refused.
    Io {
        /// What was attempted.
        doing: String,
        /// What it said.
        source: io::Error,
    },
    /// A file is not what was written.
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        found: String,
        /// What to do.
        fix: String,
    },
    /// A certificate could not be made.
    Issue(rcgen::Error),
}

/// Seconds since 1970.
pub(crate) type Seconds = i64;

/// How long before its end a certificate is made anew.
const RENEW_BEFORE: Seconds = 30 * 24 * 3600;

impl Pki {
    /// Makes certificates that are kept nowhere.
    pub fn in_memory(names: &ServerNames) -> Result<Self, PkiError> {
        let authority = Authority::new(now()).map_err(PkiError::Issue)?;
        let server = authority.server(names, now()).map_err(PkiError::Issue)?;
        let admin = authority.admin(now()).map_err(PkiError::Issue)?;
        Ok(Self { authority: authority.certificate, server, admin })
    }

    /// Takes the certificates of a directory, and makes those that are missing or no longer fit.
    pub fn in_directory(directory: &Path, names: &ServerNames) -> Result<Self, PkiError> {
        folder::open(directory, names, now())
    }
}

fn now() -> Seconds {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

impl fmt::Debug for Pki {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pki").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl fmt::Debug for Certified {
    /// Keys stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certified").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

impl fmt::Display for PkiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, .. } => f.write_str(doing),
            Self::Damaged { file, found, fix } => write!(f, "{} {found}\nhint: {fix}", file.display()),
            Self::Issue(_) => f.write_str("a certificate could not be made"),
        }
    }
}

impl std::error::Error for PkiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Damaged { .. } => None,
            Self::Issue(error) => Some(error),
        }
    }
}
