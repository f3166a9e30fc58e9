//! `describe` of every kind that kubectl describes. The output of kubectl 1.37 for the same objects is recorded in
//! `described/recorded.txt`, and the installed kubectl is compared where its output is that of 1.37.

use super::running::InMemory;
use super::script;
use super::side_by_side::{CommandOutput, prints_the_same, run};

const RECORDED: &str = include_str!("described/recorded.txt");

/// The kinds whose descriptions by the installed kubectl 1.32 differ from those by kubectl 1.37.
const CHANGED_SINCE_1_32: &[&str] =
    &["sa", "serviceaccount", "service front", "pod", "daemonset", "statefulset", "cronjob", "node"];

/// K3: byte for byte the output of kubectl 1.37, except for values that differ from server to server.
#[test]
fn every_kind_is_described_as_kubectl_1_37_does() {
    let server = described();
    let mut wrong = Vec::new();
    for (command, recorded) in recordings() {
        let CommandOutput { out, err, .. } = run(&server, env!("CARGO_BIN_EXE_gantry"), command);
        let printed = masked(&(out + &err));
        if printed != masked(&recorded) {
            wrong.push(format!("$ {command}\n--- gantry\n{printed}--- kubectl 1.37\n{recorded}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// K3: the same bytes as the installed kubectl, run side by side.
#[test]
fn gantry_describes_as_the_installed_kubectl() {
    let server = described();
    for (command, _) in recordings() {
        let objects = command.trim_start_matches("describe ");
        let has_changed = |since: &&str| {
            objects.starts_with(*since) || objects.split([',', ' ']).any(|word| word.starts_with(*since))
        };
        if !CHANGED_SINCE_1_32.iter().any(has_changed) {
            // Newer versions show the events of several objects only if requested.
            prints_the_same(
                &server,
                &format!("{} --show-events=true", command.trim_end_matches(" --show-events=true")),
            );
        }
    }
}

/// A server with an object, rich or bare, of every kind that is described.
fn described() -> InMemory {
    let server = InMemory::apiserver();
    for (verb, file) in [
        ("create", "objects.yaml"),
        ("create", "statuses.yaml"),
        ("replace --subresource=status", "statuses.yaml"),
    ] {
        let file = script("described").join(file);
        let done = run(&server, "kubectl", &format!("{verb} -f {}", file.display()));
        assert!(done.is_success, "{verb}: {}", done.err);
    }
    server
}

/// The recorded commands, each with its output.
fn recordings() -> Vec<(&'static str, String)> {
    let sections = RECORDED.split("$ kubectl ").skip(1);
    sections
        .filter_map(|one| one.split_once('\n'))
        .map(|(command, printed)| (command, printed.to_owned()))
        .collect()
}

/// A description without times, uids and versions that no two servers share.
fn masked(printed: &str) -> String {
    let titles = ["CreationTimestamp:", "Created on:", "Creation Timestamp:", "Resource Version:", "UID:"];
    let mut lines = String::new();
    for line in printed.lines() {
        let title = titles.iter().find(|title| line.trim_start().starts_with(**title));
        match title.and_then(|title| line.split_once(title)) {
            Some((indent, _)) => lines.push_str(indent),
            None => lines.push_str(&line.split_inclusive(['=', ' ']).map(without_uid).collect::<String>()),
        }
        lines.push('\n');
    }
    lines
}

fn without_uid(word: &str) -> &str {
    let is_uid = word.len() == 36 && word.bytes().filter(|byte| *byte == b'-').count() == 4;
    if is_uid { "UID" } else { word }
}
