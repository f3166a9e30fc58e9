//! Bootstrap tokens: `id.secret`, held by Secrets of the type `bootstrap.kubernetes.io/token` in `kube-system`.
//!
//! Their users are `system:bootstrap:ID` in the group `system:bootstrappers` and further groups below it. Roles
//! determine their permissions: nodes that join create requests for certificates with them.

use std::collections::BTreeSet;

use aws_lc_rs::constant_time;
use gantry_formats::base64;
use gantry_formats::bootstrap_token::{BootstrapToken, GROUP, is_group};
use gantry_json::Value;
use gantry_primitives::Timestamp;
use gantry_registry::access::User;
use gantry_schema::kinds::kinds;

use super::TokenUser;
use super::service_account::BadToken;
use crate::ApiServer;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::ObjectRef;

const NAMESPACE: &str = "kube-system";
const SECRET_TYPE: &str = "bootstrap.kubernetes.io/token";

/// Returns the user of a bootstrap token. A token of another form is unknown.
pub(super) async fn authenticate(
    server: &ApiServer,
    token: &str,
    audiences: &[String],
) -> Result<TokenUser, BadToken> {
    let Some(token) = BootstrapToken::parse(token) else { return Err(BadToken::Unknown) };
    let Some(kind) = kinds().resource("", "v1", "secrets") else { return Err(BadToken::Unknown) };
    let name = token.secret_name();
    let secret = match server.objects.get(ObjectRef { kind, namespace: Some(NAMESPACE), name: &name }).await {
        Ok(secret) => secret,
        Err(ApiError::NotFound(_)) => return Err(BadToken::Unknown),
        Err(refusal) => return Err(BadToken::Unreadable(refusal)),
    };
    let groups = groups(&secret, &token, server.environment.now()).ok_or(BadToken::Unknown)?;
    let user = User { name: format!("system:bootstrap:{}", token.id()), groups, ..User::default() };
    // These tokens have no audience restriction.
    Ok(TokenUser { user, audiences: audiences.to_vec() })
}

/// The groups of the token's user, if the Secret holds this token, for authentication, and has not expired.
fn groups(secret: &Value, token: &BootstrapToken, now: Timestamp) -> Option<Vec<String>> {
    let data = |key: &str| {
        let bytes = base64::decode(secret["data"][key].as_str().unwrap_or_default()).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    };
    let is_same =
        constant_time::verify_slices_are_equal(data("token-secret").as_bytes(), token.secret().as_bytes())
            .is_ok();
    let expiration = data("expiration");
    let is_valid = expiration.is_empty() || Timestamp::parse(&expiration).is_some_and(|end| end > now);
    let is_usable = is_same
        && is_valid
        && secret["type"] == SECRET_TYPE
        && data("token-id") == token.id()
        && data("usage-bootstrap-authentication") == "true"
        && Metadata::of(secret).deletion_timestamp().is_none();
    if !is_usable {
        return None;
    }
    let extra = data("auth-extra-groups");
    let extra: Vec<&str> = if extra.is_empty() { Vec::new() } else { extra.split(',').collect() };
    if !extra.iter().all(|group| is_group(group)) {
        return None;
    }
    let groups: BTreeSet<&str> = extra.into_iter().chain([GROUP]).collect();
    Some(groups.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_767_268_800);

    fn secret(changed: &[(&str, &str)]) -> Value {
        let mut data = json!({});
        let usual = [
            ("token-id", "abcdef"),
            ("token-secret", "0123456789abcdef"),
            ("usage-bootstrap-authentication", "true"),
        ];
        for (key, value) in usual.iter().chain(changed) {
            data[*key] = json!(base64::encode(value.as_bytes()));
        }
        json!({"metadata": {"name": "bootstrap-token-abcdef"}, "type": SECRET_TYPE, "data": data})
    }

    fn groups_of(secret: &Value) -> Option<Vec<String>> {
        let token = BootstrapToken::parse("abcdef.0123456789abcdef").unwrap();
        groups(secret, &token, NOW)
    }

    #[test]
    fn a_token_has_its_groups() {
        assert_eq!(groups_of(&secret(&[])).unwrap(), ["system:bootstrappers"]);
        let extra = secret(&[("auth-extra-groups", "system:bootstrappers:z,system:bootstrappers:a")]);
        assert_eq!(
            groups_of(&extra).unwrap(),
            ["system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:z"]
        );
    }

    #[test]
    fn tokens_with_wrong_id_secret_usage_or_groups_are_refused() {
        let wrong = [
            ("token-secret", "0123456789abcdee"),
            ("token-id", "abcdeg"),
            ("usage-bootstrap-authentication", "false"),
            ("auth-extra-groups", "system:masters"),
            ("expiration", "2026-01-01T12:00:00Z"),
            ("expiration", "tomorrow"),
        ];
        for change in wrong {
            assert_eq!(groups_of(&secret(&[change])), None, "{change:?}");
        }
        assert!(groups_of(&secret(&[("expiration", "2026-01-01T12:00:01Z")])).is_some());
        let mut other = secret(&[]);
        other["type"] = json!("Opaque");
        assert_eq!(groups_of(&other), None);
        let mut deleted = secret(&[]);
        deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T12:00:00Z");
        assert_eq!(groups_of(&deleted), None);
    }
}
