//! Validates CSIDrivers, CSINodes and CSIStorageCapacities.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::go_format::ordered_json;
use crate::validation::names::{qualified_name, subdomain};
use crate::validation::resource_names::parse;
use crate::validation::unified_diff::on_one_line;
use crate::validation::{selector, semantically_equal};

const TOKENS_IN_SECRETS: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true \
     to prevent possible logging of tokens in volume attributes";
const LONGEST_DRIVER_NAME: usize = 63;
const LONGEST_NODE_ID: usize = 256;
const GROUP_POLICIES: [&str; 3] = ["File", "None", "ReadWriteOnceWithFSType"];
const SHORTEST_TOKEN: i64 = 600;
const LONGEST_TOKEN: i64 = 1 << 32;
const SHORTEST_PERIOD: i64 = 10;

/// Reports a string that is not the name of a CSI driver.
pub(super) fn csi_driver_name(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return errors.required(at, "");
    }
    if name.len() > LONGEST_DRIVER_NAME {
        errors.too_long(at, LONGEST_DRIVER_NAME);
    }
    errors.invalid_text(at, name, subdomain(&name.to_lowercase()));
}

/// Validates a CSIDriver.
pub(crate) fn csi_driver(errors: &mut ErrorList, driver: &Value) {
    let (at, spec) = (Path::new("spec"), &driver["spec"]);
    let policy = &spec["fsGroupPolicy"];
    if policy.as_str().is_some_and(|policy| !GROUP_POLICIES.contains(&policy)) {
        errors.unsupported(&at.child("fsGroupPolicy"), policy, &GROUP_POLICIES);
    }
    tokens(errors, &at.child("tokenRequests"), list(spec, "tokenRequests"));
    for mode in list(spec, "volumeLifecycleModes") {
        if !matches!(mode.as_str(), Some("Persistent" | "Ephemeral")) {
            errors.unsupported(&at.child("volumeLifecycleModes"), mode, &["Persistent", "Ephemeral"]);
        }
    }
    let period = &spec["nodeAllocatableUpdatePeriodSeconds"];
    if period.as_i64().is_some_and(|seconds| seconds < SHORTEST_PERIOD) {
        let at = at.child("nodeAllocatableUpdatePeriodSeconds");
        errors.invalid(&at, period, "must be greater than or equal to 10 seconds");
    }
    let in_secrets = &spec["serviceAccountTokenInSecrets"];
    if !in_secrets.is_null() && list(spec, "tokenRequests").is_empty() {
        let why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.invalid(&at.child("serviceAccountTokenInSecrets"), in_secrets, why);
    }
}

/// Warns about tokens in the volume context, where others can read them.
pub(crate) fn csi_driver_warnings(warnings: &mut Vec<String>, driver: &Value) {
    let spec = &driver["spec"];
    if !list(spec, "tokenRequests").is_empty() && !is_set(spec, "serviceAccountTokenInSecrets") {
        warnings.push(TOKENS_IN_SECRETS.to_owned());
    }
}

/// Reports changes of immutable fields of a CSIDriver.
pub(crate) fn csi_driver_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("spec");
    let (old, new) = (&old["spec"], &new["spec"]);
    let (field, modes) = ("attachRequired", "volumeLifecycleModes");
    // The name of the field is upstream's.
    errors.immutable(&at.child("attachedRequired"), old[field] == new[field], &new[field]);
    errors.immutable(&at.child(modes), old[modes] == new[modes], &new[modes]);
}

/// Validates a CSINode.
pub(crate) fn csi_node(errors: &mut ErrorList, node: &Value) {
    let at = Path::new("spec");
    let at = at.child("drivers");
    let mut names = BTreeSet::new();
    for (index, driver) in list(&node["spec"], "drivers").iter().enumerate() {
        let (at, name) = (at.index(index), text(driver, "name"));
        csi_driver_name(errors, &at.child("name"), name);
        node_id(errors, &at.child("nodeID"), text(driver, "nodeID"));
        errors.not_negative(&at.child("allocatable"), &driver["allocatable"], "count");
        if !names.insert(name) {
            errors.duplicate(&at.child("name"), &json!(name));
        }
        topology_keys(errors, &at, driver);
    }
}

