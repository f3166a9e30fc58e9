//! Containers: those that run, those that run before, and those that are added for debugging.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, number, text};
use super::names::{label, port_name, port_number};
use super::{environment, mount, probe, resources, security};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES: [&str; 2] = ["FallbackToLogsOnError", "File"];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// Every container of a spec; `volumes` are those that can be mounted.
pub(super) fn all(found: &mut Found, at: &Path<'_>, spec: &Value, volumes: &BTreeSet<&str>) {
    let mut names = BTreeSet::new();
    running(found, &at.child("containers"), list(spec, "containers"), volumes, &mut names);
    first(found, &at.child("initContainers"), list(spec, "initContainers"), volumes, &mut names);
    debugging(found, &at.child("ephemeralContainers"), spec, volumes, &mut names);
}

fn running<'a>(
    found: &mut Found,
    at: &Path<'_>,
    containers: &'a [Value],
    volumes: &BTreeSet<&str>,
    names: &mut BTreeSet<&'a str>,
) {
    if containers.is_empty() {
        return found.required(at, "");
    }
    for (index, container) in containers.iter().enumerate() {
        let at = at.index(index);
        any(found, &at, container, volumes);
        unique_name(found, &at, container, names);
        probe::lifecycle(found, &at.child("lifecycle"), &container["lifecycle"]);
        for name in PROBES {
            probe::probe(found, &at, name, &container[name]);
        }
    }
    host_port_conflicts(found, at, containers);
}

fn first<'a>(
    found: &mut Found,
    at: &Path<'_>,
    containers: &'a [Value],
    volumes: &BTreeSet<&str>,
    names: &mut BTreeSet<&'a str>,
) {
    for (index, container) in containers.iter().enumerate() {
        let at = at.index(index);
        any(found, &at, container, volumes);
        found.one_of_if_set(&at.child("restartPolicy"), &container["restartPolicy"], &["Always"]);
        unique_name(found, &at, container, names);
        let stays = text(container, "restartPolicy") == "Always";
        let why = "may not be set for init containers without restartPolicy=Always";
        if stays {
            probe::lifecycle(found, &at.child("lifecycle"), &container["lifecycle"]);
        } else if is_set(container, "lifecycle") {
            found.forbidden(&at.child("lifecycle"), why);
        }
        for name in PROBES {
            if stays {
                probe::probe(found, &at, name, &container[name]);
            } else if is_set(container, name) {
                found.forbidden(&at.child(name), why);
            }
        }
    }
}

fn debugging<'a>(
    found: &mut Found,
    at: &Path<'_>,
    spec: &'a Value,
    volumes: &BTreeSet<&str>,
    names: &mut BTreeSet<&'a str>,
) {
    for (index, container) in list(spec, "ephemeralContainers").iter().enumerate() {
        let at = at.index(index);
        any(found, &at, container, volumes);
        unique_name(found, &at, container, names);
        let target = text(container, "targetContainerName");
        let known = |field: &str| list(spec, field).iter().any(|other| text(other, "name") == target);
        if !target.is_empty() && !known("containers") && !known("initContainers") {
            found.not_found(&at.child("targetContainerName"), &json!(target));
        }
        for field in ["ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"] {
            if is_set(container, field) {
                found.forbidden(&at.child(field), "cannot be set for an Ephemeral Container");
            }
        }
    }
}

/// What holds for every container.
fn any(found: &mut Found, at: &Path<'_>, container: &Value, volumes: &BTreeSet<&str>) {
    let name = text(container, "name");
    if name.is_empty() {
        found.required(&at.child("name"), "");
    } else {
        found.invalid_text(&at.child("name"), name, label(name));
    }
    if text(container, "image").is_empty() {
        found.required(&at.child("image"), "");
    }
    let policy = &container["terminationMessagePolicy"];
    found.one_of(&at.child("terminationMessagePolicy"), policy, &MESSAGE_POLICIES);
    ports(found, &at.child("ports"), list(container, "ports"));
    environment::variables(found, &at.child("env"), list(container, "env"));
    environment::sources(found, &at.child("envFrom"), list(container, "envFrom"));
    mount::mounts(found, at, container, volumes);
    found.one_of(&at.child("imagePullPolicy"), &container["imagePullPolicy"], &PULL_POLICIES);
    resources::requirements(found, &at.child("resources"), &container["resources"]);
    security::of_container(found, &at.child("securityContext"), &container["securityContext"]);
}

fn unique_name<'a>(found: &mut Found, at: &Path<'_>, container: &'a Value, names: &mut BTreeSet<&'a str>) {
    let name = text(container, "name");
    if !name.is_empty() && !names.insert(name) {
        found.duplicate(&at.child("name"), &json!(name));
    }
}

fn ports(found: &mut Found, at: &Path<'_>, ports: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let wrong = port_name(name);
            if wrong.is_empty() && !names.insert(name) {
                found.duplicate(&at.child("name"), &json!(name));
            }
            found.invalid_text(&at.child("name"), name, wrong);
        }
        match number(port, "containerPort").unwrap_or(0) {
            0 => found.required(&at.child("containerPort"), ""),
            number => in_range(found, &at.child("containerPort"), number),
        }
        match number(port, "hostPort").unwrap_or(0) {
            0 => {}
            number => in_range(found, &at.child("hostPort"), number),
        }
        found.one_of(&at.child("protocol"), &port["protocol"], &PROTOCOLS);
    }
}

fn in_range(found: &mut Found, at: &Path<'_>, port: i64) {
    for why in port_number(port) {
        found.invalid(at, &json!(port), why);
    }
}

fn host_port_conflicts(found: &mut Found, at: &Path<'_>, containers: &[Value]) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let Some(host) = number(port, "hostPort").filter(|host| *host != 0) else { continue };
            let place = format!("{}/{}/{host}", text(port, "protocol"), text(port, "hostIP"));
            if taken.contains(&place) {
                let at = at.index(index);
                let at = at.child("ports");
                found.duplicate(&at.index(port_index).child("hostPort"), &json!(place));
            }
            taken.insert(place);
        }
    }
}
