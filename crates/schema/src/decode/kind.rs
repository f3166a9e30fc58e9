//! The known kinds, and the Go names of their types in errors.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::schema::{MessageId, schema};

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

/// A version of a group, as `known.tsv` has it.
struct KnownVersion {
    /// The name of its package without the version, as in the schema: `admissionregistration`.
    package: &'static str,
    kinds: Vec<&'static str>,
}

/// The versions that Kubernetes knows, served or not, by group and version. `cargo xtask import` writes the table.
static KNOWN: LazyLock<BTreeMap<(&str, &str), KnownVersion>> = LazyLock::new(|| {
    let rows = include_str!("known.tsv").lines().filter(|line| !line.starts_with('#'));
    let versions = rows.filter_map(|row| {
        let (package, rest) = row.split_once('\t')?;
        let (group, kinds) = rest.split_once('\t')?;
        let (package, version) = package.split_once('/')?;
        let group = if group == "-" { "" } else { group };
        Some(((group, version), KnownVersion { package, kinds: kinds.split(',').collect() }))
    });
    versions.collect()
});

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

/// Kinds that are one kind in several groups. So are those of the former group `extensions`.
const ACROSS_GROUPS: [&str; 2] = ["Event", "Scale"];

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
        if EVERYWHERE.contains(&self.kind) {
            return self.package().and_then(|_| schema().find(&format!("meta/v1.{}", self.kind)));
        }
        let package = self.version_with_kind()?.package;
        schema().find(&format!("{package}/{}.{}", self.version, self.kind))
    }

    /// Whether there is such a kind, including lists and kinds that are not stored.
    pub(super) fn is_known(&self) -> bool {
        EVERYWHERE.contains(&self.kind) && self.package().is_some()
            || self.version_with_kind().is_some()
            || (self.group, self.version, self.kind) == ("", "v1", "Status")
    }

    /// Whether this kind is the other in another version.
    pub(super) fn is_a_version_of(&self, other: &Gvk<'_>) -> bool {
        let same_group =
            self.group == other.group || self.group == "extensions" || ACROSS_GROUPS.contains(&self.kind);
        self.kind == other.kind && same_group && self.is_known()
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

    fn version_with_kind(&self) -> Option<&KnownVersion> {
        KNOWN.get(&(self.group, self.version)).filter(|version| version.kinds.contains(&self.kind))
    }

    fn package(&self) -> Option<&'static str> {
        if self.group == "meta.k8s.io" {
            return Some("meta");
        }
        let of_group = KNOWN.iter().find(|((group, _), _)| *group == self.group);
        of_group.map(|(_, version)| version.package)
    }
}

/// Whether a message is a kind that has its own kind and version.
pub(super) fn is_kind(id: MessageId) -> bool {
    let name = schema().message(id).name;
    let Some((package, kind)) = name.rsplit_once('.') else { return false };
    let is_registered = |((_, version), known): (&(&str, &str), &KnownVersion)| {
        package.split_once('/') == Some((known.package, version)) && known.kinds.contains(&kind)
    };
    matches!(name, "meta/v1.DeleteOptions" | "meta/v1.Status") || KNOWN.iter().any(is_registered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_messages_are_not_kinds() {
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
            known("networking.k8s.io", "v1beta1", "IngressList")
                && known("extensions", "v1beta1", "DeploymentRollback")
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
