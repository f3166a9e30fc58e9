//! The objects by which nodes join: the Secret of a token, `cluster-info`, roles and bindings. Names and groups are kubeadm's.

use std::time::Duration;

use gantry_formats::base64;
use gantry_formats::bootstrap_token::BootstrapToken;
use gantry_json::{Value, json};
use gantry_kubectl::Failure;
use gantry_runtime::ResourcePath;

use crate::cluster::Cluster;

/// The group of the users of tokens for nodes.
pub(super) const NODE_GROUP: &str = "system:bootstrappers:kubeadm:default-node-token";

const INFO: &str = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const RBAC: &str = "rbac.authorization.k8s.io";

/// The Secret of a token.
pub(super) fn secret(
    token: &BootstrapToken,
    expiration: Option<&str>,
    description: Option<&str>,
    groups: &[String],
) -> Value {
    let mut data = json!({
        "token-id": token.id(), "token-secret": token.secret(), "auth-extra-groups": groups.join(","),
        "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
    });
    for (key, value) in [("expiration", expiration), ("description", description)] {
        if let Some(value) = value {
            data[key] = json!(value);
        }
    }
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": token.secret_name(), "namespace": "kube-system"}, "stringData": data,
    })
}

/// Creates the objects that nodes need to join, or corrects them.
pub(super) async fn prepare(cluster: &Cluster, server: &str, authority: &str) -> Result<(), Failure> {
    for (path, object) in roles() {
        let applied: Result<Value, _> = cluster.api.apply(&ResourcePath::path(path), &object).await;
        applied.map_err(|error| cluster.failure(error))?;
    }
    let authority = base64::encode(authority.as_bytes());
    let found = info(cluster).await?;
    let known = found["data"]["kubeconfig"].as_str().unwrap_or_default();
    if known.contains(&authority) {
        return Ok(());
    }
    let kubeconfig = format!(
        "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: {authority}\n    server: {server}\n  name: \"\"\n\
         contexts: null\ncurrent-context: \"\"\nkind: Config\nusers: null\n"
    );
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cluster-info", "namespace": "kube-public"}, "data": {"kubeconfig": kubeconfig},
    });
    let applied: Result<Value, _> = cluster.api.apply(&ResourcePath::path(INFO), &object).await;
    applied.map(|_| ()).map_err(|error| cluster.failure(error))
}

/// The ConfigMap `cluster-info`, or null.
async fn info(cluster: &Cluster) -> Result<Value, Failure> {
    match cluster.api.get::<Value>(&ResourcePath::path(INFO)).await {
        Ok(found) => Ok(found),
        Err(error) if error.is_not_found() => Ok(Value::Null),
        Err(error) => Err(cluster.failure(error)),
    }
}

/// Whether the token signs `cluster-info` within this time.
pub(super) async fn is_signed(
    cluster: &Cluster,
    token: &BootstrapToken,
    within: Duration,
) -> Result<bool, Failure> {
    let key = format!("jws-kubeconfig-{}", token.id());
    let end = tokio::time::Instant::now() + within;
    loop {
        if info(cluster).await?["data"][key.as_str()].is_string() {
            return Ok(true);
        }
        if tokio::time::Instant::now() >= end {
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Roles and bindings, each with its path.
fn roles() -> Vec<(String, Value)> {
    let group = |name: &str| json!({"kind": "Group", "name": name, "apiGroup": RBAC});
    let certificates = "system:certificates.k8s.io:certificatesigningrequests";
    let cluster_bindings = [
        ("kubeadm:kubelet-bootstrap", "system:node-bootstrapper".to_owned(), group(NODE_GROUP)),
        ("kubeadm:node-autoapprove-bootstrap", format!("{certificates}:nodeclient"), group(NODE_GROUP)),
        (
            "kubeadm:node-autoapprove-certificate-rotation",
            format!("{certificates}:selfnodeclient"),
            group("system:nodes"),
        ),
        // Routes to Services and names in DNS, which kube-proxy and CoreDNS have permissions of their own for.
        ("gantry:node-agent", "gantry:node-agent".to_owned(), group("system:nodes")),
    ];
    let mut objects = vec![
        role(
            None,
            "gantry:node-agent",
            &json!([
                {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
                {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]},
            ]),
        ),
        role(
            Some("kube-system"),
            "gantry:node-agent",
            &json!([
                {"apiGroups": [""], "resources": ["services"], "verbs": ["create"]},
            ]),
        ),
        role(
            Some("kube-public"),
            "kubeadm:bootstrap-signer-clusterinfo",
            &json!([
                {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-info"], "verbs": ["get"]},
            ]),
        ),
    ];
    objects.extend(cluster_bindings.map(|(name, role, subject)| binding(None, name, &role, &subject)));
    objects.push(binding(
        Some("kube-system"),
        "gantry:node-agent",
        "gantry:node-agent",
        &group("system:nodes"),
    ));
    let anonymous = json!({"kind": "User", "name": "system:anonymous", "apiGroup": RBAC});
    let name = "kubeadm:bootstrap-signer-clusterinfo";
    objects.push(binding(Some("kube-public"), name, name, &anonymous));
    objects
}

fn role(namespace: Option<&str>, name: &str, rules: &Value) -> (String, Value) {
    let kind = if namespace.is_some() { "Role" } else { "ClusterRole" };
    object(namespace, kind, name, json!({"rules": rules}))
}

fn binding(namespace: Option<&str>, name: &str, role: &str, subject: &Value) -> (String, Value) {
    let role_kind = if namespace.is_some() { "Role" } else { "ClusterRole" };
    let content =
        json!({"roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": role}, "subjects": [subject]});
    object(namespace, &format!("{role_kind}Binding"), name, content)
}

fn object(namespace: Option<&str>, kind: &str, name: &str, mut content: Value) -> (String, Value) {
    content["apiVersion"] = json!(format!("{RBAC}/v1"));
    content["kind"] = json!(kind);
    content["metadata"] = json!({"name": name});
    if let Some(namespace) = namespace {
        content["metadata"]["namespace"] = json!(namespace);
    }
    let scope = namespace.map_or_else(String::new, |namespace| format!("namespaces/{namespace}/"));
    (format!("/apis/{RBAC}/v1/{scope}{}s/{name}", kind.to_lowercase()), content)
}
