//! Who containers run as.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, text};
use super::names::user_id;

const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// The security context of a pod.
pub(super) fn of_pod(found: &mut Found, at: &Path<'_>, context: &Value) {
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(found, &at.child(field), &context[field]);
    }
    for (index, group) in list(context, "supplementalGroups").iter().enumerate() {
        let at = at.child("supplementalGroups");
        id(found, &at.index(index), group);
    }
    let policies = ["Always", "OnRootMismatch"];
    found.one_of_if_set(&at.child("fsGroupChangePolicy"), &context["fsGroupChangePolicy"], &policies);
    profile(found, &at.child("seccompProfile"), &context["seccompProfile"]);
}

/// The security context of a container.
pub(super) fn of_container(found: &mut Found, at: &Path<'_>, context: &Value) {
    for field in ["runAsUser", "runAsGroup"] {
        id(found, &at.child(field), &context[field]);
    }
    found.one_of_if_set(&at.child("procMount"), &context["procMount"], &["Default", "Unmasked"]);
    profile(found, &at.child("seccompProfile"), &context["seccompProfile"]);
    escalation(found, at, context);
}

fn id(found: &mut Found, at: &Path<'_>, id: &Value) {
    for why in id.as_i64().map(user_id).unwrap_or_default() {
        found.invalid(at, id, why);
    }
}

fn profile(found: &mut Found, at: &Path<'_>, profile: &Value) {
    if profile.is_null() {
        return;
    }
    let kind = text(profile, "type");
    match kind {
        "Localhost" if !is_set(profile, "localhostProfile") => {
            found.required(&at.child("localhostProfile"), "must be set when seccomp type is Localhost");
        }
        "Localhost" => {}
        _ if is_set(profile, "localhostProfile") => {
            let why = "can only be set when seccomp type is Localhost";
            found.invalid(&at.child("localhostProfile"), &profile["localhostProfile"], why);
        }
        _ => {}
    }
    found.one_of(&at.child("type"), &profile["type"], &PROFILES);
}

fn escalation(found: &mut Found, at: &Path<'_>, context: &Value) {
    if context["allowPrivilegeEscalation"].as_bool() != Some(false) {
        return;
    }
    if context["privileged"].as_bool() == Some(true) {
        let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        found.invalid(at, context, why);
    }
    let added = list(&context["capabilities"], "add");
    if added.contains(&json!("CAP_SYS_ADMIN")) {
        let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        found.invalid(at, context, why);
    }
}
