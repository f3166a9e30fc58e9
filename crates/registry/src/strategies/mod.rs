//! The differences between kinds: a [`KindStrategy`] per kind, one file per kind or family.
//!
//! A strategy is a set of plain functions that the rest of the crate calls at fixed points: [`defaults`](crate::defaults),
//! [`lifecycle`](crate::lifecycle), [`admission`](crate::admission), [`validation`](crate::validation),
//! [`table`](crate::table), [`selector`](crate::selector) and [`conversion`](crate::conversion). A kind with rules is a file
//! here and a row in `built_in`. Rules that several kinds share live in those modules.

mod admission_registration;
mod autoscaler;
mod binding;
pub mod certificates;
mod component_status;
mod config_map;
mod controller_revision;
mod cron_job;
mod custom;
mod daemon_set;
pub(crate) mod definition;
mod deployment;
mod devices;
mod disruption_budget;
mod endpoints;
mod event;
mod flow_control;
mod ingress;
mod ingress_class;
mod job;
mod lease;
mod limit_range;
mod namespace;
mod network_policy;
mod node;
pub(crate) mod pod;
mod pod_template;
mod priority_class;
mod rbac;
mod replica_set;
mod replication_controller;
mod resource_quota;
mod review;
mod runtime_class;
mod scale;
mod secret;
mod service;
mod service_account;
mod service_ranges;
mod stateful_set;
pub(crate) mod storage;
mod storage_version_migration;

use gantry_json::Value;

use crate::admission::quota::QuotaRules;
use crate::admission::{AdmissionCheck, Denied};
use crate::conversion::StorageForm;
use crate::defaults::setting::Object;
use crate::kinds::{Kind, Nature};
use crate::lifecycle::{DeleteOptions, Deletion, Part};
use crate::selector::LabelSelector;
use crate::selector::fields::SelectableFields;
use crate::table::Rows;
use crate::validation::error_list::ErrorList;
use crate::{FieldError, Timestamp};

/// Decides on a request to delete an object, whose preconditions hold.
type DeleteRule = fn(&Value, &DeleteOptions, &Kind, Timestamp) -> Deletion;

/// What a POST to the collection of a kind does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCreate {
    /// It stores the object.
    Store,
    /// It binds a pod to a node.
    Bind,
    /// It returns the object with the answer to a question, and stores nothing.
    Review(Review),
}

/// The question of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Who the caller is.
    Caller,
    /// Whose token this is.
    Token,
    /// Whether a user may do this.
    Access,
    /// Whether the caller may do this.
    OwnAccess,
    /// What the caller may do.
    OwnRules,
}

/// The rules of a kind. In all functions, `old` is the stored object, `None` for a new one.
pub struct KindStrategy {
    /// Sets absent fields to their defaults. Part of every decode, so it is idempotent.
    pub(crate) defaults: fn(&mut Object),
    /// Returns the status of a new object.
    pub(crate) initial_status: fn(&Object) -> Option<Value>,
    /// Whether a new object keeps the status that it was sent with, if `status` is a subresource.
    pub(crate) keeps_sent_status: bool,
    /// Prepares an object for being stored: drops fields that are not stored and restores those that the written part
    /// does not contain.
    pub(crate) prepare: fn(Part, old: Option<&Value>, new: &mut Value),
    /// Sets fields that the server adds, as far as they depend on no other object. No manager owns them.
    pub(crate) admit: fn(old: Option<&Value>, new: &mut Value),
    /// Reports errors that are returned alone, before anything else is validated.
    pub(crate) validate_first: fn(&mut ErrorList, old: Option<&Value>, new: &Value),
    /// Validates a new or changed object; its metadata has been validated.
    pub(crate) validate: fn(&mut ErrorList, &Kind, old: Option<&Value>, new: &Value),
    /// Reports changes that an update may not make, after the errors of [`validate`](Self::validate).
    pub(crate) validate_change: fn(&mut ErrorList, old: &Value, new: &Value),
    /// Validates a write to the subresource `status`.
    pub(crate) validate_status: fn(&mut ErrorList, &Kind, old: &Value, new: &Value),
    /// Warns about a valid object.
    pub(crate) warnings: fn(&mut Vec<String>, old: Option<&Value>, new: &Value),
    /// Whether finalizers without a domain are accepted.
    pub(crate) any_finalizers: bool,
    /// Decides on a request to delete an object; without it, objects are deleted at once unless finalizers hold them.
    pub(crate) delete: Option<DeleteRule>,
    /// The warning about a deletion without a propagation policy, which leaves dependents behind.
    pub orphan_warning: Option<&'static str>,
    /// Whether something besides finalizers in the metadata holds an object that is being deleted.
    pub(crate) is_held: fn(&Value) -> bool,
    /// The checks of an object that depend on other objects, on its user, or on the parser of certificates, in this order.
    pub admission_checks: &'static [AdmissionCheck],
    /// Sets default resources from the limits of LimitRanges, and reports resources outside of them.
    pub(crate) limit: fn(&mut Vec<Denied>, limits: &[&Value], new: &mut Value),
    /// How objects count towards the quotas of their namespace.
    pub(crate) quota: QuotaRules,
    /// What a POST to the collection does.
    pub on_create: OnCreate,
    /// Returns the selector of the pods of a workload.
    pub pod_selector: fn(&Value) -> Result<LabelSelector, FieldError>,
    /// Whether objects have cluster IPs and node ports that are allocated.
    pub allocates_addresses: bool,
    /// The rows of tables.
    pub(crate) rows: Rows,
    /// The fields that field selectors can use.
    pub(crate) selectable: SelectableFields,
    /// The form in which objects are stored, if it is not the one that is served.
    pub(crate) storage: Option<StorageForm>,
    /// Returns the form in which a new object is stored until its first update, if that lacks fields that Kubernetes adds
    /// after storing it; defaulting adds them on each read. The first update stores them, and so creates a new version even
    /// if it changes nothing else.
    pub stored_when_new: Option<fn(&Value) -> Option<Value>>,
    /// The fields that a write to the object itself does not change, and so does not own, if `status` is a subresource.
    pub reset_fields: &'static [&'static str],
    /// The fields that a write to the subresource `status` does not change, and so does not own.
    pub status_reset_fields: &'static [&'static str],
    /// The warning that every request for this kind gets.
    pub deprecation: fn(&Kind) -> Option<&str>,
}

