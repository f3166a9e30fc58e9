//! PEM blocks.

use gantry_formats::base64;
use x509_parser::pem::Pem;

/// The blocks of a text, as far as they can be read.
pub(crate) fn blocks(text: &[u8]) -> impl Iterator<Item = Pem> {
    Pem::iter_from_buffer(text).map_while(Result::ok)
}

/// Encodes a block, in lines of 64 characters.
pub(crate) fn encode(label: &str, der: &[u8]) -> String {
    let text = base64::encode(der);
    let mut encoded = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(64) {
        encoded.extend(line.iter().copied().map(char::from));
        encoded.push('\n');
    }
    encoded + &format!("-----END {label}-----\n")
}
