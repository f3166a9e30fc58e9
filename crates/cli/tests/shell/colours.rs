//! Colours are used on terminals only, and not with `NO_COLOR`.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::shell_env::ShellEnv;
use super::tmux::Tmux;

const ESCAPE: char = '\u{1b}';

#[test]
fn piped_output_has_no_colours() {
    let shell_env = ShellEnv::with_deployment("piped");
    for typed in
        ["why web", "get deploy", "describe deploy web", "--help", "get --help", "rollout", "get --foo"]
    {
        let output = shell_env.run(typed);
        assert!(!output.out.contains(ESCAPE) && !output.err.contains(ESCAPE), "{typed}: {output:?}");
    }
}

#[test]
fn a_cluster_logs_without_colours() {
    let shell_env = ShellEnv::new("up");
    let mut up = Command::new(env!("CARGO_BIN_EXE_gantry"))
        .args(["up", "--in-memory", "--nodes", "1", "--listen", "127.0.0.1:0", "--write-kubeconfig"])
        .arg(shell_env.file("up"))
        .env("GANTRY_LOG", "debug")
        .env("HOME", shell_env.file("home"))
        .env_remove("XDG_DATA_HOME")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(up.stderr.take().unwrap());
    let lines: Vec<String> = log.lines().map(Result::unwrap).take(5).collect();
    up.kill().unwrap();
    up.wait().unwrap();
    assert!(lines.len() == 5 && lines.iter().all(|line| !line.contains(ESCAPE)), "{lines:?}");
}

#[test]
fn no_color_turns_colours_off_on_a_terminal() {
    let shell_env = ShellEnv::with_deployment("no-color");
    let tmux = Tmux::open("no-color", 110, 30);
    let gantry =
        format!("KUBECONFIG={} {}", shell_env.server.kubeconfig.display(), env!("CARGO_BIN_EXE_gantry"));
    for command in ["why web", "completion --help", "get --foo"] {
        tmux.type_line(&format!("clear; NO_COLOR=1 {gantry} {command}; echo en''d"));
        tmux.wait_for("the end", |screen| screen.contains("end"));
        assert!(!tmux.coloured().contains("\u{1b}["), "{command}: {:?}", tmux.coloured());
        tmux.type_line("clear; echo nex''t");
        tmux.wait_for("a new screen", |screen| screen.contains("next"));
    }
}
