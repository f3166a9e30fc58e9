//! Two clusters beside each other: each has its own directory, port and kubeconfig.

use std::fs;

use super::person::{Person, text};

/// The default port may be taken on the machine that runs the tests.
const FREE: [&str; 2] = ["--listen", "127.0.0.1:0"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    FREE.iter().chain(more).copied().collect()
}

#[test]
fn two_clusters_have_objects_ports_and_kubeconfigs_of_their_own() {
    let person = Person::new("two");
    let mut default = person.up(&with(&["--nodes", "1"]));
    let mut dev = person.up(&["--name", "dev", "--nodes", "1"]);
    let (one, other) = (person.kubeconfig("gantry"), person.kubeconfig("dev"));
    assert_ne!(one, other);
    person.succeeds(&["create", "namespace", "only-dev", "--kubeconfig", &other]);
    let said = person.succeeds(&["get", "namespaces", "-o", "name", "--kubeconfig", &one]);
    assert!(!said.out.contains("only-dev"), "{said:?}");
    let named = person.succeeds(&["get", "namespaces", "-o", "name", "--context", "gantry-dev"]);
    assert!(named.out.contains("only-dev"), "every command finds a cluster by its context: {named:?}");
    for (cluster, name) in [(&mut default, "gantry"), (&mut dev, "dev")] {
        let listed = person.cluster(name).unwrap();
        assert_eq!(
            (&listed["status"], listed["pid"].as_u64()),
            (&"running".into(), Some(cluster.pid().into()))
        );
        let said = person.succeeds(&["down", name]);
        assert_eq!(said.out, format!("cluster {name} has stopped\n"));
        assert_eq!(cluster.end(), Some(0), "it has ended when `down` returns");
        assert_eq!(person.cluster(name).unwrap()["status"], "stopped");
    }
}

#[test]
fn a_named_cluster_keeps_its_port_and_a_kubeconfig_stays_valid() {
    let person = Person::new("port");
    let mut dev = person.up(&["--name", "dev", "--nodes", "0"]);
    let before = person.cluster("dev").unwrap()["server"].clone();
    let kubeconfig = text(person.kubeconfig("dev").as_ref());
    person.succeeds(&["create", "namespace", "kept", "--context", "gantry-dev"]);
    dev.signal("KILL");
    dev.end();
    assert_eq!(person.cluster("dev").unwrap()["status"], "stopped", "a killed cluster is noticed");
    let _again = person.up(&["--name", "dev", "--nodes", "0"]);
    assert_eq!(person.cluster("dev").unwrap()["server"], before);
    fs::write(person.file("copied"), kubeconfig).unwrap();
    let copied = person.file("copied").display().to_string();
    person.succeeds(&["get", "namespace", "kept", "--kubeconfig", &copied]);
}

#[test]
fn a_second_start_says_what_runs_already() {
    let person = Person::new("second");
    let dev = person.up(&["--name", "dev", "--nodes", "0"]);
    let url = person.cluster("dev").unwrap()["server"].as_str().unwrap().to_owned();
    for arguments in [&["up", "--name", "dev"][..], &["up", "--name", "dev", "--detach"]] {
        let said = person.fails(arguments);
        let expected = format!("error: cluster dev runs already: process {}, at {url}\nhint: ", dev.pid());
        assert!(said.starts_with(&expected), "{said}");
    }
}

/// The defect: the kubeconfig of the persistent cluster was overwritten.
#[test]
fn a_cluster_in_memory_touches_no_file_of_another() {
    let person = Person::new("memory");
    let _default = person.up(&with(&["--nodes", "0"]));
    let before = text(person.kubeconfig("gantry").as_ref());
    let mut memory = person.up(&["--in-memory", "--nodes", "0"]);
    assert_eq!(text(person.kubeconfig("gantry").as_ref()), before);
    let name = format!("memory-{}", memory.pid());
    let listed = person.cluster(&name).unwrap();
    assert_eq!((&listed["status"], &listed["inMemory"]), (&"running".into(), &true.into()));
    person.succeeds(&["get", "namespaces", "--context", &format!("gantry-{name}")]);
    person.succeeds(&["down", &name]);
    assert_eq!(memory.end(), Some(0));
    assert!(person.cluster(&name).is_none() && !person.data().join("clusters").join(&name).exists());
    let refused = person.fails(&["up", "--in-memory", "--name", "gantry"]);
    assert!(refused.contains("cluster gantry keeps its data in"), "{refused}");
}

#[test]
fn what_a_killed_cluster_in_memory_left_behind_is_removed() {
    let person = Person::new("abandoned");
    let mut memory = person.up(&["--in-memory", "--name", "brief", "--nodes", "0"]);
    memory.signal("KILL");
    memory.end();
    assert!(person.data().join("clusters/brief/kubeconfig").exists());
    assert!(person.cluster("brief").is_none());
    assert!(!person.data().join("clusters/brief").exists());
}

#[test]
fn a_cluster_is_deleted_when_it_is_stopped_and_meant() {
    let person = Person::new("delete");
    let mut dev = person.up(&["--name", "dev", "--nodes", "0"]);
    let said = person.fails(&["delete-cluster", "dev", "--yes"]);
    assert!(said.contains("cluster dev is running: process") && said.contains("gantry down dev"), "{said}");
    person.succeeds(&["down", "dev"]);
    dev.end();
    let said = person.fails(&["delete-cluster", "dev"]);
    assert!(said.contains("nothing was deleted") && said.contains("--yes"), "{said}");
    assert!(person.data().join("clusters/dev/LOCK").exists());
    assert_eq!(person.succeeds(&["delete-cluster", "dev", "--yes"]).out, "cluster dev was deleted\n");
    assert!(!person.data().join("clusters/dev").exists());
    let said = person.fails(&["delete-cluster", "dev", "--yes"]);
    assert!(said.contains("cluster dev does not exist"), "{said}");
}

#[test]
fn deleting_the_default_cluster_leaves_the_others() {
    let person = Person::new("delete-default");
    let mut default = person.up(&with(&["--nodes", "0"]));
    let _dev = person.up(&["--name", "dev", "--nodes", "0"]);
    person.succeeds(&["delete-cluster", "gantry", "--yes", "--force"]);
    assert_eq!(default.end(), Some(0), "--force stops it first");
    let names: Vec<_> = person.clusters().into_iter().map(|cluster| cluster["name"].clone()).collect();
    assert_eq!(names, ["dev"]);
    person.succeeds(&["get", "namespaces", "--context", "gantry-dev"]);
}

/// People who upgrade have their data in the directory that is now that of the cluster `gantry`.
#[test]
fn the_directory_of_earlier_versions_is_that_of_the_default_cluster() {
    let person = Person::new("upgrade");
    let data = person.data().display().to_string();
    let mut before = person.up(&with(&["--data-dir", &data, "--nodes", "0"]));
    let kubeconfig = person.data().join("kubeconfig").display().to_string();
    person.succeeds(&["create", "namespace", "old", "--kubeconfig", &kubeconfig]);
    person.succeeds(&["down", "--data-dir", &data]);
    before.end();
    let _after = person.up(&with(&["--nodes", "0"]));
    assert_eq!(person.kubeconfig("gantry"), kubeconfig);
    person.succeeds(&["get", "namespace", "old", "--kubeconfig", &kubeconfig]);
}
