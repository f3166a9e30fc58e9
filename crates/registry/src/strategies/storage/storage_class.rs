//! The strategy of StorageClasses.

use gantry_json::json;

use super::validation;
use crate::defaults::setting::{Object, default};
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::warnings;

const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const COLUMNS: &[TableColumn] = &[
    column::NAME.computed(|object, _| {
        let is_default = object["metadata"]["annotations"][DEFAULT_CLASS] == "true";
        json!(format!("{}{}", cell::name(object), if is_default { " (default)" } else { "" }))
    }),
    column::text("Provisioner").text_at("provisioner"),
    column::text("ReclaimPolicy").text_or("reclaimPolicy", "Delete"),
    column::text("VolumeBindingMode").text_or("volumeBindingMode", "Immediate"),
    column::text("AllowVolumeExpansion")
        .computed(|object, _| json!(cell::at(object, "allowVolumeExpansion") == true)),
    column::AGE,
];

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, _, new| validation::storage_class(errors, new),
    validate_change: validation::storage_class_changes,
    warnings: |warnings, _, new| warnings::topology_labels(warnings, new),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn set_defaults(class: &mut Object) {
    default(class, "reclaimPolicy", "Delete");
    default(class, "volumeBindingMode", "Immediate");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    /// Appendix C: classes show their defaults, and which of them is the default.
    #[test]
    fn classes_show_their_defaults() {
        let now = Timestamp::from_secs(0);
        let mut class = json!({"metadata": {"name": "fast"}, "provisioner": "example.com/disk"});
        let shown = STRATEGY.rows.cells(&class, now);
        assert_eq!(shown[..4], ["fast", "example.com/disk", "Delete", "Immediate"]);
        assert_eq!(shown[4], false);
        class["metadata"]["annotations"] = json!({DEFAULT_CLASS: "true"});
        assert_eq!(STRATEGY.rows.cells(&class, now)[0], "fast (default)");
    }
}
