//! Clusters in the background.

use super::user_home::{UserHome, text};

#[test]
fn a_detached_cluster_is_ready_when_the_command_returns() {
    let user_home = UserHome::new("detached");
    let output = user_home.succeeds(&["up", "--name", "back", "--detach", "--wait=120s", "--nodes", "2"]);
    assert!(output.out.contains("The cluster back is up at https://127.0.0.1:"), "{output:?}");
    let log = user_home.data().join("clusters/back/up.log");
    assert!(output.out.contains(&log.display().to_string()) && log.exists(), "{output:?}");
    let nodes = user_home.succeeds(&["get", "nodes", "--no-headers", "--context", "gantry-back"]);
    let ready = nodes.out.lines().filter(|line| line.contains(" Ready ")).count();
    assert_eq!(ready, 2, "{nodes:?}");
    user_home.succeeds(&["get", "serviceaccount", "default", "--context", "gantry-back"]);
    assert_eq!(user_home.succeeds(&["down", "back"]).out, "cluster back has stopped\n");
    assert_eq!(user_home.succeeds(&["down", "back"]).out, "cluster back is not running\n");
}

#[test]
fn a_detached_cluster_that_cannot_start_reports_the_reason() {
    let user_home = UserHome::new("detached-fails");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = user_home.fails(&["up", "--name", "back", "--detach", "--wait=120s", "--listen", &address]);
    assert!(output.contains("cluster back did not start"), "{output}");
    assert!(
        output.contains(&format!("cannot --listen on {address}")) && output.contains("hint: "),
        "{output}"
    );
    let log = text(&user_home.data().join("clusters/back/up.log"));
    assert!(log.contains("cannot --listen on"), "{log}");
    assert!(user_home.clusters().is_empty());
}

#[test]
fn a_cluster_in_memory_can_be_detached_too() {
    let user_home = UserHome::new("detached-memory");
    user_home.succeeds(&["up", "--in-memory", "--detach", "--wait=120s", "--nodes", "0"]);
    let name = user_home.clusters()[0]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("memory-"), "{name}");
    user_home.succeeds(&["down", &name]);
    assert!(user_home.clusters().is_empty());
}
