//! Caches of one Deployment, its ReplicaSets, pods and events, kept up to date by watches.
//!
//! The controllers' informers are not used: they cache whole clusters, and only the pod fields that the rules need.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use gantry_kubectl::Failure;
use gantry_view::ApiObjects;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::runtime::reflector::{self, Store};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::cluster::Cluster;
use crate::fetch;

/// The caches and their watch tasks.
pub(super) struct Reflectors {
    deployment: Store<Deployment>,
    sets: Store<ReplicaSet>,
    pods: Store<Pod>,
    events: Store<Event>,
    status: Arc<WatchStatus>,
    /// Aborts the watches on drop.
    _watches: JoinSet<()>,
}

/// Change notifications and errors of the watches.
#[derive(Default)]
struct WatchStatus {
    changed: Notify,
    error: Mutex<Option<String>>,
}

impl Reflectors {
    /// Starts the watches; returns when all caches are filled.
    pub(super) async fn start(cluster: &Cluster, name: &str) -> Result<Self, Failure> {
        let Cluster { client, namespace, .. } = cluster;
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
        // Read first: it may not exist, and its selector is needed for the other watches.
        let deployment = deployments.get(name).await.map_err(|error| cluster.failure(error))?;
        let selected = watcher::Config::default().labels(&fetch::selector(&deployment));
        let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
        let status = Arc::new(WatchStatus::default());
        let mut watches = JoinSet::new();
        let reflectors = Self {
            deployment: follow(&mut watches, &status, deployments, only),
            sets: follow(&mut watches, &status, Api::namespaced(client.clone(), namespace), selected.clone()),
            pods: follow(&mut watches, &status, Api::namespaced(client.clone(), namespace), selected),
            events: follow(
                &mut watches,
                &status,
                Api::namespaced(client.clone(), namespace),
                watcher::Config::default(),
            ),
            status,
            _watches: watches,
        };
        reflectors.filled().await?;
        Ok(reflectors)
    }

    /// The cached objects; `None` if the Deployment was deleted.
    pub(super) fn objects(&self) -> Option<ApiObjects> {
        let deployment = self.deployment.state().into_iter().next()?;
        Some(ApiObjects {
            deployment: Deployment::clone(&deployment),
            sets: all(&self.sets),
            pods: all(&self.pods),
            events: all(&self.events),
            deployments: Vec::new(),
            // The view does not show nodes, which many users may not read.
            nodes: Vec::new(),
        })
    }

    /// Returns at the next change.
    pub(super) async fn changed(&self) {
        self.status.changed.notified().await;
    }

    /// The error of the last watch attempt, if it failed.
    pub(super) fn error(&self) -> Option<String> {
        self.status.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns when all caches are filled, or at the first error.
    async fn filled(&self) -> Result<(), Failure> {
        let filled = async {
            // An error means that a watch has ended, which does not happen while `self` exists.
            let _ = tokio::join!(
                self.deployment.wait_until_ready(),
                self.sets.wait_until_ready(),
                self.pods.wait_until_ready(),
                self.events.wait_until_ready(),
            );
        };
        let refused = async {
            loop {
                self.changed().await;
                if let Some(error) = self.error() {
                    return error;
                }
            }
        };
        tokio::select! {
            () = filled => Ok(()),
            error = refused => Err(Failure::other(error)),
        }
    }
}

fn follow<K>(
    watches: &mut JoinSet<()>,
    status: &Arc<WatchStatus>,
    api: Api<K>,
    config: watcher::Config,
) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let status = Arc::clone(status);
    watches.spawn(async move {
        let mut changes = watcher(api, config).default_backoff().reflect(writer).boxed();
        while let Some(change) = changes.next().await {
            let error = change.err().map(|error| gantry_runtime::chain(&error));
            *status.error.lock().unwrap_or_else(PoisonError::into_inner) = error;
            status.changed.notify_one();
        }
    });
    store
}

fn all<K>(store: &Store<K>) -> Vec<K>
where
    K: Resource<DynamicType = ()> + Clone + 'static,
{
    store.state().iter().map(|object| K::clone(object)).collect()
}
