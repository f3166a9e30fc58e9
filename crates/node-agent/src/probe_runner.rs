//! Runs probes and hooks.

use std::time::Duration;

use gantry_cri::Runtime;
use gantry_grpc::Method;
use gantry_nodes::pod_lifecycle::ProbeResult;
use k8s_openapi::api::core::v1 as core;
use prost::Message;
use tonic::transport::Endpoint;

use crate::http_get::{HttpGet, connect, port_number};

static CHECK_HEALTH: Method<HealthCheckRequest, HealthCheckResponse> =
    Method::new("/grpc.health.v1.Health/Check");
/// The maximum length of a probe's output in events.
const OUTPUT_MAX: usize = 1024;
/// The user agent of HTTP probes, which is a kubelet's.
const AGENT: &str = "kube-probe/1.37";
const LIFECYCLE_AGENT: &str = "kube-lifecycle/1.37";

/// The container that is probed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeTarget<'a> {
    pub(crate) runtime: &'a Runtime,
    /// The container's ID, without the name of the runtime.
    pub(crate) id: &'a str,
    pub(crate) container: &'a core::Container,
    pub(crate) pod_ip: &'a str,
}

impl ProbeTarget<'_> {
    /// Runs a probe.
    pub(crate) async fn probe(self, probe: &core::Probe) -> ProbeResult {
        let seconds = probe.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(1);
        let timeout = Duration::from_secs(seconds.max(1));
        if let Some(action) = &probe.exec {
            return self.probe_exec(action, timeout).await;
        }
        if let Some(action) = &probe.http_get {
            return self.probe_http(action, timeout).await;
        }
        if let Some(action) = &probe.tcp_socket {
            return self.probe_tcp(action, timeout).await;
        }
        match &probe.grpc {
            Some(action) => self.probe_grpc(action, timeout).await,
            None => ProbeResult::Unknown(format!("missing probe handler for {}", self.container.name)),
        }
    }

    async fn probe_exec(self, action: &core::ExecAction, timeout: Duration) -> ProbeResult {
        let command = action.command.clone().unwrap_or_default();
        match self.runtime.exec_sync(self.id, command, timeout).await {
            Ok(response) if response.exit_code == 0 => ProbeResult::Success,
            Ok(response) => {
                let output = [response.stdout, response.stderr].concat();
                ProbeResult::Failure(shortened(&String::from_utf8_lossy(&output)))
            }
            Err(error) if error.is_unavailable() => {
                ProbeResult::Failure(format!("command timed out: {}", error.message()))
            }
            Err(error) => ProbeResult::Unknown(error.to_string()),
        }
    }

    async fn probe_http(self, action: &core::HTTPGetAction, timeout: Duration) -> ProbeResult {
        let request = match HttpGet::of(action, self.container, self.pod_ip, AGENT) {
            Ok(request) => request,
            Err(problem) => return ProbeResult::Unknown(problem),
        };
        match request.send(timeout).await {
            Ok(response) if (200..400).contains(&response.status) => ProbeResult::Success,
            Ok(response) => {
                ProbeResult::Failure(format!("HTTP probe failed with statuscode: {}", response.status))
            }
            Err(problem) => ProbeResult::Failure(problem),
        }
    }

    async fn probe_tcp(self, action: &core::TCPSocketAction, timeout: Duration) -> ProbeResult {
        let port = match port_number(&action.port, self.container) {
            Ok(port) => port,
            Err(problem) => return ProbeResult::Unknown(problem),
        };
        let host = action.host.as_deref().filter(|host| !host.is_empty()).unwrap_or(self.pod_ip);
        match tokio::time::timeout(timeout, connect(host, port)).await {
            Ok(Ok(_stream)) => ProbeResult::Success,
            Ok(Err(problem)) => ProbeResult::Failure(problem),
            Err(_elapsed) => ProbeResult::Failure(format!("dial tcp {host}:{port}: i/o timeout")),
        }
    }

    async fn probe_grpc(self, action: &core::GRPCAction, timeout: Duration) -> ProbeResult {
        let address = format!("{}:{}", self.pod_ip, action.port);
        let unreachable = |why: &str| {
            let within = timeout.as_secs();
            ProbeResult::Failure(format!(
                "timeout: failed to connect service {address:?} within {within}s: {why}"
            ))
        };
        let endpoint = match Endpoint::from_shared(format!("http://{address}")) {
            Ok(endpoint) => endpoint,
            Err(error) => return ProbeResult::Unknown(error.to_string()),
        };
        let service = action.service.clone().unwrap_or_default();
        let check = async {
            let channel = endpoint.connect().await.map_err(|error| unreachable(&error.to_string()))?;
            let request = tonic::Request::new(HealthCheckRequest { service: service.clone() });
            gantry_grpc::unary(channel, &CHECK_HEALTH, request, None).await.map_err(|status| {
                ProbeResult::Failure(format!("service unhealthy (responded with {:?})", status.code()))
            })
        };
        match tokio::time::timeout(timeout, check).await {
            Ok(Ok(response)) if response.status == SERVING => ProbeResult::Success,
            Ok(Ok(_)) => {
                ProbeResult::Failure("service unhealthy (responded with \"NOT_SERVING\")".to_owned())
            }
            Ok(Err(failure)) => failure,
            Err(_elapsed) => unreachable("context deadline exceeded"),
        }
    }

    /// Runs a hook; returns an error with the reason if it failed.
    pub(crate) async fn hook(self, hook: &core::LifecycleHandler, timeout: Duration) -> Result<(), String> {
        if let Some(action) = &hook.exec {
            let command = action.command.clone().unwrap_or_default();
            let response = self.runtime.exec_sync(self.id, command.clone(), timeout).await;
            return match response {
                Ok(response) if response.exit_code == 0 => Ok(()),
                Ok(response) => {
                    let errors = String::from_utf8_lossy(&response.stderr);
                    Err(format!(
                        "command '{}' exited with {}: {errors}",
                        command.join(" "),
                        response.exit_code
                    ))
                }
                Err(error) => Err(error.to_string()),
            };
        }
        if let Some(action) = &hook.http_get {
            let request = HttpGet::of(action, self.container, self.pod_ip, LIFECYCLE_AGENT)?;
            return request.send(timeout).await.map(drop);
        }
        if let Some(action) = &hook.sleep {
            let seconds = Duration::from_secs(u64::try_from(action.seconds).unwrap_or(0));
            tokio::time::sleep(seconds.min(timeout)).await;
        }
        Ok(())
    }
}

/// The status code of a service that serves.
const SERVING: i32 = 1;

/// The messages of gRPC's health protocol.
#[derive(Clone, PartialEq, Message)]
struct HealthCheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct HealthCheckResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

fn shortened(output: &str) -> String {
    let mut end = output.len().min(OUTPUT_MAX);
    while !output.is_char_boundary(end) {
        end -= 1;
    }
    output[..end].to_owned()
}
