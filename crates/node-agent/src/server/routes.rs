//! The paths of a kubelet's server.

use std::path::PathBuf;
use std::sync::Arc;

use gantry_cri::wire;
use gantry_formats::percent;
use gantry_model::ObjectKey;
use gantry_nodes::{CachedPod, log_messages};
use gantry_runtime::Encode as _;
use gantry_runtime::informer::Cached as _;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use k8s_openapi::api::core::v1 as core;

use super::access::ClientUser;
use super::log_lines::LogSelection;
use super::stats::NodeStats;
use super::{Body, NodeServer, log_stream, streams};
use crate::sandbox_config::log_directory;

impl NodeServer {
    /// Handles a request of this user.
    pub(super) async fn handle(
        &self,
        request: Request<Incoming>,
        user: Option<ClientUser>,
    ) -> Response<Body> {
        let path = request.uri().path().to_owned();
        if path == "/healthz" || path == "/readyz" || path == "/livez" {
            return text(StatusCode::OK, "ok");
        }
        let user = match user {
            Some(user) => Ok(Some(user)),
            None => ClientUser::of_token(&self.api, request.headers()).await,
        };
        let user = match user {
            Ok(Some(user)) => user,
            Ok(None) => return text(StatusCode::UNAUTHORIZED, "Unauthorized"),
            Err(failure) => return text(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
        };
        let node = &self.agent.facts.name;
        match user.may(&self.api, node, request.method(), &path).await {
            Ok(true) => self.route(&path, request).await,
            Ok(false) => {
                text(StatusCode::FORBIDDEN, "Forbidden: the use of nodes/proxy of this node is not allowed")
            }
            Err(failure) => text(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
        }
    }

    async fn route(&self, path: &str, request: Request<Incoming>) -> Response<Body> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let query = percent::query_parameters(request.uri().query().unwrap_or_default());
        match parts.as_slice() {
            ["pods"] => self.list_pods(),
            ["metrics"] => text(StatusCode::OK, &gantry_runtime::render(&self.metrics.snapshot())),
            ["stats", "summary"] | ["stats"] => {
                self.serve_stats(|stats| json_body(stats.summary().to_string().into_bytes())).await
            }
            ["metrics", "resource"] => {
                self.serve_stats(|stats| text(StatusCode::OK, &stats.resource_metrics())).await
            }
            ["metrics", "cadvisor"] => {
                self.serve_stats(|stats| text(StatusCode::OK, &stats.cadvisor_metrics())).await
            }
            ["containerLogs", namespace, pod, container] => match self.pod(namespace, pod) {
                Some(pod) => self.logs(&pod, container, &query),
                None => not_found(pod),
            },
            ["exec", namespace, pod, container] | ["exec", namespace, pod, _, container] => {
                match self.pod(namespace, pod).and_then(|pod| self.container(&pod, container)) {
                    Some(id) => {
                        let command = query.iter().filter(|(name, _)| name == "command");
                        let exec = wire::ExecRequest {
                            container_id: id,
                            cmd: command.map(|(_, value)| value.clone()).collect(),
                            tty: is_set(&query, "tty"),
                            stdin: is_set(&query, "input"),
                            stdout: is_set(&query, "output"),
                            // A terminal has one stream for both.
                            stderr: is_set(&query, "error") && !is_set(&query, "tty"),
                        };
                        self.stream(self.agent.cri.exec_url(exec).await, request).await
                    }
                    None => text(StatusCode::NOT_FOUND, &format!("container not found ({container:?})")),
                }
            }
            ["attach", namespace, pod, container] | ["attach", namespace, pod, _, container] => {
                match self.pod(namespace, pod).and_then(|pod| self.container(&pod, container)) {
                    Some(id) => {
                        let attach = wire::AttachRequest {
                            container_id: id,
                            tty: is_set(&query, "tty"),
                            stdin: is_set(&query, "input"),
                            stdout: is_set(&query, "output"),
                            stderr: is_set(&query, "error") && !is_set(&query, "tty"),
                        };
                        self.stream(self.agent.cri.attach_url(attach).await, request).await
                    }
                    None => text(StatusCode::NOT_FOUND, &format!("container not found ({container:?})")),
                }
            }
            ["portForward", namespace, pod] | ["portForward", namespace, pod, _] => {
                let known = self.pod(namespace, pod).and_then(|pod| self.agent.pods.get(&pod.uid().text()));
                match known.and_then(|known| known.sandbox) {
                    Some(sandbox) => {
                        let url = self.agent.cri.port_forward_url(&sandbox, port_numbers(&query)).await;
                        self.stream(url, request).await
                    }
                    None => not_found(pod),
                }
            }
            _ => text(StatusCode::NOT_FOUND, "404 page not found"),
        }
    }

    async fn serve_stats(&self, render: impl FnOnce(NodeStats) -> Response<Body>) -> Response<Body> {
        match self.stats().await {
            Ok(stats) => render(stats),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }

    async fn stream(
        &self,
        url: Result<String, gantry_cri::RuntimeError>,
        request: Request<Incoming>,
    ) -> Response<Body> {
        match url {
            Ok(url) => streams::forward(&url, request).await,
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }

    fn list_pods(&self) -> Response<Body> {
        let pods = self.pods.read();
        let items: Vec<_> = pods.iter().filter_map(|pod| pod.wire.encode().ok()).collect();
        let mut list = br#"{"kind":"PodList","apiVersion":"v1","metadata":{},"items":["#.to_vec();
        list.extend(items.join(&b','));
        list.extend(b"]}");
        json_body(list)
    }

    fn logs(&self, pod: &Arc<CachedPod>, container: &str, query: &[(String, String)]) -> Response<Body> {
        let options = match LogSelection::parse(query, self.agent.clock.now()) {
            Ok(options) => options,
            Err(problem) => return text(StatusCode::BAD_REQUEST, &problem),
        };
        if let Some(problem) = log_problem(&pod.wire, container, options.previous) {
            return text(StatusCode::BAD_REQUEST, &problem);
        }
        let directory = PathBuf::from(log_directory(&pod.wire, &self.agent.settings.logs)).join(container);
        let mut files = log_stream::log_files(&directory).into_iter();
        let file = if options.previous { files.nth(1) } else { files.next() };
        let Some(file) = file else {
            return text(StatusCode::NOT_FOUND, &format!("there is no log of container {container:?}"));
        };
        let id = self.container(pod, container).filter(|_| !options.previous);
        let body = log_stream::body(self.agent.clone(), file, options, id);
        let mut response = Response::new(body);
        let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
        response
    }

    fn pod(&self, namespace: &str, name: &str) -> Option<Arc<CachedPod>> {
        let key = ObjectKey { namespace: namespace.into(), name: name.into() };
        self.pods.read().get(&key).cloned()
    }

    /// Returns the ID of the latest container of this name.
    fn container(&self, pod: &Arc<CachedPod>, name: &str) -> Option<String> {
        self.agent.pods.get(&pod.uid().text())?.containers.get(name).cloned()
    }
}

/// Returns a kubelet's message if a container has no log yet.
fn log_problem(pod: &core::Pod, container: &str, previous: bool) -> Option<String> {
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let fallback = core::PodStatus::default();
    let status = pod.status.as_ref().unwrap_or(&fallback);
    let lists =
        [&status.init_container_statuses, &status.container_statuses, &status.ephemeral_container_statuses];
    let Some(status) = lists.into_iter().flatten().flatten().find(|status| status.name == container) else {
        return Some(log_messages::not_available(container, name));
    };
    let has_last = status.last_state.as_ref().is_some_and(|state| state.terminated.is_some());
    if previous {
        return (!has_last).then(|| log_messages::no_previous(container, name));
    }
    let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref()).filter(|_| !has_last)?;
    Some(log_messages::waiting_to_start(container, name, waiting.reason.as_deref().unwrap_or_default()))
}

fn port_numbers(query: &[(String, String)]) -> Vec<i32> {
    let values = query.iter().filter(|(name, _)| name == "port").flat_map(|(_, value)| value.split(','));
    values.filter_map(|port| port.parse().ok()).collect()
}

fn is_set(query: &[(String, String)], name: &str) -> bool {
    query.iter().any(|(known, value)| known == name && matches!(value.as_str(), "1" | "true"))
}

fn not_found(pod: &str) -> Response<Body> {
    text(StatusCode::NOT_FOUND, &format!("pod {pod:?} does not exist on this node"))
}

fn json_body(json: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Full::new(bytes::Bytes::from(json)).boxed_unsync());
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Returns a response with a text.
pub(super) fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Full::new(bytes::Bytes::from(text.to_owned())).boxed_unsync());
    *response.status_mut() = status;
    let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}
