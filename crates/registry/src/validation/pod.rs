//! Validates pods and pod specs.

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, number, text};
use super::metadata::labels;
use super::names::{label, search_domain, subdomain, within};
use super::{container, environment, pod_resources, resources, scheduling, security, volume, windows};

const MAX_NAME_SERVERS: usize = 3;
const MAX_SEARCHES: usize = 32;
const MAX_SEARCH_LETTERS: usize = 2048;

/// Validates a new pod.
pub(crate) fn create(errors: &mut ErrorList, object: &Value) {
    pod(errors, object);
    let (at, new) = (Path::new("spec"), &object["spec"]);
    if !list(new, "ephemeralContainers").is_empty() {
        errors.forbidden(&at.child("ephemeralContainers"), "cannot be set on create");
    }
    if !text(new, "nodeName").is_empty() && !list(new, "schedulingGates").is_empty() {
        errors.forbidden(&at.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
}

/// Validates a pod; some of these rules do not apply to templates.
pub(crate) fn pod(errors: &mut ErrorList, object: &Value) {
    let (at, new) = (Path::new("spec"), &object["spec"]);
    spec(errors, &at, new);
    for field in ["containers", "initContainers"] {
        for (index, container) in list(new, field).iter().enumerate() {
            let image = text(container, "image");
            if image.len() != image.trim().len() {
                let at = at.child(field);
                let why = "must not have leading or trailing whitespace";
                errors.invalid(&at.index(index).child("image"), &json!(image), why);
            }
        }
    }
}

/// Validates the spec of a pod or template.
pub(crate) fn spec(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let volumes = volume::volumes(errors, &at.child("volumes"), list(spec, "volumes"));
    pod_resources::claims(errors, &at.child("resourceClaims"), list(spec, "resourceClaims"));
    container::all(errors, at, spec, &volumes);
    environment::files(errors, at, spec);
    pod_resources::resources(errors, &at.child("resources"), spec);
    host_ports(errors, at, spec);
    let policies = ["Always", "OnFailure", "Never"];
    errors.one_of(&at.child("restartPolicy"), &spec["restartPolicy"], &policies);
    let resolvers = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.one_of(&at.child("dnsPolicy"), &spec["dnsPolicy"], &resolvers);
    labels(errors, &at.child("nodeSelector"), spec, "nodeSelector");
    security::of_pod(errors, at, spec);
    scheduling::affinity(errors, &at.child("affinity"), &spec["affinity"]);
    dns_config(errors, &at.child("dnsConfig"), spec);
    scheduling::gates(errors, at, spec);
    scheduling::spread(
        errors,
        &at.child("topologySpreadConstraints"),
        list(spec, "topologySpreadConstraints"),
    );
    windows::host_processes(errors, at, spec);
    user_namespaces(errors, at, spec);
    own_name(errors, &at.child("hostnameOverride"), spec);
    names(errors, at, spec);
    scheduling::tolerations(errors, &at.child("tolerations"), list(spec, "tolerations"));
    host_aliases(errors, &at.child("hostAliases"), list(spec, "hostAliases"));
    let priority_class = text(spec, "priorityClassName");
    errors.optional_text(&at.child("priorityClassName"), priority_class, subdomain);
    if is_set(spec, "runtimeClassName") {
        let runtime_class = text(spec, "runtimeClassName");
        errors.invalid_text(&at.child("runtimeClassName"), runtime_class, subdomain(runtime_class));
    }
    if is_set(spec, "preemptionPolicy") {
        let supported = ["PreemptLowerPriority", "Never"];
        errors.one_of(&at.child("preemptionPolicy"), &spec["preemptionPolicy"], &supported);
    }
    resources::requirements(errors, &at.child("overhead"), &json!({"limits": spec["overhead"]}));
    system(errors, at, spec);
}

/// Validates that user namespaces are not combined with host namespaces.
fn user_namespaces(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    if spec["hostUsers"].as_bool() != Some(false) {
        return;
    }
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec[field].as_bool() == Some(true) {
            errors.forbidden(&at.child(shown), "when `hostUsers` is false");
        }
    }
}

fn own_name(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let Some(name) = spec["hostnameOverride"].as_str() else { return };
    for field in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec[field].as_bool() == Some(true) {
            errors.forbidden(at, format!("may not be specified when {field} is true"));
        }
    }
    if name.len() > 64 {
        errors.too_long(at, 64);
    }
    errors.invalid_text(at, name, subdomain(name));
}

