//! Where the logs of pods come from: whoever runs them. The server itself runs nothing.

use std::fmt::Debug;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_registry::Refusal;
use gantry_registry::pods::logs::LogOptions;

use crate::answer::Chunks;

/// Bytes of a log as they come; dropping it ends the reading.
pub type LogStream = Pin<Box<dyn Chunks>>;

/// Whoever can read what containers wrote.
pub trait PodLogs: Debug + Send + Sync {
    /// Opens the log of a container.
    fn open<'a>(&'a self, wanted: LogRequest<'a>) -> Opening<'a>;
}

/// A log that is being opened.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<LogStream, Refusal>> + Send + 'a>>;

/// Which log is wanted, of a pod that is bound.
#[derive(Clone, Debug)]
pub struct LogRequest<'a> {
    /// The node that runs the pod.
    pub node: &'a str,
    /// The pod's namespace.
    pub namespace: &'a str,
    /// The pod.
    pub pod: &'a str,
    /// The pod's uid.
    pub uid: &'a str,
    /// The container, which the pod has.
    pub container: &'a str,
    /// Which lines, and how.
    pub options: &'a LogOptions,
}

/// A log on its way to a client.
pub(crate) struct Reading(pub(crate) LogStream);

impl Chunks for Reading {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.as_mut().poll_chunk(context)
    }
}
