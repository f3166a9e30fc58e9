//! The service account of a new pod: its name, its token, its secrets for pulling images.

use serde_json::{Value, json};

use super::Denied;
use crate::defaults::setting::{Object, default, default_text, each, is_empty, object};

/// The account of pods that name none.
const DEFAULT_ACCOUNT: &str = "default";
/// Where the token is found inside containers.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// How the volume with the token begins its name.
const TOKEN_VOLUME: &str = "kube-api-access-";
/// An hour, and seven seconds by which Kubernetes recognizes the tokens that it asked for itself.
const TOKEN_SECONDS: i64 = 3607;
/// Says that a node runs the pod on its own account and only shows it here.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// The account that a pod runs as; `None` for a pod that is only shown here.
pub fn account_of(pod: &Value) -> Option<&str> {
    if pod["metadata"]["annotations"].get(MIRROR).is_some() {
        return None;
    }
    let name = pod["spec"]["serviceAccountName"].as_str().unwrap_or_default();
    Some(if name.is_empty() { DEFAULT_ACCOUNT } else { name })
}

/// Why a pod is turned away whose account does not exist.
pub fn missing(namespace: &str, name: &str) -> Denied {
    format!("error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found")
}

/// Gives a pod what its account has to give.
pub fn provide(pod: &mut Value, account: &Value, volume_suffix: &str) {
    let name = account["metadata"]["name"].as_str().unwrap_or(DEFAULT_ACCOUNT).to_owned();
    let Some(spec) = pod.get_mut("spec").and_then(object) else { return };
    for field in ["serviceAccountName", "serviceAccount"] {
        default_text(spec, field, &name);
    }
    if mounts_token(spec, account) {
        mount_token(spec, volume_suffix);
    }
    if is_empty(spec, "imagePullSecrets")
        && let Some(secrets) = account["imagePullSecrets"].as_array().filter(|secrets| !secrets.is_empty())
    {
        spec.insert("imagePullSecrets".to_owned(), json!(secrets));
    }
}

/// The pod is asked before the account; if neither says anything, the token is mounted.
fn mounts_token(spec: &Object, account: &Value) -> bool {
    let wish = |value: Option<&Value>| value.and_then(Value::as_bool);
    let field = "automountServiceAccountToken";
    wish(spec.get(field)).or(wish(account.get(field))).unwrap_or(true)
}

fn mount_token(spec: &mut Object, suffix: &str) {
    let names = each(spec, "volumes").filter_map(|volume| volume.get("name")?.as_str().map(str::to_owned));
    let existing = names.into_iter().find(|name| name.starts_with(TOKEN_VOLUME));
    let name = existing.clone().unwrap_or_else(|| format!("{TOKEN_VOLUME}{suffix}"));
    let mut is_mounted = false;
    for list in ["initContainers", "containers"] {
        for container in each(spec, list) {
            // Whoever has something of their own in that place keeps it.
            if each(container, "volumeMounts").any(|mount| mount.get("mountPath") == Some(&json!(TOKEN_PATH)))
            {
                continue;
            }
            default(container, "volumeMounts", json!([]));
            if let Some(Value::Array(mounts)) = container.get_mut("volumeMounts") {
                mounts.push(json!({"name": name, "readOnly": true, "mountPath": TOKEN_PATH}));
                is_mounted = true;
            }
        }
    }
    if is_mounted && existing.is_none() {
        default(spec, "volumes", json!([]));
        if let Some(Value::Array(volumes)) = spec.get_mut("volumes") {
            volumes.push(token_volume(&name));
        }
    }
}

/// The token, the certificate of who may be trusted with it, and the namespace.
fn token_volume(name: &str) -> Value {
    let namespace = json!({"apiVersion": "v1", "fieldPath": "metadata.namespace"});
    json!({"name": name, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
    ]}})
}
