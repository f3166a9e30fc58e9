//! A quiet client alone and beside a noisy one, and the rollout of a Deployment at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::NoisyOptions;
use crate::case::Message;
use crate::connection::{Connection, Endpoint, write_message};
use crate::latency::Latency;
use crate::probe::{Probe, Sample};
use crate::say;
use crate::server::{NAMESPACE, ServerProcess, create_account, expect};

const NODES: usize = 3;
const REPLICAS: usize = 10;
const QUIET_PERIOD: Duration = Duration::from_millis(20);
const ROLLOUT_LIMIT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(200);
/// The number of listed objects: a few megabytes.
const LISTED_OBJECTS: usize = 100;
const LISTED_BYTES: usize = 50_000;
const LISTERS: usize = 16;
const CREATORS: usize = 8;
const WATCHERS: usize = 50;
const SLOW_READERS: usize = 20;

/// The figures of a measurement.
pub(crate) struct NoisyReport {
    alone: Vec<Sample>,
    beside: Vec<Sample>,
    rollout_alone: Duration,
    rollout_beside: Result<Duration, String>,
    factor: u32,
}

/// Measures the quiet client alone, then beside the noise.
pub(crate) async fn measure(options: &NoisyOptions) -> Result<NoisyReport, String> {
    let mut server = ServerProcess::start(&options.binary, &options.directory, NODES)?;
    let access = server.ready().await?;
    let mut admin = Connection::open(&access.admin).await.map_err(|error| error.to_string())?;
    let (quiet_token, noisy_token) = prepare(&mut admin).await?;
    let probe = |token: &str| {
        Probe::start(access.plain.clone(), token.to_owned(), server.id(), quiet_requests(), QUIET_PERIOD)
    };
    roll_out(&mut admin, "nginx:1").await?;
    let span = Duration::from_secs(options.seconds);
    say(&format!("the quiet client alone, {} s", options.seconds));
    let alone = probe(&quiet_token);
    let started = Instant::now();
    let rollout_alone = roll_out(&mut admin, "nginx:2").await?;
    sleep(span.saturating_sub(started.elapsed())).await;
    let alone = alone.finish();
    say(&format!("beside the noisy client, {} s", options.seconds));
    let noise = Noise::start(&access.plain, &noisy_token);
    let beside = probe(&quiet_token);
    let started = Instant::now();
    let rollout_beside = roll_out(&mut admin, "nginx:3").await;
    sleep(span.saturating_sub(started.elapsed())).await;
    let beside = beside.finish();
    drop(noise);
    Ok(NoisyReport { alone, beside, rollout_alone, rollout_beside, factor: options.factor })
}

impl NoisyReport {
    /// Whether all requests of the quiet client succeeded in time, and the Deployment was rolled out.
    pub(crate) fn passed(&self) -> bool {
        let (alone, beside) = (without_machine_delays(&self.alone), without_machine_delays(&self.beside));
        beside.p99 <= alone.p99 * self.factor && self.refused() == 0 && self.rollout_beside.is_ok()
    }

    /// Returns the figures, a line each.
    pub(crate) fn figures(&self) -> Vec<String> {
        let (alone, beside) = (without_machine_delays(&self.alone), without_machine_delays(&self.beside));
        let raw = |samples: &[Sample]| Latency::of(samples.iter().map(|sample| sample.waited));
        let factor = beside.p99.as_secs_f64() / alone.p99.as_secs_f64().max(f64::EPSILON);
        let rollout = match &self.rollout_beside {
            Ok(took) => format!("{:.1} s", took.as_secs_f64()),
            Err(error) => error.clone(),
        };
        vec![
            format!("alone:  {alone}"),
            format!("beside: {beside}"),
            format!("with delays by the machine: alone {}; beside {}", raw(&self.alone), raw(&self.beside)),
            format!("p99 beside the noise is {factor:.1} times p99 alone, of {} allowed", self.factor),
            format!("{} requests of the quiet client were refused or got no response", self.refused()),
            format!(
                "rollout of {REPLICAS} pods: alone {:.1} s, beside {rollout}",
                self.rollout_alone.as_secs_f64()
            ),
        ]
    }

    fn refused(&self) -> usize {
        self.beside.iter().filter(|sample| sample.outcome != Ok(200)).count()
    }
}

fn without_machine_delays(samples: &[Sample]) -> Latency {
    Latency::of(samples.iter().map(Sample::without_machine_delays))
}

fn path(resource: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/{resource}")
}

fn deployments() -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
}

fn quiet_requests() -> Vec<Message> {
    let patch = json!({"data": {"k": "w"}}).to_string().into_bytes();
    vec![
        Message::get(path("configmaps/small")),
        Message::new("PATCH", path("configmaps/small")).with("application/merge-patch+json", patch),
        Message::get(format!("{}/web", deployments())),
    ]
}