impl KindStrategy {
    /// No rules.
    const DEFAULT: Self = Self {
        defaults: |_| {},
        initial_status: |_| None,
        keeps_sent_status: false,
        prepare: |_, _, _| {},
        admit: |_, _| {},
        validate_first: |_, _, _| {},
        validate: |_, _, _, _| {},
        validate_change: |_, _, _| {},
        validate_status: |_, _, _, _| {},
        warnings: |_, _, _| {},
        any_finalizers: false,
        delete: None,
        orphan_warning: None,
        is_held: |_| false,
        admission_checks: &[],
        limit: |_, _, _| {},
        quota: QuotaRules::DEFAULT,
        on_create: OnCreate::Store,
        pod_selector: |workload| LabelSelector::from_object(&workload["spec"]["selector"]),
        allocates_addresses: false,
        rows: Rows::DEFAULT,
        selectable: SelectableFields::DEFAULT,
        storage: None,
        stored_when_new: None,
        reset_fields: &["status"],
        status_reset_fields: &["spec"],
        deprecation: |_| None,
    };
}

/// Returns the strategy of a kind.
pub fn of(kind: &Kind) -> &'static KindStrategy {
    match kind.nature {
        Nature::BuiltIn(_) => built_in(kind.group, kind.version, kind.kind),
        Nature::Custom(_) => &custom::STRATEGY,
    }
}

