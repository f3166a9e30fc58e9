//! Rows of Pods.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::Timestamp;
use crate::table::age::short;
use crate::table::cell::{age, at, has_condition, list, name, number, text, text_or};
use crate::table::column::{AGE, NAME, TableColumn, text as column, wide};

pub(crate) const COLUMNS: &[TableColumn] = &[
    NAME,
    column("Ready"),
    column("Status"),
    column("Restarts"),
    AGE,
    wide("IP"),
    wide("Node"),
    wide("Nominated Node"),
    wide("Readiness Gates"),
];

/// The summary of the containers of a Pod.
#[derive(Default)]
struct Summary {
    reason: String,
    ready: usize,
    restarts: Restarts,
}

/// The number of restarts of containers, and the time of the last one.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Timestamp>,
}

pub(crate) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let Summary { reason, ready, restarts } = summarize(pod);
    let sidecars = list(pod, "spec.initContainers").iter().filter(|container| is_sidecar(container)).count();
    let total = list(pod, "spec.containers").len() + sidecars;
    let first_ip = at(pod, "status.podIPs")[0]["ip"].as_str();
    vec![
        json!(name(pod)),
        json!(format!("{ready}/{total}")),
        json!(reason),
        json!(restarts.format(now)),
        json!(age(pod, now)),
        json!(first_ip.unwrap_or(text_or(pod, "status.podIP", "<none>"))),
        json!(text_or(pod, "spec.nodeName", "<none>")),
        json!(text_or(pod, "status.nominatedNodeName", "<none>")),
        json!(readiness_gates(pod)),
    ]
}

