//! Two clusters beside each other: each has its own directory, port and kubeconfig.

use std::fs;

use super::user_home::{UserHome, text};

/// The default port may be taken on the machine that runs the tests.
const FREE: [&str; 2] = ["--listen", "127.0.0.1:0"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    FREE.iter().chain(more).copied().collect()
}

#[test]
fn two_clusters_have_objects_ports_and_kubeconfigs_of_their_own() {
    let user_home = UserHome::new("two");
    let mut default = user_home.up(&with(&["--nodes", "1"]));
    let mut dev = user_home.up(&["--name", "dev", "--nodes", "1"]);
    let (one, other) = (user_home.kubeconfig("gantry"), user_home.kubeconfig("dev"));
    assert_ne!(one, other);
    user_home.succeeds(&["create", "namespace", "only-dev", "--kubeconfig", &other]);
    let output = user_home.succeeds(&["get", "namespaces", "-o", "name", "--kubeconfig", &one]);
    assert!(!output.out.contains("only-dev"), "{output:?}");
    let named = user_home.succeeds(&["get", "namespaces", "-o", "name", "--context", "gantry-dev"]);
    assert!(named.out.contains("only-dev"), "commands find a cluster by its context: {named:?}");
    for (cluster, name) in [(&mut default, "gantry"), (&mut dev, "dev")] {
        let listed = user_home.cluster(name).unwrap();
        assert_eq!(
            (&listed["status"], listed["pid"].as_u64()),
            (&"running".into(), Some(cluster.pid().into()))
        );
        let output = user_home.succeeds(&["down", name]);
        assert_eq!(output.out, format!("cluster {name} has stopped\n"));
        assert_eq!(cluster.end(), Some(0), "the process has ended when `down` returns");
        assert_eq!(user_home.cluster(name).unwrap()["status"], "stopped");
    }
}

#[test]
fn a_named_cluster_keeps_its_port_and_a_kubeconfig_stays_valid() {
    let user_home = UserHome::new("port");
    let mut dev = user_home.up(&["--name", "dev", "--nodes", "0"]);
    let before = user_home.cluster("dev").unwrap()["server"].clone();
    let kubeconfig = text(user_home.kubeconfig("dev").as_ref());
    user_home.succeeds(&["create", "namespace", "kept", "--context", "gantry-dev"]);
    dev.signal("KILL");
    dev.end();
    assert_eq!(user_home.cluster("dev").unwrap()["status"], "stopped", "a killed cluster is detected");
    let _again = user_home.up(&["--name", "dev", "--nodes", "0"]);
    assert_eq!(user_home.cluster("dev").unwrap()["server"], before);
    fs::write(user_home.file("copied"), kubeconfig).unwrap();
    let copied = user_home.file("copied").display().to_string();
    user_home.succeeds(&["get", "namespace", "kept", "--kubeconfig", &copied]);
}

#[test]
fn a_second_start_reports_the_running_cluster() {
    let user_home = UserHome::new("second");
    let dev = user_home.up(&["--name", "dev", "--nodes", "0"]);
    let url = user_home.cluster("dev").unwrap()["server"].as_str().unwrap().to_owned();
    for arguments in [&["up", "--name", "dev"][..], &["up", "--name", "dev", "--detach"]] {
        let output = user_home.fails(arguments);
        let expected =
            format!("error: cluster dev is already running: process {}, at {url}\nhint: ", dev.pid());
        assert!(output.starts_with(&expected), "{output}");
    }
}

