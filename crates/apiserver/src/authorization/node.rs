//! The permissions of nodes, by the pods in the store that are bound to them.

use std::sync::LazyLock;

use gantry_json::Value;
use gantry_registry::access::node::{self, NodeGraph, NodeReferences, NodeRequest};
use gantry_registry::access::{AccessRule, RequestAttributes, Verdict};
use gantry_registry::selector::fields::Terms;
use gantry_schema::kinds::Kind;

use super::Caller;
use crate::bootstrap;
use crate::error::ApiError;
use crate::objects::ObjectRef;
use crate::request_info::RequestInfo;
use crate::store_cache::Projection;

/// The rules of `system:node` as Kubernetes defines the role, regardless of the stored role of that name.
static RULES: LazyLock<Vec<AccessRule>> = LazyLock::new(|| bootstrap::rules_of("system:node"));

/// A write of an object by a node.
pub(crate) enum NodeWrite<'a> {
    /// Creates this object.
    Create(&'a Value),
    /// Changes this stored object to this one.
    Update(&'a Value, &'a Value),
    /// Deletes this stored object.
    Delete(&'a Value),
    /// Evicts this pod.
    Evict(&'a Value),
}

impl Projection for NodeGraph {
    fn includes(kind: &Kind) -> bool {
        matches!(
            (kind.group, kind.version, kind.resource),
            ("", "v1", "pods" | "persistentvolumes") | ("storage.k8s.io", "v1", "volumeattachments")
        )
    }

    fn add(&mut self, object: &Value) {
        Self::add(self, object);
    }

    fn remove(&mut self, object: &Value) {
        Self::remove(self, object);
    }
}

/// Decides on a request by a node; the reason of a denial starts like the reason in Kubernetes.
pub(super) fn authorize(
    node: &str,
    references: &NodeReferences,
    attributes: &RequestAttributes,
    selected_node: Option<&str>,
) -> Verdict {
    match node::authorize(node, references, &RULES, NodeRequest { attributes, selected_node }) {
        Ok(()) => Verdict::Allowed(None),
        Err(why) => Verdict::Denied((!why.is_empty()).then(|| format!("node: {why}"))),
    }
}

/// The value that the field selector of a list or watch requires for `spec.nodeName`.
pub(super) fn selected_node(info: &RequestInfo) -> Option<String> {
    let selector = info
        .query
        .first("fieldSelector")
        .filter(|_| matches!(info.verb, "list" | "watch" | "deletecollection"))?;
    Terms::parse(selector).ok()?.required("spec.nodeName").map(str::to_owned)
}

impl Caller {
    /// Returns 403 if the caller is a node and the object belongs to another one; does nothing for other callers.
    pub(crate) fn check_node_write(
        &self,
        object_ref: ObjectRef<'_>,
        write: &NodeWrite<'_>,
    ) -> Result<(), ApiError> {
        let Some(node) = self.node() else { return Ok(()) };
        let (group, resource) = (object_ref.kind.group, object_ref.kind.resource);
        let (checked, name) = match write {
            NodeWrite::Create(object) => (
                node::restriction::check_create(node, group, resource, object),
                object["metadata"]["name"].as_str(),
            ),
            NodeWrite::Update(stored, wanted) => {
                (node::restriction::check_update(node, group, resource, stored, wanted), None)
            }
            NodeWrite::Delete(stored) => {
                (node::restriction::check_delete(node, group, resource, stored), None)
            }
            NodeWrite::Evict(pod) => (node::restriction::check_eviction(node, pod), None),
        };
        let name = name.unwrap_or(object_ref.name);
        checked.map_err(|why| ApiError::forbidden(ObjectRef { name, ..object_ref }, why))
    }

    /// The name of the node, if the caller is a node with limited permissions.
    pub(crate) fn node(&self) -> Option<&str> {
        match self.permissions {
            super::Permissions::Node { .. } => self.user.node(),
            super::Permissions::All | super::Permissions::Rbac(_) => None,
        }
    }
}