/// The table of strategies. Kinds without a row have no rules.
pub(crate) fn built_in(group: &str, version: &str, kind: &str) -> &'static KindStrategy {
    match (group, kind) {
        ("", "Binding") => &binding::STRATEGY,
        ("", "ComponentStatus") => &component_status::STRATEGY,
        ("", "ConfigMap") => &config_map::STRATEGY,
        ("", "Endpoints") => &endpoints::ENDPOINTS,
        ("", "Event") => &event::CORE,
        ("", "LimitRange") => &limit_range::STRATEGY,
        ("", "Namespace") => &namespace::STRATEGY,
        ("", "Node") => &node::STRATEGY,
        ("", "PersistentVolume") => &storage::persistent_volume::STRATEGY,
        ("", "PersistentVolumeClaim") => &storage::persistent_volume_claim::STRATEGY,
        ("", "Pod") => &pod::STRATEGY,
        ("", "PodTemplate") => &pod_template::STRATEGY,
        ("", "ReplicationController") => &replication_controller::STRATEGY,
        ("", "ResourceQuota") => &resource_quota::STRATEGY,
        ("", "Secret") => &secret::STRATEGY,
        ("", "Service") => &service::STRATEGY,
        ("", "ServiceAccount") => &service_account::STRATEGY,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => {
            &admission_registration::MUTATING_POLICY
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding") => {
            &admission_registration::MUTATING_BINDING
        }
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
            &admission_registration::MUTATING_WEBHOOKS
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => {
            &admission_registration::VALIDATING_POLICY
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => {
            &admission_registration::VALIDATING_BINDING
        }
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => {
            &admission_registration::VALIDATING_WEBHOOKS
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => &definition::STRATEGY,
        ("apps", "ControllerRevision") => &controller_revision::STRATEGY,
        ("apps", "DaemonSet") => &daemon_set::STRATEGY,
        ("apps", "Deployment") => &deployment::STRATEGY,
        ("apps", "ReplicaSet") => &replica_set::STRATEGY,
        ("apps", "StatefulSet") => &stateful_set::STRATEGY,
        ("authentication.k8s.io", "SelfSubjectReview") => &review::SELF,
        ("authentication.k8s.io", "TokenReview") => &review::TOKEN,
        ("authorization.k8s.io", "LocalSubjectAccessReview" | "SubjectAccessReview") => &review::ACCESS,
        ("authorization.k8s.io", "SelfSubjectAccessReview") => &review::OWN_ACCESS,
        ("authorization.k8s.io", "SelfSubjectRulesReview") => &review::OWN_RULES,
        ("autoscaling", "HorizontalPodAutoscaler") if version == "v1" => &autoscaler::V1,
        ("autoscaling", "HorizontalPodAutoscaler") => &autoscaler::V2,
        ("autoscaling", "Scale") => &scale::STRATEGY,
        ("batch", "CronJob") => &cron_job::STRATEGY,
        ("batch", "Job") => &job::STRATEGY,
        ("certificates.k8s.io", "CertificateSigningRequest") => &certificates::signing_request::STRATEGY,
        ("certificates.k8s.io", "ClusterTrustBundle") => &certificates::trust_bundle::STRATEGY,
        ("certificates.k8s.io", "PodCertificateRequest") => &certificates::pod_request::STRATEGY,
        ("coordination.k8s.io", "Lease") => &lease::STRATEGY,
        ("discovery.k8s.io", "EndpointSlice") => &endpoints::SLICE,
        ("events.k8s.io", "Event") => &event::EVENTS,
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => &flow_control::SCHEMA,
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => &flow_control::LEVEL,
        ("networking.k8s.io", "Ingress") => &ingress::STRATEGY,
        ("networking.k8s.io", "IngressClass") => &ingress_class::STRATEGY,
        ("networking.k8s.io", "IPAddress") => &service_ranges::ADDRESS,
        ("networking.k8s.io", "ServiceCIDR") => &service_ranges::RANGE,
        ("networking.k8s.io", "NetworkPolicy") => &network_policy::STRATEGY,
        ("node.k8s.io", "RuntimeClass") => &runtime_class::STRATEGY,
        ("policy", "PodDisruptionBudget") => &disruption_budget::STRATEGY,
        ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => &rbac::ROLE,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => &rbac::BINDING,
        ("resource.k8s.io", "DeviceClass" | "ResourceClaimTemplate") => &devices::NAMED,
        ("resource.k8s.io", "DeviceTaintRule") => &devices::TAINT_RULE,
        ("resource.k8s.io", "ResourceClaim") => &devices::CLAIM,
        ("resource.k8s.io", "ResourceSlice") => &devices::SLICE,
        ("scheduling.k8s.io", "PriorityClass") => &priority_class::STRATEGY,
        ("storage.k8s.io", "CSIDriver") => &storage::csi::DRIVER,
        ("storage.k8s.io", "CSINode") => &storage::csi::NODE,
        ("storage.k8s.io", "CSIStorageCapacity") => &storage::csi::CAPACITY,
        ("storage.k8s.io", "StorageClass") => &storage::storage_class::STRATEGY,
        ("storage.k8s.io", "VolumeAttachment") => &storage::volume_attachment::STRATEGY,
        ("storage.k8s.io", "VolumeAttributesClass") => &storage::volume_attributes_class::STRATEGY,
        ("storagemigration.k8s.io", "StorageVersionMigration") => &storage_version_migration::STRATEGY,
        _ => &KindStrategy::DEFAULT,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gantry_json::json;

    use super::*;
    use crate::kinds::kinds;
    use crate::table::Printer;

    /// Appendix C: every row has as many cells as columns; rows of IPAddresses have an age without a column, as in
    /// Kubernetes.
    #[test]
    fn rows_are_as_long_as_their_headings() {
        for kind in kinds().all() {
            let rows = &of(kind).rows;
            let cells = rows.cells(&json!({}), Timestamp::from_secs(0));
            let ages = usize::from(kind.kind == "IPAddress");
            assert_eq!(cells.len(), Printer::BuiltIn(rows).columns().len() + ages, "{}", kind.kind);
        }
    }

    /// Appendix C: the columns are those of Kubernetes, as `cargo xtask import` reads them from its printers.
    #[test]
    fn columns_are_those_of_kubernetes() {
        let mut expected: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut current = "";
        for line in include_str!("columns.tsv").lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('\t') {
                Some(column) => expected.entry(current).or_default().push(column.to_owned()),
                None => current = line,
            }
        }
        let mut different = Vec::new();
        for kind in kinds().all() {
            let Some(expected) = expected.get(kind.kind) else { continue };
            let columns = Printer::BuiltIn(&of(kind).rows).columns();
            let columns =
                columns.iter().map(|it| format!("{}\t{}\t{}\t{}", it.name, it.kind, it.format, it.priority));
            let columns: Vec<_> = columns.collect();
            if columns != *expected {
                different.push((kind.kind, columns));
            }
        }
        assert_eq!(different, [], "differ from columns.tsv");
    }
}
