//! What every Kubernetes client of ours needs, and no rules.
//!
//! # Putting a controller together
//!
//! ```text
//! let api = Api::new(client, "gantry-controllers", metrics);    // requests, retries, classified refusals
//! let mut informers = Informers::new();
//! let pods: Informer<Pod> = informers.of();                     // shared: one watch, however many ask
//! let queue = Queue::new("replicaset", clock, metrics);         // decide::queue with workers around it
//! pods.subscribe(move |change| queue.add(key_of(change)));      // told synchronously, in order
//! informers.start(&mut tasks, &api, &shutdown);
//! pods.synced().await;
//! queue.work(5, policy, shutdown, |key| async move { … pods.read().controlled_by(&uid) … (outcome, wake) }).await;
//! ```
//!
//! - [`informer`]: copies of resources that follow the server, with indexes, see there for what is promised to whom.
//! - [`Queue`]: one key once at a time, back-off, delays, workers, metrics.
//! - [`Api`], [`Target`], [`Deletion`]: reads and writes. Every write is strict and names its manager.
//! - [`EventRecorder`]: events as client-go records them, never in the way of a sync.
//! - [`Election`]: takes turns with other processes by a Lease, client-go's way.
//! - [`Clock`], [`Shutdown`], [`Metrics`]: time, ending and numbers as values; [`Tasks`]: tasks that end together.
//!
//! *Invariant:* nothing here decides anything about a Deployment, a pod or a piece of garbage.

mod api;
mod chance;
mod clock;
mod election;
mod events;
mod failure;
pub mod informer;
mod metrics;
mod queue;
mod repeats;
mod request;
mod shutdown;
mod tasks;

pub use api::Api;
pub use chance::lengthened;
pub use clock::Clock;
pub use election::{Election, Lease, Timing};
pub use events::{EventRecorder, EventWriter};
pub use failure::{Failure, chain};
pub use informer::{Change, Informer, Informers};
pub use metrics::{Metrics, Sample, Value, render};
pub use queue::Queue;
pub use request::{Deletion, Form, Target};
pub use shutdown::{Shutdown, Switch, shutdown};
pub use tasks::Tasks;
