//! Writes to a cluster that was not named print which one it is.

use super::user_home::UserHome;

#[test]
fn a_change_of_an_unnamed_cluster_prints_its_name() {
    let user_home = UserHome::new("by-default");
    let _dev = user_home.up(&["--name", "dev", "--nodes", "0"]);
    let dev = user_home.cluster("dev").unwrap();
    let (server, kubeconfig) = (dev["server"].as_str().unwrap(), user_home.kubeconfig("dev"));
    let notice = format!("Using context \"gantry-dev\" of {kubeconfig}: {server}\n");
    let output = user_home.succeeds(&["create", "deployment", "web", "--image=nginx:1"]);
    assert_eq!((output.out.as_str(), output.err), ("deployment.apps/web created\n", notice.clone()));
    let changes: [&[&str]; 5] = [
        &["scale", "deployment/web", "--replicas=2"],
        &["set", "image", "deployment/web", "nginx=nginx:2"],
        &["label", "deployment", "web", "tier=gold"],
        &["rollout", "pause", "deployment/web"],
        &["delete", "deployment", "web", "--wait=false"],
    ];
    for change in changes {
        assert_eq!(user_home.succeeds(change).err, notice, "{change:?}");
    }
    std::fs::create_dir_all(user_home.file(".kube")).unwrap();
    std::fs::copy(&kubeconfig, user_home.file(".kube/config")).unwrap();
    let output = user_home.succeeds(&["create", "namespace", "shop"]);
    assert!(output.err.contains("/.kube/config: https://"), "{output:?}");
}

#[test]
fn reads_dry_runs_and_named_clusters_print_no_note() {
    let user_home = UserHome::new("silent");
    let _dev = user_home.up(&["--name", "dev", "--nodes", "0"]);
    let kubeconfig = user_home.kubeconfig("dev");
    let silent: [&[&str]; 6] = [
        &["get", "namespaces"],
        &["create", "namespace", "a", "--dry-run=client"],
        &["create", "namespace", "a", "--dry-run=server"],
        &["delete", "serviceaccount", "default", "--dry-run=server"],
        &["create", "namespace", "b", "--context", "gantry-dev"],
        &["create", "namespace", "c", "--kubeconfig", &kubeconfig],
    ];
    for command in silent {
        assert_eq!(user_home.succeeds(command).err, "", "{command:?}");
    }
    let mut by_variable = user_home.command(env!("CARGO_BIN_EXE_gantry"));
    let output =
        by_variable.args(["create", "namespace", "d"]).env("KUBECONFIG", &kubeconfig).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn one_of_several_clusters_must_be_named() {
    let user_home = UserHome::new("several");
    let _one = user_home.up(&["--name", "one", "--nodes", "0"]);
    let _two = user_home.up(&["--name", "two", "--nodes", "0"]);
    let output = user_home.fails(&["get", "namespaces"]);
    assert!(output.contains("--context; there is gantry-one, gantry-two"), "{output}");
}
