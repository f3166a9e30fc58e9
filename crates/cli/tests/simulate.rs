//! `gantry simulate`: the real binary, its output and its exit codes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn gantry(arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gantry"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_story_is_played_and_printed() {
    let output =
        gantry(&["simulate", "-"], "deployment web replicas=4\nready all\n\nimage nginx:broken\nwait 601\n");
    let played = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(played.contains("create web-2 size 1"), "{played}");
    assert!(played.contains("Progressing=False ProgressDeadlineExceeded"), "{played}");
    assert!(played.contains("waits: available 3 of at least 3, 2 new not available"), "{played}");
}

#[test]
fn a_played_story_can_be_played_again() {
    let first = text(&gantry(&["simulate", "-"], "deployment web replicas=2\nready all\n").stdout);
    assert_eq!(text(&gantry(&["simulate", "-"], &first).stdout), first);
}

#[test]
fn errors_name_the_line_and_the_valid_commands() {
    let output = gantry(&["simulate", "-"], "deployment web\nfrobnicate\n");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.starts_with("error: -: line 2: unknown command `frobnicate`; the commands are:"),
        "{error}"
    );
    let missing = gantry(&["simulate", "no-such-file.story"], "");
    assert!(text(&missing.stderr).starts_with("error: cannot read no-such-file.story: "), "{missing:?}");
}

#[test]
fn without_a_command_there_is_help() {
    let output = gantry(&[], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("simulate"), "{output:?}");
}

#[test]
fn manifests_are_applied_one_after_the_other() {
    let manifest = |image: &str| {
        let file = std::env::temp_dir().join(format!("gantry-simulate-{}-{image}.yaml", std::process::id()));
        let template = format!(
            "{{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: 'nginx:{image}'}}]}}}}"
        );
        let spec = format!("{{replicas: 2, selector: {{matchLabels: {{app: web}}}}, template: {template}}}");
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n"
        );
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let files = [manifest("1"), manifest("2")];
    let output = gantry(&["simulate", &files[0], &files[1]], "");
    let played = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(played.contains("create web-1 size 2"), "{played}");
    assert!(played.contains("create web-2 size 1"), "{played}");
    assert!(
        played.ends_with("  web-1 0/0 ready of 0, revision 1\n *web-2 2/2 ready of 2, revision 2\n"),
        "{played}"
    );
    let missing = gantry(&["simulate", "no-such-file.yaml"], "");
    assert!(text(&missing.stderr).contains("no-such-file.yaml"), "{missing:?}");
    for file in files {
        std::fs::remove_file(file).unwrap();
    }
}
