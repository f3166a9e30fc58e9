//! The service account of a new pod: its name, token and image pull secrets.

use gantry_json::{Value, json};

use super::Denied;
use crate::defaults::setting::{Object, default, default_text, each, is_empty, object};

/// The default account.
const DEFAULT_ACCOUNT: &str = "default";
/// The mount path of the token.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The prefix of the name of the token's volume.
const TOKEN_VOLUME: &str = "kube-api-access-";
/// An hour, plus seven seconds that mark the tokens of this plugin, as on Kubernetes.
const TOKEN_SECONDS: i64 = 3607;
/// The annotation of mirror pods.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Returns the account of a pod; `None` for a mirror pod.
pub fn account_of(pod: &Value) -> Option<&str> {
    if pod["metadata"]["annotations"].get(MIRROR).is_some() {
        return None;
    }
    let name = pod["spec"]["serviceAccountName"].as_str().unwrap_or_default();
    Some(if name.is_empty() { DEFAULT_ACCOUNT } else { name })
}

/// The error for a pod whose account does not exist.
pub fn missing(namespace: &str, name: &str) -> Denied {
    format!("error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found")
}

/// Adds the image pull secrets and the token of its account to a pod.
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
        spec.insert("imagePullSecrets", json!(secrets));
    }
}

/// Whether the token is mounted. The pod's setting overrides the account's; the default is yes.
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
            // A volume of the pod's own at that path takes precedence.
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

/// The projected volume with the token, the CA certificate and the namespace.
fn token_volume(name: &str) -> Value {
    let namespace = json!({"apiVersion": "v1", "fieldPath": "metadata.namespace"});
    json!({"name": name, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
    ]}})
}
