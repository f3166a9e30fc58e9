//! The same with kinds that come and go: a server that is killed while definitions and their objects are written and
//! deleted.
//!
//! Each writer has a kind of its own. Whatever was acknowledged is there after a kill, a definition is either
//! established with all its objects or gone with all of them, and no object of an unserved kind is left in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gantry_store::suite::{Rng, is_long_run, seeds};
use gantry_store::{ListRequest, Prefix, Store as _};
use gantry_store_embedded::{EmbeddedStore, Options};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::running::{Scratch, Server};
use super::{PATIENCE, wait_until};

const GROUP: &str = "crash.example.com";
const WRITERS: u64 = 4;
/// So many that taking them along takes a while.
const OBJECTS_EACH: u64 = 25;

/// The objects of a kind by name, with their versions; none if the kind is not defined.
type Kept = Option<BTreeMap<String, String>>;

/// A client that defines its own kind.
struct Writer {
    definitions: Api<CustomResourceDefinition>,
    objects: Api<DynamicObject>,
    plural: String,
    kind: String,
    dice: Rng,
    kept: Kept,
    told: Told,
}

/// The state shared by the writers and the thread that kills the server.
#[derive(Clone, Default)]
struct Told {
    acknowledged: Arc<AtomicU64>,
    /// The number of definitions whose deletion has started.
    forgetting: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

/// What a writer does next.
#[derive(Debug)]
enum Deed {
    Define,
    Forget,
    Create(String),
    Replace(String),
    Delete(String),
}

/// Appendix E: neither definitions nor their objects are lost, and none is left half way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_and_their_objects_are_all_there_or_all_gone() {
    let seed = seeds(1, 1).next().unwrap_or_default();
    println!("GANTRY_SEED={seed}");
    let scratch = Scratch::new("crash-definitions");
    let (data, kubeconfig) = (scratch.join("data"), scratch.join("kubeconfig"));
    let mut server = Server::in_directory(&data, &kubeconfig);
    let address = server.address().to_owned();
    let client = server.client().await;
    let told = Told::default();
    let start = |number| {
        let dice = Rng::new(seed.wrapping_mul(1000) + number);
        tokio::spawn(Writer::new(&client, number, dice, told.clone()).write())
    };
    let writers: Vec<_> = (0..WRITERS).map(start).collect();
    let mut dice = Rng::new(seed);
    for kill in 0..if is_long_run() { 100 } else { 4 } {
        let count = |number: &AtomicU64| number.load(Ordering::SeqCst);
        let enough = count(&told.acknowledged) + 60 + dice.below(100);
        wait_until("writes are acknowledged again", || count(&told.acknowledged) > enough).await;
        // Every other time in the middle of the end of a kind.
        let before = count(&told.forgetting);
        wait_until("a definition is deleted", || kill % 2 == 0 || count(&told.forgetting) > before).await;
        server.kill();
        server = Server::start(&address, &kubeconfig, &["--data-dir", &data.display().to_string()]);
        println!("kill {kill}: {} writes were acknowledged", told.acknowledged.load(Ordering::SeqCst));
    }
    told.stop.store(true, Ordering::SeqCst);
    let mut expected = BTreeSet::new();
    for writer in writers {
        let (plural, kept) = writer.await.expect("no writer was told one thing and found another");
        expected.extend(kept.into_keys().map(|name| format!("/registry/{GROUP}/{plural}/default/{name}")));
    }
    server.kill();
    assert_eq!(stored(&data).await, expected, "GANTRY_SEED={seed}: no object is without its definition");
}

/// The keys of all objects of the group in the store of a server that is no more.
async fn stored(data: &Path) -> BTreeSet<String> {
    let store = EmbeddedStore::open(data, Options::default()).unwrap();
    let page = store.list(ListRequest::all(Prefix::new(format!("/registry/{GROUP}/")))).await.unwrap();
    page.items.iter().map(|item| item.key.to_string()).collect()
}

impl Writer {
    fn new(client: &Client, number: u64, dice: Rng, told: Told) -> Self {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", &format!("Kind{number}")));
        Self {
            definitions: Api::all(client.clone()),
            objects: Api::default_namespaced_with(client.clone(), &kind),
            plural: kind.plural,
            kind: kind.kind,
            dice,
            kept: None,
            told,
        }
    }

    /// Writes until told to stop; returns what must be there, once it was found to be.
    async fn write(mut self) -> (String, BTreeMap<String, String>) {
        while !self.told.stop.load(Ordering::SeqCst) {
            let deed = self.choose();
            match self.attempt(&deed).await {
                Ok(kept) => {
                    self.told.acknowledged.fetch_add(1, Ordering::SeqCst);
                    self.kept = kept;
                }
                Err(error) => self.kept = self.find_out(&deed, &error).await,
            }
        }
        assert_eq!(self.look().await, self.kept, "{}", self.plural);
        (self.plural, self.kept.unwrap_or_default())
    }

