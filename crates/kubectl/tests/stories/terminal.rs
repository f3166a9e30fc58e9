//! A client context in the namespace `shop` of an in-process cluster whose clock the test controls.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gantry_apiserver::{ApiServer, ApiService, Environment, ServiceAccounts, Settings};
use gantry_controllers::{Options, run};
use gantry_json::{Value, json};
use gantry_kubectl::verbs::{ApplyOptions, GetOptions, ResultPrinter, apply, get};
use gantry_kubectl::{ClientContext, Failure, ManifestOptions, OutputStreams, Selection};
use gantry_model::Timestamp;
use gantry_runtime::{ApiTransport, Clock, Switch, shutdown};
use gantry_store::memory::{HistoryLimits, MemoryStore};

use crate::shared_buffer::SharedBuffer;
use crate::wire::Wire;
use gantry_test_cluster::TestNamespace;

/// The time at which all stories begin: 2026-01-01T12:00:00Z.
const NOON: i64 = 1_767_268_800;

/// The output of a command, and whether it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandOutput {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) failed: bool,
}

/// A client context with captured output.
pub(crate) struct Terminal {
    pub(crate) ctx: ClientContext,
    pub(crate) stage: TestNamespace,
    pub(crate) wire: Wire,
    out: SharedBuffer,
    err: SharedBuffer,
    folder: PathBuf,
    /// The controllers stop when this is dropped.
    _controllers: Option<Switch>,
}

/// An environment with tokio's clock and sequential uids.
#[derive(Debug)]
struct TestEnvironment {
    clock: Clock,
    count: AtomicU64,
}

