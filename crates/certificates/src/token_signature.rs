//! Signatures of bootstrap tokens: detached JSON web signatures by HMAC with SHA-256.

use aws_lc_rs::hmac;
use gantry_formats::base64;

/// Signs a text with a token. The text itself is not part of the signature.
pub fn token_signature(text: &str, id: &str, secret: &str) -> String {
    let header = base64::encode_url(format!("{{\"alg\":\"HS256\",\"kid\":\"{id}\"}}").as_bytes());
    let signature = hmac::sign(&key(secret), signed(&header, text).as_bytes());
    format!("{header}..{}", base64::encode_url(signature.as_ref()))
}

/// Whether this is the signature of a text by the token.
pub fn is_signed_by(signature: &str, text: &str, id: &str, secret: &str) -> bool {
    let expected = token_signature(text, id, secret);
    aws_lc_rs::constant_time::verify_slices_are_equal(expected.as_bytes(), signature.as_bytes()).is_ok()
}

fn key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

fn signed(header: &str, text: &str) -> String {
    format!("{header}.{}", base64::encode_url(text.as_bytes()))
}
