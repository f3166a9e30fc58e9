//! Calls to the cluster: to any member that responds, as our user, within a deadline.

use std::time::Duration;

use gantry_grpc::Method;
use gantry_store::Error;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tonic::Streaming;
use tonic::metadata::AsciiMetadataValue;

use crate::fault::{EtcdRefusal, Fault};
use crate::members::{Link, Members};
use crate::rpc;
use crate::settings::{BadSettings, Credentials, Settings};
use crate::wire::{AuthenticateRequest, WatchRequest, WatchResponse};

#[derive(Debug)]
pub(crate) struct Cluster {
    members: Members,
    credentials: Option<Credentials>,
    /// The current token of our user. Locked while requesting one, so that concurrent requests share it.
    token: Mutex<Option<AsciiMetadataValue>>,
    request_timeout: Duration,
}

/// The delay before a retry, which grows with every try.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

const BACKOFF_MIN: Duration = Duration::from_millis(20);
const BACKOFF_MAX: Duration = Duration::from_secs(1);

impl Cluster {
    pub(crate) fn new(settings: &Settings) -> Result<Self, BadSettings> {
        Ok(Self {
            members: Members::new(settings)?,
            credentials: settings.credentials.clone(),
            token: Mutex::new(None),
            request_timeout: settings.request_timeout,
        })
    }

    /// The deadline of a request that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.request_timeout
    }

    /// Repeats an idempotent request until it succeeds, is refused or exceeds its deadline.
    pub(crate) async fn retry<Q, A>(&self, method: &Method<Q, A>, request: &Q) -> Result<A, Fault>
    where
        Q: Clone,
    {
        let deadline = self.deadline();
        let mut backoff = Backoff::default();
        loop {
            let fault = match self.once(method, request.clone(), deadline).await {
                Ok(response) => return Ok(response),
                Err(Fault::Refused(refusal)) if !matches!(refusal, EtcdRefusal::NotNow { .. }) => {
                    return Err(Fault::Refused(refusal));
                }
                Err(fault) => fault,
            };
            if !backoff.pause_before(deadline).await {
                return Err(fault);
            }
        }
    }

    /// Sends a request once; only an invalid token makes it retry, because then nothing was done.
    pub(crate) async fn once<Q, A>(
        &self,
        method: &Method<Q, A>,
        request: Q,
        deadline: Instant,
    ) -> Result<A, Fault>
    where
        Q: Clone,
    {
        let link = self.members.link().await?;
        let token = self.token(&link, None).await?;
        let within = self.attempt_time(deadline);
        if within.is_zero() {
            let why = format!("{}: not connected within {:?}", link.url, self.request_timeout);
            return Err(Fault::NotSent { why });
        }
        let response =
            rpc::unary(link.channel.clone(), method, request.clone(), token.as_ref(), within).await;
        let fault = match response {
            Ok(response) => return Ok(response),
            Err(status) => self.fault_of(&status, &link).await,
        };
        if fault != Fault::Refused(EtcdRefusal::Token) || self.credentials.is_none() {
            return Err(fault);
        }
        let token = self.token(&link, token).await?;
        let within = self.attempt_time(deadline);
        let response = rpc::unary(link.channel.clone(), method, request, token.as_ref(), within).await;
        match response {
            Ok(response) => Ok(response),
            Err(status) => Err(self.fault_of(&status, &link).await),
        }
    }

    /// Opens a watch stream, and returns its connection.
    pub(crate) async fn stream<S>(
        &self,
        requests: impl FnOnce(&Link) -> S,
    ) -> Result<(Link, Streaming<WatchResponse>), Fault>
    where
        S: futures_core::Stream<Item = WatchRequest> + Send + 'static,
    {
        let link = self.members.link().await?;
        let token = self.token(&link, None).await?;
        let within = self.attempt_time(self.deadline());
        let requests = requests(&link);
        match rpc::streaming(link.channel.clone(), &rpc::WATCH, requests, token.as_ref(), within).await {
            Ok(stream) => Ok((link, stream)),
            Err(status) => {
                let fault = self.fault_of(&status, &link).await;
                if fault == Fault::Refused(EtcdRefusal::Token) {
                    self.forget_token().await;
                }
                Err(fault)
            }
        }
    }

    /// The meaning of the end of a call or stream; a connection that failed is closed.
    pub(crate) async fn fault_of(&self, status: &tonic::Status, link: &Link) -> Fault {
        let fault = Fault::of(status, &link.url);
        match &fault {
            // The member is cut off from its cluster; another member may not be.
            Fault::NotSent { .. } | Fault::Doubtful { .. } | Fault::Refused(EtcdRefusal::NotNow { .. }) => {
                self.members.leave(link).await;
            }
            Fault::Refused(_) => {}
        }
        fault
    }

    /// Makes the next request use a new token.
    pub(crate) async fn forget_token(&self) {
        *self.token.lock().await = None;
    }

    /// Our user's token, a new one if the last is the `stale` one.
    async fn token(
        &self,
        link: &Link,
        stale: Option<AsciiMetadataValue>,
    ) -> Result<Option<AsciiMetadataValue>, Fault> {
        let Some(Credentials { name, password }) = &self.credentials else { return Ok(None) };
        let mut token = self.token.lock().await;
        if token.is_some() && *token != stale {
            return Ok(token.clone());
        }
        *token = None;
        let request = AuthenticateRequest { name: name.clone(), password: password.clone() };
        let within = self.attempt_time(self.deadline());
        let response = rpc::unary(link.channel.clone(), &rpc::AUTHENTICATE, request, None, within).await;
        let response = match response {
            Ok(response) => response,
            Err(status) => {
                // In either case, the request that needed the token has not been sent.
                return Err(match self.fault_of(&status, link).await {
                    Fault::Doubtful { why } => Fault::NotSent { why },
                    other => other,
                });
            }
        };
        let parsed = response.token.parse::<AsciiMetadataValue>();
        let fresh = parsed
            .map_err(|_bad| Fault::NotSent { why: "etcd returned a token that is not text".to_owned() })?;
        *token = Some(fresh.clone());
        Ok(Some(fresh))
    }

    /// The timeout of one try: with several members, half of the time is kept for another one.
    fn attempt_time(&self, deadline: Instant) -> Duration {
        let left = deadline.saturating_duration_since(Instant::now());
        if self.members.count() > 1 { left.min(self.request_timeout / 2) } else { left }
    }
}

impl Backoff {
    /// Waits a little longer than the last time; false, at once, when the deadline would have passed.
    pub(crate) async fn pause_before(&mut self, deadline: Instant) -> bool {
        if Instant::now() + self.0 >= deadline {
            return false;
        }
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(BACKOFF_MAX);
        true
    }

    /// Waits a little longer than the last time.
    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(BACKOFF_MAX);
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self(BACKOFF_MIN)
    }
}

/// The error of a request that changes nothing.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        fault.into_error()
    }
}
