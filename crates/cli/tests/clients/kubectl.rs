//! Sessions with kubectl: the one on the `PATH`, and the oldest that is still in use.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::running::InMemory;
use super::tool;

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'nginx:1'}
      - {name: side, image: 'side:1'}
";

/// Edits one field of a file.
const EDITOR: &str = "sed -i s/Hamburg/Bremen/";

/// A kubectl and the server that it uses.
pub(crate) struct Kubectl<'s> {
    pub(crate) binary: PathBuf,
    pub(crate) server: &'s InMemory,
}

/// The output of a command.
pub(crate) struct CommandOutput {
    pub(crate) text: String,
    pub(crate) is_success: bool,
}

#[test]
fn the_installed_kubectl_works_unmodified() {
    session(Path::new("kubectl"), "installed");
}

#[test]
fn the_oldest_kubectl_works_unmodified() {
    session(&tool("kubectl-1.20/usr/bin/kubectl"), "oldest");
}

fn session(binary: &Path, namespace: &str) {
    let server = InMemory::apiserver();
    let kubectl = Kubectl { binary: binary.to_owned(), server: &server };
    kubectl.prints(&["create", "namespace", namespace], &format!("namespace/{namespace} created"));
    kubectl.prints(&["config", "set-context", "--current", "--namespace", namespace], "modified");
    applies_and_reads(&kubectl);
    patches_in_every_way(&kubectl);
    watches_through_a_reconnect(&kubectl);
    deletes_with_every_policy(&kubectl);
    reports_errors(&kubectl);
}

/// Appendix D, checks 1 and 2: created, configured by a changed image and a removed container, unchanged.
fn applies_and_reads(kubectl: &Kubectl<'_>) {
    kubectl.prints_for(&["apply", "-f", "-"], WEB, "deployment.apps/web created");
    let changed = WEB.replace("nginx:1", "nginx:2").replace("      - {name: side, image: 'side:1'}\n", "");
    kubectl.prints_for(&["apply", "-f", "-"], &changed, "deployment.apps/web configured");
    kubectl.prints_for(&["apply", "-f", "-"], &changed, "deployment.apps/web unchanged");
    let images = "jsonpath={.spec.template.spec.containers[*].image}";
    assert_eq!(kubectl.run(&["get", "deployment", "web", "-o", images], "").text, "nginx:2");
    kubectl.prints(&["get", "deployments"], "NAME   READY   UP-TO-DATE   AVAILABLE   AGE");
    kubectl.prints(&["get", "deploy", "web", "-o", "wide"], "nginx:2");
    kubectl.prints(&["describe", "deployment", "web"], "25% max unavailable, 25% max surge");
    kubectl.prints(&["explain", "deployment.spec.strategy"], "rollingUpdate");
    kubectl.prints(&["api-resources"], "deployments");
    kubectl.prints(&["create", "deployment", "typed", "--image", "nginx:1"], "deployment.apps/typed created");
    kubectl.prints(&["get", "all"], "deployment.apps/typed");
    kubectl.prints(&["auth", "can-i", "create", "deployments"], "yes");
}

