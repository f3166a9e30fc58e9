//! The permissions of nodes, which depend on the name of the node and on the pods that are bound to it.
//!
//! A node is a user `system:node:NAME` in the group `system:nodes`. [`authorize`] decides like the Node authorizer of
//! Kubernetes, and roles may allow more. The checks that this authorizer leaves to admission are in [`restriction`].

mod node_object;
mod references;
pub mod restriction;

pub use references::{NodeGraph, NodeReferences, Referenced};

use super::{AccessRule, RequestAttributes, RequestTarget, User};

/// The group of all nodes.
const NODES: &str = "system:nodes";
/// The prefix of the names of nodes as users.
const NODE_USER: &str = "system:node:";
/// The namespace of the leases of nodes.
const LEASES: &str = "kube-node-lease";

/// A request by a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeRequest<'a> {
    /// The attributes.
    pub attributes: &'a RequestAttributes,
    /// The value that the field selector requires for `spec.nodeName`.
    pub selected_node: Option<&'a str>,
}

impl User {
    /// Returns the name of the node if the user is one; it is empty if the user's name has none.
    pub fn node(&self) -> Option<&str> {
        let name = self.name.strip_prefix(NODE_USER)?;
        self.groups.iter().any(|group| group == NODES).then_some(name)
    }
}

/// Decides on a request by a node; the error is the reason, which may be empty.
///
/// `rules` are those of the role `system:node`. They apply to resources that are not divided among nodes.
pub fn authorize(
    node: &str,
    references: &NodeReferences,
    rules: &[AccessRule],
    request: NodeRequest<'_>,
) -> Result<(), String> {
    if node.is_empty() {
        return Err(format!("unknown node for user \"{NODE_USER}\""));
    }
    if let RequestTarget::Resource { group, resource, subresource, namespace, name } =
        &request.attributes.target
    {
        let divided = DividedRequest {
            node,
            references,
            verb: &request.attributes.verb,
            part: subresource.as_deref().unwrap_or_default(),
            namespace: namespace.as_deref().unwrap_or_default(),
            name: name.as_deref().unwrap_or_default(),
        };
        match (group.as_str(), resource.as_str()) {
            ("", "secrets") => return divided.read(Referenced::Secret),
            ("", "configmaps") => return divided.read(Referenced::ConfigMap),
            ("", "persistentvolumeclaims") if divided.part == "status" => {
                return divided.update_claim_status();
            }
            ("", "persistentvolumeclaims") => return divided.get(Referenced::Claim),
            ("", "persistentvolumes") => return divided.get(Referenced::Volume),
            ("resource.k8s.io", "resourceclaims") => return divided.get(Referenced::ResourceClaim),
            ("storage.k8s.io", "volumeattachments") => return divided.get(Referenced::Attachment),
            ("", "serviceaccounts") => return divided.service_account(),
            ("coordination.k8s.io", "leases") => return divided.lease(),
            ("storage.k8s.io", "csinodes") => return divided.csi_node(),
            ("", "nodes") => return divided.node(),
            ("", "pods") => return divided.pod(request.selected_node),
            ("resource.k8s.io", "resourceslices") => return divided.slices(request.selected_node),
            _ => {}
        }
    }
    if rules.iter().any(|rule| rule.allows(request.attributes)) { Ok(()) } else { Err(String::new()) }
}

