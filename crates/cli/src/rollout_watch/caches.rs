//! Caches of one Deployment, its ReplicaSets, pods and events, kept up to date by watches.

use std::sync::Arc;

use gantry_kubectl::Failure;
use gantry_runtime::informer::{Cached, InformerScope, Plain, Typed};
use gantry_runtime::{Clock, Informer, Informers, RequestError, Switch, shutdown};
use gantry_view::ApiObjects;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Pod};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::cluster::Cluster;
use crate::fetch;

/// The caches and their watch tasks.
pub(super) struct Caches {
    deployment: Informer<Plain<Deployment>>,
    sets: Informer<Plain<ReplicaSet>>,
    pods: Informer<Plain<Pod>>,
    events: Informer<Plain<Event>>,
    changed: Arc<Notify>,
    errors: Vec<watch::Receiver<Option<RequestError>>>,
    /// Ends the watches on drop.
    _watches: (Switch, JoinSet<()>),
}

impl Caches {
    /// Starts the watches; returns when all caches are filled.
    pub(super) async fn start(cluster: &Cluster, name: &str) -> Result<Self, Failure> {
        // Read first: it may not exist, and its selector is needed for the other watches.
        let deployment: Deployment = fetch::get(cluster, name).await?;
        let here = || InformerScope::namespace(cluster.namespace.as_str());
        let selected = here().labels(fetch::selector(&deployment));
        // Managed fields have the time at which an object was last changed.
        let informers = Informers::with_managed_fields();
        let (switch, signal) = shutdown();
        let mut tasks = JoinSet::new();
        let (deployment, sets) =
            (informers.scoped(here().named(&name.into())), informers.scoped(selected.clone()));
        let (pods, events) = (informers.scoped(selected), informers.scoped(here()));
        let changed = Arc::default();
        let errors = vec![
            notify(&deployment, &changed, &mut tasks),
            notify(&sets, &changed, &mut tasks),
            notify(&pods, &changed, &mut tasks),
            notify(&events, &changed, &mut tasks),
        ];
        informers.start(&mut tasks, &cluster.api, &Clock::system(), &signal);
        let caches = Self { deployment, sets, pods, events, changed, errors, _watches: (switch, tasks) };
        caches.filled().await?;
        Ok(caches)
    }

    /// The cached objects; `None` if the Deployment was deleted.
    pub(super) fn objects(&self) -> Option<ApiObjects> {
        let deployment = all(&self.deployment).pop()?;
        Some(ApiObjects {
            deployment,
            sets: all(&self.sets),
            pods: all(&self.pods),
            events: all(&self.events),
            deployments: Vec::new(),
            // The view does not show nodes, which many users may not read.
            nodes: Vec::new(),
        })
    }

    /// Returns at the next change of an object or of the connection.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Why the connection is lost, if it is.
    pub(super) fn error(&self) -> Option<String> {
        self.errors.iter().find_map(|error| error.borrow().as_ref().map(ToString::to_string))
    }

    /// Returns when all caches are filled, or at the first error.
    async fn filled(&self) -> Result<(), Failure> {
        let filled = async {
            tokio::join!(
                self.deployment.synced(),
                self.sets.synced(),
                self.pods.synced(),
                self.events.synced()
            );
        };
        let refused = async {
            loop {
                if let Some(error) = self.error() {
                    return error;
                }
                self.changed().await;
            }
        };
        tokio::select! {
            () = filled => Ok(()),
            error = refused => Err(Failure::other(error)),
        }
    }
}

/// Notifies of changes of the objects and of the connection; returns the error of the connection.
fn notify<T: Typed>(
    informer: &Informer<T>,
    changed: &Arc<Notify>,
    tasks: &mut JoinSet<()>,
) -> watch::Receiver<Option<RequestError>> {
    let notify = Arc::clone(changed);
    informer.subscribe(move |_| notify.notify_one());
    tasks.spawn(notify_of_errors(informer.error(), Arc::clone(changed)));
    informer.error()
}

async fn notify_of_errors(mut error: watch::Receiver<Option<RequestError>>, changed: Arc<Notify>) {
    while error.changed().await.is_ok() {
        changed.notify_one();
    }
}

fn all<W: Clone>(informer: &Informer<Plain<W>>) -> Vec<W>
where
    Plain<W>: Cached,
{
    informer.read().iter().map(|object| W::clone(&object.wire)).collect()
}
