//! Defaults of containers, init containers and ephemeral containers.

use gantry_json::json;

use super::image::pull_policy;
use super::setting::{Object, child, default, default_number, default_text, each, ensure, text};

/// Sets the defaults of a container.
pub(crate) fn container(container: &mut Object) {
    let policy = pull_policy(text(container, "image"));
    default_text(container, "imagePullPolicy", policy);
    default_text(container, "terminationMessagePath", "/dev/termination-log");
    default_text(container, "terminationMessagePolicy", "File");
    ensure(container, "resources");
    for port in each(container, "ports") {
        default_text(port, "protocol", "TCP");
    }
    for variable in each(container, "env") {
        if let Some(source) = child(variable, "valueFrom") {
            value_source(source);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(found) = child(container, name) {
            probe(found);
        }
    }
    if let Some(lifecycle) = child(container, "lifecycle") {
        for name in ["postStart", "preStop"] {
            if let Some(found) = child(lifecycle, name) {
                handler(found);
            }
        }
    }
}

/// Sets the defaults of the source of a value.
pub(crate) fn value_source(source: &mut Object) {
    if let Some(field) = child(source, "fieldRef") {
        default_text(field, "apiVersion", "v1");
    }
    if let Some(resource) = child(source, "resourceFieldRef") {
        default(resource, "divisor", json!("0"));
    }
}

fn probe(probe: &mut Object) {
    default_number(probe, "timeoutSeconds", 1);
    default_number(probe, "periodSeconds", 10);
    default_number(probe, "successThreshold", 1);
    default_number(probe, "failureThreshold", 3);
    handler(probe);
    if let Some(grpc) = child(probe, "grpc") {
        default(grpc, "service", "");
    }
}

fn handler(handler: &mut Object) {
    if let Some(get) = child(handler, "httpGet") {
        default_text(get, "path", "/");
        default_text(get, "scheme", "HTTP");
    }
}
