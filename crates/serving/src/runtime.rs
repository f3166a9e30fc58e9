//! The runtimes of a process with a server: one for its connections, one for everything else.
//!
//! On a busy runtime, a small request of a client would wait for the tasks of controllers, scheduler and nodes that are ahead of
//! it. Between the threads of two runtimes, the operating system decides, which prefers those that have waited.

use std::io;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// How many tasks a worker runs until it looks for requests that have arrived. With tokio's default of 61, a small request waits for
/// several milliseconds if there is much to do: a task may be a write of an object.
const EVENT_INTERVAL: u32 = 13;

/// How long a thread beside the workers is kept without work, with the memory that it has freed.
const THREAD_KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The runtime of connections.
#[derive(Debug)]
pub struct ConnectionRuntime(Option<Runtime>);

impl ConnectionRuntime {
    /// Starts a worker for each processor.
    pub fn start() -> io::Result<Self> {
        let mut runtime = Builder::new_multi_thread();
        runtime.thread_name("connections");
        Ok(Self(Some(build_runtime(runtime)?)))
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.0.as_ref().expect("the runtime is there until it is dropped").spawn(work)
    }
}

impl Drop for ConnectionRuntime {
    /// Does not wait for its threads, which is not allowed in a task of another runtime.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Builds a runtime for a server, or for other components in its process.
pub fn build_runtime(mut runtime: Builder) -> io::Result<Runtime> {
    runtime.enable_all().max_blocking_threads(blocking_threads_max()).thread_keep_alive(THREAD_KEEP_ALIVE);
    runtime.event_interval(EVENT_INTERVAL).build()
}

/// The most threads beside the workers: those of heavy work, twice as many as processors, and a few for other work. Without a
/// limit, each of many short pieces of work would start one, and every thread keeps some freed memory.
fn blocking_threads_max() -> usize {
    2 * available_parallelism().map_or(2, usize::from) + 4
}
