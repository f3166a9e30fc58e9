//! The port for reading pod logs; the server runs no containers itself.

use std::fmt::Debug;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_primitives::Refusal;
use gantry_registry::pods::logs::LogOptions;

use crate::response::Chunks;

/// The bytes of a log; dropping it closes the log.
pub type LogStream = Pin<Box<dyn Chunks>>;

/// A source of container logs.
pub trait PodLogs: Debug + Send + Sync {
    /// Opens the log of a container.
    fn open<'a>(&'a self, wanted: LogRequest<'a>) -> Opening<'a>;
}

/// The future of an opened log.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<LogStream, Refusal>> + Send + 'a>>;

/// Identifies a log of a bound pod.
#[derive(Clone, Debug)]
pub struct LogRequest<'a> {
    /// The node that runs the pod.
    pub node: &'a str,
    /// The pod's namespace.
    pub namespace: &'a str,
    /// The pod's name.
    pub pod: &'a str,
    /// The pod's uid.
    pub uid: &'a str,
    /// The container, which exists in the pod.
    pub container: &'a str,
    /// Which lines, and their format.
    pub options: &'a LogOptions,
}

/// A log as a response body.
pub(crate) struct LogChunks(pub(crate) LogStream);

impl Chunks for LogChunks {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.as_mut().poll_chunk(context)
    }
}
