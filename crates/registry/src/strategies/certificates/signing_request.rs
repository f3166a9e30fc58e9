//! The strategy of CertificateSigningRequests: their spec never changes, decisions are made by the subresource `approval`, and
//! certificates are issued by the subresource `status`.

use gantry_json::{Value, json};
use gantry_primitives::age;

use super::validate_signer_name;
use crate::Timestamp;
use crate::access::User;
use crate::admission::AdmissionCheck;
use crate::defaults::setting::Object;
use crate::lifecycle::{Part, keep};
use crate::selector::fields::{self, SelectableFields};
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, list, number, text};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::AGE,
    column::text("SignerName").text_or("spec.signerName", "<none>"),
    column::text("Requestor").text_at("spec.username"),
    column::text("RequestedDuration").computed(|object, _| {
        json!(match cell::at(object, "spec.expirationSeconds").as_i64() {
            Some(seconds) => age::short(seconds),
            None => "<none>".to_owned(),
        })
    }),
    column::text("Condition").computed(|object, _| json!(shown_condition(object))),
];

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const EXPIRATION_SECONDS_MIN: i64 = 600;
/// The decisions on a request.
const DECISIONS: [&str; 2] = ["Approved", "Denied"];
/// Conditions that are true or absent, and never removed.
const FINAL: [&str; 3] = ["Approved", "Denied", "Failed"];

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    admission_checks: &[AdmissionCheck::SigningRequest],
    initial_status: |_| Some(json!({})),
    prepare,
    validate: |errors, _, old, new| {
        validate_spec(errors, old, &new["spec"]);
        validate_status(errors, old, new, Part::Main);
    },
    validate_status: |errors, _, old, new| {
        validate_spec(errors, Some(old), &new["spec"]);
        validate_status(errors, Some(old), new, Part::Status);
    },
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[fields::NAME, fields::text("spec.signerName")]),
    reset_fields: &["spec", "status"],
    status_reset_fields: &["spec", "status.conditions"],
    ..KindStrategy::DEFAULT
};

/// Restores the fields that a write to this part does not change: all but the metadata of the request itself, the
/// decisions in its status, and the certificate of an approval.
fn prepare(part: Part, old: Option<&Value>, new: &mut Value) {
    let Some(old) = old else { return };
    keep(old, new, "spec");
    match part {
        Part::Main => keep(old, new, "status"),
        Part::Status => DECISIONS.iter().for_each(|decision| keep_decision(old, new, decision)),
        Part::Approval => {
            let conditions = new["status"]["conditions"].clone();
            keep(old, new, "status");
            if let Some(status) = new.get_mut("status").and_then(Value::as_object_mut) {
                match conditions {
                    Value::Null => status.remove("conditions"),
                    conditions => status.insert("conditions", conditions),
                };
            } else if !conditions.is_null() {
                new["status"] = json!({"conditions": conditions});
            }
        }
        Part::Finalize | Part::EphemeralContainers | Part::Resize => {}
    }
}

/// Restores a decision if the write neither adds nor removes it; otherwise validation refuses the write.
fn keep_decision(old: &Value, new: &mut Value, decision: &str) {
    let is_meant = |condition: &&Value| condition["type"] == decision;
    let before: Vec<_> = list(&old["status"], "conditions").iter().filter(is_meant).cloned().collect();
    let Some(after) = new.pointer_mut("/status/conditions").and_then(Value::as_array_mut) else { return };
    let mut after: Vec<_> = after.iter_mut().filter(|condition| condition["type"] == decision).collect();
    if after.len() == before.len() {
        after.iter_mut().zip(before).for_each(|(after, before)| **after = before);
    }
}

/// Sets the user of a request to sign a certificate in its spec; drops the user that the client sent there.
pub fn set_requestor(object: &mut Value, user: &User) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    set(spec, "username", json!(user.name), user.name.is_empty());
    set(spec, "uid", json!(user.uid), user.uid.is_empty());
    set(spec, "groups", json!(user.groups), user.groups.is_empty());
    set(spec, "extra", json!(user.extra), user.extra.is_empty());
}

fn set(spec: &mut Object, field: &str, value: Value, is_empty: bool) {
    if is_empty {
        spec.remove(field);
    } else {
        spec.insert(field, value);
    }
}

/// Sets the times of conditions that have none. A condition with unchanged status keeps its transition time.
pub fn set_condition_times(old: &Value, new: &mut Value, now: Timestamp) {
    let before = list(&old["status"], "conditions");
    let Some(after) = new.pointer_mut("/status/conditions").and_then(Value::as_array_mut) else { return };
    for condition in after.iter_mut().filter_map(Value::as_object_mut) {
        let is_absent = |time: Option<&Value>| time.is_none_or(Value::is_null);
        if is_absent(condition.get("lastUpdateTime")) {
            condition.insert("lastUpdateTime", json!(now.to_string()));
        }
        if is_absent(condition.get("lastTransitionTime")) {
            let is_same = |known: &&Value| {
                ["type", "status"].iter().all(|field| condition.get(field) == Some(&known[*field]))
                    && known["lastTransitionTime"].is_string()
            };
            let known = before.iter().find(is_same).map(|known| known["lastTransitionTime"].clone());
            condition.insert("lastTransitionTime", known.unwrap_or_else(|| json!(now.to_string())));
        }
    }
}

