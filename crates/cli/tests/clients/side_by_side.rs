//! The output of kubectl and gantry on one cluster: the same bytes and the same errors.
//!
//! The installed kubectl is older than the version whose output is expected, so the scene omits what has changed since.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::mask::masked;
use super::running::InMemory;
use super::script;

const EXPLAINED: &[&str] = &[
    "deployment",
    "deployment.spec",
    "deployment.spec.strategy --recursive",
    "deploy.spec.strategy.type",
    "deploy.spec.selector.matchLabels",
    "deployment. --api-version=apps/v1",
    "deployments.apps.spec",
    "pod --recursive",
    "pod.spec.containers.env",
    "pod.spec.containers.resources.limits",
    "pod.status.phase",
    "service.spec",
    "hpa --api-version=autoscaling/v1",
    "pod.spec.nope",
    "pod.spec.containers.image.x",
    "deployments.v1.apps",
    "deploy --api-version=apps/v2",
    "nope",
    "pod deployment",
    "deploy -o foo",
    "deploy.spec.strategy -o plaintext-openapiv2",
    "pod.spec.containers -o plaintext-openapiv2",
    "pod --recursive -o plaintext-openapiv2",
    "pod.nope -o plaintext-openapiv2",
];

const LISTED: &[&str] = &[
    "api-resources",
    "api-resources -o wide",
    "api-resources -o name",
    "api-resources -o json",
    "api-resources --api-group=apps",
    "api-resources --api-group=nope",
    "api-resources --namespaced=false",
    "api-resources --verbs=list,delete --no-headers",
    "api-resources --sort-by=kind",
    "api-resources --sort-by=foo",
    "api-resources --categories=all",
    "api-resources more",
    "version -o foo",
    "version more",
];

const INSPECTED: &[&str] = &[
    "get pods",
    "get pods -A -o wide",
    "get pods -o name",
    "get pods -o json",
    "get pods --show-labels -L app",
    "get pods --sort-by=.metadata.name --chunk-size=2",
    "get pods -l app=web --no-headers",
    "get pods --field-selector=status.phase=Running",
    "get pods -o custom-columns=N:.metadata.name,I:.spec.containers[*].image",
    "get deployment web -o yaml",
    "get deployment web -o jsonpath={.spec.replicas}",
    "get deployments,replicasets,pods",
    "get all",
    "get nodes -o wide",
    "get namespaces",
    "get pods crash nope",
    "get nope",
    "describe pod crash",
    "describe pod pull",
    "describe pod pending",
    "describe pod done",
    "describe pods -l app=web --show-events=true",
    "describe node node-1",
    "describe node node-2",
    "describe deployment web",
    "describe replicaset bare",
    "describe replicasets -l app=web --show-events=true",
    "describe secret sec",
    "describe pod nope",
    "logs done",
    "logs done c --timestamps",
    "logs pod/done --tail=1 --prefix",
    "logs done --limit-bytes=5",
    "logs done --since=1h",
    "logs done --tail=-2",
    "logs done c -c c",
    "logs done --all-containers -c c",
    "logs -l app=nope",
    "logs -l a=b -c d",
    "logs pull",
    "logs pending",
    "logs done --previous",
    "logs configmap/kube-root-ca.crt",
    "exec done",
    "exec nope -- ls",
    "exec done -- ls",
    "exec cm/kube-root-ca.crt -- ls",
    "attach done",
    "attach",
    "port-forward done 80",
    "port-forward nope 80",
    "port-forward pull x",
    "cp a b",
    "cp nothing-here done:/a",
    "cp a: b",
];

