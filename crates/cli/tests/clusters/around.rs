//! `gantry up -- COMMAND`: a cluster for one command.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use super::person::{Person, files};
use super::running::said::Said;

fn up_around(person: &Person, command: &[&str]) -> Said {
    let mut up = person.command(env!("CARGO_BIN_EXE_gantry"));
    up.env("TMPDIR", person.file("")).args(["up", "--wait=120s", "--nodes", "2", "--"]).args(command);
    up.env("GANTRY", env!("CARGO_BIN_EXE_gantry")).env_remove("GANTRY_LOG");
    up.output().unwrap().into()
}

#[test]
fn the_command_finds_a_ready_cluster_and_its_status_is_passed_on() {
    let person = Person::new("around");
    let script = "\"$GANTRY\" get nodes -o name; \"$GANTRY\" get serviceaccount default -o name; exit 7";
    let said = up_around(&person, &["sh", "-c", script]);
    assert_eq!(said.code, Some(7), "{said:?}");
    assert_eq!(said.out, "node/node-1\nnode/node-2\nserviceaccount/default\n");
    assert_eq!(said.err, "", "the server is quiet");
    assert_eq!(files(&person.file("")), Vec::<std::path::PathBuf>::new(), "nothing is left on disk");
}

#[test]
fn a_command_that_is_killed_or_missing_has_the_status_that_shells_give_it() {
    let person = Person::new("around-status");
    assert_eq!(up_around(&person, &["sh", "-c", "kill -KILL $$"]).code, Some(137));
    let missing = up_around(&person, &["no-such-command"]);
    assert_eq!(missing.code, Some(127));
    assert!(missing.err.contains("cannot run no-such-command"), "{missing:?}");
}

#[test]
fn signals_reach_the_command() {
    let person = Person::new("around-signal");
    let script = "trap 'echo told; exit 3' TERM; echo waiting; while :; do sleep 0.05; done";
    let mut up = person.command(env!("CARGO_BIN_EXE_gantry"));
    up.args(["up", "--wait=120s", "--nodes", "0", "--", "sh", "-c", script]).stdout(Stdio::piped());
    let mut child = up.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("waiting"));
    super::person::signal(child.id(), "TERM");
    assert_eq!(lines.next().as_deref(), Some("told"));
    assert_eq!(child.wait().unwrap().code(), Some(3));
}
