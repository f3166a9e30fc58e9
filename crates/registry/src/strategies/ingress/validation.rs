//! Validates Ingresses.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::addresses::{ip, ip_warning, parse_ip};
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::names::{label, path_segment, port_name, port_number, subdomain, wildcard_subdomain};

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
const NOT_IN_PATHS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const NOT_AT_THE_END: [&str; 2] = ["/..", "/."];

/// Validates an Ingress.
pub(crate) fn ingress(errors: &mut ErrorList, old: Option<&Value>, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let (rules, default) = (list(spec, "rules"), &spec["defaultBackend"]);
    if rules.is_empty() && default.is_null() {
        let why = "either `defaultBackend` or `rules` must be specified";
        errors.invalid(&at, spec.get("rules").unwrap_or(&Value::Null), why);
    }
    if !default.is_null() {
        backend(errors, &at.child("defaultBackend"), default);
    }
    for (index, rule) in rules.iter().enumerate() {
        one_rule(errors, &at.child("rules").index(index), rule);
    }
    let keeps_names = old.is_some_and(|old| list(&old["spec"], "tls").iter().any(has_wrong_secret));
    for (index, tls) in list(spec, "tls").iter().enumerate() {
        certificates(errors, &at.child("tls").index(index), tls, keeps_names);
    }
    if let Some(class) = spec["ingressClassName"].as_str() {
        errors.invalid_text(&at.child("ingressClassName"), class, subdomain(class));
    }
    let annotation = &object["metadata"]["annotations"][CLASS_ANNOTATION];
    if old.is_none() && is_set(spec, "ingressClassName") && !annotation.is_null() {
        let at = Path::new("annotations");
        if annotation != &spec["ingressClassName"] {
            let why = "must match `ingressClassName` when both are specified";
            errors.invalid(&at.child(CLASS_ANNOTATION), annotation, why);
        }
    }
}

