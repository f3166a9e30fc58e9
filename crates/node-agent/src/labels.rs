//! The labels by which the sandboxes and containers of a node are recognized.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;

/// Kubernetes' labels, which tools such as `crictl` show.
pub(crate) const POD_NAME: &str = "io.kubernetes.pod.name";
pub(crate) const POD_NAMESPACE: &str = "io.kubernetes.pod.namespace";
pub(crate) const POD_UID: &str = "io.kubernetes.pod.uid";
pub(crate) const CONTAINER_NAME: &str = "io.kubernetes.container.name";
/// The label that names the cluster and the node, so that a runtime may serve several.
pub(crate) const OWNER: &str = "gantry.dev/node";

/// Returns the labels of a pod's sandbox; `owner` is the cluster and the node.
pub(crate) fn sandbox_labels(pod: &core::Pod, owner: &str) -> BTreeMap<String, String> {
    let meta = &pod.metadata;
    let mut labels = meta.labels.clone().unwrap_or_default();
    labels.extend(own_labels(pod, owner));
    labels
}

/// Returns the labels of a container.
pub(crate) fn container_labels(pod: &core::Pod, container: &str, owner: &str) -> BTreeMap<String, String> {
    let mut labels = own_labels(pod, owner);
    labels.insert(CONTAINER_NAME.to_owned(), container.to_owned());
    labels
}

fn own_labels(pod: &core::Pod, owner: &str) -> BTreeMap<String, String> {
    let meta = &pod.metadata;
    let entries = [
        (POD_NAME, meta.name.clone().unwrap_or_default()),
        (POD_NAMESPACE, meta.namespace.clone().unwrap_or_default()),
        (POD_UID, meta.uid.clone().unwrap_or_default()),
        (OWNER, owner.to_owned()),
    ];
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
