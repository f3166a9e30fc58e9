//! Flags that `gantry up` rejects before it starts, its log, and how it stops.

use std::process::Stdio;

use super::running::command_output::CommandOutput;
use super::user_home::UserHome;

#[test]
fn more_nodes_than_there_are_addresses_for_are_refused_before_the_start() {
    let user_home = UserHome::new("nodes");
    let output = user_home.gantry(&["up", "--name", "large", "--nodes", "100000"]);
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(1), ""),
        "it never reports that it is up: {output:?}"
    );
    assert!(
        output.err.contains("--nodes: 100000 nodes are too many") && output.err.contains("6144"),
        "{output:?}"
    );
    assert!(user_home.clusters().is_empty());
}

#[test]
fn addresses_may_be_names_or_ports_alone() {
    let user_home = UserHome::new("listen");
    let _by_name = user_home.up(&["--name", "a", "--nodes", "0", "--listen", "localhost:0"]);
    let server = |name: &str| user_home.cluster(name).unwrap()["server"].as_str().unwrap().to_owned();
    assert!(server("a").starts_with("https://127.0.0.1:"), "{}", server("a"));
    let output = user_home.fails(&["up", "--in-memory", "--plain-http", "--listen", ":0"]);
    assert!(output.contains("0.0.0.0:0"), "a port alone means all interfaces: {output}");
    let output = user_home.fails(&["up", "--in-memory", "--listen", "6443"]);
    assert!(output.contains("--listen") && output.contains("such as 127.0.0.1:6443"), "{output}");
}

/// Two signals in quick succession: the second one arrives during the shutdown.
#[test]
fn a_second_signal_is_one_line() {
    let user_home = UserHome::new("signals");
    let mut command = user_home.command(env!("CARGO_BIN_EXE_gantry"));
    command.args(["up", "--in-memory", "--nodes", "3"]).env_remove("GANTRY_LOG");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    for _ in 0..2 {
        super::user_home::signal(child.id(), "TERM");
    }
    let output = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.err.contains("ERROR") && !output.err.contains("panicked"), "{output:?}");
    // The first signal may have been enough.
    let lines: Vec<&str> = output.err.lines().filter(|line| !line.contains("INFO stopping")).collect();
    assert!(
        lines.is_empty() || lines.len() == 1 && lines[0].ends_with("second signal: stopping immediately"),
        "{output:?}"
    );
}

/// One line for each rollout, none for its steps; with --quiet no line at all.
#[test]
fn a_successful_rollout_is_one_line_of_the_log() {
    let user_home = UserHome::new("log");
    let logged = |more: &[&str]| {
        let mut up = user_home.command(env!("CARGO_BIN_EXE_gantry"));
        up.args(["up", "--name", "logged", "--detach", "--wait=120s", "--nodes", "1"]).args(more);
        assert!(up.env_remove("GANTRY_LOG").output().unwrap().status.success());
        let context = ["--context", "gantry-logged"];
        for (number, image) in ["nginx:1", "nginx:2"].into_iter().enumerate() {
            let name = format!("web-{}", more.len());
            let image = format!("--image={image}");
            if number == 0 {
                user_home.succeeds(&[&["create", "deployment", &name, &image], &context[..]].concat());
            } else {
                let object = format!("deployment/{name}");
                user_home.succeeds(&[&["set", "image", &object, "nginx=nginx:2"], &context[..]].concat());
            }
            let object = format!("deployment/{name}");
            user_home.succeeds(&[&["rollout", "status", &object, "--timeout=120s"], &context[..]].concat());
        }
        user_home.succeeds(&["down", "logged"]);
        super::user_home::text(&user_home.data().join("clusters/logged/up.log"))
    };
    let usual = logged(&[]);
    let rolled_out = usual.lines().filter(|line| line.contains("is rolled out")).count();
    assert_eq!((rolled_out, usual.lines().count()), (2, 3), "two rollouts and the end:\n{usual}");
    assert_eq!(logged(&["--quiet"]), "");
}
