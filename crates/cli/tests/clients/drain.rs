//! `kubectl drain` on simulated nodes, and the warnings about kinds that no controller acts on.

use std::path::Path;
use std::time::{Duration, Instant};

use super::kubectl::Kubectl;
use super::running::InMemory;

/// The timeout of each wait, long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(180);

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
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let printed = kubectl.run(arguments, "").text;
        if printed == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{arguments:?} prints {printed:?} instead of {expected:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A8.7, A8.8: the pods are evicted one by one, each when the replacement of the previous one is ready.
#[test]
fn draining_a_node_evicts_its_pods_as_the_budget_allows() {
    let server = InMemory::cluster_of(2);
    let kubectl = Kubectl { binary: Path::new("kubectl").to_owned(), server: &server };
    kubectl.prints_for(&["apply", "-f", "-"], BUDGET, "poddisruptionbudget.policy/web created");
    kubectl.prints(&["create", "deployment", "web", "--image=nginx:1", "--replicas=4"], "created");
    let allowed = ["get", "pdb", "web", "-o", "jsonpath={.status.disruptionsAllowed}/{.status.expectedPods}"];
    eventually(&kubectl, &allowed, "1/4");
    let nodes = kubectl.run(&["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"], "").text;
    let node = nodes.split(' ').next().unwrap();
    kubectl.prints(&["drain", node, "--ignore-daemonsets", "--timeout=180s"], "drained");
    let here = ["get", "pods", "--field-selector", &format!("spec.nodeName={node}"), "-o", "name"];
    assert_eq!(kubectl.run(&here, "").text, "");
    eventually(&kubectl, &allowed, "1/4");
}

/// A budget that allows no disruptions keeps a drain waiting, and kubectl prints that it would be violated.
#[test]
fn a_drain_waits_while_the_budget_forbids_it() {
    let server = InMemory::cluster_of(1);
    let kubectl = Kubectl { binary: Path::new("kubectl").to_owned(), server: &server };
    let strict = BUDGET.replace("maxUnavailable: 1", "maxUnavailable: 0");
    kubectl.prints_for(&["apply", "-f", "-"], &strict, "poddisruptionbudget.policy/web created");
    kubectl.prints(&["create", "deployment", "web", "--image=nginx:1"], "created");
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
        kubectl.prints_for(create, JOB, warning);
        kubectl.prints(&["delete", "job", "once", "--cascade=orphan"], "deleted");
    }
    let budget = kubectl.run(&["create", "-f", "-"], BUDGET);
    assert!(budget.is_success && !budget.text.contains("Warning"), "{}", budget.text);
}
