//! Snapshot tests of the help texts in `tests/help`, one file per command.
//!
//! `GANTRY_REWRITE_HELP=1 cargo test -p gantry help` rewrites them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Command, CommandFactory as _};

use crate::command::Gantry;

const REWRITE: &str = "GANTRY_REWRITE_HELP";

/// All commands by full name, with their `--help`.
fn commands() -> Vec<(String, String)> {
    let mut root = Gantry::command();
    root.build();
    let mut all = Vec::new();
    collect(&root, "gantry", &mut all);
    all
}

fn collect(command: &Command, name: &str, all: &mut Vec<(String, String)>) {
    all.push((name.to_owned(), command.clone().render_long_help().to_string()));
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    for sub in shown.filter(|command| command.get_name() != "help") {
        collect(sub, &format!("{name} {}", sub.get_name()), all);
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/help")
}

fn file_of(command: &str) -> String {
    format!("{}.txt", command.replace(' ', "-"))
}

#[test]
fn every_command_has_an_example_that_is_a_command() {
    let commands = commands();
    let names: BTreeSet<&str> = commands.iter().map(|(name, _)| name.as_str()).collect();
    for (name, help) in &commands {
        let (_, examples) =
            help.split_once("Example:\n").unwrap_or_else(|| panic!("`{name} --help` has no `Example:`"));
        let own = examples.lines().find(|line| line.contains("gantry ")).unwrap_or_default();
        assert!(own.starts_with("  "), "`{name} --help`: {own:?} is no example");
        let is_own = examples.contains(&format!("{name} "))
            || names.iter().any(|sub| sub.starts_with(&format!("{name} ")) && examples.contains(sub));
        assert!(is_own, "the example of `{name} --help` is one of another command:\n{examples}");
    }
}

/// The commands that change a cluster.
const CHANGING: [&str; 11] = [
    "create",
    "apply",
    "replace",
    "delete",
    "scale",
    "set image",
    "patch",
    "label",
    "annotate",
    "rollout undo",
    "rollout restart",
];

#[test]
fn no_example_changes_whichever_cluster_is_current() {
    for (name, help) in commands() {
        let examples = help.split_once("Example:\n").map_or("", |(_, examples)| examples);
        for line in examples.lines() {
            let words = line.replace("--context gantry ", "");
            let is_change = CHANGING.iter().chain(&["rollout pause", "rollout resume"]).any(|verb| {
                words.contains(&format!("gantry {verb} ")) || words.contains(&format!("kubectl {verb} "))
            });
            let is_safe = ["--context ", "--kubeconfig ", "KUBECONFIG=", "gantry up -- "];
            assert!(!is_change || is_safe.iter().any(|way| line.contains(way)), "`{name} --help`: {line}");
        }
    }
}

#[test]
fn every_line_of_help_fits_a_terminal() {
    for (name, help) in commands() {
        // Flags and their explanations are on separate lines, so the widest text is ours.
        let widest = help.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(widest.chars().count() <= 130, "`{name} --help`: {widest}");
    }
}

#[test]
fn help_texts_equal_the_snapshots() {
    let commands = commands();
    let rewrite = std::env::var_os(REWRITE).is_some();
    if rewrite {
        let _ = std::fs::remove_dir_all(folder());
        std::fs::create_dir_all(folder()).unwrap();
    }
    for (name, help) in &commands {
        let file = folder().join(file_of(name));
        if rewrite {
            std::fs::write(&file, help).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == *help,
            "the help of `{name}` has changed; if that is right, set {REWRITE}=1:\n{help}"
        );
    }
    let expected: BTreeSet<String> = commands.iter().map(|(name, _)| file_of(name)).collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let there = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(expected, there, "one file per command; {REWRITE}=1 removes superfluous ones");
}
