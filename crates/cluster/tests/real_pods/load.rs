//! A steady load of HTTP requests, each on its own connection, and their results.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The number of clients.
const CLIENTS: usize = 6;
/// The pause of a client between two requests.
const PAUSE: Duration = Duration::from_millis(4);
/// A request that takes longer has failed, because no server received it.
const RESPONSE_MAX: Duration = Duration::from_secs(20);

/// Clients that send requests until they are stopped.
pub(crate) struct Load {
    clients: JoinSet<()>,
    results: Arc<Results>,
}

#[derive(Default)]
struct Results {
    is_over: AtomicBool,
    succeeded: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

impl Load {
    /// Starts to send requests.
    pub(crate) fn start(server: SocketAddr) -> Self {
        let results = Arc::new(Results::default());
        let mut clients = JoinSet::new();
        let start = Instant::now();
        for _ in 0..CLIENTS {
            let results = results.clone();
            clients.spawn(async move {
                while !results.is_over.load(Ordering::Relaxed) {
                    let began = start.elapsed();
                    match tokio::time::timeout(RESPONSE_MAX, get(server)).await {
                        Ok(Ok(())) => {
                            results.succeeded.fetch_add(1, Ordering::Relaxed);
                        }
                        failed => {
                            let failure = format!(
                                "at {began:?}, after {:?}: {failed:?}",
                                start.elapsed().saturating_sub(began)
                            );
                            results.failures.lock().unwrap().push(failure);
                        }
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            });
        }
        Self { clients, results }
    }

    /// Returns the number of requests that succeeded so far.
    pub(crate) fn succeeded(&self) -> usize {
        self.results.succeeded.load(Ordering::Relaxed)
    }

    /// Ends the load; returns the number of requests that succeeded, and the failures of the others.
    pub(crate) async fn stop(mut self) -> (usize, Vec<String>) {
        self.results.is_over.store(true, Ordering::Relaxed);
        while self.clients.join_next().await.is_some() {}
        (self.succeeded(), self.results.failures.lock().unwrap().clone())
    }
}

/// Sends one request on its own connection; the error names the step that failed.
async fn get(server: SocketAddr) -> Result<(), String> {
    let step = |name: &'static str| move |error: std::io::Error| format!("{name}: {error}");
    let mut connection = TcpStream::connect(server).await.map_err(step("connect"))?;
    let request = b"GET /index.html HTTP/1.0\r\n\r\n";
    connection.write_all(request).await.map_err(step("write"))?;
    let mut response = Vec::new();
    connection.read_to_end(&mut response).await.map_err(step("read"))?;
    let response = String::from_utf8_lossy(&response);
    let is_whole = response.starts_with("HTTP/1.0 200 ") || response.starts_with("HTTP/1.1 200 ");
    if is_whole && response.ends_with("end\n") { Ok(()) } else { Err(format!("response: {response:?}")) }
}
