//! The server under attack: its process, its address, and the statistics of its resources.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_json::{Value, json};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::case::Message;
use crate::connection::{Connection, Endpoint};

/// The namespace of all objects of the attack.
pub(crate) const NAMESPACE: &str = "attack";
const KUBECONFIG: &str = "kubeconfig";
const PKI: &str = "pki";
const START_LIMIT: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_millis(50);

/// A running server, killed when it is dropped.
pub(crate) struct ServerProcess {
    child: Child,
    log: PathBuf,
    directory: PathBuf,
}

/// How to connect to the server: its address, and a certificate if any.
pub(crate) struct Access {
    /// With the administrator's certificate.
    pub(crate) admin: Endpoint,
    /// Without a certificate: anonymous, or with a token.
    pub(crate) plain: Endpoint,
}

impl ServerProcess {
    /// Starts the binary with an empty cluster in memory on a free port. Its files are below `directory`.
    pub(crate) fn start(binary: &Path, directory: &Path, nodes: usize) -> Result<Self, String> {
        let failed = |what: &str, error: &dyn std::fmt::Display| format!("cannot {what}: {error}");
        // Files of the previous server, if it exited.
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory)
            .map_err(|error| failed(&format!("create {}", directory.display()), &error))?;
        let log = directory.join("log");
        let output = File::create(&log).map_err(|error| failed("create the log", &error))?;
        let copy = output.try_clone().map_err(|error| failed("share the log", &error))?;
        let child = Command::new(binary)
            .args(["up", "--in-memory", "--name", "attacked", "--listen", "127.0.0.1:0", "--quiet"])
            .args(["--nodes", &nodes.to_string()])
            .arg("--write-kubeconfig")
            .arg(directory.join(KUBECONFIG))
            .arg("--pki-dir")
            .arg(directory.join(PKI))
            .env("XDG_DATA_HOME", directory)
            .env("HOME", directory)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(copy)
            .spawn()
            .map_err(|error| failed(&format!("start {}", binary.display()), &error))?;
        Ok(Self { child, log, directory: directory.to_owned() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server is ready and returns how to reach it.
    pub(crate) async fn ready(&mut self) -> Result<Access, String> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.exit_status() {
                return Err(format!("the server ended with {status}: {}", self.log_tail()));
            }
            if let Some(access) = access(&self.directory)
                && let Ok(mut connection) = Connection::open(&access.admin).await
                && let Ok(response) = connection.send(&Message::get("/readyz"), "").await
                && response.status == 200
            {
                return Ok(access);
            }
            self.pause(started).await?;
        }
    }

    async fn pause(&self, started: Instant) -> Result<(), String> {
        if started.elapsed() > START_LIMIT {
            return Err(format!("the server was not ready in time: {}", self.log_tail()));
        }
        tokio::time::sleep(RETRY).await;
        Ok(())
    }

    /// Returns the exit status of the process, if it exited.
    pub(crate) fn exit_status(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns the lines of the log about panics, each with the line after it.
    pub(crate) fn panic_lines(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let is_panic = |line: &str| line.contains("panicked at") || line.contains("overflowed its stack");
        let found = lines.iter().enumerate().filter(|(_, line)| is_panic(line));
        found.map(|(index, line)| format!("{line} {}", lines.get(index + 1).unwrap_or(&""))).collect()
    }

    /// Returns the end of the log.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the address from the kubeconfig that the server writes last, and the certificates from its directory.
fn access(directory: &Path) -> Option<Access> {
    let kubeconfig = fs::read_to_string(directory.join(KUBECONFIG)).ok()?;
    let address = address(&kubeconfig)?;
    let file = |name: &str| fs::read(directory.join(PKI).join(name)).ok();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&file("ca.crt")?).ok()?).ok()?;
    let certificate = CertificateDer::from_pem_slice(&file("admin.crt")?).ok()?;
    let key = PrivateKeyDer::from_pem_slice(&file("admin.key")?).ok()?;
    let builder = || ClientConfig::builder().with_root_certificates(roots.clone());
    let admin = builder().with_client_auth_cert(vec![certificate], key).ok()?;
    let endpoint = |tls: ClientConfig| Endpoint { address: address.clone(), tls: Arc::new(tls) };
    Some(Access { admin: endpoint(admin), plain: endpoint(builder().with_no_client_auth()) })
}

/// Returns the host and port in a kubeconfig.
fn address(kubeconfig: &str) -> Option<String> {
    let line = kubeconfig.lines().find_map(|line| line.trim().strip_prefix("server:"))?;
    line.trim().trim_matches('"').strip_prefix("https://").map(str::to_owned)
}

/// Creates a service account with all permissions that is not an administrator, and returns a token of it.
pub(crate) async fn create_account(admin: &mut Connection, name: &str) -> Result<String, String> {
    let account = json!({"metadata": {"name": name}});
    expect(admin, "POST", &format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"), &account).await?;
    let binding = json!({
        "metadata": {"name": format!("{NAMESPACE}-{name}")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
    });
    expect(admin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}/token");
    let response = expect(admin, "POST", &path, &json!({"spec": {"expirationSeconds": 86400}})).await?;
    response["status"]["token"].as_str().map(str::to_owned).ok_or_else(|| format!("no token in {response}"))
}

/// Sends a request that must succeed.
pub(crate) async fn expect(
    connection: &mut Connection,
    method: &'static str,
    path: &str,
    body: &Value,
) -> Result<Value, String> {
    let content_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let mut message = Message::new(method, path);
    if !body.is_null() {
        message = message.with(content_type, body.to_string().into_bytes());
    }
    let response =
        connection.send(&message, "").await.map_err(|error| format!("{method} {path}: {error}"))?;
    if !(200..300).contains(&response.status) {
        return Err(format!("{method} {path}: {} {}", response.status, response.text()));
    }
    Ok(gantry_json::from_slice(&response.body).unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_a_kubeconfig() {
        let text = "clusters:\n- cluster:\n    server: https://127.0.0.1:7001\n";
        assert_eq!(address(text).as_deref(), Some("127.0.0.1:7001"));
        assert_eq!(address("server: http://a"), None);
    }
}
