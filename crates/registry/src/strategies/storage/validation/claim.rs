//! Validates PersistentVolumeClaims.

use gantry_formats::quantity::Quantity;
use gantry_json::{Value, json};

use super::{CLASS_ANNOTATION, VOLUME_MODES, access_modes};
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use crate::validation::names::{label, qualified_name, subdomain};
use crate::validation::resource_names::{is_fraction, is_native, parse};
use crate::validation::unified_diff::unified_diff;
use crate::validation::{selector, semantically_equal};

const SPEC: &str = "core/v1.PersistentVolumeClaimSpec";
const RESIZE_STATUSES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];
/// Errors about data sources show an empty object, as in Kubernetes.
const DATA_SOURCE_SHOWN: &str = "{}";

/// Validates the spec of a claim.
pub(crate) fn claim(errors: &mut ErrorList, at: &Path<'_>, old: Option<&Value>, spec: &Value) {
    let modes = list(spec, "accessModes");
    if modes.is_empty() {
        errors.required(&at.child("accessModes"), "at least 1 access mode is required");
    }
    selector::terms(errors, &at.child("selector"), &spec["selector"]);
    access_modes(errors, &at.child("accessModes"), modes);
    let (resources, storage) = (at.child("resources"), &spec["resources"]["requests"]["storage"]);
    match parse(storage) {
        None => errors.required(&resources.key("storage"), ""),
        Some(amount) if amount.billionths() <= 0 => {
            errors.invalid(&resources.key("storage"), storage, "must be greater than zero");
        }
        Some(_) => {}
    }
    let class = text(spec, "storageClassName");
    errors.optional_text(&at.child("storageClassName"), class, subdomain);
    if let Some(mode) = spec["volumeMode"].as_str()
        && !VOLUME_MODES.contains(&mode)
    {
        errors.unsupported(&at.child("volumeMode"), &spec["volumeMode"], &VOLUME_MODES);
    }
    data_sources(errors, at, old, spec);
    let class = text(spec, "volumeAttributesClassName");
    errors.optional_text(&at.child("volumeAttributesClassName"), class, subdomain);
}

/// Warns about a claim.
pub(crate) fn claim_warnings(warnings: &mut Vec<String>, claim: &Value) {
    if is_set(&claim["metadata"]["annotations"], CLASS_ANNOTATION) {
        warnings.push(format!(
            "metadata.annotations[{CLASS_ANNOTATION}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
    for field in ["requests", "limits"] {
        let amount = &claim["spec"]["resources"][field]["storage"];
        if parse(amount).is_some_and(is_fraction) {
            warnings.push(format!(
                "spec.resources.{field}[storage]: fractional byte value {amount} is invalid, must be an integer"
            ));
        }
    }
}

/// Validates changes to a claim: its volume and class can be set once, and a bound claim can grow.
pub(crate) fn claim_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let annotation = |claim: &Value| text(&claim["metadata"]["annotations"], CLASS_ANNOTATION).to_owned();
    let (mut before, mut after) = (old["spec"].clone(), new["spec"].clone());
    if text(&before, "volumeName").is_empty() {
        copy(&mut before, "volumeName", &after);
    }
    let class_is_new = !is_set(&before, "storageClassName") && is_set(&after, "storageClassName");
    let has_annotation = is_set(&old["metadata"]["annotations"], CLASS_ANNOTATION);
    let is_annotated = text(&after, "storageClassName") == annotation(old);
    if annotation(old) != annotation(new) && !(class_is_new && has_annotation && annotation(new).is_empty()) {
        let metadata = Path::new("metadata");
        let at = metadata.child("annotations");
        errors.invalid(&at.key(CLASS_ANNOTATION), &json!(annotation(new)), "field is immutable");
    }
    if class_is_new && (!has_annotation || is_annotated) {
        let unset = json!({});
        copy(&mut after, "storageClassName", &unset);
    }
    if text(&new["status"], "phase") == "Bound" {
        if is_set(&after["resources"], "requests") {
            after["resources"]["requests"]["storage"] = before["resources"]["requests"]["storage"].clone();
        }
        copy(&mut after, "volumeAttributesClassName", &before);
    }
    if !semantically_equal(SPEC, &before, &after) {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
                   claims";
        let lines = unified_diff(SPEC, &before, &after);
        errors.forbidden(&Path::new("spec"), format!("{why}\n{lines}"));
    }
    sizes(errors, old, new);
    let is_same = old["spec"]["volumeMode"] == new["spec"]["volumeMode"];
    errors.immutable(&Path::new("volumeMode"), is_same, &new["spec"]["volumeMode"]);
    attributes(errors, old, new);
}

/// Validates the status of a claim.
pub(crate) fn claim_status(errors: &mut ErrorList, claim: &Value) {
    let (at, status) = (Path::new("status"), &claim["status"]);
    for (name, amount) in members(status, "capacity") {
        not_negative(errors, &at.child("capacity").key(name), amount);
    }
    let statuses_at = at.child("allocatedResourceStatuses");
    for (name, state) in members(status, "allocatedResourceStatuses") {
        resource_key(errors, &statuses_at, name);
        if !state.as_str().is_some_and(|state| RESIZE_STATUSES.contains(&state)) {
            errors.unsupported(&statuses_at, &json!(name), &RESIZE_STATUSES);
        }
    }
    let resources_at = at.child("allocatedResources");
    for (name, amount) in members(status, "allocatedResources") {
        if resource_key(errors, &resources_at, name) {
            not_negative(errors, &resources_at.key(name), amount);
        }
    }
}

fn copy(to: &mut Value, field: &str, from: &Value) {
    let Some(map) = to.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => map.insert(field.to_owned(), value.clone()),
        None => map.remove(field),
    };
}

fn sizes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let amount = |storage: &Value| parse(storage).map_or(0, Quantity::billionths);
    let requested = |claim: &Value| amount(&claim["spec"]["resources"]["requests"]["storage"]);
    if requested(new) < requested(old) && requested(new) <= amount(&old["status"]["capacity"]["storage"]) {
        let at = Path::new("spec");
        let at = at.child("resources");
        let why = "field can not be less than status.capacity";
        errors.forbidden(&at.child("requests").child("storage"), why);
    }
}

