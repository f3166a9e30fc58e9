//! Continue tokens: JSON in base64url, opaque to clients.

use gantry_json::{Value, json};

use crate::Refusal;
use gantry_formats::base64::{decode_url, encode_url};

const FORMAT: &str = "meta.k8s.io/v1";

/// The start of the next page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continue {
    /// The version of all pages; `None` continues with the latest, for a list whose version was compacted.
    pub version: Option<u64>,
    /// The first possible key of the page, relative to the list: `/default/web\0`. It begins with a slash.
    pub start: String,
}

impl Continue {
    /// The page right after a key, such as `/default/web`.
    pub fn after(version: u64, key: &str) -> Self {
        Self { version: Some(version), start: format!("{key}\0") }
    }

    /// Encodes the token.
    pub fn encode(&self) -> String {
        let version = self.version.map_or(json!(-1), |version| json!(version));
        encode_url(json!({"v": FORMAT, "rv": version, "start": self.start}).to_string().as_bytes())
    }

    /// Decodes a token; anything that [`Continue::encode`] does not produce is an error.
    pub fn decode(token: &str) -> Result<Self, Refusal> {
        read(token).map_err(|wrong| {
            Refusal::bad_request(format!("invalid continue token: continue key is not valid: {wrong}"))
        })
    }
}

fn read(token: &str) -> Result<Continue, String> {
    let bytes = decode_url(token).ok_or("it is not base64")?;
    let content: Value = gantry_json::from_slice(&bytes).map_err(|problem| problem.to_string())?;
    if content["v"] != FORMAT {
        let version = content["v"].as_str().unwrap_or("");
        return Err(format!("server does not recognize this encoded version {version}"));
    }
    let version = match (content["rv"].as_u64(), content["rv"].as_i64()) {
        (Some(version @ 1..), _) => Some(version),
        (None, Some(_)) => None,
        _ => return Err(format!("incorrect encoded start resourceVersion (version {FORMAT})")),
    };
    let start = content["start"].as_str().unwrap_or("").to_owned();
    if start.is_empty() {
        return Err(format!("encoded start key empty (version {FORMAT})"));
    }
    // A key outside of the list is not one of ours.
    let proper =
        start.starts_with('/') && start.split('/').skip(1).all(|part| !["", ".", ".."].contains(&part));
    if proper { Ok(Continue { version, start }) } else { Err(start) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A4.4: Kubernetes' format of tokens.
    #[test]
    fn a_token_is_unpadded_base64url_of_json() {
        let page = Continue::after(332, "/cm2");
        let content = decode_url(&page.encode()).unwrap();
        assert_eq!(
            String::from_utf8(content).unwrap(),
            r#"{"rv":332,"start":"/cm2\u0000","v":"meta.k8s.io/v1"}"#
        );
        assert_eq!(encode_url(b"f"), "Zg");
        assert_eq!(encode_url(b"fo"), "Zm8");
        assert_eq!(encode_url(b"foo"), "Zm9v");
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
    }

    /// A4.4: Kubernetes' order of fields is accepted.
    #[test]
    fn a_token_of_kubernetes_is_decoded() {
        let token = encode_url(br#"{"v":"meta.k8s.io/v1","rv":332,"start":"/cm2\u0000"}"#);
        assert_eq!(Continue::decode(&token).unwrap(), Continue::after(332, "/cm2"));
    }

    /// A4.4: invalid tokens are refused.
    #[test]
    fn invalid_tokens_are_refused() {
        let forged = [
            r#"{"v":"meta.k8s.io/v2","rv":1,"start":"/a"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":0,"start":"/a"}"#,
            r#"{"v":"meta.k8s.io/v1","start":"/a"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":1,"start":"/../secrets"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":1,"start":"a"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":1}"#,
            "[]",
        ];
        for token in
            forged.map(|text| encode_url(text.as_bytes())).iter().map(String::as_str).chain(["abc", "?", "a"])
        {
            let refusal = Continue::decode(token).unwrap_err();
            assert!(
                refusal.message.starts_with("invalid continue token: continue key is not valid: "),
                "{token}"
            );
        }
    }

    proptest! {
        #[test]
        fn tokens_survive_encoding(version in 1_u64.., name in "[a-z0-9.-]{3,20}") {
            let page = Continue::after(version, &format!("/default/{name}"));
            prop_assert_eq!(Continue::decode(&page.encode()).unwrap(), page);
        }

        #[test]
        fn bytes_survive_base64(bytes: Vec<u8>) {
            prop_assert_eq!(decode_url(&encode_url(&bytes)), Some(bytes));
        }

        #[test]
        fn any_token_is_decoded_or_refused(token in ".*") {
            let _ = Continue::decode(&token);
        }
    }
}
