//! The same with kinds that are defined and deleted: the server is killed while definitions and their objects are
//! written and deleted.
//!
//! Each writer has its own kind. Acknowledged writes exist after a kill, a definition is either established with all
//! its objects or deleted with all of them, and no object of an unserved kind remains in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gantry_json::json;
use gantry_store::suite::{Rng, is_long_run, seeds};
use gantry_store::{ListRequest, Prefix, Store as _};
use gantry_store_embedded::{EmbeddedStore, Options};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};

use super::running::{Scratch, Server};
use super::{TIMEOUT, wait_until};

const GROUP: &str = "crash.example.com";
const WRITERS: u64 = 4;
/// Enough objects for their deletion to take a while.
const OBJECTS_EACH: u64 = 25;

/// The objects of a kind by name, with their versions; none if the kind is not defined.
type Kept = Option<BTreeMap<String, String>>;

/// A client that defines its own kind.
struct Writer {
    definitions: Api<CustomResourceDefinition>,
    objects: Api<DynamicObject>,
    plural: String,
    kind: String,
    rng: Rng,
    kept: Kept,
    progress: Progress,
}

/// The state shared by the writers and the thread that kills the server.
#[derive(Clone, Default)]
struct Progress {
    acknowledged: Arc<AtomicU64>,
    /// The number of definitions whose deletion has started.
    deleting: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

/// The next action of a writer.
#[derive(Debug)]
enum Action {
    Define,
    Undefine,
    Create(String),
    Replace(String),
    Delete(String),
}

/// Appendix E: neither definitions nor their objects are lost, and none is partially deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_and_their_objects_exist_completely_or_not_at_all() {
    let seed = seeds(1, 1).next().unwrap_or_default();
    println!("GANTRY_SEED={seed}");
    let scratch = Scratch::new("crash-definitions");
    let (data, kubeconfig) = (scratch.join("data"), scratch.join("kubeconfig"));
    let mut server = Server::in_directory(&data, &kubeconfig);
    let address = server.address().to_owned();
    let client = server.client().await;
    let progress = Progress::default();
    let start = |number| {
        let rng = Rng::new(seed.wrapping_mul(1000) + number);
        tokio::spawn(Writer::new(&client, number, rng, progress.clone()).write())
    };
    let writers: Vec<_> = (0..WRITERS).map(start).collect();
    let mut rng = Rng::new(seed);
    for kill in 0..if is_long_run() { 100 } else { 4 } {
        let count = |number: &AtomicU64| number.load(Ordering::SeqCst);
        let enough = count(&progress.acknowledged) + 60 + rng.below(100);
        wait_until("writes are acknowledged again", || count(&progress.acknowledged) > enough).await;
        // Every other time during the deletion of a kind.
        let before = count(&progress.deleting);
        wait_until("a definition is deleted", || kill % 2 == 0 || count(&progress.deleting) > before).await;
        server.kill();
        server = Server::start(&address, &kubeconfig, &["--data-dir", &data.display().to_string()]);
        println!("kill {kill}: {} writes were acknowledged", progress.acknowledged.load(Ordering::SeqCst));
    }
    progress.stop.store(true, Ordering::SeqCst);
    let mut expected = BTreeSet::new();
    for writer in writers {
        let (plural, kept) = writer.await.expect("every writer finds what was acknowledged");
        expected.extend(kept.into_keys().map(|name| format!("/registry/{GROUP}/{plural}/default/{name}")));
    }
    server.kill();
    assert_eq!(stored(&data).await, expected, "GANTRY_SEED={seed}: no object is without its definition");
}

/// The keys of all objects of the group in the store of a server that has ended.
async fn stored(data: &Path) -> BTreeSet<String> {
    let store = EmbeddedStore::open(data, Options::default()).unwrap();
    let page = store.list(ListRequest::all(Prefix::new(format!("/registry/{GROUP}/")))).await.unwrap();
    page.items.iter().map(|item| item.key.to_string()).collect()
}

impl Writer {
    fn new(client: &Client, number: u64, rng: Rng, progress: Progress) -> Self {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", &format!("Kind{number}")));
        Self {
            definitions: Api::all(client.clone()),
            objects: Api::default_namespaced_with(client.clone(), &kind),
            plural: kind.plural,
            kind: kind.kind,
            rng,
            kept: None,
            progress,
        }
    }

    /// Writes until it is stopped; returns what must be stored, after checking that it is.
    async fn write(mut self) -> (String, BTreeMap<String, String>) {
        while !self.progress.stop.load(Ordering::SeqCst) {
            let action = self.choose();
            match self.attempt(&action).await {
                Ok(kept) => {
                    self.progress.acknowledged.fetch_add(1, Ordering::SeqCst);
                    self.kept = kept;
                }
                Err(error) => self.kept = self.verify(&action, &error).await,
            }
        }
        assert_eq!(self.read().await, self.kept, "{}", self.plural);
        (self.plural, self.kept.unwrap_or_default())
    }