const CUSTOM: &[&str] = &[
    "get boats",
    "get bt -o wide",
    "get boats -A --show-labels",
    "get boat anna -o yaml",
    "get boats -o json",
    "get boats.v1.sea.example.com anna",
    "get boat/anna nope",
    "get fleet",
    "get all",
    "get boats,services",
    "get boats --sort-by=.spec.crew -o custom-columns=N:.metadata.name,C:.spec.crew",
    "get boats --sort-by=.spec.crew -o name",
    "get boats --field-selector=spec.crew=3",
    "get boat bertha -o yaml",
    "get boat bertha -o json",
    "get boat bertha -o jsonpath={.spec.log}",
    "get boat bertha -o custom-columns=N:.spec.log.knots,G:.spec.log.grid,X:.spec.log.x-mark,L:.metadata.labels",
    "describe boat bertha",
    "apply -f BERTHA",
    "diff -f BERTHA",
    "get crd boats.sea.example.com -o yaml",
    "get crd -o wide",
    "describe boat anna",
    "describe crd boats.sea.example.com",
    "describe bt nope",
    "explain boat",
    "explain boat --recursive",
    "explain bt.spec.sails",
    "explain boats.spec.sails.area",
    "explain boat.spec.nope",
    "explain boat --api-version=sea.example.com/v1",
    "explain boat.spec -o plaintext-openapiv2",
    "explain crd.spec.names",
    "api-resources --api-group=sea.example.com -o wide",
    "api-resources --categories=fleet",
    "wait --for=condition=Established crd/boats.sea.example.com",
    "wait --for=jsonpath={.spec.crew}=3 boat/anna",
    "wait --for=condition=Sailing --timeout=0 boat/anna",
    "diff -f ANNA",
    "apply -f ANNA",
    "apply -f ANNA --dry-run=server",
    "apply -f ANNA --server-side",
    "create -f ANNA",
    "replace -f ANNA",
    "label boat anna tier=front",
    "annotate boat anna note=here --overwrite",
    "patch boat anna --type=merge -p={\"spec\":{\"crew\":3}}",
    "patch boat anna --type=merge -p={\"spec\":{\"crew\":30}}",
    "scale boat anna --replicas=3",
    "events --for=boat/anna",
    "delete boat nope",
];

/// The attempts to run both within one second, because the output has ages in it.
const TRIES: usize = 40;
/// From this duration on, ages are not compared: on a busy machine, the two runs may be too far apart.
const AGES_DIFFER: Duration = Duration::from_millis(500);
/// The timeout until all pods have the expected problems.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The output of a command.
#[derive(Debug, PartialEq)]
pub(super) struct CommandOutput {
    pub(super) out: String,
    pub(super) err: String,
    pub(super) is_success: bool,
}

impl CommandOutput {
    /// The output without ages, and without the width of columns with ages.
    fn without_ages(&self) -> Self {
        let masked = |text: &str| text.lines().map(masked).collect::<Vec<_>>().join("\n");
        Self { out: masked(&self.out), err: masked(&self.err), is_success: self.is_success }
    }
}

/// K0.1, K0.3, K2, K3: exactly the same output as kubectl.
#[test]
fn gantry_prints_the_same_as_kubectl() {
    let server = InMemory::cluster_of(2);
    for command in LISTED {
        prints_the_same(&server, command);
    }
    for words in EXPLAINED {
        prints_the_same(&server, &format!("explain {words}"));
    }
    let scene = script("scene.yaml");
    let applied = run(&server, env!("CARGO_BIN_EXE_gantry"), &format!("apply -f {}", scene.display()));
    assert!(applied.is_success, "{applied:?}");
    let taint = r#"{"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}}"#;
    let tainted = start(&server, env!("CARGO_BIN_EXE_gantry"), &["patch", "node", "node-2", "-p", taint]);
    assert!(output_of(tainted).is_success);
    wait_for_trouble(&server);
    for command in INSPECTED {
        prints_the_same(&server, command);
    }
}

