//! Leader election by a Lease, as in client-go.
//!
//! The holder renews; a candidate that has seen no renewal for the duration of the lease takes over. Times in the
//! lease are never compared with the own clock; only the time since the lease was last seen to change counts, so that
//! the clocks of different machines need not agree.
//!
//! A holder that is stopped and resumed does not notice that time has passed. So every renewal opens a [`WriteFence`]
//! for the renew deadline, counted from before it was sent, and the writes of the holder are behind that fence.

mod record;

pub use record::Lease;

use std::time::Duration;

use gantry_decide::gc::Resource;
use gantry_model::{Name, Namespace};
use k8s_openapi::api::coordination::v1 as wire;

use crate::api::Api;
use crate::clock::Clock;
use crate::informer::resource_of;
use crate::request::ResourcePath;
use crate::shutdown::{Shutdown, shutdown};
use gantry_client::{NoneIf as _, RequestError, WriteFence};

use record::{LeaseDecision, ObservedLease};

/// The durations of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a lease is valid without being renewed.
    pub lease: Duration,
    /// How long a holder that cannot renew continues before it stops. Shorter than the lease, so that what it has sent
    /// by then arrives before another candidate takes over.
    pub renew: Duration,
    /// The period of attempts.
    pub retry: Duration,
}

/// One candidate.
#[derive(Clone, Debug)]
pub struct Election {
    /// The API client.
    pub api: Api,
    /// The time source.
    pub clock: Clock,
    /// The namespace of the lease.
    pub namespace: Namespace,
    /// The name of the lease.
    pub name: Name,
    /// Identifies this candidate.
    pub identity: String,
    /// The durations of the election.
    pub timing: Timing,
    /// Closes when the lease may have expired; the writes of the leader are behind it.
    pub fence: WriteFence,
}

/// The result of an attempt to acquire or renew the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TryResult {
    /// This candidate holds it.
    Held,
    /// Another candidate holds it.
    HeldByOther,
    /// It could not be read or written.
    Failed,
}

/// How leadership ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeadershipEnd {
    /// Shutdown was requested.
    Over,
    Done,
    Lost,
}

impl Default for Timing {
    /// 15 s, 10 s and 2 s, as in client-go, so that candidates of both kinds are equal.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { lease: seconds(15), renew: seconds(10), retry: seconds(2) }
    }
}

impl Election {
    /// Acquires the lease, works until it is lost or shutdown is requested, and releases it.
    ///
    /// `work` gets a signal that covers both the loss of the lease and shutdown. Returns whether shutdown was
    /// requested; `false` means a lost lease, after which the process should start over.
    pub async fn run<F: Future<Output = ()>>(
        &self,
        over: &Shutdown,
        work: impl FnOnce(Shutdown) -> F,
    ) -> bool {
        let mut observed = ObservedLease::default();
        if over.unless(self.acquire(&mut observed)).await.is_none() {
            return true;
        }
        tracing::info!(lease = %self.name, identity = self.identity, "became the leader");
        let labels = [("name", self.name.as_str())];
        self.api.metrics().set("leader_election_master_status", &labels, 1.0);
        let (switch, turn) = shutdown();
        let mut working = std::pin::pin!(work(turn));
        let ended = tokio::select! {
            biased;
            () = over.wait() => LeadershipEnd::Over,
            () = self.renew(&mut observed) => LeadershipEnd::Lost,
            () = self.fence.refused() => LeadershipEnd::Lost,
            () = &mut working => LeadershipEnd::Done,
        };
        switch.turn();
        if ended == LeadershipEnd::Lost {
            self.fence.close();
            tracing::error!(lease = %self.name, "the lease is lost");
        }
        if ended != LeadershipEnd::Done {
            working.await;
        }
        self.api.metrics().set("leader_election_master_status", &labels, 0.0);
        if ended != LeadershipEnd::Lost {
            self.release(&observed).await;
        }
        // The work has ended; the next requests are those of a candidate.
        self.fence.open();
        ended != LeadershipEnd::Lost
    }

    async fn acquire(&self, observed: &mut ObservedLease) {
        while self.try_once(observed).await != TryResult::Held {
            tokio::time::sleep(self.timing.retry).await;
        }
    }

    /// Renews until that has failed for too long, or another candidate holds the lease.
    async fn renew(&self, observed: &mut ObservedLease) {
        while let Ok(remaining) = self.fence.check() {
            tokio::time::sleep(self.timing.retry.min(remaining)).await;
            let Ok(remaining) = self.fence.check() else { return };
            if let Ok(TryResult::HeldByOther) = tokio::time::timeout(remaining, self.try_once(observed)).await
            {
                return;
            }
        }
    }

    /// Reads the lease and, if it can be acquired or renewed, writes it.
    async fn try_once(&self, observed: &mut ObservedLease) -> TryResult {
        match self.decide_and_write(observed).await {
            Ok(result) => result,
            Err(failure) if failure.lacks_permission() => {
                tracing::warn!(lease = %self.name, %failure, "not allowed to use the lease");
                TryResult::Failed
            }
            Err(failure) => {
                tracing::debug!(lease = %self.name, %failure, "the lease could not be read or written");
                TryResult::Failed
            }
        }
    }

    async fn decide_and_write(&self, observed: &mut ObservedLease) -> Result<TryResult, RequestError> {
        let found = self.api.get::<wire::Lease>(&self.target()).await.none_if_absent()?;
        let step =
            observed.decide(found, &self.identity, self.timing.lease, self.clock.steady(), self.clock.now());
        // Other candidates count from when they see the write, which is later.
        let sent = self.fence.now();
        let stored = match step {
            LeaseDecision::Wait => return Ok(TryResult::HeldByOther),
            LeaseDecision::Create(lease) => {
                let target = ResourcePath::collection(&leases(), Some(&self.namespace));
                self.api.create(&target, &lease.render(&self.namespace, &self.name, None)).await?
            }
            LeaseDecision::Update(lease, found) => {
                let lease = lease.render(&self.namespace, &self.name, Some(*found));
                self.api.replace(&self.target(), &lease).await?
            }
        };
        observed.wrote(&stored, self.clock.steady());
        self.fence.open_until(sent + self.timing.renew);
        Ok(TryResult::Held)
    }

    /// Releases the lease, so that the next candidate need not wait for it to expire.
    async fn release(&self, observed: &ObservedLease) {
        let Some(lease) = observed.released(&self.identity, self.clock.now()) else { return };
        let given_back = async {
            let found = self.api.get::<wire::Lease>(&self.target()).await?;
            if Lease::parse(&found).holder != self.identity {
                return Ok(());
            }
            let lease = lease.render(&self.namespace, &self.name, Some(found));
            self.api.replace::<wire::Lease>(&self.target(), &lease).await.map(drop)
        };
        if let Err(failure) = given_back.await {
            tracing::debug!(lease = %self.name, %failure, "the lease could not be released");
        }
    }

    fn target(&self) -> ResourcePath {
        ResourcePath::object(&leases(), Some(&self.namespace), &self.name)
    }
}

fn leases() -> Resource {
    resource_of::<wire::Lease>()
}
