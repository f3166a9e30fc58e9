//! The strategy of Pods.

pub(crate) mod resize;
mod status;
mod table;
mod tolerations;
pub(crate) mod update;

use super::KindStrategy;
use crate::admission::quota::QuotaRules;
use crate::admission::{AdmissionCheck, limits, priority};
use crate::lifecycle::{Part, disabled_fields};
use crate::selector::fields::{NAME, NAMESPACE, SelectableFields, Source, field, text};
use crate::table::Rows;
use crate::validation::error_list::Path;
use crate::validation::pod_warnings;
use crate::{defaults, lifecycle, pods, validation};

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: defaults::pod::pod,
    initial_status: |pod| Some(defaults::pod::initial_status(pod)),
    prepare: |part, old, new| {
        disabled_fields::drop(old, new, |pod, visit| disabled_fields::pod(pod, "/spec", visit));
        if let (Part::Status, Some(old)) = (part, old) {
            lifecycle::keep_metadata(old, new, "deletionGracePeriodSeconds");
            pods::status::keep(old, new);
        }
    },
    admit: |old, new| {
        tolerations::add_default_tolerations(new);
        if let Some(old) = old {
            priority::keep(old, new);
        }
    },
    validate: |errors, _, old, new| match old {
        None => validation::pod::create(errors, new),
        Some(old) => {
            validation::pod::pod(errors, new);
            update::update(errors, old, new);
        }
    },
    validate_status: |errors, _, old, new| status::pod(errors, &Path::new("status"), old, new),
    // Updates of pods are frequent and rarely made by users: Kubernetes has no warnings for them.
    warnings: |warnings, old, new| {
        if old.is_none() {
            validation::warnings::name(warnings, new, "the Pod's hostname");
            pod_warnings::of(warnings, &Path::root(), new);
        }
    },
    delete: Some(lifecycle::delete_gracefully),
    admission_checks: &[
        AdmissionCheck::ServiceAccount,
        AdmissionCheck::Priority,
        AdmissionCheck::Limits,
        AdmissionCheck::RuntimeClass,
    ],
    limit: limits::limit_pod,
    quota: QuotaRules::POD,
    rows: Rows { whole: Some(table::cells), conditions: table::conditions, ..Rows::new(table::COLUMNS) },
    selectable: SelectableFields::new(&[
        NAME,
        NAMESPACE,
        text("spec.nodeName"),
        field("spec.host", Source::Text("spec.nodeName")),
        text("spec.restartPolicy"),
        text("spec.schedulerName"),
        text("spec.serviceAccountName"),
        field("spec.hostNetwork", Source::Flag("spec.hostNetwork")),
        text("status.phase"),
        field("status.podIP", Source::PodIp),
        field("status.podIPs", Source::Nothing),
        text("status.nominatedNodeName"),
    ]),
    status_reset_fields: &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
    ..KindStrategy::DEFAULT
};