/// Returns the condition of a row of a finished Pod.
pub(crate) fn conditions(pod: &Value) -> Option<Value> {
    let (reason, message) = match text(pod, "status.phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

fn summarize(pod: &Value) -> Summary {
    let mut summary = Summary { reason: first_reason(pod), ..Summary::default() };
    let (started, initializing) = add_init_containers(pod, &mut summary);
    if !initializing || has_condition(pod, "Initialized", "True") {
        summary.restarts = started;
        add_containers(pod, &mut summary);
    }
    if !at(pod, "metadata.deletionTimestamp").is_null() {
        if text(pod, "status.reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.reason);
        } else if !["Succeeded", "Failed"].contains(&text(pod, "status.phase")) {
            "Terminating".clone_into(&mut summary.reason);
        }
    }
    summary
}

/// Returns the reason before containers are considered.
fn first_reason(pod: &Value) -> String {
    let mut conditions = list(pod, "status.conditions").iter();
    let gated = conditions
        .any(|condition| condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated");
    if gated {
        return "SchedulingGated".to_owned();
    }
    let phase = at(pod, "status.phase").as_str().unwrap_or("");
    at(pod, "status.reason").as_str().filter(|reason| !reason.is_empty()).unwrap_or(phase).to_owned()
}

/// Adds init containers up to the first one that has not completed. Returns the restarts of sidecars, and whether there was
/// such an init container.
fn add_init_containers(pod: &Value, summary: &mut Summary) -> (Restarts, bool) {
    let specs = list(pod, "spec.initContainers");
    let sidecars: BTreeSet<_> =
        specs.iter().filter(|spec| is_sidecar(spec)).map(|spec| spec["name"].as_str()).collect();
    let mut of_sidecars = Restarts::default();
    for (index, status) in list(pod, "status.initContainerStatuses").iter().enumerate() {
        let sidecar = sidecars.contains(&status["name"].as_str());
        summary.restarts.add(status);
        if sidecar {
            of_sidecars.add(status);
        }
        let terminated = at(status, "state.terminated");
        if !terminated.is_null() && number(terminated, "exitCode") == 0 {
            continue;
        }
        if sidecar && status["started"] == true {
            summary.ready += usize::from(status["ready"] == true);
            continue;
        }
        let waiting = text(status, "state.waiting.reason");
        summary.reason = if !terminated.is_null() {
            format!("Init:{}", ending(terminated))
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{index}/{}", specs.len())
        };
        return (of_sidecars, true);
    }
    (of_sidecars, false)
}

/// Adds containers in reverse order, so that the first one determines the reason.
fn add_containers(pod: &Value, summary: &mut Summary) {
    let mut runs = false;
    let mut failing = None;
    for status in list(pod, "status.containerStatuses").iter().rev() {
        summary.restarts.add(status);
        let waiting = text(status, "state.waiting.reason");
        let terminated = at(status, "state.terminated");
        if !waiting.is_empty() {
            waiting.clone_into(&mut summary.reason);
        } else if !terminated.is_null() {
            summary.reason = ending(terminated);
            if number(terminated, "exitCode") != 0 {
                failing = Some(summary.reason.clone());
            }
        } else if status["ready"] == true && !at(status, "state.running").is_null() {
            runs = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        if runs && has_condition(pod, "Ready", "True") {
            "Running".clone_into(&mut summary.reason);
        } else if let Some(failing) = failing {
            summary.reason = failing;
        } else if runs {
            "NotReady".clone_into(&mut summary.reason);
        }
    }
}

fn ending(terminated: &Value) -> String {
    match (text(terminated, "reason"), number(terminated, "signal")) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, "spec.readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates.iter().filter(|gate| has_condition(pod, text(gate, "conditionType"), "True")).count();
    format!("{open}/{}", gates.len())
}

impl Restarts {
    fn add(&mut self, status: &Value) {
        self.count = self.count.saturating_add(number(status, "restartCount"));
        let ended = Timestamp::parse(text(status, "lastState.terminated.finishedAt"));
        self.last = self.last.max(ended);
    }

    fn format(self, now: Timestamp) -> String {
        match self.last.filter(|_| self.count != 0) {
            Some(last) => format!("{} ({} ago)", self.count, short(now.seconds_after(last))),
            None => self.count.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(pod: &Value) -> String {
        summarize(pod).reason
    }

    fn two_containers(one: &Value, other: &Value, ready: &str) -> Value {
        json!({
            "spec": {"containers": [{"name": "a"}, {"name": "b"}]},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": ready}],
                "containerStatuses": [one, other],
            },
        })
    }

    /// Appendix C, rule 3: a finished container does not hide that another one runs, or that another one failed.
    #[test]
    fn completed_is_shown_only_if_all_containers_succeeded() {
        let completed = json!({"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
        let running = json!({"ready": true, "state": {"running": {}}});
        let unready = json!({"ready": false, "state": {"running": {}}});
        let failed = json!({"state": {"terminated": {"exitCode": 2, "reason": "Error"}}});
        assert_eq!(status_of(&two_containers(&completed, &running, "True")), "Running");
        assert_eq!(status_of(&two_containers(&completed, &running, "False")), "NotReady");
        assert_eq!(status_of(&two_containers(&completed, &failed, "False")), "Error");
        assert_eq!(status_of(&two_containers(&completed, &unready, "False")), "Completed");
    }

    /// Appendix C: the restarts of a Pod include the age of the last one, if that is known.
    #[test]
    fn restarts_have_the_age_of_the_last_one() {
        let restarted = json!({
            "restartCount": 3, "ready": true, "state": {"running": {}},
            "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:00:00Z"}},
        });
        let fresh = json!({"restartCount": 0, "ready": true, "state": {"running": {}}});
        let pod = two_containers(&restarted, &fresh, "True");
        let now = Timestamp::parse("2026-01-01T00:02:00Z").unwrap();
        assert_eq!(cells(&pod, now)[3], "3 (2m ago)");
    }

    /// Appendix C, rule 4: a Pod that has finished is not shown as terminating.
    #[test]
    fn a_finished_pod_is_not_terminating() {
        let deleted = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(status_of(&json!({"metadata": deleted, "status": {"phase": "Succeeded"}})), "Succeeded");
        assert_eq!(status_of(&json!({"metadata": deleted, "status": {"phase": "Pending"}})), "Terminating");
    }

    /// Appendix C, rule 2: an init container that ended by a signal is shown with the signal.
    #[test]
    fn an_init_container_may_end_by_a_signal() {
        let terminated = json!({"state": {"terminated": {"exitCode": 137, "signal": 9}}});
        let pod = json!({"status": {"phase": "Pending", "initContainerStatuses": [terminated]}});
        assert_eq!(status_of(&pod), "Init:Signal:9");
    }
}
