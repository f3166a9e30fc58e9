//! Defaults of pods and pod templates.

use gantry_json::{Value, json};

use super::setting::{Object, child, default, default_number, default_text, each, ensure, is_empty, text};
use super::{container, qos, resources, volume};

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Sets the defaults of a pod: those of a template, and some that only pods have.
pub(crate) fn pod(pod: &mut Object) {
    if let Some(spec) = ensure(pod, "spec") {
        pod_spec(spec);
        default(spec, "enableServiceLinks", true);
        let on_host = spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
        for list in ["initContainers", "containers"] {
            for container in each(spec, list) {
                if let Some(found) = child(container, "resources") {
                    resources::request_limits(found);
                }
                if on_host {
                    each(container, "ports").for_each(open_on_host);
                }
            }
        }
        if spec
            .get("terminationGracePeriodSeconds")
            .and_then(Value::as_i64)
            .is_some_and(|seconds| seconds < 0)
        {
            spec.insert("terminationGracePeriodSeconds", json!(1));
        }
    }
    if let Some(status) = child(pod, "status") {
        mirror_addresses(status);
    }
}

/// Sets the defaults of the pod template in the field `template`.
pub(crate) fn template(owner: &mut Object) {
    if let Some(spec) = ensure(owner, "template").and_then(|template| ensure(template, "spec")) {
        pod_spec(spec);
    }
}

/// Returns the initial status of a pod.
pub(crate) fn initial_status(pod: &Object) -> Value {
    let mut status = json!({"phase": "Pending", "qosClass": qos::class(pod)});
    let gates = pod.get("spec").and_then(|spec| spec.get("schedulingGates")).and_then(Value::as_array);
    if gates.is_some_and(|gates| !gates.is_empty()) {
        let since = pod.get("metadata").and_then(|metadata| metadata.get("creationTimestamp"));
        status["conditions"] = json!([{
            "type": "PodScheduled", "status": "False", "lastProbeTime": null, "lastTransitionTime": since,
            "reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
    }
    status
}

fn pod_spec(spec: &mut Object) {
    default_text(spec, "restartPolicy", "Always");
    default_text(spec, "dnsPolicy", "ClusterFirst");
    default_text(spec, "schedulerName", "default-scheduler");
    default(spec, "terminationGracePeriodSeconds", 30);
    default(spec, "securityContext", json!({}));
    mirror_account(spec);
    for list in CONTAINERS {
        each(spec, list).for_each(container::container);
    }
    each(spec, "volumes").for_each(volume::volume);
}

/// Copies `serviceAccountName` to its deprecated alias `serviceAccount`, or back if only that is set.
fn mirror_account(spec: &mut Object) {
    let old = text(spec, "serviceAccount").to_owned();
    default_text(spec, "serviceAccountName", &old);
    let name = text(spec, "serviceAccountName").to_owned();
    if name.is_empty() {
        spec.remove("serviceAccountName");
        spec.remove("serviceAccount");
    } else {
        spec.insert("serviceAccount", json!(name));
    }
}

fn open_on_host(port: &mut Object) {
    if let Some(number) = port.get("containerPort").and_then(Value::as_i64) {
        default_number(port, "hostPort", number);
    }
}

/// Copies `podIP` to `podIPs`, or the first of `podIPs` to `podIP`.
fn mirror_addresses(status: &mut Object) {
    let first = each(status, "podIPs").next().map(|address| text(address, "ip").to_owned());
    let alone = text(status, "podIP").to_owned();
    match first {
        // Old kubelets write only `podIP`, so it takes precedence.
        Some(ip) if !alone.is_empty() && alone != ip => {
            status.insert("podIPs", json!([{"ip": alone}]));
        }
        Some(ip) => default_text(status, "podIP", &ip),
        None if !text(status, "podIP").is_empty() && is_empty(status, "podIPs") => {
            let addresses = json!([{"ip": text(status, "podIP")}]);
            status.insert("podIPs", addresses);
        }
        None => {}
    }
}