fn patches_in_every_way(kubectl: &Kubectl<'_>) {
    let patches = [
        ("strategic", r#"{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:3"}]}}}}"#),
        ("merge", r#"{"spec":{"replicas":3}}"#),
        ("json", r#"[{"op":"add","path":"/metadata/labels","value":{"by":"json"}}]"#),
    ];
    for (kind, patch) in patches {
        kubectl.prints(
            &["patch", "deployment", "web", "--type", kind, "-p", patch],
            "deployment.apps/web patched",
        );
    }
    let fields = "jsonpath={.spec.replicas} {.metadata.labels.by} {.spec.template.spec.containers[0].image}";
    assert_eq!(kubectl.run(&["get", "deployment", "web", "-o", fields], "").text, "3 json nginx:3");
    let applied = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: '1'}\n";
    kubectl.prints_for(
        &["apply", "--server-side", "-f", "-"],
        applied,
        "configmap/applied serverside-applied",
    );
    let other = ["apply", "--server-side", "--field-manager", "other", "-f", "-"];
    let conflict = kubectl.run(&other, &applied.replace("'1'", "'2'"));
    assert!(!conflict.is_success && conflict.text.contains("conflict"), "{}", conflict.text);
    kubectl.prints(&["scale", "deployment", "web", "--replicas", "5"], "deployment.apps/web scaled");
    kubectl.prints(&["set", "image", "deployment/web", "web=nginx:4"], "deployment.apps/web image updated");
    kubectl.prints(&["label", "deployment", "web", "tier=front"], "deployment.apps/web labeled");
    kubectl.prints(&["annotate", "deployment", "web", "note=here"], "deployment.apps/web annotated");
    kubectl.prints(&["rollout", "pause", "deployment/web"], "deployment.apps/web paused");
    kubectl.prints(&["rollout", "resume", "deployment/web"], "deployment.apps/web resumed");
}

/// The first watch times out after a second; the next one begins with all objects.
fn watches_through_a_reconnect(kubectl: &Kubectl<'_>) {
    for round in ["first", "second"] {
        kubectl.prints(&["create", "configmap", round], "created");
        let watched = kubectl.run(&["get", "configmaps", "-w", "--request-timeout", "1s"], "");
        assert!(watched.text.contains(round), "{}", watched.text);
    }
}

fn deletes_with_every_policy(kubectl: &Kubectl<'_>) {
    for (name, cascade) in [("a", "background"), ("b", "foreground"), ("c", "orphan")] {
        kubectl.prints(&["create", "deployment", name, "--image", "nginx:1"], "created");
        let cascade = format!("--cascade={cascade}");
        kubectl.prints(&["delete", "deployment", name, &cascade, "--wait=false"], "deleted");
    }
    assert!(kubectl.run(&["get", "deployment", "a"], "").text.contains("NotFound"));
    let finalizers = "jsonpath={.metadata.finalizers[0]}";
    assert_eq!(kubectl.run(&["get", "deployment", "b", "-o", finalizers], "").text, "foregroundDeletion");
    assert_eq!(kubectl.run(&["get", "deployment", "c", "-o", finalizers], "").text, "orphan");
}

fn reports_errors(kubectl: &Kubectl<'_>) {
    let unknown =
        kubectl.run(&["create", "-f", "-"], &WEB.replace("replicas", "replica").replace("web", "w"));
    assert!(!unknown.is_success && unknown.text.contains("replica"), "{}", unknown.text);
    let invalid =
        kubectl.run(&["create", "-f", "-"], &WEB.replace("replicas: 2", "replicas: -2").replace("web", "w"));
    assert!(
        !invalid.is_success && invalid.text.contains("must be greater than or equal to 0"),
        "{}",
        invalid.text
    );
}

impl Kubectl<'_> {
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("KUBECONFIG", self.server.kubeconfig());
        // Its discovery cache must not outlive the server.
        command.env("HOME", self.server.folder()).env("EDITOR", EDITOR);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> CommandOutput {
        let mut child = self.start(arguments);
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        CommandOutput {
            text: String::from_utf8_lossy(&printed).into_owned(),
            is_success: output.status.success(),
        }
    }

    pub(crate) fn prints(&self, arguments: &[&str], expected: &str) {
        self.prints_for(arguments, "", expected);
    }

    /// Runs a command with this input, and expects it to succeed and to print a text.
    pub(crate) fn prints_for(&self, arguments: &[&str], input: &str, expected: &str) {
        let output = self.run(arguments, input);
        let is_expected = output.is_success && output.text.contains(expected);
        assert!(is_expected, "{} {arguments:?} printed:\n{}", self.binary.display(), output.text);
    }
}
