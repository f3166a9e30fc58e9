//! An authority that signs requests.

use std::fmt;

use aws_lc_rs::rand;
use gantry_formats::rfc3339;
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::{Lifetime, RequestedCertificate, Seconds, der, pem, usages};

/// An authority: its certificate and its key.
pub struct RequestSigner {
    /// The certificate, as DER.
    certificate: Vec<u8>,
    key: KeyPair,
    lifetime: Lifetime,
}

/// The terms of a signed certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningTerms {
    /// The usages of the key, by their names in Kubernetes' API.
    pub usages: Vec<String>,
    /// The validity period of the certificate, which ends with the authority's at the latest.
    pub lifetime: Lifetime,
}

/// The number of bytes of a serial number.
const SERIAL_BYTES: usize = 16;

impl RequestSigner {
    /// An authority from PEM.
    pub fn new(certificate: &str, key: &str) -> Result<Self, String> {
        let block = pem::blocks(certificate.as_bytes()).next().filter(|block| block.label == "CERTIFICATE");
        let block = block.ok_or("the certificate holds no PEM block CERTIFICATE")?;
        let key = KeyPair::from_pem(key).map_err(|error| format!("the key cannot be read: {error}"))?;
        let parsed =
            block.parse_x509().map_err(|error| format!("the certificate cannot be read: {error}"))?;
        if parsed.public_key().raw != key.subject_public_key_info() {
            return Err("the key does not belong to the certificate".to_owned());
        }
        if !parsed.is_ca() {
            return Err("the certificate is not that of an authority".to_owned());
        }
        signature_algorithm(&key)?;
        let validity = parsed.validity();
        let lifetime =
            Lifetime { begins: validity.not_before.timestamp(), ends: validity.not_after.timestamp() };
        Ok(Self { certificate: block.contents.clone(), key, lifetime })
    }

    /// Signs a request whose signature is valid, and returns the certificate as PEM.
    pub fn sign(
        &self,
        request: &RequestedCertificate,
        terms: &SigningTerms,
        now: Seconds,
    ) -> Result<String, String> {
        request.verify().map_err(|why| format!("unable to verify certificate request signature: {why}"))?;
        if now >= self.lifetime.ends || terms.lifetime.begins >= self.lifetime.ends {
            return Err("the certificate of the authority has expired".to_owned());
        }
        let algorithm = signature_algorithm(&self.key)?;
        let ends = terms.lifetime.ends.min(self.lifetime.ends);
        let validity = der::sequence(&[&time(terms.lifetime.begins), &time(ends)]);
        let (_, authority) = X509Certificate::from_der(&self.certificate)
            .map_err(|_| "the certificate of the authority cannot be read".to_owned())?;
        let body = request.with(|parsed| {
            let info = &parsed.certification_request_info;
            let names = parsed
                .requested_extensions()
                .into_iter()
                .flatten()
                .any(|extension| matches!(extension, ParsedExtension::SubjectAlternativeName(_)));
            let names = if names { alternative_names(request) } else { None };
            let mut extensions = usages::extensions(&terms.usages)?;
            // The certificate is not for an authority.
            extensions.push(der::extension(&[0x55, 0x1d, 0x13], true, &der::sequence(&[])));
            extensions.extend(authority_key_id(&authority));
            // Without a subject, they are critical.
            let is_critical = info.subject.iter().next().is_none();
            extensions.extend(names.map(|names| der::extension(&[0x55, 0x1d, 0x11], is_critical, &names)));
            let parts: Vec<&[u8]> = extensions.iter().map(Vec::as_slice).collect();
            Ok(der::sequence(&[
                &der::tagged(0xa0, &[&der::unsigned(&[2])]),
                &der::unsigned(&serial()?),
                &algorithm,
                authority.subject().as_raw(),
                &validity,
                info.subject.as_raw(),
                info.subject_pki.raw,
                &der::tagged(0xa3, &[&der::sequence(&parts)]),
            ]))
        })?;
        let signature =
            self.key.sign(&body).map_err(|error| format!("failed to sign certificate: {error}"))?;
        let certificate = der::sequence(&[&body, &algorithm, &der::bit_string(&signature)]);
        Ok(pem::encode("CERTIFICATE", &certificate))
    }
}

/// The names and addresses of a request.
fn alternative_names(request: &RequestedCertificate) -> Option<Vec<u8>> {
    let text = |tag: u8, text: &String| der::tagged(tag, &[text.as_bytes()]);
    let mut names: Vec<Vec<u8>> = request.dns_names.iter().map(|name| text(0x82, name)).collect();
    names.extend(request.emails.iter().map(|name| text(0x81, name)));
    names.extend(request.ip_addresses.iter().map(|address| match address {
        std::net::IpAddr::V4(address) => der::tagged(0x87, &[&address.octets()]),
        std::net::IpAddr::V6(address) => der::tagged(0x87, &[&address.octets()]),
    }));
    names.extend(request.uris.iter().map(|name| text(0x86, name)));
    let parts: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    (!parts.is_empty()).then(|| der::sequence(&parts))
}

/// The extension that names the key of the authority, if its certificate does.
fn authority_key_id(authority: &X509Certificate<'_>) -> Option<Vec<u8>> {
    let id = authority.iter_extensions().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
        _ => None,
    })?;
    let value = der::sequence(&[&der::tagged(0x80, &[&id])]);
    Some(der::extension(&[0x55, 0x1d, 0x23], false, &value))
}

/// The identifier of the algorithm with which a key signs.
fn signature_algorithm(key: &KeyPair) -> Result<Vec<u8>, String> {
    let algorithm = key.algorithm();
    let ecdsa = |last: u8| der::sequence(&[&der::oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, last])]);
    let rsa = |last: u8| {
        let oid = der::oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, last]);
        der::sequence(&[&oid, &[0x05, 0x00]])
    };
    if algorithm == &rcgen::PKCS_ECDSA_P256_SHA256 {
        Ok(ecdsa(2))
    } else if algorithm == &rcgen::PKCS_ECDSA_P384_SHA384 {
        Ok(ecdsa(3))
    } else if algorithm == &rcgen::PKCS_RSA_SHA256 {
        Ok(rsa(11))
    } else if algorithm == &rcgen::PKCS_ED25519 {
        Ok(der::sequence(&[&der::oid(&[0x2b, 0x65, 0x70])]))
    } else {
        Err("the key is of a kind that cannot sign here: use ECDSA on P-256 or P-384, RSA or Ed25519"
            .to_owned())
    }
}

fn serial() -> Result<[u8; SERIAL_BYTES], String> {
    let mut serial = [0; SERIAL_BYTES];
    rand::fill(&mut serial).map_err(|_| "no random number for the serial number".to_owned())?;
    // Neither negative nor zero.
    serial[0] = serial[0] & 0x7f | 0x40;
    Ok(serial)
}

/// A time: with a two-digit year until 2049, as RFC 5280 requires.
fn time(at: Seconds) -> Vec<u8> {
    let days = at.div_euclid(86_400);
    let seconds = at.rem_euclid(86_400);
    let (year, month, day) = rfc3339::date(days);
    let rest = format!("{month:02}{day:02}{:02}{:02}{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if year < 2050 {
        der::tagged(0x17, &[format!("{:02}{rest}", year % 100).as_bytes()])
    } else {
        der::tagged(0x18, &[format!("{year:04}{rest}").as_bytes()])
    }
}

impl fmt::Debug for RequestSigner {
    /// The key stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSigner").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}
