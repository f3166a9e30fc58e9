//! The certificates of a server and of its administrator, created at the first start and stored.
//!
//! One CA signs both: `ca`, `apiserver` and `admin`, each a certificate and a key, as files in a directory or in
//! memory. The CA is kept while it is valid, because clients have it in their kubeconfigs; the other two are
//! replaced when they are about to expire, are signed by another CA, or do not cover the server's addresses.

mod directory;
mod issue;
mod names;
mod parsed_certificate;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gantry_certificates::RequestSigner;
use issue::Authority;

pub use names::ServerNames;

/// Everything needed to serve over TLS and to be its administrator, as PEM.
#[derive(Clone)]
pub struct Pki {
    /// The CA certificate.
    pub authority: String,
    /// The server certificate.
    pub server: Certified,
    /// The administrator's certificate: `kubernetes-admin`, with all rights.
    pub admin: Certified,
    /// The CA as the signer of certificate requests.
    pub signer: Arc<RequestSigner>,
}

/// A certificate and its key, as PEM.
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
        /// The attempted operation.
        doing: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file has unexpected content.
    Damaged {
        /// The file.
        file: PathBuf,
        /// The unexpected content.
        found: String,
        /// The advice to the user.
        fix: String,
    },
    /// A certificate could not be made.
    Issue(rcgen::Error),
    /// The CA cannot sign requests.
    Signer(String),
}

/// Seconds since 1970.
pub(crate) type Seconds = i64;

/// How long before its end a certificate is replaced.
const RENEW_BEFORE: Seconds = 30 * 24 * 3600;

impl Pki {
    /// Creates certificates that are not stored.
    pub fn in_memory(names: &ServerNames) -> Result<Self, PkiError> {
        let authority = Authority::new(now()).map_err(PkiError::Issue)?;
        let server = authority.server(names, now()).map_err(PkiError::Issue)?;
        let admin = authority.admin(now()).map_err(PkiError::Issue)?;
        let signer = authority.request_signer()?;
        Ok(Self { authority: authority.certificate, server, admin, signer })
    }

    /// Loads the certificates of a directory, and creates those that are missing or no longer valid.
    pub fn in_directory(directory: &Path, names: &ServerNames) -> Result<Self, PkiError> {
        directory::open(directory, names, now())
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
    /// Keys are not formatted, so that they are never logged.
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
            Self::Signer(why) => write!(f, "the authority cannot sign requests: {why}"),
        }
    }
}

impl std::error::Error for PkiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Damaged { .. } | Self::Signer(_) => None,
            Self::Issue(error) => Some(error),
        }
    }
}
