//! The parts that the components share as clients of an API server: caches, queues, events, leases. No rules.
//!
//! # Assembling a controller
//!
//! ```text
//! let api = Api::new(client, "gantry-controllers", metrics);    // requests, retries, classified failures
//! let informers = Informers::new();                            // shared by all components of the process
//! let pods: Informer<Pod> = informers.of();                     // one watch per resource, whatever the type
//! let queue = Queue::new("replicaset", clock, metrics);         // decide::queue with workers
//! pods.subscribe(move |event| queue.add(key_of(event)));        // called synchronously, in order
//! informers.start(&mut tasks, &api, &clock, &shutdown);
//! pods.synced().await;
//! queue.work(5, policy, shutdown, |key| async move { … pods.read().controlled_by(&uid) … (outcome, wake) }).await;
//! ```
//!
//! - [`informer`]: caches of resources that follow the server, with indexes.
//! - [`Queue`]: one worker per key, back-off, delays, metrics.
//! - [`Api`], [`ResourcePath`], [`DeleteParams`]: reads and writes, by the client of `gantry-client`. Every write is strict and
//!   has a field manager.
//! - [`EventRecorder`]: events as client-go records them, without delaying a sync.
//! - [`Election`]: leader election by a Lease, as in client-go. [`WriteFence`] stops the writes of a leader that may have
//!   lost its lease.
//! - [`Clock`], [`Shutdown`], [`Metrics`]: time, shutdown and metrics as values; [`Tasks`]: tasks that end together.
//!
//! *Invariant:* nothing here decides anything about an object.

mod api;
mod clock;
mod election;
mod events;
pub mod informer;
mod json_reader;
mod json_text;
mod latch;
mod log_throttle;
mod metrics;
mod observed;
mod queue;
mod request;
mod shutdown;
mod tasks;
mod wire;
mod zero_times;

pub use api::Api;
pub use clock::Clock;
pub use election::{Election, Lease, Timing};
pub use events::{EventRecorder, EventWriter};
pub use gantry_client::{
    ApiResponse, ApiTransport, NoneIf, RequestBody, RequestError, WriteFence, error_chain,
};
pub use informer::{Informer, InformerEvent, Informers};
pub use metrics::{MetricValue, Metrics, Sample, render};
pub use queue::Queue;
pub use request::{DeleteParams, Form, ResourcePath};
pub use shutdown::{Shutdown, Switch, shutdown};
pub use tasks::Tasks;
pub use wire::{Decode, Encode, ObjectList, PartialMetadata, StoredRef, Wire};
