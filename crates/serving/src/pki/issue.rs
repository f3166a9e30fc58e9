//! Creates certificates: a CA, and the certificates that it signs.

use std::sync::Arc;
use std::time::Duration;

use gantry_certificates::RequestSigner;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, Error, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

use super::{Certified, PkiError, Seconds, ServerNames};

/// A CA that can sign.
pub(super) struct Authority {
    pub(super) certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

const DAY: Seconds = 24 * 3600;
/// The CA is valid for a long time: replacing it means replacing every kubeconfig.
const CA_LIFETIME: Seconds = 3650 * DAY;
const LIFETIME: Seconds = 365 * DAY;
/// A new certificate must be valid for a client whose clock is slow.
const CLOCK_SKEW: Seconds = 3600;

impl Authority {
    /// A new, self-signed CA.
    pub(super) fn new(now: Seconds) -> Result<Self, Error> {
        let mut params = params("gantry-ca", &[], now, CA_LIFETIME);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let key = new_key()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    /// An existing CA.
    pub(super) fn from_pem(certificate: String, key: KeyPair) -> Result<Self, Error> {
        let issuer = Issuer::from_ca_cert_pem(&certificate, key)?;
        Ok(Self { certificate, issuer })
    }

    /// The CA's key, as PEM.
    pub(super) fn key(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// The CA as the signer of certificate requests.
    pub(super) fn request_signer(&self) -> Result<Arc<RequestSigner>, PkiError> {
        RequestSigner::new(&self.certificate, &self.key()).map(Arc::new).map_err(PkiError::Signer)
    }

    /// A server certificate for these names.
    pub(super) fn server(&self, names: &ServerNames, now: Seconds) -> Result<Certified, Error> {
        let mut params = params("kube-apiserver", &[], now, LIFETIME);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        for name in &names.names {
            params.subject_alt_names.push(SanType::DnsName(name.as_str().try_into()?));
        }
        params.subject_alt_names.extend(names.addresses.iter().copied().map(SanType::IpAddress));
        self.sign(params)
    }

    /// The administrator's certificate.
    pub(super) fn admin(&self, now: Seconds) -> Result<Certified, Error> {
        let mut params = params("kubernetes-admin", &[gantry_registry::access::MASTERS], now, LIFETIME);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Certified, Error> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.use_authority_key_identifier_extension = true;
        let key = new_key()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Certified { certificate, key: key.serialize_pem() })
    }
}

/// ECDSA on P-256: every client can verify it, and it is fast to create.
fn new_key() -> Result<KeyPair, Error> {
    KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)
}

fn params(name: &str, groups: &[&str], now: Seconds, life: Seconds) -> CertificateParams {
    let mut params = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    for group in groups {
        subject.push(DnType::OrganizationName, *group);
    }
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    let at = |seconds: Seconds| {
        let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        rcgen::date_time_ymd(1970, 1, 1) + since
    };
    params.not_before = at(now - CLOCK_SKEW);
    params.not_after = at(now + life);
    params
}
