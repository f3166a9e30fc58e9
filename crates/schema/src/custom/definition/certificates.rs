//! CA bundles in definitions: whether they contain a certificate.
//!
//! Certificates are not verified here.

use gantry_formats::base64;

/// The error of a bundle in base64; `None` if it is valid or empty.
pub fn problem(bundle: &str) -> Option<String> {
    let bytes = base64::decode(bundle).unwrap_or_default();
    if bytes.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    let blocks = || text.split("-----BEGIN ").skip(1).filter_map(|block| block.split_once("-----"));
    if blocks().any(|(kind, body)| kind == "CERTIFICATE" && is_certificate(body)) {
        return None;
    }
    let why = match blocks().next() {
        None => "unable to parse bytes as PEM block",
        Some(_) => "no valid certificate authority data seen",
    };
    Some(format!("unable to load root certificates: {why}"))
}

/// Whether the rest of a PEM block is complete and starts like a certificate.
fn is_certificate(body: &str) -> bool {
    const SEQUENCE: u8 = 0x30;
    let Some((content, _)) = body.split_once("-----END CERTIFICATE-----") else { return false };
    let content: String = content.split_whitespace().collect();
    base64::decode(&content).is_ok_and(|bytes| bytes.first() == Some(&SEQUENCE))
}
