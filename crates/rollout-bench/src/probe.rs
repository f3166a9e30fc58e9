//! The latency of single reads and writes while the server is under load: one small object, repeatedly read and patched.

use std::time::{Duration, Instant};

use gantry_json::json;
use http::Method;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::connection::{ApiRequest, Connection, JSON};
use crate::workload::create_namespace;

/// The namespace of the object.
pub(crate) const NAMESPACE: &str = "rollout-probe";

/// The pause after each request.
const PAUSE: Duration = Duration::from_millis(50);

/// A running probe.
pub(crate) struct Probe {
    stop: watch::Sender<bool>,
    reads: JoinHandle<Vec<Duration>>,
    writes: JoinHandle<Vec<Duration>>,
}

/// The latencies of the requests.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    pub(crate) reads: Vec<Duration>,
    pub(crate) writes: Vec<Duration>,
}

/// Creates the object.
pub(crate) async fn prepare(connection: &Connection) -> Result<(), String> {
    connection.send_ok(&create_namespace(NAMESPACE)).await?;
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}).to_string();
    connection.send_ok(&ApiRequest::new(Method::POST, collection(), JSON, object)).await?;
    Ok(())
}

impl Probe {
    /// Begins to read and to write.
    pub(crate) fn start(connection: &Connection) -> Self {
        let (stop, stopped) = watch::channel(false);
        let path = format!("{}/probe", collection());
        let get = ApiRequest::get(path.clone());
        let reads = repeat(connection.clone(), stopped.clone(), move |_| get.clone());
        let writes = repeat(connection.clone(), stopped, move |number| {
            let body = json!({"data": {"number": number.to_string()}}).to_string();
            ApiRequest::new(Method::PATCH, path.clone(), "application/merge-patch+json", body)
        });
        Self { stop, reads: tokio::spawn(reads), writes: tokio::spawn(writes) }
    }

    /// Ends after the requests in flight, and returns the latencies.
    pub(crate) async fn stop(self) -> Probed {
        self.stop.send_replace(true);
        Probed { reads: self.reads.await.unwrap_or_default(), writes: self.writes.await.unwrap_or_default() }
    }
}

/// Sends one request after the other until it is stopped. The latency of a failed request counts too.
async fn repeat(
    connection: Connection,
    mut stopped: watch::Receiver<bool>,
    request: impl Fn(usize) -> ApiRequest,
) -> Vec<Duration> {
    let mut latencies = Vec::new();
    while !*stopped.borrow() {
        let request = request(latencies.len());
        let began = Instant::now();
        if let Err(error) = connection.send_ok(&request).await {
            crate::complain(&error);
        }
        latencies.push(began.elapsed());
        tokio::select! {
            _ = stopped.changed() => {}
            () = sleep(PAUSE) => {}
        }
    }
    latencies
}

fn collection() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}
