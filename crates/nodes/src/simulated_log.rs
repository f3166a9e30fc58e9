//! The logs of containers on simulated nodes, generated from their reported status.

use gantry_json::Value;

use crate::log_messages;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When it was written, such as `2026-01-01T12:00:00Z`.
    pub time: String,
    /// The text, without a line break.
    pub text: String,
}

/// Returns the log of a container, or of its predecessor. The error is a kubelet's message about a container without a
/// log.
pub fn simulated_log(pod: &Value, container: &str, previous: bool) -> Result<Vec<LogLine>, String> {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let statuses = lists.iter().filter_map(|list| pod["status"][list].as_array()).flatten();
    let Some(status) = statuses.into_iter().find(|status| status["name"] == container) else {
        return Err(log_messages::not_available(container, name));
    };
    let last = &status["lastState"]["terminated"];
    if previous && last.is_null() {
        return Err(log_messages::no_previous(container, name));
    }
    let state = &status["state"];
    let mut lines = Vec::new();
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let image = status["image"].as_str().unwrap_or_default();
    let started = format!(
        "simulated container {container} of image {image} started on node {node}; nothing runs in it"
    );
    if previous || (last.is_object() && state["waiting"].is_object()) {
        // A container that waits for its restart has the log of its last run.
        add(&mut lines, &last["startedAt"], &started);
        add(&mut lines, &last["finishedAt"], &ended(last));
        return Ok(lines);
    }
    if let Some(reason) = state["waiting"]["reason"].as_str() {
        return Err(log_messages::waiting_to_start(container, name, reason));
    }
    let run = if state["terminated"].is_object() { &state["terminated"] } else { &state["running"] };
    add(&mut lines, &run["startedAt"], &started);
    if status["ready"] == true {
        add(&mut lines, ready_time(pod), "ready");
    }
    add(&mut lines, &run["finishedAt"], &ended(run));
    Ok(lines)
}

fn add(lines: &mut Vec<LogLine>, time: &Value, text: &str) {
    if let Some(time) = time.as_str() {
        lines.push(LogLine { time: time.to_owned(), text: text.to_owned() });
    }
}

fn ended(terminated: &Value) -> String {
    let (code, reason) = (&terminated["exitCode"], terminated["reason"].as_str().unwrap_or_default());
    format!("exited with code {code} ({reason})")
}

/// When all containers were ready.
fn ready_time(pod: &Value) -> &Value {
    let conditions = pod["status"]["conditions"].as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .find(|one| one["type"] == "ContainersReady" && one["status"] == "True");
    ready.map_or(&Value::Null, |ready| &ready["lastTransitionTime"])
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn pod(state: &Value, last: &Value) -> Value {
        json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n"}, "status": {
            "conditions": [{"type": "ContainersReady", "status": "True", "lastTransitionTime": "T1"}],
            "containerStatuses": [
                {"name": "c", "image": "i", "ready": state["running"].is_object(), "state": state, "lastState": last},
            ],
        }})
    }

    fn texts(log: Result<Vec<LogLine>, String>) -> Vec<String> {
        log.unwrap().into_iter().map(|line| format!("{} {}", line.time, line.text)).collect()
    }

    #[test]
    fn a_running_container_logs_its_start_and_readiness() {
        let log = simulated_log(&pod(&json!({"running": {"startedAt": "T0"}}), &json!({})), "c", false);
        let started = "T0 simulated container c of image i started on node n; nothing runs in it";
        assert_eq!(texts(log), [started, "T1 ready"]);
    }

    #[test]
    fn a_container_that_crashed_has_a_previous_log() {
        let last =
            json!({"terminated": {"exitCode": 3, "reason": "Error", "startedAt": "T0", "finishedAt": "T2"}});
        let waiting = pod(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), &last);
        for previous in [true, false] {
            assert_eq!(texts(simulated_log(&waiting, "c", previous))[1], "T2 exited with code 3 (Error)");
        }
    }

    #[test]
    fn a_container_without_a_log_has_the_kubelets_message() {
        let problem = |state: &Value, name, previous| {
            simulated_log(&pod(state, &json!({})), name, previous).unwrap_err()
        };
        let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
        assert_eq!(
            problem(&waiting, "c", false),
            "container \"c\" in pod \"p\" is waiting to start: ContainerCreating"
        );
        let running = json!({"running": {"startedAt": "T0"}});
        assert_eq!(
            problem(&running, "c", true),
            "previous terminated container \"c\" in pod \"p\" not found"
        );
        assert_eq!(problem(&running, "x", false), "container \"x\" in pod \"p\" is not available");
    }
}