/// Warns about the annotation that `ingressClassName` replaced.
pub(crate) fn warnings(warnings: &mut Vec<String>, object: &Value) {
    let annotations = &object["metadata"]["annotations"];
    if is_set(annotations, CLASS_ANNOTATION) && !is_set(&object["spec"], "ingressClassName") {
        warnings.push(format!(
            "annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

/// Validates the addresses in the status of an Ingress or a Service.
pub(crate) fn balancer_addresses(errors: &mut ErrorList, old: &Value, new: &Value) {
    let addresses = |object: &Value| list(&object["status"]["loadBalancer"], "ingress").to_vec();
    let stored: BTreeSet<_> = addresses(old).iter().map(|one| text(one, "ip").to_owned()).collect();
    let at = Path::new("status");
    let at = at.child("loadBalancer");
    for (index, one) in addresses(new).iter().enumerate() {
        let at = at.child("ingress");
        let (at, address) = (at.index(index), text(one, "ip"));
        if !address.is_empty() && !stored.contains(address) {
            ip(errors, &at.child("ip"), address);
        }
        let name = text(one, "hostname");
        if !name.is_empty() {
            errors.invalid_text(&at.child("hostname"), name, subdomain(name));
            not_an_address(errors, &at.child("hostname"), name);
        }
    }
}

/// Returns warnings about addresses in the status of an Ingress.
pub(crate) fn status_warnings(object: &Value) -> Vec<String> {
    let at = Path::new("status");
    let (at, addresses) = (at.child("loadBalancer"), list(&object["status"]["loadBalancer"], "ingress"));
    let at = at.child("ingress");
    let warnings =
        addresses.iter().enumerate().map(|(index, one)| ip_warning(&at.index(index), text(one, "ip")));
    warnings.flatten().collect()
}

/// Validates a reference to an object of any kind.
fn reference(errors: &mut ErrorList, at: &Path<'_>, reference: &Value) {
    if let Some(group) = reference["apiGroup"].as_str() {
        errors.invalid_text(&at.child("apiGroup"), group, subdomain(group));
    }
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => errors.required(&at.child(field), ""),
            name => errors.invalid_text(&at.child(field), name, path_segment(name)),
        }
    }
}

fn one_rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value) {
    let (host_at, host) = (at.child("host"), text(rule, "host"));
    if !host.is_empty() {
        not_an_address(errors, &host_at, host);
        errors.invalid_text(&host_at, host, host_name(host));
    }
    let http = &rule["http"];
    if http.is_null() {
        return;
    }
    let paths_at = at.child("http");
    let (paths_at, paths) = (paths_at.child("paths"), list(http, "paths"));
    if paths.is_empty() {
        errors.required(&paths_at, "");
    }
    for (index, path) in paths.iter().enumerate() {
        one_path(errors, &paths_at.index(index), path);
    }
}

fn not_an_address(errors: &mut ErrorList, at: &Path<'_>, host: &str) {
    if parse_ip(host).is_some() {
        errors.invalid(at, &json!(host), "must be a DNS name, not an IP address");
    }
}

fn host_name(host: &str) -> Vec<String> {
    if host.contains('*') { wildcard_subdomain(host) } else { subdomain(host) }
}

fn certificates(errors: &mut ErrorList, at: &Path<'_>, tls: &Value, keeps_names: bool) {
    for (index, host) in list(tls, "hosts").iter().filter_map(Value::as_str).enumerate() {
        errors.invalid_text(&at.child("hosts").index(index), host, host_name(host));
    }
    if has_wrong_secret(tls) && !keeps_names {
        let name = text(tls, "secretName");
        errors.invalid_text(&at.child("secretName"), name, subdomain(name));
    }
}

fn has_wrong_secret(tls: &Value) -> bool {
    let name = text(tls, "secretName");
    !name.is_empty() && !subdomain(name).is_empty()
}

fn one_path(errors: &mut ErrorList, at: &Path<'_>, rule: &Value) {
    let (path_at, path) = (at.child("path"), text(rule, "path"));
    if !is_set(rule, "pathType") {
        return errors.required(&at.child("pathType"), "pathType must be specified");
    }
    match text(rule, "pathType") {
        "Exact" | "Prefix" => {
            if !path.starts_with('/') {
                errors.invalid(&path_at, &json!(path), "must be an absolute path");
            }
            for part in NOT_IN_PATHS.into_iter().filter(|part| path.contains(part)) {
                errors.invalid(&path_at, &json!(path), format!("must not contain '{part}'"));
            }
            for end in NOT_AT_THE_END.into_iter().filter(|end| path.ends_with(end)) {
                errors.invalid(&path_at, &json!(path), format!("cannot end with '{end}'"));
            }
        }
        "ImplementationSpecific" => {
            if !path.is_empty() && !path.starts_with('/') {
                errors.invalid(&path_at, &json!(path), "must be an absolute path");
            }
        }
        _ => errors.unsupported(&at.child("pathType"), &rule["pathType"], &PATH_TYPES),
    }
    backend(errors, &at.child("backend"), &rule["backend"]);
}

fn backend(errors: &mut ErrorList, at: &Path<'_>, backend: &Value) {
    match (is_set(backend, "resource"), is_set(backend, "service")) {
        (true, true) => errors.invalid(at, &json!(""), "cannot set both resource and service backends"),
        (false, false) => errors.invalid(at, &json!(""), "resource or service backend is required"),
        (true, false) => reference(errors, &at.child("resource"), &backend["resource"]),
        (false, true) => {
            let (service_at, service) = (at.child("service"), &backend["service"]);
            match text(service, "name") {
                "" => errors.required(&service_at.child("name"), ""),
                name => errors.invalid_text(&service_at.child("name"), name, label(name)),
            }
            backend_port(errors, at, &service_at.child("port"), &service["port"]);
        }
    }
}

fn backend_port(errors: &mut ErrorList, backend_at: &Path<'_>, at: &Path<'_>, port: &Value) {
    let (name, number) = (text(port, "name"), number(port, "number").unwrap_or(0));
    match (name.is_empty(), number == 0) {
        (false, false) => errors.invalid(backend_at, &json!(""), "cannot set both port name & port number"),
        (false, true) => errors.invalid_text(&at.child("name"), name, port_name(name)),
        (true, false) => {
            for why in port_number(number) {
                errors.invalid(&at.child("number"), &json!(number), why);
            }
        }
        (true, true) => errors.required(backend_at, "port name or number is required"),
    }
}
