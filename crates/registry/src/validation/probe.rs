//! Probes, and what is done at the start and the end of a container.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, number, text};
use super::names::{header_name, port_number};
use super::ports::port;

/// Judges what a handler does.
type Check = fn(&mut Found, &Path<'_>, &Value, Option<i64>);

const CHECKS: [(&str, Check); 5] =
    [("exec", exec), ("httpGet", http_get), ("tcpSocket", tcp_socket), ("grpc", grpc), ("sleep", sleep)];
const NUMBERS: [&str; 5] =
    ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/// A probe of a container, by its field's name.
pub(super) fn probe(found: &mut Found, at: &Path<'_>, name: &str, probe: &Value) {
    if probe.is_null() {
        return;
    }
    let at = at.child(name);
    handler(found, &at, probe, None);
    for field in NUMBERS {
        found.not_negative(&at, probe, field);
    }
    let grace = number(probe, "terminationGracePeriodSeconds");
    if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
        found.invalid(&at.child("terminationGracePeriodSeconds"), &json!(seconds), "must be greater than 0");
    }
    if name == "readinessProbe" {
        if let Some(seconds) = grace {
            let why = "must not be set for readinessProbes";
            found.invalid(&at.child("terminationGracePeriodSeconds"), &json!(seconds), why);
        }
    } else if number(probe, "successThreshold").is_some_and(|threshold| threshold != 1) {
        found.invalid(&at.child("successThreshold"), &probe["successThreshold"], "must be 1");
    }
}

/// What is done after the start and before the end, for which there is `grace`.
pub(super) fn lifecycle(found: &mut Found, at: &Path<'_>, lifecycle: &Value, grace: Option<i64>) {
    for name in ["postStart", "preStop"] {
        if is_set(lifecycle, name) {
            handler(found, &at.child(name), &lifecycle[name], grace);
        }
    }
}

fn handler(found: &mut Found, at: &Path<'_>, handler: &Value, grace: Option<i64>) {
    let mut handlers = 0;
    for (name, check) in CHECKS {
        if !is_set(handler, name) {
            continue;
        }
        if handlers > 0 {
            found.forbidden(&at.child(name), "may not specify more than 1 handler type");
        } else {
            check(found, &at.child(name), &handler[name], grace);
        }
        handlers += 1;
    }
    if handlers == 0 {
        found.required(at, "must specify a handler type");
    }
}

fn exec(found: &mut Found, at: &Path<'_>, exec: &Value, _: Option<i64>) {
    if list(exec, "command").is_empty() {
        found.required(&at.child("command"), "");
    }
}

fn http_get(found: &mut Found, at: &Path<'_>, get: &Value, _: Option<i64>) {
    if text(get, "path").is_empty() {
        found.required(&at.child("path"), "");
    }
    port(found, &at.child("port"), &get["port"]);
    if !matches!(text(get, "scheme"), "HTTP" | "HTTPS") {
        found.unsupported(&at.child("scheme"), &get["scheme"], &["HTTP", "HTTPS"]);
    }
    for header in list(get, "httpHeaders") {
        let name = text(header, "name");
        found.invalid_text(&at.child("httpHeaders"), name, header_name(name));
    }
}

fn tcp_socket(found: &mut Found, at: &Path<'_>, socket: &Value, _: Option<i64>) {
    port(found, &at.child("port"), &socket["port"]);
}

fn grpc(found: &mut Found, at: &Path<'_>, grpc: &Value, _: Option<i64>) {
    for why in port_number(number(grpc, "port").unwrap_or(0)) {
        found.invalid(&at.child("port"), &grpc["port"], why);
    }
}

fn sleep(found: &mut Found, at: &Path<'_>, sleep: &Value, grace: Option<i64>) {
    let seconds = number(sleep, "seconds").unwrap_or(0);
    if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
        let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        found.invalid(at, &json!(seconds), why);
    }
}
