//! The lease of a node, which its kubelet renews.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::{Timestamp, Uid};
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, NoneIf as _, RequestError, ResourcePath};
use k8s_openapi::api::coordination::v1::Lease;

/// The interval at which a kubelet renews its lease.
pub const RENEW_EVERY: Duration = Duration::from_secs(10);
/// The interval at which a kubelet reports unchanged conditions.
pub const REPORT_EVERY: Duration = Duration::from_mins(5);
/// The kubelet's lease duration.
const LEASE_SECONDS: u32 = 40;

/// Renews the lease of a node and returns the stored object. `known` is the lease as the server last returned it.
pub async fn renew(
    api: &Api,
    name: &str,
    node: &Uid,
    known: Option<Value>,
    now: Timestamp,
) -> Result<Value, RequestError> {
    let (resource, namespace) = (resource_of::<Lease>(), "kube-node-lease".into());
    let target = ResourcePath::object(&resource, Some(&namespace), &name.into());
    let fresh = lease(name, node, now);
    let known = match known {
        Some(known) => Some(known),
        None => api.get::<Value>(&target).await.none_if_absent()?,
    };
    match known {
        Some(mut lease) => {
            lease["spec"] = fresh["spec"].clone();
            lease["metadata"]["ownerReferences"] = fresh["metadata"]["ownerReferences"].clone();
            api.replace(&target, &lease).await
        }
        None => api.create(&ResourcePath::collection(&resource, Some(&namespace)), &fresh).await,
    }
}

/// Returns the lease of a node, renewed now.
fn lease(name: &str, node: &Uid, now: Timestamp) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": "kube-node-lease",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.to_string()}],
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micro_time(now),
        },
    })
}

/// Formats a time with microseconds, as in leases.
fn micro_time(now: Timestamp) -> String {
    let nanos = now.as_nanos();
    let text = now.to_whole_seconds().to_string();
    let micros = nanos.rem_euclid(1_000_000_000) / 1000;
    format!("{}.{micros:06}Z", text.trim_end_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A8.5: a lease lasts 40 s and is renewed by its holder.
    #[test]
    fn a_lease_has_its_renew_time() {
        let noon = Timestamp::from_nanos(1_767_268_800_000_001_500);
        let lease = lease("node-1", &"u1".into(), noon);
        assert_eq!(lease["spec"]["renewTime"], "2026-01-01T12:00:00.000001Z");
        assert_eq!(lease["spec"]["leaseDurationSeconds"], 40);
        assert_eq!(lease["metadata"]["ownerReferences"][0]["uid"], "u1");
    }
}
