//! Certificates in a directory: reused while they are valid, otherwise created again.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use gantry_primitives::Timestamp;
use rcgen::KeyPair;

use super::issue::Authority;
use super::parsed_certificate::ParsedCertificate;
use super::{Certified, Pki, PkiError, Seconds, ServerNames};
use crate::file::{self, FileMode};

/// Loads the certificates of a directory, and creates those that are missing or no longer valid.
pub(super) fn open(directory: &Path, names: &ServerNames, now: Seconds) -> Result<Pki, PkiError> {
    let parent_directory = CertificateDirectory(directory);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| PkiError::Io { doing: format!("making {}", directory.display()), source })?;
    for key in ["ca.key", "apiserver.key", "admin.key"].map(|name| directory.join(name)) {
        let restricted = file::restrict_to_owner(&key);
        restricted
            .map_err(|source| PkiError::Io { doing: format!("restricting {}", key.display()), source })?;
    }
    let authority = parent_directory.authority(now)?;
    let root = ParsedCertificate::read(&authority.certificate)
        .map_err(|found| parent_directory.damaged("ca.crt", found))?;
    let fits = |examined: &ParsedCertificate| examined.is_valid_for_long(now) && examined.is_signed_by(&root);
    let server = parent_directory.kept("apiserver", |examined| fits(examined) && examined.covers(names))?;
    let server = match server {
        Some(kept) => kept,
        None => parent_directory.keep("apiserver", authority.server(names, now).map_err(PkiError::Issue)?)?,
    };
    let admin = match parent_directory.kept("admin", fits)? {
        Some(kept) => kept,
        None => parent_directory.keep("admin", authority.admin(now).map_err(PkiError::Issue)?)?,
    };
    let signer = authority.request_signer()?;
    Ok(Pki { authority: authority.certificate, server, admin, signer })
}

struct CertificateDirectory<'a>(&'a Path);

impl CertificateDirectory<'_> {
    fn authority(&self, now: Seconds) -> Result<Authority, PkiError> {
        // The certificate is written last: without one, the CA has not signed anything yet.
        let Some(certificate) = self.read("ca.crt")? else {
            let authority = Authority::new(now).map_err(PkiError::Issue)?;
            self.keep("ca", Certified { certificate: authority.certificate.clone(), key: authority.key() })?;
            return Ok(authority);
        };
        let examined =
            ParsedCertificate::read(&certificate).map_err(|found| self.damaged("ca.crt", found))?;
        if examined.expires() <= now {
            let found = format!("expired at {}", Timestamp::from_secs(examined.expires()));
            return Err(self.damaged("ca.crt", found));
        }
        let missing = || self.damaged("ca.key", "is missing beside ca.crt".to_owned());
        let key = self.read("ca.key")?.ok_or_else(missing)?;
        let wrong = |_| self.damaged("ca.key", "holds no private key".to_owned());
        let key = KeyPair::from_pem(&key).map_err(wrong)?;
        if !examined.is_of(&key) {
            return Err(self.damaged("ca.key", "is not the key of ca.crt".to_owned()));
        }
        let unusable =
            |error| self.damaged("ca.crt", format!("is not the certificate of an authority: {error}"));
        Authority::from_pem(certificate, key).map_err(unusable)
    }

    /// The pair of this name, if it exists and is valid.
    fn kept(
        &self,
        name: &str,
        fits: impl Fn(&ParsedCertificate) -> bool,
    ) -> Result<Option<Certified>, PkiError> {
        let files = [format!("{name}.crt"), format!("{name}.key")];
        let (Some(certificate), Some(key)) = (self.read(&files[0])?, self.read(&files[1])?) else {
            return Ok(None);
        };
        let examined =
            ParsedCertificate::read(&certificate).map_err(|found| self.damaged(&files[0], found))?;
        let wrong = |_| self.damaged(&files[1], "holds no private key".to_owned());
        let matches = examined.is_of(&KeyPair::from_pem(&key).map_err(wrong)?);
        Ok((matches && fits(&examined)).then_some(Certified { certificate, key }))
    }

    /// Writes a pair, the certificate last.
    fn keep(&self, name: &str, pair: Certified) -> Result<Certified, PkiError> {
        for (ending, text, readers) in
            [("key", &pair.key, FileMode::OwnerOnly), ("crt", &pair.certificate, FileMode::WorldReadable)]
        {
            let path = self.0.join(format!("{name}.{ending}"));
            let written = file::write(&path, text, readers);
            written
                .map_err(|source| PkiError::Io { doing: format!("writing {}", path.display()), source })?;
        }
        Ok(pair)
    }

    fn read(&self, name: &str) -> Result<Option<String>, PkiError> {
        let path = self.0.join(name);
        match file::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                Err(self.damaged(name, "holds no text".to_owned()))
            }
            read => {
                read.map_err(|source| PkiError::Io { doing: format!("reading {}", path.display()), source })
            }
        }
    }

    fn damaged(&self, name: &str, found: String) -> PkiError {
        let file: PathBuf = self.0.join(name);
        let fix = match name {
            "ca.crt" | "ca.key" => format!(
                "put the right file back, or remove {} to start with a new authority; kubeconfigs then have to be \
                 written again",
                self.0.display()
            ),
            _ => "remove the file; the next start makes a new one".to_owned(),
        };
        PkiError::Damaged { file, found, fix }
    }
}