/// Validates the operating system and the fields that it excludes.
fn system(errors: &mut ErrorList, pod_at: &Path<'_>, spec: &Value) {
    let at = pod_at.child("os");
    match (is_set(spec, "os"), text(&spec["os"], "name")) {
        (false, _) => {}
        (true, "linux") => windows::not_on_linux(errors, pod_at, spec),
        (true, "windows") => windows::not_on_windows(errors, pod_at, spec),
        (true, "") => errors.required(&at.child("name"), ""),
        (true, other) => errors.unsupported(&at, &json!(other), &["linux", "windows"]),
    }
}

fn names(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    for field in ["serviceAccountName", "nodeName"] {
        let name = text(spec, field);
        errors.optional_text(&at.child(field), name, subdomain);
    }
    if let Some(seconds) = number(spec, "activeDeadlineSeconds") {
        for why in within(seconds, 1, i64::from(i32::MAX)) {
            errors.invalid(&at.child("activeDeadlineSeconds"), &json!(seconds), why);
        }
    }
    for field in ["hostname", "subdomain"] {
        let name = text(spec, field);
        errors.optional_text(&at.child(field), name, label);
    }
}

fn host_ports(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    if spec["hostNetwork"].as_bool() != Some(true) {
        return;
    }
    for field in ["containers", "initContainers"] {
        for (index, container) in list(spec, field).iter().enumerate() {
            for (port_index, port) in list(container, "ports").iter().enumerate() {
                let host = number(port, "hostPort").unwrap_or(0);
                if host != 0 && Some(host) != number(port, "containerPort") {
                    let (at, why) =
                        (at.child(field), "must match `containerPort` when `hostNetwork` is true");
                    let at = at.index(index);
                    let at = at.child("ports");
                    errors.invalid(&at.index(port_index).child("hostPort"), &json!(host), why);
                }
            }
        }
    }
}

fn dns_config(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let config = &spec["dnsConfig"];
    if text(spec, "dnsPolicy") == "None" {
        if !is_set(spec, "dnsConfig") {
            errors.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if list(config, "nameservers").is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.required(&at.child("nameservers"), why);
            return;
        }
    }
    if list(config, "nameservers").len() > MAX_NAME_SERVERS {
        let why = format!("must not have more than {MAX_NAME_SERVERS} nameservers");
        errors.invalid(&at.child("nameservers"), &config["nameservers"], why);
    }
    for (index, server) in list(config, "nameservers").iter().enumerate() {
        if !is_address(server.as_str().unwrap_or("")) {
            let at = at.child("nameservers");
            errors.invalid(
                &at.index(index),
                server,
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            );
        }
    }
    searches(errors, &at.child("searches"), config);
    for (index, option) in list(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            let at = at.child("options");
            errors.required(&at.index(index), "must not be empty");
        }
    }
}

fn searches(errors: &mut ErrorList, at: &Path<'_>, config: &Value) {
    let searches: Vec<_> = list(config, "searches").iter().filter_map(Value::as_str).collect();
    let limits = [
        (searches.len() > MAX_SEARCHES, format!("must not have more than {MAX_SEARCHES} search paths")),
        (
            searches.join(" ").len() > MAX_SEARCH_LETTERS,
            format!(
                "must not have more than {MAX_SEARCH_LETTERS} characters (including spaces) in the search list"
            ),
        ),
    ];
    for (_, why) in limits.into_iter().filter(|(is_over, _)| *is_over) {
        errors.invalid(at, &config["searches"], why);
    }
    for (index, search) in searches.into_iter().enumerate().filter(|(_, search)| *search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        errors.invalid_text(&at.index(index), search, search_domain(search));
    }
}

fn host_aliases(errors: &mut ErrorList, at: &Path<'_>, aliases: &[Value]) {
    for (index, alias) in aliases.iter().enumerate() {
        let at = at.index(index);
        if !is_address(text(alias, "ip")) {
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.invalid(&at.child("ip"), &json!(text(alias, "ip")), why);
        }
        let names_at = at.child("hostnames");
        for (index, name) in list(alias, "hostnames").iter().filter_map(Value::as_str).enumerate() {
            errors.invalid_text(&names_at.index(index), name, subdomain(name));
        }
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}
