//! Reads certificates.

use aws_lc_rs::digest;

use crate::{Seconds, pem};

/// The validity period of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// `notBefore`.
    pub begins: Seconds,
    /// `notAfter`.
    pub ends: Seconds,
}

/// Checks that a text has only certificates in PEM; the error names the problem.
pub fn check_certificates(text: &[u8]) -> Result<(), String> {
    let mut found = 0;
    for block in pem::blocks(text) {
        if block.label != "CERTIFICATE" {
            return Err(format!("only CERTIFICATE PEM blocks are allowed, found {:?}", block.label));
        }
        block.parse_x509().map_err(|_| "x509: malformed certificate".to_owned())?;
        found += 1;
    }
    if found == 0 { Err("must contain at least one CERTIFICATE PEM block".to_owned()) } else { Ok(()) }
}

/// Returns the problems of a bundle of trust anchors: it must have certificates of authorities in PEM, each once.
pub fn trust_anchor_problems(text: &[u8]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen: Vec<(Vec<u8>, Vec<String>)> = Vec::new();
    for (index, block) in pem::blocks(text).enumerate() {
        if block.label != "CERTIFICATE" {
            problems.push(format!("entry {index} has bad block type: {}", block.label));
            continue;
        }
        match block.parse_x509() {
            Err(_) => problems.push(format!("entry {index} does not parse as X.509")),
            Ok(certificate) if !certificate.is_ca() => {
                problems.push(format!("entry {index} does not have the CA bit set"));
            }
            Ok(_) => match seen.iter_mut().find(|(known, _)| *known == block.contents) {
                Some((_, indices)) => indices.push(index.to_string()),
                None => seen.push((block.contents.clone(), vec![index.to_string()])),
            },
        }
    }
    if !problems.is_empty() {
        return problems;
    }
    if seen.is_empty() {
        return vec!["at least one trust anchor must be provided".to_owned()];
    }
    let repeated = seen.into_iter().filter(|(_, indices)| indices.len() > 1);
    repeated.map(|(_, indices)| format!("duplicate trust anchor (indices [{}])", indices.join(" "))).collect()
}

/// Returns the lifetime of the first certificate of a text.
pub fn lifetime(text: &[u8]) -> Option<Lifetime> {
    let block = pem::blocks(text).next()?;
    let certificate = block.parse_x509().ok()?;
    let validity = certificate.validity();
    Some(Lifetime { begins: validity.not_before.timestamp(), ends: validity.not_after.timestamp() })
}

/// Returns the digests of the public keys of the certificates of a text, as `sha256:` and hexadecimal digits, like
/// `--discovery-token-ca-cert-hash` of kubeadm.
pub fn public_key_pin(text: &[u8]) -> Vec<String> {
    let pin = |block: x509_parser::pem::Pem| {
        let certificate = block.parse_x509().ok()?;
        let digest = digest::digest(&digest::SHA256, certificate.public_key().raw);
        let digits = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
        Some(format!("sha256:{}", digits.collect::<String>()))
    };
    pem::blocks(text).filter_map(pin).collect()
}
