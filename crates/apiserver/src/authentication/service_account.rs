//! Service account tokens: their claims, and whether these are still valid.

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::access::User;
use gantry_schema::kinds::kinds;

use super::TokenUser;
use super::jwt::UnverifiedToken;
use crate::ApiServer;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::ObjectRef;

/// The tolerated clock skew, and the time that a token outlives the deletion of its objects.
const LEEWAY_SECONDS: i64 = 60;
/// The claim with the names and uids of Kubernetes objects.
const OWN: &str = "kubernetes.io";
/// The prefix of the keys of user extras.
const EXTRA: &str = "authentication.kubernetes.io";

/// Why a token is rejected.
#[derive(Debug)]
pub(crate) enum BadToken {
    /// It was not issued by this cluster.
    Unknown,
    /// It is invalid, for this reason.
    Invalid(String),
    /// It could not be verified, because the store failed.
    Unreadable(ApiError),
}

/// The claims of a new token.
pub(crate) struct Claims<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) id: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) account: &'a Value,
    pub(crate) audiences: &'a Value,
    pub(crate) now: Timestamp,
    pub(crate) lifetime_seconds: i64,
    /// The objects the token is bound to, by lower-case kind: `pod`, `node`, `secret`.
    pub(crate) bound: Vec<(&'static str, Value)>,
}

impl Claims<'_> {
    pub(crate) fn render(&self) -> Value {
        let mut own = json!({"namespace": self.namespace, "serviceaccount": reference(self.account)});
        for (kind, object) in &self.bound {
            own[*kind] = reference(object);
        }
        let name = Metadata::of(self.account).name();
        let now = seconds(self.now);
        json!({
            "iss": self.issuer, "sub": User::of_service_account(self.namespace, name).name, "aud": self.audiences,
            "exp": now + self.lifetime_seconds, "iat": now, "nbf": now, "jti": self.id, OWN: own,
        })
    }
}

/// Returns the user of a token whose signature, claims and bound objects are valid.
pub(crate) async fn authenticate(
    server: &ApiServer,
    token: &str,
    audiences: &[String],
) -> Result<TokenUser, BadToken> {
    let token = UnverifiedToken::parse(token).ok_or(BadToken::Unknown)?;
    if token.claims["iss"] != server.settings.access.issuer {
        return Err(BadToken::Unknown);
    }
    let key = server.signing_keys.get(server.objects.store.as_ref()).await.map_err(BadToken::Unreadable)?;
    if !key.is_some_and(|key| token.is_signed_by(&key)) {
        return invalid("the signature is not of this cluster");
    }
    check_time(&token.claims, server.environment.now())?;
    let audiences = common_audiences(&token.claims, audiences)?;
    let user = user_of(&token.claims);
    if token.claims["sub"] != user.name {
        return invalid("the subject is not the account");
    }
    check_bound_objects(server, &token.claims[OWN]).await?;
    Ok(TokenUser { user, audiences })
}

/// The user in the claims.
fn user_of(claims: &Value) -> User {
    let own = &claims[OWN];
    let text = |pointer: &str| own.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let id = claims["jti"].as_str().map(|id| format!("JTI={id}")).unwrap_or_default();
    let extras = [
        ("credential-id", id.as_str()),
        ("pod-name", text("/pod/name")),
        ("pod-uid", text("/pod/uid")),
        ("node-name", text("/node/name")),
        ("node-uid", text("/node/uid")),
    ];
    let known = extras.into_iter().filter(|(_, value)| !value.is_empty());
    User {
        uid: text("/serviceaccount/uid").to_owned(),
        extra: known.map(|(key, value)| (format!("{EXTRA}/{key}"), vec![value.to_owned()])).collect(),
        ..User::of_service_account(text("/namespace"), text("/serviceaccount/name"))
    }
}

/// Checks that the service account and the bound objects still exist.
async fn check_bound_objects(server: &ApiServer, own: &Value) -> Result<(), BadToken> {
    let namespace = own["namespace"].as_str();
    check_exists(server, "serviceaccounts", namespace, &own["serviceaccount"]).await?;
    for (claim, resource) in [("pod", "pods"), ("secret", "secrets")] {
        if !own[claim].is_null() {
            check_exists(server, resource, namespace, &own[claim]).await?;
        }
    }
    // The node of a pod is informational; only a token bound to the node itself depends on it.
    if own["pod"].is_null() && !own["node"].is_null() {
        check_exists(server, "nodes", None, &own["node"]).await?;
    }
    Ok(())
}

fn invalid<T>(why: impl Into<String>) -> Result<T, BadToken> {
    Err(BadToken::Invalid(why.into()))
}

fn check_time(claims: &Value, now: Timestamp) -> Result<(), BadToken> {
    let now = seconds(now);
    match (claims["exp"].as_i64(), claims["nbf"].as_i64()) {
        (Some(ends), _) if now > ends.saturating_add(LEEWAY_SECONDS) => {
            invalid("service account token has expired")
        }
        (Some(_), Some(begins)) if now < begins.saturating_sub(LEEWAY_SECONDS) => {
            invalid("service account token is not valid yet")
        }
        (Some(_), Some(_)) => Ok(()),
        _ => invalid("service account token has no expiry"),
    }
}

/// The audiences that are both requested and in the token. Returns an error if there are none.
fn common_audiences(claims: &Value, wanted: &[String]) -> Result<Vec<String>, BadToken> {
    let meant = match &claims["aud"] {
        Value::String(one) => vec![one.as_str()],
        many => many.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    let common: Vec<_> = wanted.iter().filter(|one| meant.contains(&one.as_str())).cloned().collect();
    if common.is_empty() {
        let (meant, wanted) = (json!(meant), json!(wanted));
        return invalid(format!("token audiences {meant} is invalid for the target audiences {wanted}"));
    }
    Ok(common)
}

/// Checks that an object exists, has the same uid, and is not being deleted for longer than the leeway.
async fn check_exists(
    server: &ApiServer,
    resource: &str,
    namespace: Option<&str>,
    reference: &Value,
) -> Result<(), BadToken> {
    let Some(kind) = kinds().resource("", "v1", resource) else { return invalid("no such kind") };
    let name = reference["name"].as_str().unwrap_or_default();
    let found = match server.objects.get(ObjectRef { kind, namespace, name }).await {
        Ok(found) => found,
        Err(ApiError::NotFound(_)) => return invalid(format!("{resource} \"{name}\" does not exist")),
        Err(refusal) => return Err(BadToken::Unreadable(refusal)),
    };
    if reference["uid"] != Metadata::of(&found).uid() {
        return invalid(format!("{resource} \"{name}\" is not the object that the token was issued for"));
    }
    let deleted = Metadata::of(&found).deletion_timestamp().and_then(Timestamp::parse);
    if deleted.is_some_and(|deleted| server.environment.now().seconds_after(deleted) > LEEWAY_SECONDS) {
        return invalid(format!("{resource} \"{name}\" is being deleted"));
    }
    Ok(())
}

fn reference(object: &Value) -> Value {
    let mut reference = json!({"name": Metadata::of(object).name()});
    // A deleted node has a name and no uid.
    match Metadata::of(object).uid() {
        "" => {}
        uid => reference["uid"] = json!(uid),
    }
    reference
}

/// Seconds since 1970.
fn seconds(timestamp: Timestamp) -> i64 {
    timestamp.seconds_after(Timestamp::from_secs(0))
}
