//! `gantry up -- COMMAND`: a cluster for one command.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use super::running::command_output::CommandOutput;
use super::user_home::{UserHome, files};

fn up_around(user_home: &UserHome, command: &[&str]) -> CommandOutput {
    let mut up = user_home.command(env!("CARGO_BIN_EXE_gantry"));
    up.env("TMPDIR", user_home.file("")).args(["up", "--wait=120s", "--nodes", "2", "--"]).args(command);
    up.env("GANTRY", env!("CARGO_BIN_EXE_gantry")).env_remove("GANTRY_LOG");
    up.output().unwrap().into()
}

#[test]
fn the_command_finds_a_ready_cluster_and_its_status_is_passed_on() {
    let user_home = UserHome::new("around");
    let script = "\"$GANTRY\" get nodes -o name; \"$GANTRY\" get serviceaccount default -o name; exit 7";
    let output = up_around(&user_home, &["sh", "-c", script]);
    assert_eq!(output.code, Some(7), "{output:?}");
    assert_eq!(output.out, "node/node-1\nnode/node-2\nserviceaccount/default\n");
    assert_eq!(output.err, "", "the server is quiet");
    assert_eq!(files(&user_home.file("")), Vec::<std::path::PathBuf>::new(), "no files remain");
}

#[test]
fn a_killed_or_missing_command_has_the_exit_status_of_a_shell() {
    let user_home = UserHome::new("around-status");
    assert_eq!(up_around(&user_home, &["sh", "-c", "kill -KILL $$"]).code, Some(137));
    let missing = up_around(&user_home, &["no-such-command"]);
    assert_eq!(missing.code, Some(127));
    assert!(missing.err.contains("cannot run no-such-command"), "{missing:?}");
}

#[test]
fn signals_reach_the_command() {
    let user_home = UserHome::new("around-signal");
    let script = "trap 'echo stopping; exit 3' TERM; echo waiting; while :; do sleep 0.05; done";
    let mut up = user_home.command(env!("CARGO_BIN_EXE_gantry"));
    up.args(["up", "--wait=120s", "--nodes", "0", "--", "sh", "-c", script]).stdout(Stdio::piped());
    let mut child = up.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("waiting"));
    super::user_home::signal(child.id(), "TERM");
    assert_eq!(lines.next().as_deref(), Some("stopping"));
    assert_eq!(child.wait().unwrap().code(), Some(3));
}
