//! CSIDrivers, CSINodes and CSIStorageCapacities.

use gantry_json::{Value, json};

use super::validation;
use crate::defaults::setting::{Object, default, ensure, is_empty};
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::warnings;

const DRIVER_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::boolean("AttachRequired").computed(|object, _| {
        let is = |field: &str, absent: bool| json!(cell::at(object, field).as_bool().unwrap_or(absent));
        is("spec.attachRequired", true)
    }),
    column::boolean("PodInfoOnMount").computed(|object, _| {
        let is = |field: &str, absent: bool| json!(cell::at(object, field).as_bool().unwrap_or(absent));
        is("spec.podInfoOnMount", false)
    }),
    column::boolean("StorageCapacity").computed(|object, _| {
        let is = |field: &str, absent: bool| json!(cell::at(object, field).as_bool().unwrap_or(absent));
        is("spec.storageCapacity", false)
    }),
    column::text("TokenRequests").computed(|object, _| {
        json!(match cell::list(object, "spec.tokenRequests") {
            [] => "<unset>".to_owned(),
            tokens => cell::joined(tokens, "audience"),
        })
    }),
    column::boolean("RequiresRepublish").computed(|object, _| {
        let is = |field: &str, absent: bool| json!(cell::at(object, field).as_bool().unwrap_or(absent));
        is("spec.requiresRepublish", false)
    }),
    column::text("Modes").computed(|object, _| {
        let modes: Vec<_> =
            cell::list(object, "spec.volumeLifecycleModes").iter().filter_map(Value::as_str).collect();
        let modes = if modes.is_empty() { "<none>".to_owned() } else { modes.join(",") };
        json!(modes)
    }),
    column::AGE,
];
const NODE_COLUMNS: &[TableColumn] =
    &[column::NAME, column::number("Drivers").count_at("spec.drivers"), column::AGE];

pub(crate) const DRIVER: KindStrategy = KindStrategy {
    defaults: set_driver_defaults,
    validate: |errors, _, _, new| validation::csi_driver(errors, new),
    validate_change: validation::csi_driver_changes,
    warnings: |warnings, old, new| {
        let same_requests = |old: &&Value| old["spec"]["tokenRequests"] == new["spec"]["tokenRequests"];
        warnings::new_only(warnings, old.filter(same_requests), new, validation::csi_driver_warnings);
    },
    rows: Rows::new(DRIVER_COLUMNS),
    ..KindStrategy::DEFAULT
};

pub(crate) const NODE: KindStrategy = KindStrategy {
    validate: |errors, _, _, new| validation::csi_node(errors, new),
    validate_change: validation::csi_node_changes,
    rows: Rows::new(NODE_COLUMNS),
    ..KindStrategy::DEFAULT
};

pub(crate) const CAPACITY: KindStrategy = KindStrategy {
    validate: |errors, _, _, new| validation::capacity(errors, new),
    validate_change: validation::capacity_changes,
    ..KindStrategy::DEFAULT
};

fn set_driver_defaults(driver: &mut Object) {
    let Some(spec) = ensure(driver, "spec") else { return };
    default(spec, "attachRequired", true);
    let switches = [
        "podInfoOnMount",
        "storageCapacity",
        "requiresRepublish",
        "seLinuxMount",
        "preventPodSchedulingIfMissing",
    ];
    for field in switches {
        default(spec, field, false);
    }
    default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if is_empty(spec, "volumeLifecycleModes") {
        spec.insert("volumeLifecycleModes", json!(["Persistent"]));
    }
}
