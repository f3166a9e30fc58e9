//! Defaults of secrets: text is turned into data, which is base64.

use gantry_formats::base64;
use serde_json::{Value, json};

use super::setting::{Object, default_text, ensure};

/// A Secret: what was given as text wins over data of the same key, and is never kept as text.
pub(crate) fn secret(secret: &mut Object) {
    default_text(secret, "type", "Opaque");
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = ensure(secret, "data") {
        for (key, text) in texts {
            let encoded = base64::encode(text.as_str().unwrap_or("").as_bytes());
            data.insert(key, json!(encoded));
        }
    }
}
