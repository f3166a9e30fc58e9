//! The key and the request of a client.

use std::fmt;

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

/// A new key and a request for a certificate of it, as PEM.
#[derive(Clone)]
pub struct NewRequest {
    /// The private key.
    pub key: String,
    /// The request.
    pub request: String,
}

impl NewRequest {
    /// Creates a key, ECDSA on P-256, and a request for the certificate of a client with this name in this group.
    pub fn of_client(common_name: &str, organization: &str) -> Result<Self, String> {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(|error| error.to_string())?;
        Self::with_key(&key, common_name, organization)
    }

    /// Creates a request with an existing key, as PEM.
    pub fn with_key_pem(key: &str, common_name: &str, organization: &str) -> Result<Self, String> {
        let key = KeyPair::from_pem(key).map_err(|error| error.to_string())?;
        Self::with_key(&key, common_name, organization)
    }

    fn with_key(key: &KeyPair, common_name: &str, organization: &str) -> Result<Self, String> {
        let mut params = CertificateParams::default();
        let mut subject = DistinguishedName::new();
        subject.push(DnType::OrganizationName, organization);
        subject.push(DnType::CommonName, common_name);
        params.distinguished_name = subject;
        let request = params.serialize_request(key).and_then(|request| request.pem());
        let request = request.map_err(|error| error.to_string())?;
        Ok(Self { key: key.serialize_pem(), request })
    }
}

impl fmt::Debug for NewRequest {
    /// The key stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewRequest").field("request", &self.request).finish_non_exhaustive()
    }
}