/// K0.1, K1.3, K2, K3, Appendix E: the same for reads and writes of a custom kind.
#[test]
fn gantry_prints_the_same_as_kubectl_for_custom_kinds() {
    let server = InMemory::apiserver();
    let anna = script("anna.yaml").display().to_string();
    let bertha = script("bertha.yaml").display().to_string();
    for file in [&script("boats.yaml").display().to_string(), &anna, &bertha] {
        let applied = run(&server, env!("CARGO_BIN_EXE_gantry"), &format!("apply -f {file}"));
        assert!(applied.is_success, "{applied:?}");
    }
    for command in CUSTOM {
        prints_the_same(&server, &command.replace("ANNA", &anna).replace("BERTHA", &bertha));
    }
}

#[test]
fn the_versions_of_client_and_server_are_reported() {
    let server = InMemory::apiserver();
    let ours = run(&server, env!("CARGO_BIN_EXE_gantry"), "version");
    let theirs = run(&server, "kubectl", "version");
    let line = |version: &CommandOutput| {
        version.out.lines().find(|line| line.starts_with("Server Version")).map(str::to_owned)
    };
    assert!(ours.out.starts_with("Client Version: v"), "{ours:?}");
    assert!(line(&ours).is_some() && line(&ours) == line(&theirs), "{ours:?}\n{theirs:?}");
    let client = run(&server, env!("CARGO_BIN_EXE_gantry"), "version --client -o yaml");
    assert!(
        client.out.starts_with("clientVersion:\n") && !client.out.contains("serverVersion"),
        "{client:?}"
    );
}

pub(super) fn prints_the_same(server: &InMemory, command: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let mut last = None;
    for _ in 0..TRIES {
        let began = Instant::now();
        let (ours, theirs) =
            (start(server, env!("CARGO_BIN_EXE_gantry"), &words), start(server, "kubectl", &words));
        let (ours, theirs) = (output_of(ours), output_of(theirs));
        let is_slow = began.elapsed() >= AGES_DIFFER;
        if ours == theirs || (is_slow && ours.without_ages() == theirs.without_ages()) {
            return;
        }
        last = Some((ours, theirs));
    }
    let (ours, theirs) = last.unwrap();
    panic!(
        "{command}\n--- gantry: {}\n{}{}\n--- kubectl: {}\n{}{}",
        ours.is_success, ours.out, ours.err, theirs.is_success, theirs.out, theirs.err
    );
}

/// Waits until every pod of the scene has its final state, so that only ages change.
fn wait_for_trouble(server: &InMemory) {
    let began = Instant::now();
    loop {
        let pods = run(server, env!("CARGO_BIN_EXE_gantry"), "get pods --no-headers").out;
        let is =
            |name: &str, state: &str| pods.lines().any(|line| line.starts_with(name) && line.contains(state));
        let all_run =
            pods.lines().filter(|line| line.starts_with("web-")).all(|line| line.contains("Running"));
        let troubled = [
            ("crash ", "CrashLoopBackOff"),
            ("pull ", "ImagePullBackOff"),
            ("done ", "Completed"),
            ("pending ", "Pending"),
            ("bare-", "Running"),
        ];
        if all_run && troubled.iter().all(|(name, state)| is(name, state)) {
            return;
        }
        assert!(began.elapsed() < TIMEOUT, "the scene is not ready:\n{pods}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

pub(super) fn run(server: &InMemory, binary: &str, command: &str) -> CommandOutput {
    output_of(start(server, binary, &command.split(' ').collect::<Vec<_>>()))
}

fn start(server: &InMemory, binary: &str, words: &[&str]) -> Child {
    let mut command = Command::new(Path::new(binary));
    command.args(words).env("KUBECONFIG", server.kubeconfig()).env("HOME", server.folder());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn output_of(child: Child) -> CommandOutput {
    let output = child.wait_with_output().unwrap();
    // A line about nodes that newer versions of kubectl omit.
    let is_kept = |line: &&str| !line.starts_with("  Kube-Proxy Version:");
    let out = String::from_utf8_lossy(&output.stdout);
    CommandOutput {
        out: out.split_inclusive('\n').filter(is_kept).collect(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        is_success: output.status.success(),
    }
}
