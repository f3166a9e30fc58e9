//! Parsed certificates: names, validity and issuer.

use std::collections::BTreeSet;
use std::net::IpAddr;

use rcgen::{KeyPair, PublicKeyData as _};
use x509_parser::extensions::GeneralName;
use x509_parser::pem::{Pem, parse_x509_pem};

use super::{RENEW_BEFORE, Seconds, ServerNames};

pub(super) struct ParsedCertificate(Pem);

impl ParsedCertificate {
    /// Parses a certificate; the error is the reason why it cannot be parsed.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (_, pem) = parse_x509_pem(text.as_bytes()).map_err(|_| "holds no PEM".to_owned())?;
        pem.parse_x509().map_err(|_| "holds no certificate".to_owned())?;
        Ok(Self(pem))
    }

    fn with<T>(
        &self,
        use_parsed: impl FnOnce(&x509_parser::certificate::X509Certificate<'_>) -> T,
    ) -> Option<T> {
        self.0.parse_x509().ok().map(|certificate| use_parsed(&certificate))
    }

    /// `notAfter`.
    pub(super) fn expires(&self) -> Seconds {
        self.with(|certificate| certificate.validity().not_after.timestamp()).unwrap_or(0)
    }

    /// `notBefore`.
    pub(super) fn begins(&self) -> Seconds {
        self.with(|certificate| certificate.validity().not_before.timestamp()).unwrap_or(Seconds::MAX)
    }

    /// Whether it is valid for long enough.
    pub(super) fn is_valid_for_long(&self, now: Seconds) -> bool {
        self.begins() <= now && now + RENEW_BEFORE < self.expires()
    }

    /// Whether it belongs to this key.
    pub(super) fn is_of(&self, key: &KeyPair) -> bool {
        self.with(|certificate| certificate.public_key().raw == key.subject_public_key_info())
            .unwrap_or(false)
    }

    /// Whether that CA signed it.
    pub(super) fn is_signed_by(&self, authority: &Self) -> bool {
        let signed = authority.with(|authority| {
            let key = authority.public_key();
            self.with(|certificate| certificate.verify_signature(Some(key)).is_ok())
        });
        signed.flatten().unwrap_or(false)
    }

    /// Whether it covers all these names and addresses.
    pub(super) fn covers(&self, wanted: &ServerNames) -> bool {
        let (mut names, mut addresses) = (BTreeSet::new(), BTreeSet::new());
        self.with(|certificate| {
            let extension = certificate.subject_alternative_name().ok().flatten();
            for name in extension.iter().flat_map(|extension| &extension.value.general_names) {
                match name {
                    GeneralName::DNSName(name) => {
                        names.insert((*name).to_owned());
                    }
                    GeneralName::IPAddress(bytes) => addresses.extend(address(bytes)),
                    _ => {}
                }
            }
        });
        names.is_superset(&wanted.names) && addresses.is_superset(&wanted.addresses)
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(four.into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}