/// A request for a resource of which each node has its own part.
struct DividedRequest<'a> {
    node: &'a str,
    references: &'a NodeReferences,
    verb: &'a str,
    part: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl DividedRequest<'_> {
    /// Whether a pod of the node refers to the object.
    fn referenced(&self, referenced: Referenced) -> Result<(), String> {
        if self.name.is_empty() {
            return Err("No Object name found".to_owned());
        }
        self.related(referenced)
    }

    fn related(&self, referenced: Referenced) -> Result<(), String> {
        if self.references.contains(referenced, self.namespace, self.name) {
            return Ok(());
        }
        Err(format!("no relationship found between node '{}' and this object", self.node))
    }

    fn read(&self, referenced: Referenced) -> Result<(), String> {
        if !matches!(self.verb, "get" | "list" | "watch") {
            return Err("can only read resources of this type".to_owned());
        }
        if !self.part.is_empty() {
            return Err("cannot read subresource".to_owned());
        }
        if self.namespace.is_empty() {
            return Err("can only read namespaced object of this type".to_owned());
        }
        self.referenced(referenced)
    }

    fn get(&self, referenced: Referenced) -> Result<(), String> {
        if self.verb != "get" {
            return Err("can only get individual resources of this type".to_owned());
        }
        if !self.part.is_empty() {
            return Err("cannot get subresource".to_owned());
        }
        self.referenced(referenced)
    }

    /// A node may list, watch and delete all of its ResourceSlices. The node of a single slice is not known here.
    fn slices(&self, selected_node: Option<&str>) -> Result<(), String> {
        match self.verb {
            _ if !self.part.is_empty() => Err("cannot authorize ResourceSlice subresources".to_owned()),
            "list" | "watch" | "deletecollection" if selected_node == Some(self.node) => Ok(()),
            "list" | "watch" | "deletecollection" => {
                Err("can only list/watch/deletecollection resourceslices with nodeName field selector"
                    .to_owned())
            }
            _ => Err(String::new()),
        }
    }

    fn update_claim_status(&self) -> Result<(), String> {
        if !matches!(self.verb, "update" | "patch") {
            return Err("can only get/update/patch this type".to_owned());
        }
        self.referenced(Referenced::Claim)
    }

    fn service_account(&self) -> Result<(), String> {
        if self.verb == "get" && self.part.is_empty() {
            return self.read(Referenced::ServiceAccount);
        }
        if self.verb != "create" || self.name.is_empty() {
            return Err("can only create tokens for individual service accounts".to_owned());
        }
        if self.part != "token" {
            return Err("can only create token subresource of serviceaccount".to_owned());
        }
        self.related(Referenced::ServiceAccount)
    }

    fn lease(&self) -> Result<(), String> {
        if !matches!(self.verb, "get" | "create" | "update" | "patch" | "delete") {
            return Err("can only get, create, update, patch, or delete a node lease".to_owned());
        }
        if self.namespace != LEASES {
            return Err(format!("can only access leases in the \"{LEASES}\" system namespace"));
        }
        self.own_name(restriction::LEASE_OF_OTHER)
    }

    fn csi_node(&self) -> Result<(), String> {
        if !self.part.is_empty() {
            return Err("cannot authorize CSINode subresources".to_owned());
        }
        if !matches!(self.verb, "get" | "create" | "update" | "patch" | "delete") {
            return Err("can only get, create, update, patch, or delete a CSINode".to_owned());
        }
        self.own_name(restriction::CSI_NODE_OF_OTHER)
    }

    /// Requires the name of the node itself; the name of a new object is checked with the object.
    fn own_name(&self, why: &str) -> Result<(), String> {
        if self.verb == "create" || self.name == self.node { Ok(()) } else { Err(why.to_owned()) }
    }

    fn node(&self) -> Result<(), String> {
        let node = self.node;
        match (self.part, self.verb) {
            ("", "create" | "update" | "patch") | ("status", "update" | "patch") => Ok(()),
            ("", "get" | "list" | "watch") => match self.name {
                "" => Err(format!("node '{node}' cannot read all nodes, only its own Node object")),
                name if name == node => Ok(()),
                name => Err(format!("node '{node}' cannot read '{name}', only its own Node object")),
            },
            _ => Err(String::new()),
        }
    }

    fn pod(&self, selected_node: Option<&str>) -> Result<(), String> {
        match (self.part, self.verb) {
            ("", "get") => self.get(Referenced::Pod),
            ("", "list" | "watch") if selected_node == Some(self.node) => Ok(()),
            ("", "list" | "watch") if !self.name.is_empty() => self.referenced(Referenced::Pod),
            ("", "list" | "watch") => {
                Err("can only list/watch pods with spec.nodeName field selector".to_owned())
            }
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => Ok(()),
            _ => Err(String::new()),
        }
    }
}
