//! The strategy of StorageClasses.

use gantry_json::{Value, json};

use super::validation;
use crate::Timestamp;
use crate::defaults::setting::{Object, default};
use crate::strategies::KindStrategy;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};
use crate::validation::warnings;

const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const COLUMNS: &[Column] = &[
    column::NAME,
    column::text("Provisioner"),
    column::text("ReclaimPolicy"),
    column::text("VolumeBindingMode"),
    column::text("AllowVolumeExpansion"),
    column::AGE,
];

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| {
        validation::storage_class(errors, new);
        if let Some(old) = old {
            validation::storage_class_changes(errors, old, new);
        }
    },
    warnings: |warnings, _, new| warnings::topology_labels(warnings, new),
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let is_default = object["metadata"]["annotations"][DEFAULT_CLASS] == "true";
    vec![
        json!(format!("{}{}", cell::name(object), if is_default { " (default)" } else { "" })),
        json!(cell::text(object, "provisioner")),
        json!(cell::text_or(object, "reclaimPolicy", "Delete")),
        json!(cell::text_or(object, "volumeBindingMode", "Immediate")),
        json!(cell::at(object, "allowVolumeExpansion") == true),
        json!(cell::age(object, now)),
    ]
}

fn set_defaults(class: &mut Object) {
    default(class, "reclaimPolicy", "Delete");
    default(class, "volumeBindingMode", "Immediate");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix C: classes show their defaults, and which of them is the default.
    #[test]
    fn classes_show_their_defaults() {
        let now = Timestamp::from_secs(0);
        let mut class = json!({"metadata": {"name": "fast"}, "provisioner": "example.com/disk"});
        let shown = cells(&class, now);
        assert_eq!(shown[..4], ["fast", "example.com/disk", "Delete", "Immediate"]);
        assert_eq!(shown[4], false);
        class["metadata"]["annotations"] = json!({DEFAULT_CLASS: "true"});
        assert_eq!(cells(&class, now)[0], "fast (default)");
    }
}