/// Regression: the kubeconfig of the persistent cluster was overwritten.
#[test]
fn a_cluster_in_memory_touches_no_file_of_another() {
    let user_home = UserHome::new("memory");
    let _default = user_home.up(&with(&["--nodes", "0"]));
    let before = text(user_home.kubeconfig("gantry").as_ref());
    let mut memory = user_home.up(&["--in-memory", "--nodes", "0"]);
    assert_eq!(text(user_home.kubeconfig("gantry").as_ref()), before);
    let name = format!("memory-{}", memory.pid());
    let listed = user_home.cluster(&name).unwrap();
    assert_eq!((&listed["status"], &listed["inMemory"]), (&"running".into(), &true.into()));
    user_home.succeeds(&["get", "namespaces", "--context", &format!("gantry-{name}")]);
    user_home.succeeds(&["down", &name]);
    assert_eq!(memory.end(), Some(0));
    assert!(user_home.cluster(&name).is_none() && !user_home.data().join("clusters").join(&name).exists());
    let refused = user_home.fails(&["up", "--in-memory", "--name", "gantry"]);
    assert!(refused.contains("cluster gantry keeps its data in"), "{refused}");
}

#[test]
fn files_of_a_killed_cluster_in_memory_are_removed() {
    let user_home = UserHome::new("abandoned");
    let mut memory = user_home.up(&["--in-memory", "--name", "brief", "--nodes", "0"]);
    memory.signal("KILL");
    memory.end();
    assert!(user_home.data().join("clusters/brief/kubeconfig").exists());
    assert!(user_home.cluster("brief").is_none());
    assert!(!user_home.data().join("clusters/brief").exists());
}

#[test]
fn only_a_stopped_cluster_is_deleted_after_confirmation() {
    let user_home = UserHome::new("delete");
    let mut dev = user_home.up(&["--name", "dev", "--nodes", "0"]);
    let output = user_home.fails(&["delete-cluster", "dev", "--yes"]);
    assert!(
        output.contains("cluster dev is running: process") && output.contains("gantry down dev"),
        "{output}"
    );
    user_home.succeeds(&["down", "dev"]);
    dev.end();
    let output = user_home.fails(&["delete-cluster", "dev"]);
    assert!(output.contains("nothing was deleted") && output.contains("--yes"), "{output}");
    assert!(user_home.data().join("clusters/dev/LOCK").exists());
    assert_eq!(user_home.succeeds(&["delete-cluster", "dev", "--yes"]).out, "cluster dev was deleted\n");
    assert!(!user_home.data().join("clusters/dev").exists());
    let output = user_home.fails(&["delete-cluster", "dev", "--yes"]);
    assert!(output.contains("cluster dev does not exist"), "{output}");
}

#[test]
fn deleting_the_default_cluster_leaves_the_others() {
    let user_home = UserHome::new("delete-default");
    let mut default = user_home.up(&with(&["--nodes", "0"]));
    let _dev = user_home.up(&["--name", "dev", "--nodes", "0"]);
    user_home.succeeds(&["delete-cluster", "gantry", "--yes", "--force"]);
    assert_eq!(default.end(), Some(0), "--force stops the cluster first");
    let names: Vec<_> = user_home.clusters().into_iter().map(|cluster| cluster["name"].clone()).collect();
    assert_eq!(names, ["dev"]);
    user_home.succeeds(&["get", "namespaces", "--context", "gantry-dev"]);
}

/// After an upgrade from earlier versions, the data directory is that of the cluster `gantry`.
#[test]
fn the_directory_of_earlier_versions_is_that_of_the_default_cluster() {
    let user_home = UserHome::new("upgrade");
    let data = user_home.data().display().to_string();
    let mut before = user_home.up(&with(&["--data-dir", &data, "--nodes", "0"]));
    let kubeconfig = user_home.data().join("kubeconfig").display().to_string();
    user_home.succeeds(&["create", "namespace", "old", "--kubeconfig", &kubeconfig]);
    user_home.succeeds(&["down", "--data-dir", &data]);
    before.end();
    let _after = user_home.up(&with(&["--nodes", "0"]));
    assert_eq!(user_home.kubeconfig("gantry"), kubeconfig);
    user_home.succeeds(&["get", "namespace", "old", "--kubeconfig", &kubeconfig]);
}
