//! The writes of a scenario, one line each, for users.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use gantry_json::Value;

use crate::Component;

/// All writes except heartbeats and events.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    lines: Vec<String>,
    known: BTreeSet<String>,
}

impl Journal {
    pub(super) fn note(&mut self, at: Duration, component: Component, key: &str, object: Option<&Value>) {
        let short = key.trim_start_matches("/registry/").replace("/default/", " ");
        let verb = match object {
            None => "removes",
            Some(_) if self.known.insert(key.to_owned()) => "creates",
            Some(_) => "updates",
        };
        if object.is_none() {
            self.known.remove(key);
        }
        let mut line = format!("{:10.3} {component} {verb} {short}", at.as_secs_f64());
        if let Some(object) = object {
            line.push_str(&state(object));
        }
        self.lines.push(line);
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// The state of a workload, in a few words.
fn state(object: &Value) -> String {
    let (meta, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
    let mut text = String::new();
    let mut add = |name: &str, value: &Value| {
        if !value.is_null() {
            let _ = write!(text, " {name}={value}");
        }
    };
    add("size", &spec["replicas"]);
    add("revision", &meta["annotations"]["deployment.kubernetes.io/revision"]);
    add("desired", &meta["annotations"]["deployment.kubernetes.io/desired-replicas"]);
    for count in ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "phase"] {
        add(count, &status[count]);
    }
    add("generation", &meta["generation"]);
    add("observed", &status["observedGeneration"]);
    add("node", &spec["nodeName"]);
    add("image", &spec["template"]["spec"]["containers"][0]["image"]);
    add("deleted", &meta["deletionTimestamp"]);
    add("finalizers", &meta["finalizers"]);
    text
}