    fn choose(&mut self) -> Deed {
        let Some(kept) = &self.kept else { return Deed::Define };
        let name = format!("o{}", self.dice.below(OBJECTS_EACH));
        match (kept.contains_key(&name), self.dice.below(40)) {
            (_, 0) => Deed::Forget,
            (false, _) => Deed::Create(name),
            (true, 1..8) => Deed::Delete(name),
            (true, _) => Deed::Replace(name),
        }
    }

    /// Does it, and says what there is if it is done.
    async fn attempt(&mut self, deed: &Deed) -> kube::Result<Kept> {
        let (create, delete) = (PostParams::default(), DeleteParams::default());
        let mut kept = self.kept.clone().unwrap_or_default();
        match deed {
            Deed::Define => drop(self.definitions.create(&create, &self.definition()).await?),
            Deed::Forget => {
                self.told.forgetting.fetch_add(1, Ordering::SeqCst);
                self.definitions.delete(&self.name(), &delete).await?;
                return Ok(None);
            }
            Deed::Create(name) => {
                let created = self.objects.create(&create, &self.object(name, None)).await?;
                kept.insert(name.clone(), created.resource_version().unwrap());
            }
            Deed::Replace(name) => {
                let object = self.object(name, kept.get(name));
                let replaced = self.objects.replace(name, &create, &object).await?;
                kept.insert(name.clone(), replaced.resource_version().unwrap());
            }
            Deed::Delete(name) => {
                self.objects.delete(name, &delete).await?;
                kept.remove(name);
            }
        }
        Ok(Some(kept))
    }

    /// After a lost answer: what is there is what was promised, or what was asked for, and nothing between.
    async fn find_out(&self, deed: &Deed, error: &kube::Error) -> Kept {
        let is_refused = matches!(error, kube::Error::Api(status) if status.code < 500);
        assert!(!is_refused, "{} {deed:?} with {:?}: {error}", self.plural, self.kept);
        let found = self.look().await;
        let is_as_asked = match (deed, &found) {
            (Deed::Define, Some(objects)) => objects.is_empty(),
            (Deed::Forget, found) => found.is_none(),
            (Deed::Create(name) | Deed::Replace(name), Some(objects)) => {
                self.rest(name) == without(objects, name) && objects.contains_key(name)
            }
            (Deed::Delete(name), Some(objects)) => self.rest(name) == *objects,
            _ => false,
        };
        let is_as_before = found == self.kept;
        assert!(is_as_before || is_as_asked, "{deed:?} of {:?} came to {found:?}", self.kept);
        found
    }

    /// What the server has of this kind, as soon as there is a server.
    async fn look(&self) -> Kept {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.try_to_look().await {
                Ok(found) => return found,
                Err(why) => assert!(Instant::now() < deadline, "{}: {why}", self.plural),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn try_to_look(&self) -> Result<Kept, String> {
        let found = self.definitions.get_opt(&self.name()).await.map_err(|error| error.to_string())?;
        let Some(definition) = found else { return Ok(None) };
        let conditions = definition.status.and_then(|status| status.conditions).unwrap_or_default();
        let is = |name: &str| conditions.iter().any(|one| one.type_ == name && one.status == "True");
        if definition.metadata.deletion_timestamp.is_some() || !is("Established") || !is("NamesAccepted") {
            return Err(format!("it is not settled: {conditions:?}"));
        }
        let listed = self.objects.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let version = |object: &DynamicObject| (object.name_any(), object.resource_version().unwrap());
        Ok(Some(listed.items.iter().map(version).collect()))
    }

    /// All that was kept but this one.
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
        serde_json::from_value(json!({"metadata": {"name": self.name()}, "spec": spec})).unwrap()
    }

    fn object(&self, name: &str, version: Option<&String>) -> DynamicObject {
        let metadata = json!({"name": name, "resourceVersion": version});
        let number = self.told.acknowledged.load(Ordering::SeqCst);
        let object = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": self.kind, "metadata": metadata,
            "spec": {"number": number, "by": self.plural, "padding": "x".repeat(300)},
        });
        serde_json::from_value(object).unwrap()
    }
}

fn without(objects: &BTreeMap<String, String>, name: &str) -> BTreeMap<String, String> {
    objects
        .iter()
        .filter(|(other, _)| *other != name)
        .map(|(name, version)| (name.clone(), version.clone()))
        .collect()
}
