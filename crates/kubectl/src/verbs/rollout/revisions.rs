//! The revisions of a Deployment: its ReplicaSets by the number that the controller gave them.

use std::collections::BTreeMap;

use gantry_client::ApiRequest;
use gantry_json::Value;

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{at, list, selector, text};
use crate::selection::FoundObject;
use crate::workload::is_controlled_by;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";

/// The ReplicaSets of a Deployment by revision.
pub(super) async fn revisions(
    ctx: &mut ClientContext,
    one: &FoundObject,
) -> Result<BTreeMap<i64, Value>, Failure> {
    let uid = text(&one.object, "/metadata/uid");
    let path = format!("/apis/apps/v1/namespaces/{}/replicasets", one.namespace);
    let response = ctx
        .request(ApiRequest::get(path).with("labelSelector", selector(&one.object, "/spec/selector")))
        .await?;
    let own = list(&response, "/items").iter().filter(|set| is_controlled_by(set, uid));
    Ok(own.map(|set| (revision_of(set), set.clone())).collect())
}

/// The revision of an object; 0 if it has none.
pub(super) fn revision_of(object: &Value) -> i64 {
    let annotation = at(object, "/metadata/annotations").get(REVISION);
    annotation.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}
