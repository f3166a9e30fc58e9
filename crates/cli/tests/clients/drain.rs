//! `kubectl drain` on simulated nodes, and what kubectl is told about kinds that no controller acts on.

use std::path::Path;
use std::time::{Duration, Instant};

use super::kubectl::Kubectl;
use super::running::InMemory;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

const BUDGET: &str = "\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
";
const JOB: &str = "\
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: once, image: 'busybox:1'}]
";

/// Waits until this command prints exactly this.
fn eventually(kubectl: &Kubectl<'_>, arguments: &[&str], expected: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let said = kubectl.run(arguments, "").text;
        if said == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{arguments:?} says {said:?} instead of {expected:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A8.7, A8.8: the pods go one by one, each when the replacement of the one before is ready.
#[test]
fn draining_a_node_evicts_its_pods_as_the_budget_allows() {
    let server = InMemory::cluster_of(2);
    let kubectl = Kubectl { binary: Path::new("kubectl").to_owned(), server: &server };
    kubectl.reads(&["apply", "-f", "-"], BUDGET, "poddisruptionbudget.policy/web created");
    kubectl.says(&["create", "deployment", "web", "--image=nginx:1", "--replicas=4"], "created");
    let allowed = ["get", "pdb", "web", "-o", "jsonpath={.status.disruptionsAllowed}/{.status.expectedPods}"];
    eventually(&kubectl, &allowed, "1/4");
    let nodes = kubectl.run(&["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"], "").text;
    let node = nodes.split(' ').next().unwrap();
    kubectl.says(&["drain", node, "--ignore-daemonsets", "--timeout=180s"], "drained");
    let here = ["get", "pods", "--field-selector", &format!("spec.nodeName={node}"), "-o", "name"];
    assert_eq!(kubectl.run(&here, "").text, "");
    eventually(&kubectl, &allowed, "1/4");
}

/// A budget that allows nothing keeps a drain waiting, and kubectl says which budget it is.
#[test]
fn a_drain_waits_while_the_budget_forbids_it() {
    let server = InMemory::cluster_of(1);
    let kubectl = Kubectl { binary: Path::new("kubectl").to_owned(), server: &server };
    let strict = BUDGET.replace("maxUnavailable: 1", "maxUnavailable: 0");
    kubectl.reads(&["apply", "-f", "-"], &strict, "poddisruptionbudget.policy/web created");
    kubectl.says(&["create", "deployment", "web", "--image=nginx:1"], "created");
    let counts = "jsonpath={.status.disruptionsAllowed}/{.status.currentHealthy}";
    eventually(&kubectl, &["get", "pdb", "web", "-o", counts], "0/1");
    let node = kubectl.run(&["get", "nodes", "-o", "jsonpath={.items[0].metadata.name}"], "").text;
    let drained = kubectl.run(&["drain", &node, "--timeout=30s"], "");
    assert!(!drained.is_success, "{}", drained.text);
    assert!(drained.text.contains("would violate the pod's disruption budget"), "{}", drained.text);
}

/// A wait for a Job would hang: its creation returns a warning, unless it is a dry run.
#[test]
fn creating_an_object_that_no_controller_acts_on_is_warned_of() {
    let server = InMemory::cluster_of(1);
    let kubectl = Kubectl { binary: Path::new("kubectl").to_owned(), server: &server };
    let warning = "Warning: no controller for Job objects runs in this cluster: this one is stored, but no pods are \
                   created for it and it never completes";
    let tried = kubectl.run(&["create", "--dry-run=server", "-f", "-"], JOB);
    assert!(tried.is_success && !tried.text.contains("Warning"), "{}", tried.text);
    for create in [&["create", "-f", "-"][..], &["apply", "--server-side", "-f", "-"]] {
        kubectl.reads(create, JOB, warning);
        kubectl.says(&["delete", "job", "once", "--cascade=orphan"], "deleted");
    }
    let budget = kubectl.run(&["create", "-f", "-"], BUDGET);
    assert!(budget.is_success && !budget.text.contains("Warning"), "{}", budget.text);
}
