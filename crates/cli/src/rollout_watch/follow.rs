//! Copies of one Deployment, its ReplicaSets, pods and events that follow the server.
//!
//! Not the informers of the controllers: those hold whole clusters, and of pods only what the rules see.

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
use crate::gather;

/// The copies, and who keeps them up to date.
pub(super) struct Follower {
    deployment: Store<Deployment>,
    sets: Store<ReplicaSet>,
    pods: Store<Pod>,
    events: Store<Event>,
    news: Arc<News>,
    /// Dropped with the follower, and the watches with it.
    _watches: JoinSet<()>,
}

/// What the watches have to say besides objects.
#[derive(Default)]
struct News {
    changed: Notify,
    trouble: Mutex<Option<String>>,
}

impl Follower {
    /// Follows this Deployment, once everything about it has been read.
    pub(super) async fn start(cluster: &Cluster, name: &str) -> Result<Self, Failure> {
        let Cluster { client, namespace, .. } = cluster;
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
        // First alone: it may not exist, and its selector says what else to follow.
        let deployment = deployments.get(name).await.map_err(|error| cluster.failure(error))?;
        let selected = watcher::Config::default().labels(&gather::selector(&deployment));
        let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
        let news = Arc::new(News::default());
        let mut watches = JoinSet::new();
        let follower = Self {
            deployment: follow(&mut watches, &news, deployments, only),
            sets: follow(&mut watches, &news, Api::namespaced(client.clone(), namespace), selected.clone()),
            pods: follow(&mut watches, &news, Api::namespaced(client.clone(), namespace), selected),
            events: follow(
                &mut watches,
                &news,
                Api::namespaced(client.clone(), namespace),
                watcher::Config::default(),
            ),
            news,
            _watches: watches,
        };
        follower.filled().await?;
        Ok(follower)
    }

    /// What is known now; `None` when the Deployment is gone.
    pub(super) fn objects(&self) -> Option<ApiObjects> {
        let deployment = self.deployment.state().into_iter().next()?;
        Some(ApiObjects {
            deployment: Deployment::clone(&deployment),
            sets: all(&self.sets),
            pods: all(&self.pods),
            events: all(&self.events),
            deployments: Vec::new(),
            // The view names no nodes, and people who may not read them are many.
            nodes: Vec::new(),
        })
    }

    /// Returns when something has changed since it last did.
    pub(super) async fn changed(&self) {
        self.news.changed.notified().await;
    }

    /// What keeps a watch from being told anything, if something does.
    pub(super) fn trouble(&self) -> Option<String> {
        self.news.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns when every list is in, or when one of them is refused.
    async fn filled(&self) -> Result<(), Failure> {
        let filled = async {
            // An error means that a watch has ended, which none does while the follower lives.
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
                if let Some(trouble) = self.trouble() {
                    return trouble;
                }
            }
        };
        tokio::select! {
            () = filled => Ok(()),
            trouble = refused => Err(Failure::other(trouble)),
        }
    }
}

fn follow<K>(watches: &mut JoinSet<()>, news: &Arc<News>, api: Api<K>, config: watcher::Config) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let news = Arc::clone(news);
    watches.spawn(async move {
        let mut changes = watcher(api, config).default_backoff().reflect(writer).boxed();
        while let Some(change) = changes.next().await {
            let trouble = change.err().map(|error| gantry_runtime::chain(&error));
            *news.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
            news.changed.notify_one();
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
