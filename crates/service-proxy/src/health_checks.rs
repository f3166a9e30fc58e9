//! Health checks of load balancers: whether this node has endpoints of a Service whose traffic policy is `Local`.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_json::json;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS};
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How many endpoints the node has, so that a load balancer can weigh nodes.
const WEIGHT: HeaderName = HeaderName::from_static("x-load-balancing-endpoint-weight");
/// How long a connection of a load balancer may last.
const CONNECTION_MAX: Duration = Duration::from_secs(10);

/// The state of a Service that is reported to load balancers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HealthCheck {
    pub(crate) namespace: String,
    pub(crate) service: String,
    /// The addresses of the ready endpoints on this node.
    pub(crate) local: BTreeSet<IpAddr>,
}

impl HealthCheck {
    /// Returns the response, like that of kube-proxy: 503 without endpoints on this node.
    fn response(&self) -> Response<Full<Bytes>> {
        let count = self.local.len();
        let body = json!({
            "service": {"namespace": self.namespace, "name": self.service},
            "localEndpoints": count, "serviceProxyHealthy": true,
        });
        let mut response = Response::new(Full::from(body.to_string()));
        if self.local.is_empty() {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, hyper::header::HeaderValue::from_static("nosniff"));
        headers.insert(WEIGHT, count.into());
        response
    }
}

/// The servers of health checks by port. Dropping one stops it.
#[derive(Debug, Default)]
pub(crate) struct HealthServers(BTreeMap<u16, HealthServer>);

#[derive(Debug)]
struct HealthServer {
    check: Arc<Mutex<HealthCheck>>,
    task: JoinHandle<()>,
}

impl HealthServer {
    /// Stops the server and returns when its port is free.
    async fn stop(mut self) {
        self.task.abort();
        // An aborted task returns an error, which has no further information.
        let _ = (&mut self.task).await;
    }
}

impl Drop for HealthServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl HealthServers {
    /// Serves these checks and no others. Binding a port that is taken is retried with the next change.
    pub(crate) async fn serve(&mut self, checks: &BTreeMap<u16, HealthCheck>) {
        for (_, server) in self.0.extract_if(.., |port, _| !checks.contains_key(port)) {
            server.stop().await;
        }
        for (port, check) in checks {
            if let Some(server) = self.0.get(port) {
                *server.check.lock().unwrap_or_else(PoisonError::into_inner) = check.clone();
                continue;
            }
            match listen(*port).await {
                Ok(listener) => {
                    let check = Arc::new(Mutex::new(check.clone()));
                    let task = tokio::spawn(accept(listener, check.clone()));
                    self.0.insert(*port, HealthServer { check, task });
                }
                Err(error) => tracing::warn!(
                    "the health check of Service {}/{} cannot be served on port {port}: {error}",
                    check.namespace,
                    check.service
                ),
            }
        }
    }
}

/// Listens on all addresses of the node, including IPv6 addresses if it has any.
async fn listen(port: u16) -> io::Result<TcpListener> {
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await,
    }
}

async fn accept(listener: TcpListener, check: Arc<Mutex<HealthCheck>>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(tokio::time::timeout(CONNECTION_MAX, respond(stream, check.clone())));
            }
            // Too many open files, for example.
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}

async fn respond(stream: TcpStream, check: Arc<Mutex<HealthCheck>>) {
    let service = service_fn(move |_| {
        let response = check.lock().unwrap_or_else(PoisonError::into_inner).response();
        async move { Ok::<_, Infallible>(response) }
    });
    let http = hyper::server::conn::http1::Builder::new();
    // A disconnected client is not an error.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}
