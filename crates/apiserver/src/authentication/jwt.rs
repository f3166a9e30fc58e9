//! JSON web tokens in compact form, signed with RS256. No other algorithm is supported.

use gantry_formats::base64;
use gantry_json::{Value, json};

use super::signing_key::SigningKey;

/// A parsed token whose signature has not been verified.
pub(crate) struct UnverifiedToken<'t> {
    header: Value,
    /// The claims; not to be trusted before [`UnverifiedToken::is_signed_by`].
    pub(crate) claims: Value,
    signed: &'t str,
    signature: Vec<u8>,
}

impl<'t> UnverifiedToken<'t> {
    /// Parses a token; `None` if it is malformed.
    pub(crate) fn parse(token: &'t str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let json = |part: &str| gantry_json::from_slice(&base64::decode_url(part)?).ok();
        Some(Self {
            header: json(header)?,
            claims: json(claims)?,
            signed,
            signature: base64::decode_url(signature)?,
        })
    }

    /// Whether the key made the signature, with RS256.
    pub(crate) fn is_signed_by(&self, key: &SigningKey) -> bool {
        self.header["alg"] == "RS256" && key.has_signed(self.signed.as_bytes(), &self.signature)
    }
}

/// Encodes and signs a token.
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

    /// A7.8: a token is accepted only with its own signature by the right key.
    #[test]
    fn tampered_tokens_are_rejected() {
        let (key, other) = (SigningKey::generate().unwrap(), SigningKey::generate().unwrap());
        let token = sign(&json!({"sub": "robot"}), &key).unwrap();
        let read = UnverifiedToken::parse(&token).unwrap();
        assert!(read.is_signed_by(&key) && read.claims["sub"] == "robot");
        assert!(!read.is_signed_by(&other));
        let parts: Vec<_> = token.split('.').collect();
        let forged = base64::encode_url(br#"{"sub":"admin"}"#);
        let forged = format!("{}.{forged}.{}", parts[0], parts[2]);
        assert!(!UnverifiedToken::parse(&forged).unwrap().is_signed_by(&key));
        let unsigned = base64::encode_url(br#"{"alg":"none"}"#);
        let unsigned = format!("{unsigned}.{}.", parts[1]);
        assert!(!UnverifiedToken::parse(&unsigned).unwrap().is_signed_by(&key));
        for garbage in ["", "a", "a.b", "a.b.c", "..", "....", "Zg.Zg.Zg"] {
            assert!(UnverifiedToken::parse(garbage).is_none(), "{garbage}");
        }
    }
}
