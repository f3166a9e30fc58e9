//! The probe: a client that sends small requests at regular times, on its own connection and thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::case::Message;
use crate::connection::{Connection, Endpoint};
use crate::http1::Response;
use crate::machine::Counters;

/// The time after which a request is aborted.
const GIVE_UP: Duration = Duration::from_secs(30);
const NAP: Duration = Duration::from_millis(10);

/// The measurement of one request.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The request in one line.
    pub(crate) request: String,
    pub(crate) started: Instant,
    /// From the time at which the request was due to its response.
    pub(crate) waited: Duration,
    /// The part of the wait that the machine caused.
    pub(crate) machine: Duration,
    /// The processor time of the server in that period.
    pub(crate) server: Duration,
    /// The status, or the error if there was no response.
    pub(crate) outcome: Result<u16, String>,
}

impl Sample {
    /// Returns the wait without the part that the machine caused.
    pub(crate) fn without_machine_delays(&self) -> Duration {
        self.waited.saturating_sub(self.machine)
    }
}

/// A probe on its own thread.
pub(crate) struct Probe {
    stop: Arc<AtomicBool>,
    samples: Arc<Mutex<Vec<Sample>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Probe {
    /// Starts to send the requests in turn, one in each period.
    pub(crate) fn start(
        endpoint: Endpoint,
        token: String,
        server: u32,
        requests: Vec<Message>,
        period: Duration,
    ) -> Self {
        let (stop, samples) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let lateness = Arc::new(AtomicU64::new(0));
        let sleeper = {
            let (stop, lateness) = (Arc::clone(&stop), Arc::clone(&lateness));
            std::thread::spawn(move || measure_lateness(&stop, &lateness))
        };
        let client = {
            let (stop, samples) = (Arc::clone(&stop), Arc::clone(&samples));
            std::thread::spawn(move || {
                let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                    return;
                };
                let mut client = ProbeClient { endpoint, token, server, lateness, connection: None };
                runtime.block_on(async {
                    for request in requests.iter().cycle() {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let sample = client.measure(request).await;
                        let rest = period.saturating_sub(sample.started.elapsed());
                        samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
                        tokio::time::sleep(rest).await;
                    }
                });
            })
        };
        Self { stop, samples, threads: vec![sleeper, client] }
    }

    /// Takes the samples since the last call.
    pub(crate) fn take(&self) -> Vec<Sample> {
        std::mem::take(&mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stops the probe and returns the remaining samples.
    pub(crate) fn finish(mut self) -> Vec<Sample> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.take()
    }
}

struct ProbeClient {
    endpoint: Endpoint,
    token: String,
    server: u32,
    lateness: Arc<AtomicU64>,
    connection: Option<Connection>,
}

impl ProbeClient {
    async fn measure(&mut self, request: &Message) -> Sample {
        let before = Counters::read(self.server);
        let late_before = self.lateness.load(Ordering::Relaxed);
        let started = Instant::now();
        let outcome = match tokio::time::timeout(GIVE_UP, self.response(request)).await {
            Ok(Ok(response)) => {
                if !response.keeps_connection() {
                    self.connection = None;
                }
                Ok(response.status)
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no response in {} s", GIVE_UP.as_secs())),
        };
        let waited = started.elapsed();
        if outcome.is_err() {
            self.connection = None;
        }
        let late = Duration::from_micros(self.lateness.load(Ordering::Relaxed).saturating_sub(late_before));
        let after = Counters::read(self.server);
        let (machine, server) =
            (after.machine_delay_since(&before).max(late), after.server_time_since(&before));
        Sample { request: request.line(), started, waited, machine, server, outcome }
    }

    /// Sends a request on the open connection. A connection that was closed is replaced, and the time for that counts.
    async fn response(&mut self, message: &Message) -> std::io::Result<Response> {
        if let Some(connection) = &mut self.connection
            && let Ok(response) = connection.send(message, &self.token).await
        {
            return Ok(response);
        }
        let connection = self.connection.insert(Connection::open(&self.endpoint).await?);
        connection.send(message, &self.token).await
    }
}

/// Sleeps repeatedly, and sums up by how much each sleep was longer than requested.
fn measure_lateness(stop: &AtomicBool, lateness: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        std::thread::sleep(NAP);
        let late = started.elapsed().saturating_sub(NAP);
        // Timers are never exact; only delays that a user could notice count.
        if late > NAP {
            lateness.fetch_add(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }
}
