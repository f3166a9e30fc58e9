//! The strategy of PersistentVolumes.

use gantry_json::{Value, json};

use super::{add_finalizer, validation};
use crate::defaults::volume;
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Capacity").computed(|object, _| {
        json!(cell::plain(cell::at(object, "spec.capacity.storage")).unwrap_or_else(|| "0".to_owned()))
    }),
    column::text("Access Modes")
        .computed(|object, _| json!(cell::access_modes(cell::list(object, "spec.accessModes")))),
    column::text("Reclaim Policy").text_at("spec.persistentVolumeReclaimPolicy"),
    column::text("Status").computed(|object, _| {
        let deleted = !cell::at(object, "metadata.deletionTimestamp").is_null();
        json!(if deleted { "Terminating" } else { cell::text(object, "status.phase") })
    }),
    column::text("Claim").computed(|object, _| {
        json!(match cell::text(object, "spec.claimRef.name") {
            "" => String::new(),
            name => format!("{}/{name}", cell::text(object, "spec.claimRef.namespace")),
        })
    }),
    column::text("StorageClass").text_at("spec.storageClassName"),
    column::text("VolumeAttributesClass").text_or("spec.volumeAttributesClassName", "<unset>"),
    column::text("Reason").text_at("status.reason"),
    column::AGE,
    column::wide("VolumeMode").text_or("spec.volumeMode", "<unset>"),
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
    validate: |errors, _, _, new| validation::volume(errors, new),
    validate_change: validation::volume_changes,
    warnings: |warnings, _, new| validation::volume_warnings(warnings, new),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Adds the finalizer that holds a volume while a claim is bound to it.
fn protect(volume: &mut Value) {
    add_finalizer(volume, VOLUME_PROTECTION);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: the row of a volume includes the claim that it is bound to.
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
            STRATEGY.rows.cells(&volume, NOW)[1..],
            ["1Gi", "RWO,RWX", "Retain", "Bound", "shop/data", "", "<unset>", "", "<unknown>", "<unset>"]
        );
    }
}
