//! A server that is killed with SIGKILL at random moments under load and restarted on the same data, while clients
//! continue.
//!
//! Six writers create, update and delete their own objects, and record which writes were acknowledged. After a lost
//! response they read the object: it has the acknowledged state, or the one that was requested last. An informer watches
//! all the time, and must end with exactly the objects of the server. Four kills, or a hundred with `GANTRY_LONG=1`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking and print their seed"
)]

mod definitions;
mod rollouts;
#[path = "../running/mod.rs"]
mod running;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use gantry_json::json;
use gantry_store::suite::{Rng, is_long_run, seeds};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use running::{Scratch, Server};

const WRITERS: u64 = 6;
const OBJECTS_EACH: u64 = 5;
/// The timeout of each wait; a busy machine is slow.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The acknowledged content of an object: a number and its resource version.
type Held = Option<(u64, String)>;

/// A client that writes its own objects.
struct Writer {
    api: Api<ConfigMap>,
    number: u64,
    rng: Rng,
    held: BTreeMap<String, Held>,
    acknowledged: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_write_is_lost_and_informers_match_the_server() {
    let seed = seeds(1, 1).next().unwrap_or_default();
    println!("GANTRY_SEED={seed}");
    let scratch = Scratch::new("crash");
    let (data, kubeconfig) = (scratch.join("data"), scratch.join("kubeconfig"));
    let mut server = Server::in_directory(&data, &kubeconfig);
    let address = server.address().to_owned();
    let client = server.client().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client);

    let informed = inform(api.clone());
    let (stop, acknowledged) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let rng = Rng::new(seed.wrapping_mul(1000) + number);
            let (stop, acknowledged) = (Arc::clone(&stop), Arc::clone(&acknowledged));
            let held = BTreeMap::new();
            tokio::spawn(Writer { api: api.clone(), number, rng, held, acknowledged, stop }.write())
        })
        .collect();

    let mut rng = Rng::new(seed);
    let kills = if is_long_run() { 100 } else { 4 };
    for kill in 0..kills {
        // Only after new writes since the last kill, so that there is something to lose.
        let enough = acknowledged.load(Ordering::SeqCst) + 20 + rng.below(200);
        wait_until("writes are acknowledged again", || acknowledged.load(Ordering::SeqCst) > enough).await;
        server.kill();
        server = Server::start(&address, &kubeconfig, &["--data-dir", &data.display().to_string()]);
        println!("kill {kill}: {} writes were acknowledged", acknowledged.load(Ordering::SeqCst));
    }
    stop.store(true, Ordering::SeqCst);
    let mut expected = BTreeMap::new();
    for writer in writers {
        expected.extend(writer.await.expect("every writer finds what was acknowledged"));
    }
    let truth = listed(&api).await;
    assert_eq!(truth, expected, "GANTRY_SEED={seed}: the server has what it acknowledged");
    let state = || informed.state().iter().map(|object| version(object)).collect::<BTreeMap<_, _>>();
    wait_until("the informer has what the server has", || state() == truth).await;
}

/// An informer of these objects; returns its cache.
fn inform(api: Api<ConfigMap>) -> reflector::Store<ConfigMap> {
    let (reader, writer) = reflector::store();
    let stream = watcher(api, watcher::Config::default()).default_backoff().reflect(writer);
    tokio::spawn(stream.for_each(|_| async {}));
    reader
}

async fn listed(api: &Api<ConfigMap>) -> BTreeMap<String, String> {
    let all = api.list(&ListParams::default()).await.unwrap();
    all.items.iter().map(version).collect()
}

fn version(object: &ConfigMap) -> (String, String) {
    let metadata = &object.metadata;
    (metadata.name.clone().unwrap(), metadata.resource_version.clone().unwrap())
}

async fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

impl Writer {
    /// Writes until it is stopped; returns the version of every object that must be stored.
    async fn write(mut self) -> BTreeMap<String, String> {
        let mut next = 0;
        while !self.stop.load(Ordering::SeqCst) {
            next += 1;
            let name = format!("w{}-{}", self.number, self.rng.below(OBJECTS_EACH));
            let held = self.held.get(&name).cloned().flatten();
            let wanted = (held.is_none() || self.rng.below(4) > 0).then_some(next);
            let outcome = self.attempt(&name, held.as_ref(), wanted).await;
            let now = match outcome {
                Ok(now) => {
                    self.acknowledged.fetch_add(1, Ordering::SeqCst);
                    now
                }
                Err(error) => self.verify(&name, held, wanted, &error).await,
            };
            self.held.insert(name, now);
        }
        self.held.into_iter().filter_map(|(name, held)| held.map(|(_, version)| (name, version))).collect()
    }

    async fn attempt(
        &self,
        name: &str,
        held: Option<&(u64, String)>,
        wanted: Option<u64>,
    ) -> kube::Result<Held> {
        let Some(number) = wanted else {
            self.api.delete(name, &DeleteParams::default()).await?;
            return Ok(None);
        };
        let version = held.map(|(_, version)| version);
        let object = json!({
            "metadata": {"name": name, "resourceVersion": version},
            "data": {"number": number.to_string(), "padding": "x".repeat(700)},
        });
        let object = gantry_json::from_value(object).unwrap();
        let params = PostParams::default();
        let written = match version {
            None => self.api.create(&params, &object).await?,
            Some(_) => self.api.replace(name, &params, &object).await?,
        };
        Ok(holding(&written))
    }

    /// After a lost response: the state is either the acknowledged or the requested one.
    async fn verify(&self, name: &str, held: Held, wanted: Option<u64>, error: &kube::Error) -> Held {
        assert!(!matches!(error, kube::Error::Api(status) if status.code < 500), "{name}: {error}");
        let deadline = Instant::now() + TIMEOUT;
        let found = loop {
            match self.api.get_opt(name).await {
                Ok(found) => break found.as_ref().and_then(holding),
                Err(error) => {
                    assert!(Instant::now() < deadline, "the server does not respond again: {error}");
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let is_as_wanted = found.as_ref().map(|(number, _)| *number) == wanted;
        assert!(
            found == held || is_as_wanted,
            "{name}: acknowledged {held:?}, requested {wanted:?}, found {found:?}"
        );
        found
    }
}

fn holding(object: &ConfigMap) -> Held {
    let number = object.data.as_ref()?.get("number")?.parse().ok()?;
    Some((number, object.metadata.resource_version.clone()?))
}
