//! The pods of all simulated nodes: looked at when they change or when it is time, and reported on.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::Outcome;
use gantry_model::patch::PatchForm;
use gantry_model::{ObjectKey, RefusalKind, Timestamp};
use gantry_runtime::informer::{Cached as _, Plain};
use gantry_runtime::{Api, Clock, DeleteParams, Informer, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;
use serde_json::Value;

use crate::behaviour::Profile;
use crate::life::{self, End, Host, Next, Pod, References, Run};
use crate::lookups::Lookups;
use crate::report;
use crate::station::Station;

/// Who tells events about pods, as far as anybody can see.
const SOURCE: &str = "kubelet";

/// A pod in a cache.
type Seen = Plain<core::Pod>;

/// The pods of all simulated nodes.
#[derive(Debug)]
pub(crate) struct Wards {
    pub(crate) pods: Informer<Seen>,
    pub(crate) stations: Arc<BTreeMap<String, Station>>,
    pub(crate) api: Api,
    pub(crate) lookups: Lookups,
    pub(crate) clock: Clock,
    pub(crate) profile: Profile,
    pub(crate) tenants: Mutex<BTreeMap<ObjectKey, Tenant>>,
}

/// A pod that lives on one of our nodes.
#[derive(Debug)]
pub(crate) struct Tenant {
    seen: Arc<Seen>,
    node: String,
    address: Ipv4Addr,
    pod: Pod,
    run: Run,
    /// What the server was told last, or says since.
    reported: core::PodStatus,
    /// The version that the last report made.
    written: Option<String>,
}

impl Wards {
    /// Looks at a pod, and does what follows. On a node that has failed, nothing happens.
    ///
    /// The queue never hands out a key twice at once, so the pod is taken out while it is looked at.
    pub(crate) async fn tend(&self, key: ObjectKey) -> (Outcome, Wake) {
        let seen = self.pods.read().get(&key).cloned();
        let before = self.tenants().remove(&key);
        let Some((station, mut tenant)) = self.admit(seen, before) else {
            return (Outcome::Success, Wake::OnChange);
        };
        let answer = if station.is_failed() {
            (Outcome::Success, Wake::OnChange)
        } else {
            // One time for both: what is due a moment later would find nothing looked up.
            let now = self.clock.now();
            let needed = life::needed(&tenant.pod, &tenant.run, now);
            match self.lookups.find(&key.namespace, needed).await {
                Ok(references) => self.proceed(&key, station, &mut tenant, &references, now).await,
                Err(failure) => answer_to(&key, &failure),
            }
        };
        self.tenants().insert(key, tenant);
        answer
    }

    /// Has happen what is due, and reports it.
    async fn proceed(
        &self,
        key: &ObjectKey,
        station: &Station,
        tenant: &mut Tenant,
        references: &References,
        now: Timestamp,
    ) -> (Outcome, Wake) {
        let pod_address = tenant.address.to_string();
        let address = station.machine.address().to_string();
        let images = station.images();
        let host = Host { address: &address, pod_address: &pod_address, images: &images, references };
        let next = life::look(&tenant.pod, tenant.run.clone(), &host, now);
        let subject = subject(&tenant.seen);
        for told in &next.events {
            station.events.record(SOURCE, subject.clone(), told.event.clone());
        }
        station.keep_images(next.pulled.iter().cloned());
        let written = self.report(key, &tenant.seen, &tenant.reported, &next).await;
        tenant.run = next.run;
        match written {
            Ok(version) => {
                tenant.written = version.or(tenant.written.take());
                tenant.reported = next.status;
                let wake = next.wake.map_or(Wake::OnChange, |wake| Wake::After(wake.since(self.clock.now())));
                (Outcome::Success, wake)
            }
            Err(failure) => answer_to(key, &failure),
        }
    }

    /// The pod as one of ours, if it is: known before, or met for the first time.
    fn admit(&self, seen: Option<Arc<Seen>>, before: Option<Tenant>) -> Option<(&Station, Tenant)> {
        let node = seen.as_ref().and_then(|seen| seen.wire.spec.as_ref()?.node_name.clone());
        // Somebody else may have ended the pod; then it is over, whatever we thought.
        let ended = |seen: &Seen| seen.wire.status.as_ref().is_some_and(is_over);
        let same = |tenant: &Tenant| {
            let seen = seen.as_ref().filter(|seen| seen.uid() == tenant.seen.uid());
            seen.is_some_and(|seen| !ended(seen) || is_over(&tenant.reported))
        };
        let before = match before {
            Some(tenant) if same(&tenant) => Some(tenant),
            Some(tenant) => {
                self.stations.get(&tenant.node).inspect(|station| station.release(tenant.address));
                None
            }
            None => None,
        };
        let (seen, node) = (seen?, node?);
        let station = self.stations.get(&node)?;
        let tenant = match before {
            Some(tenant) if tenant.seen.version() == seen.version() => tenant,
            Some(tenant) => tenant.updated(seen, &self.profile),
            None => self.meet(station, seen, node)?,
        };
        Some((station, tenant))
    }

    /// A pod that this process has not met: it begins to live, or goes on from what was reported of it.
    fn meet(&self, station: &Station, seen: Arc<Seen>, node: String) -> Option<Tenant> {
        let reported = seen.wire.status.clone().unwrap_or_default();
        let (pod, complaints) = Pod::parse(&seen.wire, &self.profile);
        station.keep_images(pulled_before(&seen.wire, &reported));
        let waits_for_us = seen.wire.metadata.deletion_grace_period_seconds.is_some_and(|grace| grace > 0);
        if is_over(&reported) && !waits_for_us {
            return None;
        }
        for complaint in complaints {
            station.events.record(SOURCE, subject(&seen), complaint);
        }
        let run = Run::recover(&pod, &reported, self.clock.now());
        let address = station.address_for(reported.pod_ip.as_deref());
        Some(Tenant { seen, node, address, pod, run, reported, written: None })
    }

    /// Reports what there is to report, and removes the pod if it is time. Returns the version that the report made.
    async fn report(
        &self,
        key: &ObjectKey,
        seen: &Seen,
        reported: &core::PodStatus,
        next: &Next,
    ) -> Result<Option<String>, RequestError> {
        let mut version = None;
        let target = ResourcePath::object(self.pods.resource(), Some(&key.namespace), &key.name);
        if report::is_news(reported, &next.status) {
            let body = report::patch(seen.uid().as_str(), &next.status);
            let stored: Value =
                self.api.patch(&target.part("status"), PatchForm::StrategicMerge, &body).await?;
            version = stored["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        }
        if next.end == End::Remove {
            let uid = Some(seen.uid().clone());
            self.api
                .delete(&target, &DeleteParams { uid, grace_seconds: Some(0), ..DeleteParams::default() })
                .await?;
        }
        Ok(version)
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tenant {
    /// The pod as it is seen now.
    ///
    /// Once the last report was seen, what is seen after it was written by others: their word is compared with ours, so
    /// that what a node controller said of a node that is back does not stay.
    fn updated(self, seen: Arc<Seen>, profile: &Profile) -> Self {
        let report_was_seen = self.written.as_deref() == Some(self.seen.version().as_str());
        let stored = seen.wire.status.clone().filter(|status| report_was_seen && !is_over(status));
        let reported = stored.unwrap_or(self.reported);
        Self { pod: Pod::parse(&seen.wire, profile).0, seen, reported, ..self }
    }
}

fn is_over(status: &core::PodStatus) -> bool {
    matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"))
}

/// What to do about a report that was not taken.
fn answer_to(key: &ObjectKey, failure: &RequestError) -> (Outcome, Wake) {
    match failure.kind() {
        // The pod is gone or another has its name: the informer will tell.
        RefusalKind::NotFound | RefusalKind::Conflict | RefusalKind::Invalid => {
            tracing::debug!(pod = %key, %failure, "the pod is not as it was");
            (Outcome::Success, Wake::OnChange)
        }
        _ => {
            tracing::warn!(pod = %key, %failure, "a pod could not be reported on; trying again");
            (Outcome::Failure, Wake::OnChange)
        }
    }
}

/// Images of containers that have run: they must be on the node.
fn pulled_before(pod: &core::Pod, status: &core::PodStatus) -> Vec<String> {
    let spec = pod.spec.as_ref();
    let containers =
        spec.into_iter().flat_map(|spec| spec.init_containers.iter().flatten().chain(&spec.containers));
    let statuses: Vec<_> =
        status.init_container_statuses.iter().chain(&status.container_statuses).flatten().collect();
    let ran = |name: &str| statuses.iter().any(|status| status.name == name && !status.image_id.is_empty());
    containers
        .filter(|container| ran(&container.name))
        .filter_map(|container| container.image.clone())
        .collect()
}

fn subject(seen: &Seen) -> Subject {
    let key = seen.key();
    Subject {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some(key.namespace),
        name: key.name,
        uid: seen.uid().clone(),
        resource_version: seen.version().clone(),
    }
}