    fn choose(&mut self) -> Action {
        let Some(kept) = &self.kept else { return Action::Define };
        let name = format!("o{}", self.rng.below(OBJECTS_EACH));
        match (kept.contains_key(&name), self.rng.below(40)) {
            (_, 0) => Action::Undefine,
            (false, _) => Action::Create(name),
            (true, 1..8) => Action::Delete(name),
            (true, _) => Action::Replace(name),
        }
    }

    /// Performs the action, and returns the expected objects after it.
    async fn attempt(&mut self, action: &Action) -> kube::Result<Kept> {
        let (create, delete) = (PostParams::default(), DeleteParams::default());
        let mut kept = self.kept.clone().unwrap_or_default();
        match action {
            Action::Define => drop(self.definitions.create(&create, &self.definition()).await?),
            Action::Undefine => {
                self.progress.deleting.fetch_add(1, Ordering::SeqCst);
                self.definitions.delete(&self.name(), &delete).await?;
                return Ok(None);
            }
            Action::Create(name) => {
                let created = self.objects.create(&create, &self.object(name, None)).await?;
                kept.insert(name.clone(), created.resource_version().unwrap());
            }
            Action::Replace(name) => {
                let object = self.object(name, kept.get(name));
                let replaced = self.objects.replace(name, &create, &object).await?;
                kept.insert(name.clone(), replaced.resource_version().unwrap());
            }
            Action::Delete(name) => {
                self.objects.delete(name, &delete).await?;
                kept.remove(name);
            }
        }
        Ok(Some(kept))
    }

    /// After a lost response: the state is either the acknowledged or the requested one.
    async fn verify(&self, action: &Action, error: &kube::Error) -> Kept {
        let is_refused = matches!(error, kube::Error::Api(status) if status.code < 500);
        assert!(!is_refused, "{} {action:?} with {:?}: {error}", self.plural, self.kept);
        let found = self.read().await;
        let is_as_requested = match (action, &found) {
            (Action::Define, Some(objects)) => objects.is_empty(),
            (Action::Undefine, found) => found.is_none(),
            (Action::Create(name) | Action::Replace(name), Some(objects)) => {
                self.rest(name) == without(objects, name) && objects.contains_key(name)
            }
            (Action::Delete(name), Some(objects)) => self.rest(name) == *objects,
            _ => false,
        };
        let is_as_before = found == self.kept;
        assert!(is_as_before || is_as_requested, "{action:?} of {:?} resulted in {found:?}", self.kept);
        found
    }

    /// The objects of this kind, as soon as the server responds.
    async fn read(&self) -> Kept {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.try_read().await {
                Ok(found) => return found,
                Err(why) => assert!(Instant::now() < deadline, "{}: {why}", self.plural),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn try_read(&self) -> Result<Kept, String> {
        let found = self.definitions.get_opt(&self.name()).await.map_err(|error| error.to_string())?;
        let Some(definition) = found else { return Ok(None) };
        let conditions = definition.status.and_then(|status| status.conditions).unwrap_or_default();
        let is = |name: &str| conditions.iter().any(|one| one.type_ == name && one.status == "True");
        if definition.metadata.deletion_timestamp.is_some() || !is("Established") || !is("NamesAccepted") {
            return Err(format!("the definition is not settled: {conditions:?}"));
        }
        let listed = self.objects.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let version = |object: &DynamicObject| (object.name_any(), object.resource_version().unwrap());
        Ok(Some(listed.items.iter().map(version).collect()))
    }

    /// The kept objects without this one.
    fn rest(&self, name: &str) -> BTreeMap<String, String> {
        without(&self.kept.clone().unwrap_or_default(), name)
    }

    fn name(&self) -> String {
        format!("{}.{GROUP}", self.plural)
    }

    fn definition(&self) -> CustomResourceDefinition {
        let open =
            json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": open});
        let names = json!({"plural": self.plural, "kind": self.kind});
        let spec = json!({"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]});
        gantry_json::from_value(json!({"metadata": {"name": self.name()}, "spec": spec})).unwrap()
    }

    fn object(&self, name: &str, version: Option<&String>) -> DynamicObject {
        let metadata = json!({"name": name, "resourceVersion": version});
        let number = self.progress.acknowledged.load(Ordering::SeqCst);
        let object = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": self.kind, "metadata": metadata,
            "spec": {"number": number, "by": self.plural, "padding": "x".repeat(300)},
        });
        gantry_json::from_value(object).unwrap()
    }
}

fn without(objects: &BTreeMap<String, String>, name: &str) -> BTreeMap<String, String> {
    objects
        .iter()
        .filter(|(other, _)| *other != name)
        .map(|(name, version)| (name.clone(), version.clone()))
        .collect()
}
