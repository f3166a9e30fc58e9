//! A recorded session is its own script: the commands, the changes by nodes between them, and the terminal output.

use std::collections::BTreeSet;

use crate::mask::masked;
use gantry_test_cluster::TestNamespace;

/// One step of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A command, without `kubectl`.
    Command(String),
    /// A change between commands.
    Meanwhile(Meanwhile),
}

/// Changes between commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meanwhile {
    /// All pods become ready.
    ReadyAll,
    /// So many pods become ready, one after the other.
    Ready(usize),
    /// One pod after the other becomes ready, until all are.
    Drain,
    /// So many seconds pass.
    Wait(u64),
}

impl std::fmt::Display for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ReadyAll => f.write_str("ready all"),
            Self::Ready(n) => write!(f, "ready {n}"),
            Self::Drain => f.write_str("drain"),
            Self::Wait(seconds) => write!(f, "wait {seconds}"),
        }
    }
}

/// The output of a command.
pub(crate) struct CommandOutput {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// The recorded steps.
pub(crate) fn steps(recorded: &str) -> Vec<Step> {
    recorded.lines().filter_map(step).collect()
}

fn step(line: &str) -> Option<Step> {
    if let Some(command) = line.strip_prefix("$ kubectl ") {
        return Some(Step::Command(command.to_owned()));
    }
    let meanwhile = match line.strip_prefix("# ")?.split_once(' ') {
        None if line == "# drain" => Meanwhile::Drain,
        Some(("ready", "all")) => Meanwhile::ReadyAll,
        Some(("ready", n)) => Meanwhile::Ready(n.parse().unwrap()),
        Some(("wait", seconds)) => Meanwhile::Wait(seconds.parse().unwrap()),
        _ => panic!("`{line}` is nothing that happens in a session"),
    };
    Some(Step::Meanwhile(meanwhile))
}

/// The command and its terminal output, without values that differ from run to run.
pub(crate) fn shown(stage: &TestNamespace, command: &str, output: &CommandOutput) -> Vec<String> {
    let mut lines = vec![format!("$ kubectl {command}")];
    for (mark, text) in [("", &output.out), ("! ", &output.err)] {
        let rows: Vec<String> = stage.mask(text).lines().map(masked).collect();
        let rows = match command.split(' ').next() {
            Some("get") if rows.len() > 1 => in_order_of_names(&rows),
            Some("describe") => events_last(rows),
            _ => rows,
        };
        lines.extend(rows.iter().filter(|row| !names_files(row)).map(|row| format!("{mark}{row}")));
    }
    if output.code != 0 {
        lines.push(format!("[exit {}]", output.code));
    }
    lines
}

/// Pods and sets are listed in the order of their random names, which are masked: each table is sorted below its header.
fn in_order_of_names(rows: &[String]) -> Vec<String> {
    let tables = rows.split(String::is_empty).map(|table| {
        let mut table = table.to_vec();
        if let Some((_, below)) = table.split_first_mut() {
            below.sort();
        }
        table
    });
    tables.collect::<Vec<_>>().join(&String::new())
}

/// Like events may be recorded more than once, and in any order.
fn events_last(rows: Vec<String>) -> Vec<String> {
    let is_event = |row: &String| {
        let row = row.trim_start();
        ["Normal", "Warning"]
            .iter()
            .any(|word| row.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t'])))
    };
    let (events, mut rest): (Vec<String>, Vec<String>) = rows.into_iter().partition(is_event);
    rest.extend(events.into_iter().collect::<BTreeSet<_>>());
    rest
}

/// Whether a line of a diff names the compared files.
fn names_files(row: &str) -> bool {
    ["diff ", "--- ", "+++ "].iter().any(|start| row.starts_with(start))
}