fn attributes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let field = "volumeAttributesClassName";
    let has_current = is_set(&old["status"], "currentVolumeAttributesClassName");
    if !has_current || old["spec"][field] == new["spec"][field] {
        return;
    }
    let at = Path::new("spec");
    let to = match new["spec"][field].as_str() {
        None => "nil",
        Some("") => "empty string",
        Some(_) => return,
    };
    let why = format!("update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil");
    errors.forbidden(&at.child(field), why);
}

fn data_sources(errors: &mut ErrorList, at: &Path<'_>, old: Option<&Value>, spec: &Value) {
    let had_group = old.is_some_and(|old| {
        ["dataSource", "dataSourceRef"].into_iter().any(|field| is_set(&old["spec"][field], "apiGroup"))
    });
    for field in ["dataSource", "dataSourceRef"].into_iter().filter(|field| is_set(spec, field)) {
        data_source(errors, &at.child(field), &spec[field], had_group);
    }
    let (source, reference) = (&spec["dataSource"], &spec["dataSourceRef"]);
    if source.is_null() || reference.is_null() {
        return;
    }
    if !text(reference, "namespace").is_empty() {
        let why = "may not be specified when dataSourceRef.namespace is specified";
        errors.invalid_formatted(at, DATA_SOURCE_SHOWN.to_owned(), why);
    } else if source["apiGroup"] != reference["apiGroup"]
        || ["kind", "name"].into_iter().any(|field| text(source, field) != text(reference, field))
    {
        errors.invalid_formatted(at, DATA_SOURCE_SHOWN.to_owned(), "must match dataSourceRef");
    }
}

fn data_source(errors: &mut ErrorList, at: &Path<'_>, source: &Value, had_group: bool) {
    for field in ["name", "kind"] {
        if text(source, field).is_empty() {
            errors.required(&at.child(field), "");
        }
    }
    let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.invalid(at, &json!(kind), why);
    }
    if !group.is_empty() && !had_group {
        errors.invalid_text(&at.child("apiGroup"), group, subdomain(group));
    }
    let namespace = text(source, "namespace");
    errors.optional_text(&at.child("namespace"), namespace, label);
}

/// Validates the name of a resource, and returns whether a claim can have it.
fn resource_key(errors: &mut ErrorList, at: &Path<'_>, name: &str) -> bool {
    let before = errors.all.len();
    errors.invalid_text(at, name, qualified_name(name));
    if errors.all.len() == before && is_native(name) && name != "storage" {
        errors.unsupported(at, &json!(name), &["storage"]);
    }
    errors.all.len() == before
}

fn not_negative(errors: &mut ErrorList, at: &Path<'_>, amount: &Value) {
    if let Some(quantity) = parse(amount).filter(|quantity| quantity.billionths() < 0) {
        let whole = quantity.billionths() / 1_000_000_000;
        errors.invalid_formatted(at, whole.to_string(), "must be a valid resource quantity");
    }
}
