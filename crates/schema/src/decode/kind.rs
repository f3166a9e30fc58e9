//! The known kinds, and the Go names of their types in errors.

use crate::kinds::kinds;
use crate::schema::{MessageId, Type, schema};

/// Group, version and kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gvk<'a> {
    /// The group; empty for the core group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The kind.
    pub kind: &'a str,
}

/// The groups of the API, and their names in the schema.
const GROUPS: [(&str, &str); 22] = [
    ("", "core"),
    ("admissionregistration.k8s.io", "admissionregistration"),
    ("apiextensions.k8s.io", "apiextensions"),
    ("apps", "apps"),
    ("batch", "batch"),
    ("policy", "policy"),
    ("autoscaling", "autoscaling"),
    ("authentication.k8s.io", "authentication"),
    ("authorization.k8s.io", "authorization"),
    ("certificates.k8s.io", "certificates"),
    ("coordination.k8s.io", "coordination"),
    ("discovery.k8s.io", "discovery"),
    ("events.k8s.io", "events"),
    ("flowcontrol.apiserver.k8s.io", "flowcontrol"),
    ("meta.k8s.io", "meta"),
    ("networking.k8s.io", "networking"),
    ("node.k8s.io", "node"),
    ("rbac.authorization.k8s.io", "rbac"),
    ("resource.k8s.io", "resource"),
    ("scheduling.k8s.io", "scheduling"),
    ("storage.k8s.io", "storage"),
    ("storagemigration.k8s.io", "storagemigration"),
];

/// Kinds that exist in every group and version.
const EVERYWHERE: [&str; 7] = [
    "DeleteOptions",
    "CreateOptions",
    "UpdateOptions",
    "PatchOptions",
    "GetOptions",
    "ListOptions",
    "WatchEvent",
];

/// Versions that Kubernetes no longer serves but still knows: group, version, kinds.
const FORMER: [(&str, &str, &[&str]); 7] = [
    ("apps", "v1beta1", &["Deployment", "StatefulSet", "ControllerRevision", "Scale"]),
    (
        "apps",
        "v1beta2",
        &["Deployment", "StatefulSet", "ControllerRevision", "DaemonSet", "ReplicaSet", "Scale"],
    ),
    (
        "extensions",
        "v1beta1",
        &["Deployment", "DaemonSet", "ReplicaSet", "Ingress", "NetworkPolicy", "Scale"],
    ),
    ("batch", "v1beta1", &["CronJob"]),
    ("policy", "v1beta1", &["PodDisruptionBudget", "Eviction"]),
    ("discovery.k8s.io", "v1beta1", &["EndpointSlice"]),
    ("events.k8s.io", "v1beta1", &["Event"]),
];

/// Messages that have metadata without being kinds.
const PARTS_WITH_METADATA: [&str; 5] = [
    "PodTemplateSpec",
    "JobTemplateSpec",
    "PersistentVolumeClaimTemplate",
    "ResourceClaimTemplateSpec",
    "PodGroupTemplateSpec",
];

impl<'a> Gvk<'a> {
    /// A kind of a group in a version.
    pub fn new(group: &'a str, version: &'a str, kind: &'a str) -> Self {
        Self { group, version, kind }
    }

    /// `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The message of the kind, if it is served. Options exist in every group.
    pub fn message(&self) -> Option<MessageId> {
        let package = self.package()?;
        let found =
            schema().find(&format!("{package}/{}.{}", self.version, self.kind)).filter(|id| is_kind(*id));
        found.or_else(|| {
            EVERYWHERE
                .contains(&self.kind)
                .then(|| schema().find(&format!("meta/v1.{}", self.kind)))
                .flatten()
        })
    }

    /// Whether there is such a kind, including lists and kinds that are not stored.
    pub(super) fn is_known(&self) -> bool {
        let item = self.kind.strip_suffix("List").map(|kind| Gvk { kind, ..*self });
        self.package().is_some() && EVERYWHERE.contains(&self.kind)
            || self.message().is_some()
            || item.is_some_and(|item| item.message().is_some())
            || self.is_former()
            || (self.group, self.version, self.kind) == ("", "v1", "Status")
    }

    /// Whether this kind is the other in another version.
    pub(super) fn is_a_version_of(&self, other: &Gvk<'_>) -> bool {
        let same_group = self.group == other.group || self.is_former();
        self.kind == other.kind && (same_group || self.has_objects_of(other)) && self.is_known()
    }

    /// Whether the objects of both kinds are the same ones, as the Events of two groups.
    fn has_objects_of(&self, other: &Gvk<'_>) -> bool {
        let segment = |gvk: &Gvk<'_>| Some(kinds().kind(gvk.group, gvk.version, gvk.kind)?.segment);
        segment(self).is_some_and(|segment_of_self| segment(other) == Some(segment_of_self))
    }

    /// The Go type on the wire: `v1.Deployment`.
    pub(super) fn wire_type(&self) -> String {
        format!("{}.{}", self.version, self.kind)
    }

    /// The Go type inside Kubernetes: `apps.Deployment`.
    pub(super) fn inner_type(&self) -> String {
        let package = match self.package() {
            Some("events") | None => "core",
            Some(package) => package,
        };
        format!("{package}.{}", self.kind)
    }

    fn is_former(&self) -> bool {
        FORMER.iter().any(|(group, version, kinds)| {
            (*group, *version) == (self.group, self.version) && kinds.contains(&self.kind)
        })
    }

    fn package(&self) -> Option<&'static str> {
        GROUPS.iter().find(|(group, _)| *group == self.group).map(|(_, package)| *package)
    }
}

/// Whether a message is a kind: those have metadata, and are not templates.
pub(super) fn is_kind(id: MessageId) -> bool {
    let name = schema().message(id).short_name();
    let metadata = schema().field(id, "metadata").map(|field| &field.kind);
    let Some(Type::Message(metadata)) = metadata else { return name == "DeleteOptions" };
    let of = schema().message(*metadata).name;
    (of == "meta/v1.ObjectMeta" && !PARTS_WITH_METADATA.contains(&name)) || name == "Status"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_not_kinds() {
        let known = |group, version, kind| Gvk::new(group, version, kind).is_known();
        assert!(known("", "v1", "ConfigMap") && known("apps", "v1", "DeploymentList"));
        assert!(
            known("apps", "v1", "DeleteOptions")
                && known("authorization.k8s.io", "v1", "SelfSubjectAccessReview")
        );
        assert!(
            known("autoscaling", "v1", "Scale")
                && known("policy", "v1", "Eviction")
                && known("", "v1", "Binding")
        );
        assert!(
            !known("", "v1", "PodSpec") && !known("", "v1", "PodTemplateSpec") && !known("", "v1", "Foo")
        );
        assert!(
            !known("", "v2", "ConfigMap") && !known("", "v1", "Deployment") && !known("nope", "v1", "Pod")
        );
    }

    /// No template is a kind.
    #[test]
    fn every_kind_is_one_that_a_client_may_send() {
        let kinds = schema().messages().filter(|(id, _)| is_kind(*id));
        let suspicious: Vec<_> =
            kinds.map(|(_, m)| m.name).filter(|n| n.ends_with("Spec") || n.ends_with("Template")).collect();
        assert_eq!(suspicious, ["core/v1.PodTemplate", "resource/v1.ResourceClaimTemplate"]);
    }
}