/// Validates the spec; the request itself is validated by the API server.
fn validate_spec(errors: &mut ErrorList, old: Option<&Value>, spec: &Value) {
    if old.is_some() {
        return; // The spec is immutable, and a stored one is accepted.
    }
    let at = Path::new("spec");
    let usages = list(spec, "usages");
    if usages.is_empty() {
        errors.required(&at.child("usages"), "");
    }
    let at_usages = at.child("usages");
    for (index, usage) in usages.iter().enumerate() {
        if !usage.as_str().is_some_and(|usage| USAGES.contains(&usage)) {
            errors.unsupported(&at_usages.index(index), usage, &USAGES);
        }
    }
    for (index, usage) in usages.iter().enumerate() {
        if usages[..index].contains(usage) {
            errors.duplicate(&at_usages.index(index), usage);
        }
    }
    let signer = text(spec, "signerName");
    if signer == LEGACY_SIGNER {
        let why = "the legacy signerName is not allowed via this API version";
        errors.invalid(&at.child("signerName"), &json!(signer), why);
    } else {
        validate_signer_name(errors, &at.child("signerName"), signer);
    }
    if number(spec, "expirationSeconds").is_some_and(|seconds| seconds < EXPIRATION_SECONDS_MIN) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.invalid(&at.child("expirationSeconds"), &spec["expirationSeconds"], why);
    }
}

/// Validates the status after a write to this part.
pub(crate) fn validate_status(errors: &mut ErrorList, old: Option<&Value>, new: &Value, part: Part) {
    let at = Path::new("status");
    let after = list(&new["status"], "conditions");
    validate_conditions(errors, &at.child("conditions"), after);
    let Some(old) = old else { return };
    let before = list(&old["status"], "conditions");
    let of = |conditions: &[Value], kind: &str| -> Vec<Value> {
        conditions.iter().filter(|condition| condition["type"] == kind).cloned().collect()
    };
    let at_conditions = at.child("conditions");
    for kind in FINAL {
        if of(after, kind).len() < of(before, kind).len() {
            errors.forbidden(&at_conditions, format!("updates may not remove a condition of type {kind:?}"));
        }
    }
    if part != Part::Approval {
        for kind in DECISIONS {
            let (before, after) = (of(before, kind), of(after, kind));
            if after.len() > before.len() {
                errors.forbidden(&at_conditions, format!("updates may not add a condition of type {kind:?}"));
            } else if after.len() == before.len() && after != before {
                errors.forbidden(
                    &at_conditions,
                    format!("updates may not modify a condition of type {kind:?}"),
                );
            }
        }
    }
    let (before, after) = (text(&old["status"], "certificate"), text(&new["status"], "certificate"));
    if before != after {
        if part != Part::Status {
            errors.forbidden(&at.child("certificate"), "updates may not set certificate content");
        } else if !before.is_empty() {
            errors.forbidden(&at.child("certificate"), "updates may not modify existing certificate content");
        }
    }
}

fn validate_conditions(errors: &mut ErrorList, at: &Path<'_>, conditions: &[Value]) {
    for (index, condition) in conditions.iter().enumerate() {
        let (kind, status) = (text(condition, "type"), text(condition, "status"));
        let at = at.index(index);
        if kind.is_empty() {
            errors.required(&at.child("type"), "");
        }
        let allowed: &[&str] = if FINAL.contains(&kind) { &["True"] } else { &["False", "True", "Unknown"] };
        if status.is_empty() {
            errors.required(&at.child("status"), "");
        } else if !allowed.contains(&status) {
            errors.unsupported(&at.child("status"), &condition["status"], allowed);
        }
        if conditions[..index].iter().any(|earlier| text(earlier, "type") == kind) {
            errors.duplicate(&at.child("type"), &condition["type"]);
        }
    }
    if DECISIONS.iter().all(|kind| conditions.iter().any(|condition| condition["type"] == *kind)) {
        let fields = DECISIONS.map(|kind| format!("conditions[{{\"type\": \"{kind}\"}}]"));
        let why = format!("must specify at most one of: `{}`, `{}`", fields[0], fields[1]);
        errors.invalid(at, &json!(format!("{{{}}}", fields.join(", "))), why);
    }
}

/// Formats the decision on a request, and whether a certificate was issued or the request failed.
fn shown_condition(object: &Value) -> String {
    let has = |kind: &str| cell::list(object, "status.conditions").iter().any(|found| found["type"] == kind);
    let mut shown = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        shown.push_str(",Failed");
    }
    if !cell::text(object, "status.certificate").is_empty() {
        shown.push_str(",Issued");
    }
    shown
}
