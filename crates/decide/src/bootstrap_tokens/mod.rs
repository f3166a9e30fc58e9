//! Bootstrap tokens: which sign the ConfigMap `cluster-info`, and when they are deleted.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gantry_model::Timestamp;

/// The type of Secrets that hold tokens.
pub const SECRET_TYPE: &str = "bootstrap.kubernetes.io/token";
/// The prefix of the names of these Secrets.
pub const SECRET_PREFIX: &str = "bootstrap-token-";
/// The key of the ConfigMap that is signed.
pub const KUBECONFIG: &str = "kubeconfig";
/// The prefix of the keys of signatures.
pub const SIGNATURE_PREFIX: &str = "jws-kubeconfig-";

/// A Secret that holds a token, as it was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSecret {
    /// Its name.
    pub name: String,
    /// Its data.
    pub data: BTreeMap<String, String>,
    /// When it expires.
    pub expiry: TokenExpiry,
}

/// When a token expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenExpiry {
    /// Never.
    Never,
    /// At this moment.
    At(Timestamp),
    /// The expiry cannot be parsed, which counts as expired.
    Malformed,
}

/// The decision about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenCleaning {
    /// The token is kept.
    Keep,
    /// The token is checked again after this time.
    CheckAfter(Duration),
    /// The token is deleted.
    Delete,
}

/// Decides whether a token is deleted.
pub fn cleaning(secret: &TokenSecret, now: Timestamp) -> TokenCleaning {
    match secret.expiry {
        TokenExpiry::Never => TokenCleaning::Keep,
        TokenExpiry::At(end) if end > now => TokenCleaning::CheckAfter(end.since(now)),
        TokenExpiry::At(_) | TokenExpiry::Malformed => TokenCleaning::Delete,
    }
}

/// The secrets of the tokens that sign, by their ids.
pub fn signing_tokens<'a>(
    secrets: impl IntoIterator<Item = &'a TokenSecret>,
    now: Timestamp,
) -> BTreeMap<&'a str, &'a str> {
    let signing = secrets.into_iter().filter_map(|secret| {
        let of = |key: &str| secret.data.get(key).map_or("", String::as_str);
        let (id, token) = (of("token-id"), of("token-secret"));
        let is_named = secret.name.strip_prefix(SECRET_PREFIX) == Some(id) && is_id(id);
        let is_usable = !token.is_empty()
            && of("usage-bootstrap-signing") == "true"
            && cleaning(secret, now) != TokenCleaning::Delete;
        (is_named && is_usable).then_some((id, token))
    });
    signing.collect()
}

/// Whether a text is the id of a token.
fn is_id(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Decides on the data of the ConfigMap, given the signatures by the ids of their tokens; `None` if it is up to date.
pub fn signed_data(
    data: &BTreeMap<String, String>,
    signatures: &BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    let present: BTreeSet<(&str, &str)> = data
        .iter()
        .filter_map(|(key, value)| Some((key.strip_prefix(SIGNATURE_PREFIX)?, value.as_str())))
        .collect();
    let wanted = signatures.iter().map(|(id, signature)| (id.as_str(), signature.as_str())).collect();
    if present == wanted {
        return None;
    }
    let mut signed = data.clone();
    signed.retain(|key, _| !key.starts_with(SIGNATURE_PREFIX));
    signed.extend(signatures.iter().map(|(id, value)| (format!("{SIGNATURE_PREFIX}{id}"), value.clone())));
    Some(signed)
}