thread_local! {
    /// The clock of a context is a plain function, and every test has its own thread.
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

static FOLDERS: AtomicU64 = AtomicU64::new(0);

impl Environment for TestEnvironment {
    fn now(&self) -> gantry_primitives::Timestamp {
        timestamp(&self.clock)
    }
    fn uid(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.count.fetch_add(1, Ordering::Relaxed))
    }
    fn name_suffix(&self) -> String {
        format!("x{:04}", self.count.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Terminal {
    /// A terminal at a cluster without controllers.
    pub(crate) async fn new() -> Self {
        Self::start(false, HistoryLimits::default()).await
    }

    /// A terminal at a cluster with a short watch history, without controllers.
    pub(crate) async fn with_short_history() -> Self {
        Self::start(false, HistoryLimits { bytes: 4000, ..HistoryLimits::default() }).await
    }

    /// A terminal at a cluster with controllers.
    pub(crate) async fn with_controllers() -> Self {
        Self::start(true, HistoryLimits::default()).await
    }

    async fn start(with_controllers: bool, history: HistoryLimits) -> Self {
        let clock = Clock::of_tokio(Timestamp::from_secs(NOON));
        CLOCK.with_borrow_mut(|own| *own = Some(clock.clone()));
        let store = Arc::new(MemoryStore::new(history));
        let world = TestEnvironment { clock: clock.clone(), count: AtomicU64::new(1) };
        let settings = Settings { service_accounts: ServiceAccounts::Ignored, ..Settings::default() };
        let server = ApiServer::new(store, Arc::new(world), settings);
        server.prepare().await.unwrap();
        let service = ApiService::for_master(server, "user");
        let quiet = || ApiTransport::in_process(service.clone());
        let controllers = with_controllers.then(|| {
            let (switch, signal) = shutdown();
            let options = Options { clock: clock.clone(), ..Options::default() };
            tokio::spawn(run(quiet(), options, signal));
            switch
        });
        let stage = TestNamespace::new(quiet(), "shop", clock).await;
        let (out, err, wire) = (SharedBuffer::default(), SharedBuffer::default(), Wire::to(service));
        let streams = OutputStreams { out: Box::new(out.clone()), err: Box::new(err.clone()) };
        let transport = ApiTransport::in_process(wire.clone());
        let mut ctx = ClientContext::new(transport, "127.0.0.1:6443", streams, now);
        "shop".clone_into(&mut ctx.namespace);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("gantry-stories-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self { ctx, stage, wire, out, err, folder, _controllers: controllers }
    }

    /// Writes a file, and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// Runs a verb, and returns its output.
    pub(crate) async fn run(
        &mut self,
        verb: impl AsyncFnOnce(&mut ClientContext) -> Result<(), Failure>,
    ) -> CommandOutput {
        let done = verb(&mut self.ctx).await;
        self.output(done)
    }

    /// The output since the last call, with the failure at its end; files are named without their directory.
    pub(crate) fn output(&self, done: Result<(), Failure>) -> CommandOutput {
        let failed = done.is_err();
        let failure = done.err().map_or(String::new(), |failure| failure.lines());
        let folder = format!("{}/", self.folder.display());
        let err = (self.err.take() + &failure).replace(&folder, "");
        CommandOutput { out: self.out.take(), err, failed }
    }

    /// `kubectl apply -f FILE` of this content.
    pub(crate) async fn applies(&mut self, content: &str) -> CommandOutput {
        let file = self.file("s.yaml", content);
        let options = ApplyOptions { manifests: files(vec![file]), ..ApplyOptions::default() };
        self.run(async |ctx| apply(ctx, &options).await).await
    }

    /// `kubectl get WORDS -o OUTPUT`.
    pub(crate) async fn gets(&mut self, words: &str, output: &str) -> CommandOutput {
        let output = (!output.is_empty()).then(|| output.to_owned());
        let options = GetOptions { selection: selected(words), output, ..GetOptions::default() };
        self.run(async |ctx| get(ctx, &options).await).await
    }

    /// The values at a path of an object, as `-o jsonpath` prints them.
    pub(crate) async fn reads(&mut self, words: &str, path: &str) -> String {
        let output = self.gets(words, &format!("jsonpath={path}")).await;
        assert!(!output.failed, "{output:?}");
        output.out
    }

    /// Runs the controllers until they settle, and makes every pod ready.
    pub(crate) async fn roll_out(&mut self) {
        self.stage.settle().await;
        self.stage.drain().await;
    }

    /// Changes other objects until the previous watch history is dropped.
    pub(crate) async fn evict_history(&mut self) {
        for number in 0..50 {
            let map =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{number}")}});
            self.stage.create("configmaps", &map).await.unwrap();
        }
    }

    /// A Deployment that was not created by `apply`.
    pub(crate) async fn has_deployment(&mut self, name: &str, replicas: u32) {
        let object: Value = gantry_json::from_str(&manifest(name, replicas, "nginx:1")).unwrap();
        self.stage.create("deployments", &object).await.unwrap();
    }
}

impl CommandOutput {
    /// A success that printed only this.
    pub(crate) fn is(&self, out: &str) {
        assert_eq!(*self, Self { out: out.to_owned(), err: String::new(), failed: false });
    }

    /// A failure that printed only this.
    pub(crate) fn fails(&self, err: &str) {
        assert_eq!(*self, Self { out: String::new(), err: err.to_owned(), failed: true });
    }
}

/// The objects that these arguments select.
pub(crate) fn selected(words: &str) -> Selection {
    Selection::from_arguments(words.split_whitespace().map(str::to_owned).collect())
}

/// The manifest of a Deployment; JSON is YAML too.
pub(crate) fn manifest(name: &str, replicas: u32, image: &str) -> String {
    deployment(name, replicas, image).to_string()
}

/// A Deployment.
pub(crate) fn deployment(name: &str, replicas: u32, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "c", "image": image}]}}},
    })
}

/// The manifests in these files.
pub(crate) fn files(files: Vec<String>) -> ManifestOptions {
    ManifestOptions { files, ..ManifestOptions::default() }
}

/// A printer for these values of `-o` and `--dry-run`.
pub(crate) fn printer(output: &str, dry_run: gantry_kubectl::verbs::DryRun) -> ResultPrinter {
    let output = (!output.is_empty()).then(|| output.to_owned());
    ResultPrinter::with(output, dry_run).unwrap()
}

fn timestamp(clock: &Clock) -> gantry_primitives::Timestamp {
    gantry_primitives::Timestamp::from_secs(clock.now().as_nanos() / 1_000_000_000)
}

fn now() -> gantry_primitives::Timestamp {
    CLOCK.with_borrow(|clock| timestamp(clock.as_ref().unwrap()))
}
