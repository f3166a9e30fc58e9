//! Renews the certificate of a node before it expires, without an interruption.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gantry_certificates::{Lifetime, Seconds};
use gantry_client::{ApiTransport, ConfigError, RequestError, ResponseBody};
use gantry_runtime::{Api, Clock, Metrics};
use http::{Request, Response};
use http_body_util::Full;
use tower::Service;

use crate::{NodeIdentity, request_certificate};

/// The pause after a failed renewal.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// The share of the lifetime of a certificate after which it is renewed at the earliest, in percent, and the range of
/// the random delay after that, so that the nodes of a cluster do not renew at once.
const RENEW_AFTER_PERCENT: i64 = 70;
const SPREAD: f64 = 0.285;

/// The connections of a node, whose certificate changes while it runs.
#[derive(Clone, Debug)]
pub struct RenewedTransport {
    current: Arc<RwLock<ApiTransport>>,
}

impl RenewedTransport {
    /// Connects with the credentials of a node.
    pub fn new(identity: &NodeIdentity) -> Result<Self, ConfigError> {
        Ok(Self { current: Arc::new(RwLock::new(ApiTransport::connect(&identity.config())?)) })
    }

    /// The transport for clients: each request is sent with the current certificate.
    pub fn transport(&self) -> ApiTransport {
        ApiTransport::in_process(self.clone())
    }

    fn current(&self) -> ApiTransport {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Renews the certificate repeatedly, and writes it to the file. Connections with the old certificate end with
    /// their last request.
    pub async fn renew(self, mut identity: NodeIdentity, node: String, file: PathBuf, clock: Clock) {
        let now = || clock.now().as_nanos() / 1_000_000_000;
        let mut wait = identity.lifetime().map_or(Duration::ZERO, |lifetime| renew_after(lifetime, now()));
        loop {
            tokio::time::sleep(clock.with_jitter(wait, SPREAD)).await;
            match self.renew_once(&identity, &node, &file).await {
                Ok(renewed) => {
                    identity = renewed;
                    wait =
                        identity.lifetime().map_or(RETRY_AFTER, |lifetime| renew_new_after(lifetime, now()));
                }
                Err(why) => {
                    tracing::warn!(why, "the certificate of this node could not be renewed; trying again");
                    wait = RETRY_AFTER;
                }
            }
        }
    }

    async fn renew_once(
        &self,
        identity: &NodeIdentity,
        node: &str,
        file: &std::path::Path,
    ) -> Result<NodeIdentity, String> {
        let api = Api::new(self.current(), "gantry-node", Metrics::new());
        let certificate = request_certificate(&api, node).await.map_err(|error| error.to_string())?;
        let renewed = NodeIdentity { identity: certificate, ..identity.clone() };
        let transport = ApiTransport::connect(&renewed.config()).map_err(|error| error.to_string())?;
        renewed.write(file).map_err(|error| error.to_string())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = transport;
        tracing::info!("the certificate of this node was renewed");
        Ok(renewed)
    }
}

/// The time until a certificate is renewed: until 70 % of its lifetime have passed.
pub fn renew_after(lifetime: Lifetime, now: Seconds) -> Duration {
    let life = lifetime.ends.saturating_sub(lifetime.begins);
    let due = lifetime.begins.saturating_add(life / 100 * RENEW_AFTER_PERCENT);
    Duration::from_secs(u64::try_from(due.saturating_sub(now)).unwrap_or(0))
}

/// The time until a certificate that was just signed is renewed. Authorities backdate it by some minutes, so that most
/// of the lifetime of a short-lived one may have passed already; at least half of the remaining time is waited for.
fn renew_new_after(lifetime: Lifetime, now: Seconds) -> Duration {
    let left = u64::try_from(lifetime.ends.saturating_sub(now)).unwrap_or(0);
    renew_after(lifetime, now).max(Duration::from_secs(left / 2))
}

impl Service<Request<Full<Bytes>>> for RenewedTransport {
    type Response = Response<ResponseBody>;
    type Error = RequestError;
    type Future = BoxFuture<'static, Result<Response<ResponseBody>, RequestError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RequestError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let transport = self.current();
        async move { transport.send(request).await }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_renewed_after_most_of_its_life() {
        let year = Lifetime { begins: 0, ends: 1000 };
        assert_eq!(renew_after(year, 0), Duration::from_secs(700));
        assert_eq!(renew_after(year, 650), Duration::from_secs(50));
        assert_eq!(renew_after(year, 900), Duration::ZERO, "it is overdue");
        assert_eq!(renew_new_after(year, 0), Duration::from_secs(700));
    }

    /// The certificate expires in two minutes and is backdated by five.
    #[test]
    fn a_short_lived_certificate_is_not_renewed_at_once() {
        let short = Lifetime { begins: -300, ends: 120 };
        assert_eq!(renew_new_after(short, 0), Duration::from_secs(60));
    }
}