async fn prepare(admin: &mut Connection) -> Result<(String, String), String> {
    expect(admin, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await?;
    expect(admin, "POST", &path("configmaps"), &json!({"metadata": {"name": "small"}, "data": {"k": "v"}}))
        .await?;
    for index in 0..LISTED_OBJECTS {
        let object = json!({
            "metadata": {"name": format!("listed-{index}"), "labels": {"listed": "true"}},
            "data": {"k": "x".repeat(LISTED_BYTES)},
        });
        expect(admin, "POST", &path("configmaps"), &object).await?;
    }
    let deployment = json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": REPLICAS, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx:0"}]},
        }},
    });
    expect(admin, "POST", &deployments(), &deployment).await?;
    Ok((create_account(admin, "quiet").await?, create_account(admin, "noisy").await?))
}

/// Sets the image and waits until the rollout is complete; returns how long it took.
async fn roll_out(admin: &mut Connection, image: &str) -> Result<Duration, String> {
    let path = format!("{}/web", deployments());
    let started = Instant::now();
    let template = json!({"spec": {"containers": [{"name": "web", "image": image}]}});
    let patched = expect(admin, "PATCH", &path, &json!({"spec": {"template": template}})).await?;
    let generation = patched["metadata"]["generation"].as_u64();
    while started.elapsed() < ROLLOUT_LIMIT {
        let object = expect(admin, "GET", &path, &Value::Null).await?;
        let status = &object["status"];
        let count = |field: &str| status[field].as_u64().and_then(|count| usize::try_from(count).ok());
        let fields = ["replicas", "updatedReplicas", "availableReplicas"];
        if status["observedGeneration"].as_u64() >= generation
            && fields.iter().all(|field| count(field) == Some(REPLICAS))
        {
            return Ok(started.elapsed());
        }
        sleep(POLL).await;
    }
    Err(format!("not complete after {} s", ROLLOUT_LIMIT.as_secs()))
}

/// The noisy client: lists, creates, watches, and readers that are slow. Ends when it is dropped.
struct Noise(#[expect(dead_code, reason = "its tasks end when it is dropped")] JoinSet<()>);

impl Noise {
    fn start(endpoint: &Endpoint, token: &str) -> Self {
        let (endpoint, token): (Arc<Endpoint>, Arc<str>) = (Arc::new(endpoint.clone()), token.into());
        let mut tasks = JoinSet::new();
        for _ in 0..LISTERS {
            tasks.spawn(repeat(
                Arc::clone(&endpoint),
                Arc::clone(&token),
                vec![Message::get(path("configmaps"))],
            ));
        }
        for creator in 0..CREATORS {
            let name = format!("noise-{creator}");
            let body = json!({"metadata": {"name": name}, "data": {"k": "x".repeat(10_000)}}).to_string();
            let create = Message::new("POST", path("configmaps")).with("application/json", body.into_bytes());
            let delete = Message::new("DELETE", path(&format!("configmaps/{name}")));
            tasks.spawn(repeat(Arc::clone(&endpoint), Arc::clone(&token), vec![create, delete]));
        }
        for _ in 0..WATCHERS {
            let watch = Message::get(path("configmaps?watch=true"));
            tasks.spawn(repeat(Arc::clone(&endpoint), Arc::clone(&token), vec![watch]));
        }
        for _ in 0..SLOW_READERS {
            tasks.spawn(read_slowly(Arc::clone(&endpoint), Arc::clone(&token)));
        }
        Self(tasks)
    }
}

/// Sends the requests repeatedly, whatever the responses are.
async fn repeat(endpoint: Arc<Endpoint>, token: Arc<str>, messages: Vec<Message>) {
    loop {
        let Ok(mut connection) = Connection::open(&endpoint).await else {
            sleep(POLL).await;
            continue;
        };
        for message in messages.iter().cycle() {
            match connection.send(message, &token).await {
                Ok(response) if response.keeps_connection() => {}
                _ => break,
            }
        }
    }
}

/// Requests a list and reads it slowly, a little at a time.
async fn read_slowly(endpoint: Arc<Endpoint>, token: Arc<str>) {
    let message = Message::get(path("configmaps"));
    let mut buffer = vec![0; 16 << 10];
    loop {
        let Ok(mut stream) = endpoint.connect(b"http/1.1").await else {
            sleep(POLL).await;
            continue;
        };
        if write_message(&mut stream, &message, &endpoint.address, &token).await.is_err() {
            continue;
        }
        while let Ok(1..) = stream.read(&mut buffer).await {
            sleep(POLL).await;
        }
    }
}
