//! The reports of a container runtime reach the API, even if the server is temporarily unavailable.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gantry_decide::events::Subject;
use gantry_decide::queue::RetryPolicy;
use gantry_json::json;
use gantry_model::{Event, ObjectKey, Timestamp};
use gantry_nodes::pod_lifecycle::{
    ContainerIdentity, FoundPod, Pod, PodRun, RuntimeAction, RuntimeReport, StartedContainer,
};
use gantry_nodes::{CachedPod, NodeRuntime, PodWorkers};
use gantry_runtime::informer::{Cached as _, Informer};
use gantry_runtime::{Api, ApiTransport, Informers, Queue, shutdown};
use gantry_test_cluster::TestServer;
use k8s_openapi::api::core::v1 as core;
use tokio::task::JoinSet;

use crate::cluster::seconds;
use crate::faulty::{Faults, Faulty};

/// A runtime of one pod, whose container starts when the test starts it.
#[derive(Debug)]
struct ScriptedRuntime {
    queue: Queue<ObjectKey>,
    reports: Mutex<Vec<RuntimeReport>>,
    clock: gantry_runtime::Clock,
}

impl ScriptedRuntime {
    fn report(&self, report: RuntimeReport) {
        self.reports.lock().unwrap().push(report);
        self.queue.add(ObjectKey::new("default", "web"));
    }

    fn container_starts(&self) {
        let identity = ContainerIdentity {
            id: "scripted://1".to_owned(),
            image: "nginx:1".to_owned(),
            image_id: String::new(),
        };
        let result = Ok(StartedContainer { identity, since: self.clock.now() });
        self.report(RuntimeReport::Started { container: "app".to_owned(), result });
    }
}

impl NodeRuntime for ScriptedRuntime {
    type PodResources = ();

    fn parse(&self, pod: &core::Pod) -> (Pod, Vec<Event>) {
        (Pod::parse_real(pod), Vec::new())
    }
    fn accept(
        &self,
        object: &CachedPod,
        pod: &Pod,
        _: &Informer<CachedPod>,
        now: Timestamp,
    ) -> Option<((), PodRun)> {
        let status = object.wire.status.clone().unwrap_or_default();
        Some(((), PodRun::resume(pod, &status, &FoundPod::default(), now)))
    }
    fn release(&self, (): ()) {}
    fn is_failed(&self, (): &()) -> bool {
        false
    }
    fn addresses(&self, (): &()) -> (String, String) {
        ("192.0.2.1".to_owned(), "10.1.0.1".to_owned())
    }
    fn images(&self, (): &()) -> BTreeSet<String> {
        BTreeSet::new()
    }
    fn add_images(&self, (): &(), _: Vec<String>) {}
    fn observe(&self, (): &mut (), pod: &Pod, run: &mut PodRun, now: Timestamp) {
        for report in std::mem::take(&mut *self.reports.lock().unwrap()) {
            run.receive(pod, report, now);
        }
    }
    fn carry_out(&self, (): &mut (), _: &Arc<CachedPod>, actions: Vec<RuntimeAction>) {
        for action in actions {
            match action {
                RuntimeAction::CreateSandbox { .. } => self.report(RuntimeReport::Sandbox(Ok(()))),
                RuntimeAction::InspectImage { container } => {
                    self.report(RuntimeReport::Image { container, present: true });
                }
                _ => {}
            }
        }
    }
    fn record(&self, (): &(), _: Subject, _: Event) {}
}

/// The server was restarted while a container started: its status was never written, and the pod never became ready.
#[tokio::test(start_paused = true)]
async fn a_status_that_could_not_be_written_is_written_when_the_server_is_back() {
    let faults = Faults::default();
    let connect = |service| ApiTransport::in_process(Faulty::new(service, faults.clone()));
    let server = TestServer::start_with(connect).await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
        "spec": {"nodeName": "here", "containers": [{"name": "app", "image": "nginx:1", "imagePullPolicy": "IfNotPresent"}]},
    });
    server.create("pods", &pod).await;
    let (informers, mut tasks, (switch, signal)) = (Informers::new(), JoinSet::new(), shutdown());
    let pods = informers.of::<CachedPod>();
    let queue = Queue::new("pods", server.clock.clone(), &server.metrics);
    let api = Api::new(server.transport.clone(), "test", server.metrics.clone());
    let to_queue = queue.clone();
    pods.subscribe(move |change| to_queue.add(change.object().key()));
    informers.start(&mut tasks, &api, &server.clock, &signal);
    let reports = Mutex::default();
    let runtime = Arc::new(ScriptedRuntime { queue: queue.clone(), reports, clock: server.clock.clone() });
    let workers = Arc::new(PodWorkers::new(pods, runtime.clone(), api, server.clock.clone(), Duration::ZERO));
    tasks.spawn(queue.work(2, RetryPolicy::REPLICA_SET, signal, move |key| {
        let workers = workers.clone();
        async move { workers.sync_pod(key).await }
    }));
    seconds(5).await;
    assert_eq!(server.get("pods", "web").await.unwrap()["status"]["phase"], "Pending");
    faults.set_down(true);
    runtime.container_starts();
    seconds(3).await;
    faults.set_down(false);
    seconds(60).await;
    assert_eq!(server.get("pods", "web").await.unwrap()["status"]["phase"], "Running");
    switch.turn();
    while tasks.join_next().await.is_some() {}
}
