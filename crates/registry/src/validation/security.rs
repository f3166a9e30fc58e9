//! Validates security contexts.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, list, text};
use super::go_format::with_go_names;
use super::mount::relative_path;
use super::names::user_id;
use super::windows;

/// Sysctls of the IPC namespace.
const IPC: [&str; 5] = ["kernel.sem", "kernel.shm", "kernel.msg", "fs.mqueue.", "kernel.shm_rmid_forced"];
const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// The pattern of the name of a sysctl.
const PARAMETER: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const PARAMETER_MAX: usize = 253;
const LOCAL_PROFILE_MAX: usize = 4095;
const CONTEXT: &str = "core/v1.SecurityContext";

/// Validates the security context of a pod.
pub(crate) fn of_pod(errors: &mut ErrorList, pod_at: &Path<'_>, spec: &Value) {
    let (at, context) = (pod_at.child("securityContext"), &spec["securityContext"]);
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(errors, &at.child(field), &context[field]);
    }
    for (index, group) in list(context, "supplementalGroups").iter().enumerate() {
        let at = at.child("supplementalGroups");
        id(errors, &at.index(index), group);
    }
    if spec["hostPID"].as_bool() == Some(true) && spec["shareProcessNamespace"].as_bool() == Some(true) {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&pod_at.child("shareProcessNamespace"), &json!(true), why);
    }
    parameters(errors, &at.child("sysctls"), spec);
    let policies = ["Always", "OnRootMismatch"];
    errors.one_of_if_set(&at.child("fsGroupChangePolicy"), &context["fsGroupChangePolicy"], &policies);
    profile(errors, &at.child("seccompProfile"), &context["seccompProfile"]);
    windows::options(errors, &at.child("windowsOptions"), &context["windowsOptions"]);
    app_armor(errors, &at.child("appArmorProfile"), &context["appArmorProfile"]);
    for (field, policies) in [
        ("supplementalGroupsPolicy", ["Merge", "Strict"]),
        ("seLinuxChangePolicy", ["MountOption", "Recursive"]),
    ] {
        let policy = &context[field];
        if policy.as_str().is_some_and(|policy| !policies.contains(&policy)) {
            errors.unsupported(&at.child(field), policy, &policies);
        }
    }
}

/// Validates the security context of a container in a pod with this spec.
pub(crate) fn of_container(errors: &mut ErrorList, at: &Path<'_>, context: &Value, spec: &Value) {
    for field in ["runAsUser", "runAsGroup"] {
        id(errors, &at.child(field), &context[field]);
    }
    errors.one_of_if_set(&at.child("procMount"), &context["procMount"], &["Default", "Unmasked"]);
    if text(context, "procMount") == "Unmasked" && spec["hostUsers"].as_bool() != Some(false) {
        let why = "`hostUsers` must be false to use `Unmasked`";
        errors.invalid(&at.child("procMount"), &context["procMount"], why);
    }
    profile(errors, &at.child("seccompProfile"), &context["seccompProfile"]);
    escalation(errors, at, context);
    windows::options(errors, &at.child("windowsOptions"), &context["windowsOptions"]);
    app_armor(errors, &at.child("appArmorProfile"), &context["appArmorProfile"]);
}

/// Validates sysctls: unique names, none of a host namespace.
fn parameters(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let parameters = list(&spec["securityContext"], "sysctls");
    let mut names = BTreeSet::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let is_new = names.insert(text(parameter, "name"));
        let (at, name) = (at.index(index), text(parameter, "name"));
        let at = at.child("name");
        if name.is_empty() {
            errors.required(&at, "");
        } else if !is_parameter(name) {
            let why = format!("must have at most {PARAMETER_MAX} characters and match regex {PARAMETER}");
            errors.invalid(&at, &json!(name), why);
        } else if !is_new {
            errors.duplicate(&at, &json!(name));
        }
        for (host, prefixes) in [("hostNetwork", &["net."][..]), ("hostIPC", &IPC)] {
            let name_of = name.replace('/', ".");
            let is_there = prefixes.iter().any(|prefix| name_of.starts_with(prefix));
            if spec[host].as_bool() == Some(true) && is_there {
                errors.invalid(&at, &json!(name), format!("may not be specified when '{host}' is true"));
            }
        }
    }
}

fn is_parameter(name: &str) -> bool {
    let is_edge = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_inner = |letter: char| is_edge(letter) || matches!(letter, '-' | '_');
    name.len() <= PARAMETER_MAX
        && name
            .split(['.', '/'])
            .all(|part| part.starts_with(is_edge) && part.ends_with(is_edge) && part.chars().all(is_inner))
}

fn app_armor(errors: &mut ErrorList, at: &Path<'_>, profile: &Value) {
    if profile.is_null() {
        return;
    }
    let (local_at, local) = (at.child("localhostProfile"), &profile["localhostProfile"]);
    match (text(profile, "type"), local.as_str()) {
        ("Localhost", Some(name)) if name.len() > LOCAL_PROFILE_MAX => {
            errors.too_long(&local_at, LOCAL_PROFILE_MAX);
        }
        ("Localhost", None | Some("")) => {
            errors.required(&local_at, "must be set when AppArmor type is Localhost");
        }
        ("Localhost", Some(name)) if name.trim() != name => {
            errors.invalid(&local_at, local, "must not be padded with whitespace");
        }
        ("Localhost", Some(_)) | ("RuntimeDefault" | "Unconfined", None) => {}
        ("RuntimeDefault" | "Unconfined", Some(_)) => {
            errors.invalid(&local_at, local, "can only be set when AppArmor type is Localhost");
        }
        ("", _) => errors.required(&at.child("type"), "type is required when appArmorProfile is set"),
        _ => errors.unsupported(&at.child("type"), &profile["type"], &PROFILES),
    }
}

fn id(errors: &mut ErrorList, at: &Path<'_>, id: &Value) {
    for why in id.as_i64().map(user_id).unwrap_or_default() {
        errors.invalid(at, id, why);
    }
}

fn profile(errors: &mut ErrorList, at: &Path<'_>, profile: &Value) {
    if profile.is_null() {
        return;
    }
    match text(profile, "type") {
        "" => errors.required(&at.child("type"), "type is required when seccompProfile is set"),
        kind if PROFILES.contains(&kind) => {}
        _ => errors.unsupported(&at.child("type"), &profile["type"], &PROFILES),
    }
    let (local_at, local) = (at.child("localhostProfile"), profile["localhostProfile"].as_str());
    match (text(profile, "type"), local) {
        ("Localhost", None) => errors.required(&local_at, "must be set when seccomp type is Localhost"),
        ("Localhost", Some(path)) => relative_path(errors, &local_at, path),
        (_, Some(_)) => {
            let shown = with_go_names("core/v1.SeccompProfile", profile);
            errors.invalid_formatted(&local_at, shown, "can only be set when seccomp type is Localhost");
        }
        (_, None) => {}
    }
}

fn escalation(errors: &mut ErrorList, at: &Path<'_>, context: &Value) {
    if context["allowPrivilegeEscalation"].as_bool() != Some(false) {
        return;
    }
    if context["privileged"].as_bool() == Some(true) {
        let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.invalid_formatted(at, with_go_names(CONTEXT, context), why);
    }
    let added = list(&context["capabilities"], "add");
    if added.contains(&json!("CAP_SYS_ADMIN")) {
        let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.invalid_formatted(at, with_go_names(CONTEXT, context), why);
    }
}
