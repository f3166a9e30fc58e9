//! The transport between the controllers and the server: records writes, and injects faults.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use gantry_apiserver::ApiService;
use gantry_json::Value;
use gantry_runtime::{ApiTransport, WriteFence};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use tokio::sync::watch;
use tower::Service;

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server does not get the request, and this status is returned.
    Refused(u16),
    /// The server processes the request, and the response is lost.
    ResponseLost,
    /// The server does not get the request, and there is no response.
    NoResponse,
}

/// More writes than any story needs. A paused clock does not advance while a task runs: an endless loop of writes
/// would hang a story instead of failing it.
const WRITES_MAX: usize = 10_000;

type FaultInjector = Box<dyn FnMut(&Method, &str) -> Option<Fault> + Send>;
type AnyBody = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

#[derive(Clone)]
pub(crate) struct Wire {
    service: ApiService,
    shared: Arc<Shared>,
}

struct Shared {
    log: Mutex<Vec<String>>,
    most_pods: Mutex<usize>,
    most_requested: Mutex<usize>,
    too_many: Mutex<Vec<String>>,
    /// The largest size that each set has had.
    sizes: Mutex<BTreeMap<String, usize>>,
    fault_injector: Mutex<Option<FaultInjector>>,
    fence: Mutex<Option<WriteFence>>,
    slow: Mutex<Option<(&'static str, Duration)>>,
    cuts: watch::Sender<u32>,
}

impl Wire {
    pub(crate) fn to(service: ApiService) -> Self {
        let shared = Shared {
            log: Mutex::default(),
            most_pods: Mutex::default(),
            most_requested: Mutex::default(),
            too_many: Mutex::default(),
            sizes: Mutex::default(),
            fault_injector: Mutex::default(),
            fence: Mutex::default(),
            slow: Mutex::default(),
            cuts: watch::channel(0).0,
        };
        Self { service, shared: Arc::new(shared) }
    }

    pub(crate) fn transport(&self) -> ApiTransport {
        ApiTransport::in_process(self.clone())
    }

    /// The number of writes the controllers have sent, without leases.
    pub(crate) fn writes(&self) -> usize {
        self.shared.log.lock().unwrap().len()
    }

    /// The writes since this number of writes, as `METHOD path`.
    pub(crate) fn written_since(&self, earlier: usize) -> Vec<String> {
        self.shared.log.lock().unwrap()[earlier..].to_vec()
    }

    /// The highest number of pods at once, without terminating ones.
    pub(crate) fn most_pods(&self) -> usize {
        *self.shared.most_pods.lock().unwrap()
    }

    /// The highest sum of the sizes of all sets.
    ///
    /// This is what N + S bounds. There may be more pods for a while, here as in Kubernetes: old ones stay as long as
    /// their deletion is refused, and a rollout counts sizes.
    pub(crate) fn most_requested(&self) -> usize {
        *self.shared.most_requested.lock().unwrap()
    }

    /// Sends nothing while this fence is closed, as the connections of a fenced client do.
    pub(crate) fn put_behind(&self, fence: WriteFence) {
        *self.shared.fence.lock().unwrap() = Some(fence);
    }

    pub(crate) fn fence(&self) -> Option<WriteFence> {
        self.shared.fence.lock().unwrap().clone()
    }

    /// Passes every request to this function, which may return a fault.
    pub(crate) fn inject_faults(
        &self,
        fault_injector: impl FnMut(&Method, &str) -> Option<Fault> + Send + 'static,
    ) {
        *self.shared.fault_injector.lock().unwrap() = Some(Box::new(fault_injector));
    }

    pub(crate) fn stop_faults(&self) {
        *self.shared.fault_injector.lock().unwrap() = None;
    }

    /// Delays the events of watches on this collection, except for metadata-only watches: the garbage collector is
    /// always faster.
    pub(crate) fn slow_down(&self, path: &'static str, by: Duration) {
        *self.shared.slow.lock().unwrap() = Some((path, by));
    }

