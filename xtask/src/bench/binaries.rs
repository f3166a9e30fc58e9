//! Building the bench targets, and listing their cases.

use super::whole;
use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::workspace::{Target, Workspace};
use gantry_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One case of one benchmark, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) bench: String,
    pub(super) name: String,
    pub(super) executable: PathBuf,
}

/// How the benchmarks are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// As for measurements.
    Optimised,
    /// As for tests, so that a smoke run compiles almost nothing.
    Unoptimised,
}

impl Case {
    /// The name of the case in tables and files.
    pub(super) fn label(&self) -> String {
        format!("{}/{}", self.bench, self.name)
    }

    /// The command that runs the case this many times.
    pub(super) fn arguments(&self, iterations: u64) -> [String; 4] {
        ["--case".to_owned(), self.name.clone(), "--iterations".to_owned(), iterations.to_string()]
    }
}

/// Builds all bench targets of the workspace and lists their cases.
pub(super) fn build(root: &Path, workspace: &Workspace, profile: Profile) -> Result<Vec<Case>, Failure> {
    let mut arguments = vec!["bench", "--no-run", "--message-format=json-render-diagnostics"];
    if profile == Profile::Unoptimised {
        arguments.extend(["--profile", "dev"]);
    }
    let selected = selection(workspace);
    arguments.extend(selected.iter().map(String::as_str));
    let mut cases = Vec::new();
    for (bench, executable) in executables(&cargo::output(&mut cargo(root, &arguments))?) {
        let printed = cargo::output(Command::new(&executable).arg("--list"))?;
        let names = printed.lines().map(str::trim).filter(|name| !name.is_empty());
        cases.extend(names.map(|name| Case {
            bench: bench.clone(),
            name: name.to_owned(),
            executable: executable.clone(),
        }));
    }
    Ok(cases)
}

/// The bench targets with cases as arguments for cargo. `--benches` would also build every library as one, and `--package` would build
/// dependencies again with other features than those of the tests.
fn selection(workspace: &Workspace) -> Vec<String> {
    let mut arguments = vec!["--workspace".to_owned()];
    for package in &workspace.packages {
        let has_cases = |bench: &str| !whole::is_part(&package.name, bench);
        let is_bench = |target: &&Target| target.kind == "bench" && has_cases(&target.name);
        let benches = package.targets.iter().filter(is_bench);
        arguments.extend(benches.flat_map(|target| ["--bench".to_owned(), target.name.clone()]));
    }
    arguments
}

/// Reads name and path of every bench executable from cargo's messages.
fn executables(messages: &str) -> Vec<(String, PathBuf)> {
    let parsed = messages.lines().filter_map(|line| gantry_json::from_str::<Value>(line).ok());
    let benches = parsed.filter(|message| message["target"]["kind"][0] == "bench");
    benches
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            Some((name, PathBuf::from(message["executable"].as_str()?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    #[test]
    fn only_bench_executables_are_taken_from_cargos_messages() {
        let messages = r#"
            {"reason":"compiler-artifact","target":{"kind":["lib"],"name":"gantry_model"},"executable":null}
            {"reason":"compiler-artifact","target":{"kind":["bench"],"name":"decide"},"executable":"/t/decide-1f"}
            {"reason":"build-finished","success":true}
            not json"#;
        assert_eq!(executables(messages), [("decide".to_owned(), PathBuf::from("/t/decide-1f"))]);
    }

    #[test]
    fn benches_are_selected_with_the_features_of_the_whole_workspace() {
        let target = |kind: &str, name: &str| Target {
            name: name.to_owned(),
            kind: kind.to_owned(),
            root_file: String::new(),
        };
        let mut decide = Package::using("gantry-decide", "crates/decide", &[]);
        decide.targets = vec![target("lib", "gantry_decide"), target("bench", "decide")];
        let model = Package::using("gantry-model", "crates/model", &[]);
        let words = selection(&Workspace { packages: vec![model, decide] });
        assert_eq!(words.join(" "), "--workspace --bench decide");
    }

    #[test]
    fn a_case_is_run_by_name_and_number() {
        let case = Case { bench: "decide".into(), name: "ten-sets".into(), executable: "x".into() };
        assert_eq!(case.label(), "decide/ten-sets");
        assert_eq!(case.arguments(7).join(" "), "--case ten-sets --iterations 7");
    }
}
