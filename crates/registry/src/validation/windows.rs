//! Validates fields that only pods on Windows can have, and fields that they cannot have.

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list};
use super::names::subdomain;

const MAX_CREDENTIAL_SPEC_KIB: usize = 64;
const MAX_DOMAIN: usize = 256;
const MAX_USER: usize = 104;
/// Characters that are invalid in names of users.
const NOT_IN_USER: &str = "\"/\\:;|=,+*?<>@[]";
/// Characters that are invalid in NetBIOS names.
const NOT_IN_DOMAIN: &str = "\\/:*?\"<>|";
const NOT_FOR_WINDOWS: &str = "cannot be set for a windows pod";
/// Fields that the security context of a pod on Windows cannot have, in Kubernetes' order.
const NOT_IN_POD: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];
/// The same for its containers.
const NOT_IN_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Validates the Windows options of a pod or container.
pub(crate) fn options(errors: &mut ErrorList, at: &Path<'_>, options: &Value) {
    if let Some(name) = options["gmsaCredentialSpecName"].as_str() {
        errors.invalid_text(&at.child("gmsaCredentialSpecName"), name, subdomain(name));
    }
    if let Some(spec) = options["gmsaCredentialSpec"].as_str() {
        let at = at.child("gmsaCredentialSpec");
        if spec.is_empty() {
            errors.invalid(&at, &json!(""), "gmsaCredentialSpec cannot be an empty string");
        } else if spec.len() > MAX_CREDENTIAL_SPEC_KIB * 1024 {
            let why = format!("gmsaCredentialSpec size must be under {MAX_CREDENTIAL_SPEC_KIB} KiB");
            errors.invalid(&at, &json!(spec), why);
        }
    }
    if let Some(name) = options["runAsUserName"].as_str() {
        for why in user_name(name) {
            errors.invalid(&at.child("runAsUserName"), &json!(name), why);
        }
    }
}

/// Returns the errors in the name of a user, with or without a domain before a backslash.
fn user_name(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string".to_owned()];
    }
    let mut wrong = Vec::new();
    if name.chars().any(char::is_control) {
        wrong.push("runAsUserName cannot contain control characters".to_owned());
    }
    let parts: Vec<_> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => {
            wrong.push("runAsUserName cannot contain more than one backslash".to_owned());
            return wrong;
        }
    };
    if let Some(domain) = domain {
        wrong.extend(wrong_domain(domain));
    }
    if user.is_empty() {
        wrong.push("runAsUserName's User cannot be empty".to_owned());
    } else if user.len() > MAX_USER {
        wrong.push(format!("runAsUserName's User length must not be longer than {MAX_USER} characters"));
    }
    if !user.is_empty() && user.chars().all(|letter| matches!(letter, '.' | ' ')) {
        wrong.push("runAsUserName's User cannot contain only periods or spaces".to_owned());
    }
    if user.contains(|letter| NOT_IN_USER.contains(letter)) {
        wrong.push(format!("runAsUserName's User cannot contain the following characters: {NOT_IN_USER}"));
    }
    wrong
}

fn wrong_domain(domain: &str) -> Option<String> {
    if domain.len() >= MAX_DOMAIN {
        return Some(format!("runAsUserName's Domain length must be under {MAX_DOMAIN} characters"));
    }
    let is_net_bios = (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(|letter| NOT_IN_DOMAIN.contains(letter));
    let is_dns = domain.split('.').all(|part| {
        (1..=63).contains(&part.len())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    });
    let why = "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
    (!is_net_bios && !is_dns).then(|| why.to_owned())
}

/// Validates HostProcess containers: all or none, and in the host network.
pub(crate) fn host_processes(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let host = |context: &Value| context["windowsOptions"]["hostProcess"].as_bool();
    let of_pod = host(&spec["securityContext"]);
    let (mut all, mut on_host) = (0, 0);
    for field in ["containers", "initContainers"] {
        for (index, container) in list(spec, field).iter().enumerate() {
            let of_container = host(&container["securityContext"]);
            if let (Some(of_pod), Some(of_container)) = (of_pod, of_container)
                && of_pod != of_container
            {
                let at = at.child(field);
                let at = at.index(index);
                let at = at.child("securityContext");
                let at = at.child("windowsOptions");
                let why =
                    format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
                errors.invalid(&at.child("hostProcess"), &json!(of_container), why);
            }
            all += 1;
            on_host += i32::from(of_container.or(of_pod) == Some(true));
        }
    }
    if on_host == 0 {
        return;
    }
    if on_host < all {
        let why =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(at, &json!(""), why);
    }
    if spec["hostNetwork"].as_bool() != Some(true) {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(&at.child("hostNetwork"), &json!(false), why);
    }
}

/// Reports Windows options in a Linux pod.
pub(crate) fn not_on_linux(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let why = "windows options cannot be set for a linux pod";
    if is_set(&spec["securityContext"], "windowsOptions") {
        errors.forbidden(&at.child("securityContext").child("windowsOptions"), why);
    }
    for_each_context(at, spec, |at, context| {
        if is_set(context, "windowsOptions") {
            errors.forbidden(&at.child("windowsOptions"), why);
        }
    });
}

/// Reports fields of the security context that a Windows pod cannot have.
pub(crate) fn not_on_windows(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let context = &spec["securityContext"];
    for field in NOT_IN_POD.into_iter().filter(|field| is_not_empty(&context[*field])) {
        errors.forbidden(&at.child("securityContext").child(field), NOT_FOR_WINDOWS);
    }
    for field in ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"] {
        let is_pointer = matches!(field, "hostUsers" | "shareProcessNamespace");
        if spec[field].as_bool().is_some_and(|is_on| is_on || is_pointer) {
            errors.forbidden(&at.child(field), NOT_FOR_WINDOWS);
        }
    }
    for_each_context(at, spec, |at, context| {
        for field in NOT_IN_CONTAINER.into_iter().filter(|field| is_not_empty(&context[*field])) {
            errors.forbidden(&at.child(field), NOT_FOR_WINDOWS);
        }
    });
}

fn is_not_empty(value: &Value) -> bool {
    !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
}

fn for_each_context(at: &Path<'_>, spec: &Value, mut check: impl FnMut(&Path<'_>, &Value)) {
    for field in CONTAINERS {
        for (index, container) in list(spec, field).iter().enumerate() {
            if is_set(container, "securityContext") {
                let at = at.child(field);
                let at = at.index(index);
                check(&at.child("securityContext"), &container["securityContext"]);
            }
        }
    }
}
