//! Tokens of service accounts: what is claimed, and whether it is still true.

use gantry_registry::Refusal;
use gantry_registry::Timestamp;
use gantry_registry::access::User;
use gantry_registry::kinds::kinds;
use serde_json::{Value, json};

use super::Bearer;
use super::jwt::Unverified;
use crate::ApiServer;
use crate::objects::Place;

/// By how much the clocks of two servers may differ, and for how long what is deleted may still speak.
const LEEWAY_SECONDS: i64 = 60;
/// The claim under which everything of Kubernetes' own stands.
const OWN: &str = "kubernetes.io";
/// What the keys of a user's extras begin with.
const EXTRA: &str = "authentication.kubernetes.io";

/// Why a token is not believed.
#[derive(Debug)]
pub(crate) enum BadToken {
    /// It is none of ours.
    Unknown,
    /// It is, or says so, but does not hold; the text says why.
    Invalid(String),
    /// Nobody can tell: the store does not answer.
    Unreadable(Refusal),
}

/// What a token is to say.
pub(crate) struct Claims<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) id: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) account: &'a Value,
    pub(crate) audiences: &'a Value,
    pub(crate) now: Timestamp,
    pub(crate) lifetime_seconds: i64,
    /// What else must exist for the token to hold, by kind in lower case: `pod`, `node`, `secret`.
    pub(crate) bound: Vec<(&'static str, Value)>,
}

impl Claims<'_> {
    pub(crate) fn render(&self) -> Value {
        let mut own = json!({"namespace": self.namespace, "serviceaccount": reference(self.account)});
        for (kind, object) in &self.bound {
            own[*kind] = reference(object);
        }
        let name = self.account["metadata"]["name"].as_str().unwrap_or_default();
        let now = seconds(self.now);
        json!({
            "iss": self.issuer, "sub": User::of_service_account(self.namespace, name).name, "aud": self.audiences,
            "exp": now + self.lifetime_seconds, "iat": now, "nbf": now, "jti": self.id, OWN: own,
        })
    }
}

/// Whom the token stands for, if all that it claims still holds.
pub(crate) async fn authenticate(
    server: &ApiServer,
    token: &str,
    audiences: &[String],
) -> Result<Bearer, BadToken> {
    let token = Unverified::parse(token).ok_or(BadToken::Unknown)?;
    if token.claims["iss"] != server.settings.access.issuer {
        return Err(BadToken::Unknown);
    }
    let key =
        server.guard.keys.existing(server.objects.store.as_ref()).await.map_err(BadToken::Unreadable)?;
    if !key.is_some_and(|key| token.is_signed_by(&key)) {
        return invalid("the signature is not of this cluster");
    }
    check_time(&token.claims, server.surroundings.now())?;
    let audiences = common_audiences(&token.claims, audiences)?;
    let user = user_of(&token.claims);
    if token.claims["sub"] != user.name {
        return invalid("the subject is not the account");
    }
    check_bonds(server, &token.claims[OWN]).await?;
    Ok(Bearer { user, audiences })
}

/// The user that the claims speak of.
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

/// The account, and all else that the token is bound to, must still be there.
async fn check_bonds(server: &ApiServer, own: &Value) -> Result<(), BadToken> {
    let namespace = own["namespace"].as_str();
    check_exists(server, "serviceaccounts", namespace, &own["serviceaccount"]).await?;
    for (claim, resource) in [("pod", "pods"), ("secret", "secrets")] {
        if !own[claim].is_null() {
            check_exists(server, resource, namespace, &own[claim]).await?;
        }
    }
    // The node of a pod is information; only a token bound to the node itself ends with it.
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
        _ => invalid("service account token does not say when it ends"),
    }
}

/// The audiences that are both wanted and meant.
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

/// What a token is bound to must be there, be the same, and not be deleted for long.
async fn check_exists(
    server: &ApiServer,
    resource: &str,
    namespace: Option<&str>,
    reference: &Value,
) -> Result<(), BadToken> {
    let Some(kind) = kinds().resource("", "v1", resource) else { return invalid("no such kind") };
    let name = reference["name"].as_str().unwrap_or_default();
    let found = match server.objects.get(Place { kind, namespace, name }).await {
        Ok(found) => found,
        Err(refusal) if refusal.code == 404 => return invalid(format!("{resource} \"{name}\" is gone")),
        Err(refusal) => return Err(BadToken::Unreadable(refusal)),
    };
    if found["metadata"]["uid"] != reference["uid"] {
        return invalid(format!("{resource} \"{name}\" is not the one that the token was made for"));
    }
    let deleted = found["metadata"]["deletionTimestamp"].as_str().and_then(Timestamp::parse);
    if deleted.is_some_and(|deleted| server.surroundings.now().seconds_after(deleted) > LEEWAY_SECONDS) {
        return invalid(format!("{resource} \"{name}\" is being deleted"));
    }
    Ok(())
}

fn reference(object: &Value) -> Value {
    let mut reference = json!({"name": object["metadata"]["name"]});
    // A node that nobody knows any more has a name and no uid.
    if let Some(uid) = object["metadata"]["uid"].as_str() {
        reference["uid"] = json!(uid);
    }
    reference
}

/// Seconds since 1970.
fn seconds(moment: Timestamp) -> i64 {
    moment.seconds_after(Timestamp::from_secs(0))
}
