//! The manifests of `deploy/` applied to a server, and the real binary run with the account that they define.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use gantry_json::{Value, json};
use gantry_schema::decode::{Format, plain};
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::config::Kubeconfig;
use kube::{Client, ResourceExt as _};

use crate::running::Process;

/// The timeout of each wait: a lease has to expire, and the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(90);

/// A process of `gantry controllers`.
pub(crate) struct Replica {
    process: Process,
    log: PathBuf,
    address: String,
}

impl Replica {
    /// Starts a process that writes its log to this file, and waits until it serves `/healthz`.
    pub(crate) async fn start(kubeconfig: &Path, log: &Path) -> Self {
        let arguments = ["controllers", "--leader-elect", "--bind-address", "127.0.0.1:0", "--kubeconfig"];
        let process = Process::start(&arguments, |command| {
            command.arg(kubeconfig).stderr(std::fs::File::create(log).unwrap());
            command.env("GANTRY_LOG", "info,gantry_controllers=debug,gantry_runtime=debug");
        });
        let mut replica = Self { process, log: log.to_owned(), address: String::new() };
        replica.address = eventually("an address for /healthz", async || {
            let log = replica.logged();
            let (_, address) = log.split_once("serving /healthz and /metrics address=")?;
            Some(address.lines().next().unwrap_or_default().to_owned())
        })
        .await;
        replica
    }

    /// The log so far.
    pub(crate) fn logged(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// The log lines about forbidden requests.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.logged().lines().filter(|line| line.contains("forbidden: User")).map(str::to_owned).collect()
    }

    /// Whether it reports that it holds the lease.
    pub(crate) fn leads(&self) -> bool {
        self.get("/metrics").contains("leader_election_master_status{name=\"gantry-controllers\"} 1\n")
    }

    /// The number of its requests with this label: the code of the response, or the method.
    pub(crate) fn requests(&self, label: &str, value: &str) -> u64 {
        let wanted = format!("{label}=\"{value}\"");
        let metrics = self.get("/metrics");
        let lines = metrics.lines().filter(|line| line.starts_with("rest_client_requests_total"));
        let counts = lines.filter(|line| line.contains(&wanted)).filter_map(|line| line.rsplit(' ').next());
        counts.map(|count| count.parse::<u64>().unwrap()).sum()
    }

    /// Sends a request to its own endpoint.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    /// Ends it like a crash.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Stops it until it is resumed.
    pub(crate) fn stop(&self) {
        self.process.signal("STOP");
    }

    /// Resumes it after a stop.
    pub(crate) fn resume(&self) {
        self.process.signal("CONT");
    }

    /// Requests its end, and waits until it has ended.
    pub(crate) async fn terminate(&mut self) -> ExitStatus {
        self.process.signal("TERM");
        eventually("the end of the process", async || self.process.ended()).await
    }
}

impl Drop for Replica {
    /// Shows the log of a replica in a failed test.
    #[expect(clippy::print_stdout, reason = "the output of a test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the log of {}:\n{}", self.log.display(), self.logged());
        }
    }
}

/// Waits until the function returns a value.
pub(crate) async fn eventually<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = check().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("timed out waiting for {what}"))
}

/// Creates the objects of a manifest of `deploy/`, under strict validation.
pub(crate) async fn apply(client: &Client, manifest: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(manifest);
    let text = std::fs::read_to_string(&file).unwrap();
    for document in text.split("\n---\n") {
        let (object, findings) = plain(document.as_bytes(), Format::Yaml).unwrap();
        assert!(findings.is_empty(), "{manifest}: {findings:?}");
        let request = http::Request::post(format!("{}?fieldValidation=Strict", collection(&object)))
            .header("content-type", "application/json")
            .body(object.to_string().into_bytes())
            .unwrap();
        let created = client.request::<Value>(request).await;
        created.unwrap_or_else(|error| panic!("{manifest}: {}: {error}", object["metadata"]["name"]));
    }
}

/// The path of the collection of this object. The plurals in `deploy/` are all regular.
fn collection(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]).to_lowercase());
    let root = if version.contains('/') { "apis" } else { "api" };
    let namespace = object["metadata"]["namespace"].as_str();
    let place = namespace.map_or_else(String::new, |namespace| format!("/namespaces/{namespace}"));
    format!("/{root}/{version}{place}/{kind}s")
}

/// Writes a kubeconfig for the account of `deploy/account.yaml`, with the server of the administrator's and a token.
pub(crate) async fn kubeconfig_of_account(client: &Client, administrators: &Path, file: &Path) {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "kube-system");
    let request: TokenRequest =
        gantry_json::from_value(json!({"spec": {"audiences": [], "expirationSeconds": 3600}})).unwrap();
    let response =
        accounts.create_token_request("gantry-controllers", &PostParams::default(), &request).await;
    let token = response.unwrap().status.unwrap().token;
    let cluster = Kubeconfig::read_from(administrators).unwrap().clusters.remove(0).cluster.unwrap();
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {
            "server": cluster.server, "certificate-authority-data": cluster.certificate_authority_data,
        }}],
        "users": [{"name": "it", "user": {"token": token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    });
    std::fs::write(file, kubeconfig.to_string()).unwrap();
}

/// Acts as the kubelet for as long as it is polled: every pod is running and ready.
pub(crate) async fn kubelet(client: Client) {
    let ready = Patch::Strategic(json!({"status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
    }}));
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        // The server may be stopped for a while; a kubelet waits for it.
        let Ok(pods) = Api::<Pod>::all(client.clone()).list(&ListParams::default()).await else { continue };
        for pod in pods.items.iter().filter(|pod| !is_running(pod)) {
            let api: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
            // The pod may have been deleted.
            let _ = api.patch_status(&pod.name_any(), &PatchParams::default(), &ready).await;
        }
    }
}

fn is_running(pod: &Pod) -> bool {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running")
}
