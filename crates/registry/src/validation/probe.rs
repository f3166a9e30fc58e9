//! Validates probes and lifecycle hooks.

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, number, text};
use super::names::{header_name, port_number};
use super::ports::port;

/// Validates a handler.
type Check = fn(&mut ErrorList, &Path<'_>, &Value, Option<i64>);

const CHECKS: [(&str, Check); 5] =
    [("exec", exec), ("httpGet", http_get), ("tcpSocket", tcp_socket), ("grpc", grpc), ("sleep", sleep)];
const NUMBERS: [&str; 5] =
    ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/// Validates a probe of a container, by the name of its field.
pub(crate) fn probe(errors: &mut ErrorList, at: &Path<'_>, name: &str, probe: &Value) {
    if probe.is_null() {
        return;
    }
    let at = at.child(name);
    handler(errors, &at, probe, None);
    for field in NUMBERS {
        errors.not_negative(&at, probe, field);
    }
    let grace = number(probe, "terminationGracePeriodSeconds");
    if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
        errors.invalid(&at.child("terminationGracePeriodSeconds"), &json!(seconds), "must be greater than 0");
    }
    if name == "readinessProbe" {
        if let Some(seconds) = grace {
            let why = "must not be set for readinessProbes";
            errors.invalid(&at.child("terminationGracePeriodSeconds"), &json!(seconds), why);
        }
    } else if number(probe, "successThreshold").is_some_and(|threshold| threshold != 1) {
        errors.invalid(&at.child("successThreshold"), &probe["successThreshold"], "must be 1");
    }
}

/// Validates lifecycle hooks; `grace` is the termination grace period.
pub(crate) fn lifecycle(errors: &mut ErrorList, at: &Path<'_>, lifecycle: &Value, grace: Option<i64>) {
    for name in ["postStart", "preStop"] {
        if is_set(lifecycle, name) {
            handler(errors, &at.child(name), &lifecycle[name], grace);
        }
    }
}

fn handler(errors: &mut ErrorList, at: &Path<'_>, handler: &Value, grace: Option<i64>) {
    let mut handlers = 0;
    for (name, check) in CHECKS {
        if !is_set(handler, name) {
            continue;
        }
        if handlers > 0 {
            errors.forbidden(&at.child(name), "may not specify more than 1 handler type");
        } else {
            check(errors, &at.child(name), &handler[name], grace);
        }
        handlers += 1;
    }
    if handlers == 0 {
        errors.required(at, "must specify a handler type");
    }
}

fn exec(errors: &mut ErrorList, at: &Path<'_>, exec: &Value, _: Option<i64>) {
    if list(exec, "command").is_empty() {
        errors.required(&at.child("command"), "");
    }
}

fn http_get(errors: &mut ErrorList, at: &Path<'_>, get: &Value, _: Option<i64>) {
    if text(get, "path").is_empty() {
        errors.required(&at.child("path"), "");
    }
    port(errors, &at.child("port"), &get["port"]);
    if !matches!(text(get, "scheme"), "HTTP" | "HTTPS") {
        errors.unsupported(&at.child("scheme"), &get["scheme"], &["HTTP", "HTTPS"]);
    }
    for header in list(get, "httpHeaders") {
        let name = text(header, "name");
        errors.invalid_text(&at.child("httpHeaders"), name, header_name(name));
    }
}

fn tcp_socket(errors: &mut ErrorList, at: &Path<'_>, socket: &Value, _: Option<i64>) {
    port(errors, &at.child("port"), &socket["port"]);
}

fn grpc(errors: &mut ErrorList, at: &Path<'_>, grpc: &Value, _: Option<i64>) {
    for why in port_number(number(grpc, "port").unwrap_or(0)) {
        errors.invalid(&at.child("port"), &grpc["port"], why);
    }
}

fn sleep(errors: &mut ErrorList, at: &Path<'_>, sleep: &Value, grace: Option<i64>) {
    let seconds = number(sleep, "seconds").unwrap_or(0);
    if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
        let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.invalid(at, &json!(seconds), why);
    }
}
