//! JSON web tokens in their compact form, signed with RS256; nothing else is written or believed.

use gantry_formats::base64;
use serde_json::{Value, json};

use super::keys::SigningKey;

/// A token of three parts whose signature nobody has looked at yet.
pub(crate) struct Unverified<'t> {
    header: Value,
    /// What the token claims; not to be believed before [`Unverified::is_signed_by`].
    pub(crate) claims: Value,
    signed: &'t str,
    signature: Vec<u8>,
}

impl<'t> Unverified<'t> {
    /// Reads a token; anything that is not one is nothing.
    pub(crate) fn parse(token: &'t str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let json = |part: &str| serde_json::from_slice(&base64::decode_url(part)?).ok();
        Some(Self {
            header: json(header)?,
            claims: json(claims)?,
            signed,
            signature: base64::decode_url(signature)?,
        })
    }

    /// Whether the key made the signature, in the one way that is believed.
    pub(crate) fn is_signed_by(&self, key: &SigningKey) -> bool {
        self.header["alg"] == "RS256" && key.has_signed(self.signed.as_bytes(), &self.signature)
    }
}

/// Writes and signs a token.
pub(crate) fn sign(claims: &Value, key: &SigningKey) -> Option<String> {
    let header = json!({"alg": "RS256", "kid": key.id()});
    let part = |value: &Value| base64::encode_url(value.to_string().as_bytes());
    let signed = format!("{}.{}", part(&header), part(claims));
    let signature = key.sign(signed.as_bytes())?;
    Some(format!("{signed}.{}", base64::encode_url(&signature)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A7.8: a token is believed as it was signed, by the key that signed it, and in no other way.
    #[test]
    fn a_token_that_was_touched_is_not_believed() {
        let (key, other) = (SigningKey::generate().unwrap(), SigningKey::generate().unwrap());
        let token = sign(&json!({"sub": "robot"}), &key).unwrap();
        let read = Unverified::parse(&token).unwrap();
        assert!(read.is_signed_by(&key) && read.claims["sub"] == "robot");
        assert!(!read.is_signed_by(&other));
        let parts: Vec<_> = token.split('.').collect();
        let forged = base64::encode_url(br#"{"sub":"admin"}"#);
        let forged = format!("{}.{forged}.{}", parts[0], parts[2]);
        assert!(!Unverified::parse(&forged).unwrap().is_signed_by(&key));
        let unsigned = base64::encode_url(br#"{"alg":"none"}"#);
        let unsigned = format!("{unsigned}.{}.", parts[1]);
        assert!(!Unverified::parse(&unsigned).unwrap().is_signed_by(&key));
        for garbage in ["", "a", "a.b", "a.b.c", "..", "....", "Zg.Zg.Zg"] {
            assert!(Unverified::parse(garbage).is_none(), "{garbage}");
        }
    }
}
