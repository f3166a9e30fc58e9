//! The strategy of PersistentVolumes.

use gantry_json::{Value, json};

use super::{add_finalizer, validation};
use crate::Timestamp;
use crate::defaults::volume;
use crate::strategies::KindStrategy;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[
    column::NAME,
    column::text("Capacity"),
    column::text("Access Modes"),
    column::text("Reclaim Policy"),
    column::text("Status"),
    column::text("Claim"),
    column::text("StorageClass"),
    column::text("VolumeAttributesClass"),
    column::text("Reason"),
    column::AGE,
    column::wide("VolumeMode"),
];
const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    defaults: volume::persistent_volume,
    initial_status: |volume| {
        let created = volume.get("metadata").map(|metadata| &metadata["creationTimestamp"]);
        Some(json!({"phase": "Pending", "lastPhaseTransitionTime": created}))
    },
    admit: |old, new| {
        if old.is_none() {
            protect(new);
        }
    },
    validate: |errors, _, old, new| {
        validation::volume(errors, new);
        if let Some(old) = old {
            validation::volume_changes(errors, old, new);
        }
    },
    warnings: |warnings, _, new| validation::volume_warnings(warnings, new),
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let deleted = !cell::at(object, "metadata.deletionTimestamp").is_null();
    let claim = match cell::text(object, "spec.claimRef.name") {
        "" => String::new(),
        name => format!("{}/{name}", cell::text(object, "spec.claimRef.namespace")),
    };
    vec![
        json!(cell::name(object)),
        json!(cell::plain(cell::at(object, "spec.capacity.storage")).unwrap_or_else(|| "0".to_owned())),
        json!(cell::access_modes(cell::list(object, "spec.accessModes"))),
        json!(cell::text(object, "spec.persistentVolumeReclaimPolicy")),
        json!(if deleted { "Terminating" } else { cell::text(object, "status.phase") }),
        json!(claim),
        json!(cell::text(object, "spec.storageClassName")),
        json!(cell::text_or(object, "spec.volumeAttributesClassName", "<unset>")),
        json!(cell::text(object, "status.reason")),
        json!(cell::age(object, now)),
        json!(cell::text_or(object, "spec.volumeMode", "<unset>")),
    ]
}

/// Adds the finalizer that holds a volume while a claim is bound to it.
fn protect(volume: &mut Value) {
    add_finalizer(volume, VOLUME_PROTECTION);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a volume shows what it is and whose it is.
    #[test]
    fn a_volume_names_its_claim() {
        let volume = json!({
            "metadata": {"name": "pv1"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "shop", "name": "data"},
            },
            "status": {"phase": "Bound"},
        });
        assert_eq!(
            cells(&volume, NOW)[1..],
            ["1Gi", "RWO,RWX", "Retain", "Bound", "shop/data", "", "<unset>", "", "<unknown>", "<unset>"]
        );
    }
}
