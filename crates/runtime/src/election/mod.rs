//! Taking turns by a Lease, as client-go does it: whoever holds it works, everybody else watches the clock.
//!
//! The holder renews; a candidate that has seen no renewal for as long as the lease says takes over. Times in the lease
//! are never compared with the own clock, only how long it has been since the lease was last seen to change: clocks of
//! different machines need not agree.

mod record;

pub use record::Lease;

use std::time::Duration;

use gantry_decide::gc::Resource;
use gantry_model::{Name, Namespace, RefusalKind};
use k8s_openapi::api::coordination::v1 as wire;

use crate::api::Api;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::informer::resource_of;
use crate::request::Target;
use crate::shutdown::{Shutdown, shutdown};

use record::{Step, Watched};

/// How long everything takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a lease is good for without being renewed.
    pub lease: Duration,
    /// How long a holder that cannot renew goes on before it stops.
    pub renew: Duration,
    /// How long between two tries.
    pub retry: Duration,
}

/// One candidate.
#[derive(Clone, Debug)]
pub struct Election {
    /// Who asks.
    pub api: Api,
    /// What time it is.
    pub clock: Clock,
    /// The namespace of the lease.
    pub namespace: Namespace,
    /// The name of the lease.
    pub name: Name,
    /// What tells this candidate from all others.
    pub identity: String,
    /// How long everything takes.
    pub timing: Timing,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It is time to end.
    Over,
    /// The work is done.
    Done,
    /// The lease could not be renewed.
    Lost,
}

impl Default for Timing {
    /// 15 s, 10 s and 2 s: the same as client-go's, so that candidates of both kinds are equal.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { lease: seconds(15), renew: seconds(10), retry: seconds(2) }
    }
}

impl Election {
    /// Waits for its turn, works until the turn or the process ends, and gives the lease back.
    ///
    /// `work` is handed a signal that is given when the lease is lost as well as when it is time to end. Returns whether
    /// it was time to end; `false` is for a lost lease, after which the process should start over.
    pub async fn run<F: Future<Output = ()>>(
        &self,
        over: &Shutdown,
        work: impl FnOnce(Shutdown) -> F,
    ) -> bool {
        let mut watched = Watched::default();
        if over.unless(self.acquire(&mut watched)).await.is_none() {
            return true;
        }
        tracing::info!(lease = %self.name, identity = self.identity, "became the leader");
        let labels = [("name", self.name.as_str())];
        self.api.metrics().set("leader_election_master_status", &labels, 1.0);
        let (switch, turn) = shutdown();
        let mut working = std::pin::pin!(work(turn));
        let ended = tokio::select! {
            () = over.wait() => Turn::Over,
            () = self.renew(&mut watched) => Turn::Lost,
            () = &mut working => Turn::Done,
        };
        switch.turn();
        if ended == Turn::Lost {
            tracing::error!(lease = %self.name, "the lease is lost");
        }
        if ended != Turn::Done {
            working.await;
        }
        self.api.metrics().set("leader_election_master_status", &labels, 0.0);
        if ended != Turn::Lost {
            self.release(&watched).await;
        }
        ended != Turn::Lost
    }

    async fn acquire(&self, watched: &mut Watched) {
        while !self.try_once(watched).await {
            tokio::time::sleep(self.timing.retry).await;
        }
    }

    /// Renews until that has not worked for too long.
    async fn renew(&self, watched: &mut Watched) {
        let mut renewed = self.clock.steady();
        while self.clock.steady().since(renewed) < self.timing.renew {
            tokio::time::sleep(self.timing.retry).await;
            let left = self.timing.renew.saturating_sub(self.clock.steady().since(renewed));
            if tokio::time::timeout(left, self.try_once(watched)).await == Ok(true) {
                renewed = self.clock.steady();
            }
        }
    }

    /// One look at the lease and, if it is ours to take, one write. Returns whether it is ours now.
    async fn try_once(&self, watched: &mut Watched) -> bool {
        match self.look_and_write(watched).await {
            Ok(is_ours) => is_ours,
            Err(failure) if failure.is_of_rights() => {
                tracing::warn!(lease = %self.name, %failure, "not allowed to use the lease");
                false
            }
            Err(failure) => {
                tracing::debug!(lease = %self.name, %failure, "the lease could not be read or written");
                false
            }
        }
    }

    async fn look_and_write(&self, watched: &mut Watched) -> Result<bool, Failure> {
        let found = match self.api.get::<wire::Lease>(&self.target()).await {
            Ok(found) => Some(found),
            Err(failure) if failure.kind() == RefusalKind::NotFound => None,
            Err(failure) => return Err(failure),
        };
        let step =
            watched.look(found, &self.identity, self.timing.lease, self.clock.steady(), self.clock.now());
        let stored = match step {
            Step::Wait => return Ok(false),
            Step::Create(lease) => {
                let target = Target::collection(&leases(), Some(&self.namespace));
                self.api.create(&target, &lease.render(&self.namespace, &self.name, None)).await?
            }
            Step::Update(lease, found) => {
                let lease = lease.render(&self.namespace, &self.name, Some(*found));
                self.api.replace(&self.target(), &lease).await?
            }
        };
        watched.wrote(&stored, self.clock.steady());
        Ok(true)
    }

    /// Gives the lease back, so that the next candidate need not wait for it to run out.
    async fn release(&self, watched: &Watched) {
        let Some(lease) = watched.released(&self.identity, self.clock.now()) else { return };
        let given_back = async {
            let found = self.api.get::<wire::Lease>(&self.target()).await?;
            if Lease::parse(&found).holder != self.identity {
                return Ok(());
            }
            let lease = lease.render(&self.namespace, &self.name, Some(found));
            self.api.replace::<wire::Lease>(&self.target(), &lease).await.map(drop)
        };
        if let Err(failure) = given_back.await {
            tracing::debug!(lease = %self.name, %failure, "the lease could not be given back");
        }
    }

    fn target(&self) -> Target {
        Target::object(&leases(), Some(&self.namespace), &self.name)
    }
}

fn leases() -> Resource {
    resource_of::<wire::Lease>()
}