    /// Closes all open watches.
    pub(crate) fn cut_watches(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// The ReplicaSets that had more pods than their largest size, one sentence each.
    pub(crate) fn too_many(&self) -> Vec<String> {
        self.shared.too_many.lock().unwrap().clone()
    }

    /// Counts after a pod was created or a set resized: all pods, and those of each set.
    async fn count_pods(&self) {
        let pods = self.list("/api/v1/pods").await;
        let active: Vec<_> =
            pods.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).collect();
        let sets = self.list("/apis/apps/v1/replicasets").await;
        let requested: u64 = sets.iter().map(|set| set["spec"]["replicas"].as_u64().unwrap()).sum();
        let requested = usize::try_from(requested).unwrap();
        {
            let mut most = self.shared.most_requested.lock().unwrap();
            *most = requested.max(*most);
        }
        for set in sets {
            let uid = &set["metadata"]["uid"];
            let own =
                active.iter().filter(|pod| pod["metadata"]["ownerReferences"][0]["uid"] == *uid).count();
            let size = usize::try_from(set["spec"]["replicas"].as_u64().unwrap()).unwrap();
            let mut sizes = self.shared.sizes.lock().unwrap();
            let largest = sizes.entry(uid.to_string()).or_default();
            *largest = size.max(*largest);
            // A set that was scaled down may have pods that are not deleted yet.
            if own > *largest {
                let name = &set["metadata"]["name"];
                self.shared.too_many.lock().unwrap().push(format!("{name} of size {largest} has {own} pods"));
            }
        }
        let mut most = self.shared.most_pods.lock().unwrap();
        *most = active.len().max(*most);
    }

    async fn list(&self, path: &str) -> Vec<Value> {
        let request = Request::get(path).body(Full::new(Bytes::new())).unwrap();
        let response = self.service.clone().call(request).await.unwrap();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let mut list: Value = gantry_json::from_slice(&bytes).unwrap();
        list["items"].as_array_mut().map(std::mem::take).unwrap()
    }

    async fn pass(self, request: Request<Full<Bytes>>) -> Response<AnyBody> {
        if self.fence().is_some_and(|fence| fence.check().is_err()) {
            return refused(503);
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let fault = self
            .shared
            .fault_injector
            .lock()
            .unwrap()
            .as_mut()
            .and_then(|fault_injector| fault_injector(&method, &path));
        match fault {
            Some(Fault::Refused(status)) => return refused(status),
            Some(Fault::NoResponse) => std::future::pending().await,
            Some(Fault::ResponseLost) | None => {}
        }
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        if method != Method::GET && !path.contains("/leases") {
            let mut log = self.shared.log.lock().unwrap();
            if log.len() >= WRITES_MAX {
                return refused(507);
            }
            log.push(format!("{method} {path}"));
        }
        let accept = request.headers().get("accept").and_then(|accept| accept.to_str().ok());
        let is_whole = !accept.is_some_and(|accept| accept.contains("PartialObjectMetadata"));
        let mut cuts = self.shared.cuts.subscribe();
        let response = self.service.clone().call(request).await.unwrap();
        if method != Method::GET && (path.ends_with("/pods") || path.contains("/replicasets")) {
            self.count_pods().await;
        }
        if fault == Some(Fault::ResponseLost) {
            return refused(504);
        }
        let (parts, body) = response.into_parts();
        let slow = self.shared.slow.lock().unwrap().filter(|(slow, _)| is_whole && *slow == path);
        let delay = slow.map(|(_, by)| by).unwrap_or_default();
        let body = if is_watch {
            let cut = async move { drop(cuts.changed().await) };
            let lines = body.into_data_stream().take_until(Box::pin(cut)).then(move |line| async move {
                tokio::time::sleep(delay).await;
                line.map(http_body::Frame::data)
            });
            StreamBody::new(Box::pin(lines)).boxed_unsync()
        } else {
            body.boxed_unsync()
        };
        Response::from_parts(parts, body)
    }
}

fn refused(status: u16) -> Response<AnyBody> {
    let status_json = format!(
        r#"{{"kind":"Status","code":{status},"message":"injected fault {status}","reason":"Injected"}}"#
    );
    let mut response = Response::new(Full::new(Bytes::from(status_json)).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
    if status == 429 {
        response.headers_mut().insert("retry-after", "1".parse().unwrap());
    }
    response
}

impl Service<Request<Full<Bytes>>> for Wire {
    type Response = Response<AnyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let wire = self.clone();
        Box::pin(async move { Ok(wire.pass(request).await) })
    }
}
