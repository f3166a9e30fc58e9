//! Recordings of Kubernetes 1.37: scenarios of commands, and a snapshot after each of their steps.
//!
//! `recorded/scenarios.txt` has the commands; beside it are the snapshots of a real kube-apiserver, etcd and
//! kube-controller-manager. The shipped cluster plays the same commands in virtual time and has to get the same snapshots.

use std::path::Path;

use gantry_json::Value;

/// One scenario: its steps and its snapshots.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its commands, in order.
    pub steps: Vec<ScenarioStep>,
    /// The snapshots after every recorded step.
    pub snapshots: Vec<Value>,
}

/// One command of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioStep {
    /// The command, as in a story.
    pub command: String,
    /// Whether there is a snapshot after it.
    pub has_snapshot: bool,
}

/// All scenarios.
///
/// # Panics
/// When a file is missing or malformed.
pub fn scenarios() -> Vec<Scenario> {
    let texts = file("scenarios.txt");
    texts.split("\n== ").skip(1).map(scenario).collect()
}

/// The snapshots of a scenario whose steps cannot be expressed in stories.
///
/// # Panics
/// When there are no snapshots of that name.
pub fn snapshots(name: &str) -> Vec<Value> {
    gantry_json::from_str(&file(&format!("{name}.json"))).expect("a recording is a list of snapshots")
}

/// The first difference between these snapshots and the recorded ones in any of these parts, if there is one.
///
/// A part that was not recorded for a step is not compared there.
pub fn difference(recorded: &[Value], here: &[Value], parts: &[&str]) -> Option<String> {
    for (step, (kubernetes, here)) in recorded.iter().zip(here).enumerate() {
        let compared = parts.iter().filter(|part| kubernetes.get(part).is_some());
        for part in compared {
            if kubernetes[part] != here[part] {
                return Some(format!(
                    "step {step} ({}), {part}\n  kubernetes: {}\n  here:       {}",
                    kubernetes["step"], kubernetes[part], here[part]
                ));
            }
        }
    }
    let (there, here) = (recorded.len(), here.len());
    (there != here).then(|| format!("{there} steps there, {here} here"))
}

fn scenario(text: &str) -> Scenario {
    let (name, commands) = text.split_once('\n').expect("commands follow the name of a scenario");
    let steps = commands.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let hidden = line.strip_prefix('-');
        ScenarioStep { command: hidden.unwrap_or(line).to_owned(), has_snapshot: hidden.is_none() }
    });
    Scenario { name: name.to_owned(), steps: steps.collect(), snapshots: snapshots(name) }
}

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded").join(name);
    let text = std::fs::read_to_string(&path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn every_scenario_has_steps_and_snapshots() {
        let all = scenarios();
        assert_eq!(all.len(), 49);
        assert!(all.iter().all(|one| !one.steps.is_empty() && !one.snapshots.is_empty()));
        let recreate = all.iter().find(|one| one.name == "recreate").expect("the scenario exists");
        assert_eq!(
            recreate.steps[2],
            ScenarioStep { command: "terminate off".to_owned(), has_snapshot: false }
        );
    }

    #[test]
    fn a_difference_names_the_step_and_the_part() {
        let recorded = [json!({"step": "pause", "pods": {"a": 1}, "sets": []})];
        let here = [json!({"pods": {"a": 2}, "sets": []})];
        assert_eq!(difference(&recorded, &here, &["sets", "events"]), None);
        let message = difference(&recorded, &here, &["pods"]).expect("the snapshots differ");
        assert!(message.starts_with("step 0 (\"pause\"), pods"), "{message}");
        assert_eq!(difference(&recorded, &[], &[]), Some("1 steps there, 0 here".to_owned()));
    }
}