/// Reports changes of the drivers of a CSINode, except for `allocatable`.
pub(crate) fn csi_node_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("spec");
    let message = "storage/v1.CSINodeDriver";
    let fixed = |driver: &Value| {
        let mut driver = driver.clone();
        if let Some(driver) = driver.as_object_mut() {
            driver.remove("allocatable");
        }
        driver
    };
    for before in list(&old["spec"], "drivers") {
        for after in list(&new["spec"], "drivers").iter().filter(|after| after["name"] == before["name"]) {
            if !semantically_equal(message, &fixed(before), &fixed(after)) {
                let shown = on_one_line(message, &fixed(after));
                errors.invalid_formatted(&at.child("drivers"), shown, "field is immutable");
            }
        }
    }
}

/// Validates a CSIStorageCapacity.
pub(crate) fn capacity(errors: &mut ErrorList, object: &Value) {
    if is_set(object, "nodeTopology") {
        selector::terms(errors, &Path::new("nodeTopology"), &object["nodeTopology"]);
    }
    let class = text(object, "storageClassName");
    errors.invalid_text(&Path::new("storageClassName"), class, subdomain(class));
    let amount = &object["capacity"];
    if parse(amount).is_some_and(|quantity| quantity.billionths() < 0) {
        errors.invalid(&Path::new("capacity"), amount, "must be greater than or equal to 0");
    }
}

/// Reports changes of immutable fields of a CSIStorageCapacity.
pub(crate) fn capacity_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let only = |object: &Value| json!({"nodeTopology": object["nodeTopology"]});
    if !semantically_equal("storage/v1.CSIStorageCapacity", &only(old), &only(new)) {
        let shown = match &new["nodeTopology"] {
            Value::Null => "null".to_owned(),
            topology => ordered_json("meta/v1.LabelSelector", topology),
        };
        errors.invalid_formatted(&Path::new("nodeTopology"), shown, "field is immutable");
    }
    let class = text(new, "storageClassName");
    errors.immutable(&Path::new("storageClassName"), text(old, "storageClassName") == class, &json!(class));
}

fn tokens(errors: &mut ErrorList, at: &Path<'_>, requests: &[Value]) {
    let mut audiences = BTreeSet::new();
    for (index, request) in requests.iter().enumerate() {
        let (at, audience) = (at.index(index), text(request, "audience"));
        if !audiences.insert(audience) {
            errors.duplicate(&at.child("audience"), &json!(audience));
            continue;
        }
        let Some(seconds) = number(request, "expirationSeconds") else { continue };
        let at = at.child("expirationSeconds");
        if seconds < SHORTEST_TOKEN {
            errors.invalid(&at, &json!(seconds), "may not specify a duration less than 10 minutes");
        }
        if seconds > LONGEST_TOKEN {
            errors.invalid(&at, &json!(seconds), "may not specify a duration larger than 2^32 seconds");
        }
    }
}

fn node_id(errors: &mut ErrorList, at: &Path<'_>, id: &str) {
    if id.is_empty() {
        errors.required(at, "");
    }
    if id.len() > LONGEST_NODE_ID {
        errors.invalid(at, &json!(id), format!("must be {LONGEST_NODE_ID} characters or less"));
    }
}

fn topology_keys(errors: &mut ErrorList, at: &Path<'_>, driver: &Value) {
    let mut seen = BTreeSet::new();
    for key in list(driver, "topologyKeys").iter().filter_map(Value::as_str) {
        if key.is_empty() {
            errors.required(at, "");
        }
        if !seen.insert(key) {
            errors.duplicate(at, &json!(key));
        }
        errors.invalid_text(at, key, qualified_name(key));
    }
}
