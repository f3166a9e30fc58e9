//! The agents of a cluster's nodes (kubelets and Gantry's own over the network, the logs of simulated nodes), and
//! proxied requests.

use bytes::Bytes;
use gantry_apiserver::{
    Body, NodeConnector, NodeError, NodeResponse, NodeTarget, ProxyDestination, ProxyTransport, RequestStream,
};
use gantry_formats::percent;
use gantry_node_agent::LogSelection;
use gantry_nodes::{LogLine, simulated_log};
use gantry_runtime::Clock;
use gantry_serving::{KubeletConnector, ProxyConnector};
use http::{Request, Response, StatusCode};

/// Connects to the agents of all nodes.
#[derive(Debug)]
pub(crate) struct NodeAgents {
    /// For nodes that report an endpoint; `None` without certificates.
    pub(crate) kubelets: Option<KubeletConnector>,
    /// For proxied requests.
    pub(crate) proxies: ProxyConnector,
    /// Whether nodes without an endpoint are simulated.
    pub(crate) has_simulated_nodes: bool,
    pub(crate) clock: Clock,
}

impl NodeConnector for NodeAgents {
    fn send<'a>(&'a self, target: NodeTarget<'a>, request: Request<()>) -> NodeResponse<'a> {
        Box::pin(async move {
            match (&target.endpoint, &self.kubelets) {
                (Some(endpoint), Some(kubelets)) => {
                    kubelets.send(endpoint, request).await.map_err(NodeError::Failed)
                }
                (None, _) if self.has_simulated_nodes => self.simulated(&target, &request),
                _ => Err(NodeError::NoAgent),
            }
        })
    }

    fn proxy(&self, destination: ProxyDestination, request: Request<RequestStream>) -> NodeResponse<'_> {
        Box::pin(async move {
            match (destination.transport, &self.kubelets) {
                (ProxyTransport::Kubelet, Some(kubelets)) => kubelets.proxy(&destination, request).await,
                (ProxyTransport::Kubelet, None) => Err(NodeError::NoAgent),
                (ProxyTransport::Http | ProxyTransport::Https, _) => {
                    self.proxies.send(&destination, request).await
                }
            }
        })
    }
}

impl NodeAgents {
    /// Returns the response of a simulated node, which has logs only.
    fn simulated(&self, target: &NodeTarget<'_>, request: &Request<()>) -> Result<Response<Body>, NodeError> {
        let container = match request.uri().path().split('/').collect::<Vec<_>>().as_slice() {
            ["", "containerLogs", _, _, container] => *container,
            _ => return Err(NodeError::NoAgent),
        };
        let query = percent::query_parameters(request.uri().query().unwrap_or_default());
        let selection = LogSelection::parse(&query, self.clock.now()).map_err(NodeError::Failed)?;
        let (status, text) = match simulated_log(target.pod, container, selection.previous) {
            Ok(lines) => (StatusCode::OK, selection.select(&in_cri_format(&lines))),
            Err(problem) => (StatusCode::BAD_REQUEST, problem),
        };
        let mut response = Response::new(Body::Whole(Some(Bytes::from(text))));
        *response.status_mut() = status;
        Ok(response)
    }
}

/// Lines as a container runtime writes them, with the digits of its times.
fn in_cri_format(lines: &[LogLine]) -> String {
    let line = |line: &LogLine| {
        let time = line.time.trim_end_matches('Z');
        format!("{time}.000000000Z stdout F {}", line.text)
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
