//! The strategy of PersistentVolumeClaims.

use gantry_json::{Value, json};

use super::{add_finalizer, validation};
use crate::admission::quota::{QuotaRules, Usage};
use crate::admission::{AdmissionCheck, limits};
use crate::defaults::volume;
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::Path;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Status").computed(|object, _| {
        let deleted = !cell::at(object, "metadata.deletionTimestamp").is_null();
        json!(if deleted { "Terminating" } else { cell::text(object, "status.phase") })
    }),
    column::text("Volume").text_at("spec.volumeName"),
    column::text("Capacity").computed(|object, _| {
        let bound = !cell::text(object, "spec.volumeName").is_empty();
        let capacity =
            || cell::plain(cell::at(object, "status.capacity.storage")).unwrap_or_else(|| "0".to_owned());
        json!(if bound { capacity() } else { String::new() })
    }),
    column::text("Access Modes").computed(|object, _| {
        let bound = !cell::text(object, "spec.volumeName").is_empty();
        json!(if bound {
            cell::access_modes(cell::list(object, "status.accessModes"))
        } else {
            String::new()
        })
    }),
    column::text("StorageClass").text_at("spec.storageClassName"),
    column::text("VolumeAttributesClass").text_or("spec.volumeAttributesClassName", "<unset>"),
    column::AGE,
    column::wide("VolumeMode").text_or("spec.volumeMode", "<unset>"),
];
const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    defaults: volume::claim,
    initial_status: |_| Some(json!({"phase": "Pending"})),
    admit: |old, new| {
        if old.is_none() {
            protect(new);
        }
        unify_data_sources(new, old);
    },
    validate: |errors, _, old, new| validation::claim(errors, &Path::new("spec"), old, &new["spec"]),
    validate_change: validation::claim_changes,
    validate_status: |errors, _, _, new| validation::claim_status(errors, new),
    warnings: |warnings, _, new| validation::claim_warnings(warnings, new),
    admission_checks: &[AdmissionCheck::Limits],
    limit: limits::limit_claim,
    quota: QuotaRules::new(Usage::add_claim),
    rows: Rows::new(COLUMNS),
    stored_when_new: Some(|claim| {
        let mut without_phase = claim.clone();
        without_phase["status"] = json!({});
        Some(without_phase)
    }),
    ..KindStrategy::DEFAULT
};

/// Adds the finalizer that holds a claim while a pod uses it.
fn protect(claim: &mut Value) {
    add_finalizer(claim, CLAIM_PROTECTION);
}

/// Copies `dataSource` and `dataSourceRef` to each other.
///
/// Drops a source in another namespace, because that feature is disabled, and one of a kind that only `dataSourceRef` can
/// have, unless the stored claim has a source.
fn unify_data_sources(claim: &mut Value, stored: Option<&Value>) {
    let had = |field: &str| stored.is_some_and(|stored| !stored["spec"][field].is_null());
    let (had_source, had_reference) = (had("dataSource"), had("dataSourceRef"));
    let Some(spec) = claim.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_set = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    let namespace = |reference: Option<&Value>| {
        reference.is_some_and(|reference| !matches!(reference["namespace"].as_str(), None | Some("")))
    };
    if namespace(spec.get("dataSourceRef")) && !had_reference {
        spec.remove("dataSourceRef");
    }
    let refers_now = is_set(spec.get("dataSourceRef"));
    if !had_source && !had_reference && !refers_now && !spec.get("dataSource").is_some_and(is_classic) {
        spec.remove("dataSource");
    }
    match (spec.get("dataSource").cloned(), spec.get("dataSourceRef").cloned()) {
        (Some(source), None | Some(Value::Null)) if !source.is_null() => {
            spec.insert("dataSourceRef", source);
        }
        (None | Some(Value::Null), Some(reference))
            if !reference.is_null() && !namespace(Some(&reference)) =>
        {
            let mut source = reference;
            if let Some(source) = source.as_object_mut() {
                source.remove("namespace");
            }
            spec.insert("dataSource", source);
        }
        _ => {}
    }
}

/// Whether the source is a claim or a snapshot.
fn is_classic(source: &Value) -> bool {
    let group = source["apiGroup"].as_str().unwrap_or("");
    matches!(
        (source["kind"].as_str(), group),
        (Some("PersistentVolumeClaim"), "") | (Some("VolumeSnapshot"), SNAPSHOTS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a row shows the capacity and modes in the status, once the claim is bound.
    #[test]
    fn a_claim_has_capacity_once_it_is_bound() {
        let mut claim = json!({
            "spec": {"storageClassName": "fast", "volumeMode": "Filesystem"},
            "status": {"phase": "Pending", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"]},
        });
        assert_eq!(
            STRATEGY.rows.cells(&claim, NOW)[1..],
            ["Pending", "", "", "", "fast", "<unset>", "<unknown>", "Filesystem"]
        );
        claim["spec"]["volumeName"] = json!("pv1");
        claim["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(STRATEGY.rows.cells(&claim, NOW)[1..5], ["Terminating", "pv1", "1Gi", "RWO,RWX"]);
    }
}
