//! Bundles of certificates in definitions: whether there is any certificate in one.
//!
//! Whether a certificate is good is the business of whoever connects.

use gantry_formats::base64;

/// What is wrong with a bundle, as base64 in a field; `None` for an empty one too.
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

/// Whether what follows the beginning of a block ends it, and holds what a certificate begins with.
fn is_certificate(body: &str) -> bool {
    const SEQUENCE: u8 = 0x30;
    let Some((content, _)) = body.split_once("-----END CERTIFICATE-----") else { return false };
    let content: String = content.split_whitespace().collect();
    base64::decode(&content).is_ok_and(|bytes| bytes.first() == Some(&SEQUENCE))
}
