//! Defaults of secrets: text is turned into data, which is base64.

use serde_json::{Value, json};

use super::setting::{Object, default_text, ensure};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A Secret: what was given as text wins over data of the same key, and is never kept as text.
pub(crate) fn secret(secret: &mut Object) {
    default_text(secret, "type", "Opaque");
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = ensure(secret, "data") {
        for (key, text) in texts {
            let encoded = base64(text.as_str().unwrap_or("").as_bytes());
            data.insert(key, json!(encoded));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_usize, |group, byte| group << 8 | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = ALPHABET[group >> (18 - 6 * place) & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_padded_to_groups_of_four() {
        let texts = ["", "a", "ab", "abc", "over"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "YQ==", "YWI=", "YWJj", "b3Zlcg=="]);
    }
}
