//! Deployments: observe, ask the rules, carry out what they say; and again where a refusal has to be decided on.

mod apply;
mod claim;
mod observe;
mod outcome;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::deployment::{Decision, Outcome, SyncError};
use gantry_decide::queue::{self, RetryPolicy};
use gantry_model::{ObjectKey, Refusal, RefusalKind};
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use apply::Stopped;
use observe::{Caches, Hand};

/// How often one sync decides again. Each time something was refused; more than a few are somebody else's doing.
const DECISIONS_MAX: usize = 10;

/// The controller.
#[derive(Clone, Debug)]
struct Deployments {
    context: Context,
    caches: Caches,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let caches = Caches::of(&mut assembly.informers);
    let queue = Queue::new("deployment", context.clock.clone(), &context.metrics);
    triggers::subscribe(&caches, &queue);
    let workers = context.workers.deployment;
    let controller = Deployments { context, caches };
    let synced = {
        let caches = controller.caches.clone();
        async move { caches.synced().await }
    };
    assembly.work(queue, (workers, RetryPolicy::DEPLOYMENT), synced, move |key| {
        let controller = controller.clone();
        async move { controller.sync(&key).await }
    });
}

impl Deployments {
    /// One look at one Deployment.
    async fn sync(&self, key: &ObjectKey) -> (queue::Outcome, Wake) {
        match self.try_sync(key).await {
            Ok(None) => (queue::Outcome::Success, Wake::OnChange),
            Ok(Some(decision)) => {
                let outcome = match &decision.outcome {
                    Outcome::Done => queue::Outcome::Success,
                    Outcome::Failed(SyncError::NamespaceTerminating) => queue::Outcome::NamespaceTerminating,
                    Outcome::Failed(error) => {
                        tracing::debug!(deployment = %key, %error, "the sync failed and is tried again");
                        queue::Outcome::Failure
                    }
                };
                (outcome, decision.wake)
            }
            Err(refusal) if refusal.kind == RefusalKind::NamespaceTerminating => {
                (queue::Outcome::NamespaceTerminating, Wake::OnChange)
            }
            Err(refusal) => {
                tracing::debug!(deployment = %key, %refusal, "the sync failed and is tried again");
                (queue::Outcome::Failure, Wake::OnChange)
            }
        }
    }

    async fn try_sync(&self, key: &ObjectKey) -> Result<Option<Decision>, Refusal> {
        let Some(mut hand) = self.caches.observe(key) else { return Ok(None) };
        self.claim(&mut hand).await?;
        let mut setback = None;
        for _ in 0..DECISIONS_MAX {
            let (decision, must_be_confirmed) = hand.decide(self.context.clock.now(), setback.take());
            if must_be_confirmed {
                self.confirm(&hand).await?;
            }
            match self.apply(&mut hand, &decision).await {
                Ok(()) => return Ok(Some(decision)),
                Err(Stopped::Failed(refusal)) => return Err(refusal),
                Err(Stopped::DecideAgain(refused)) => setback = Some(refused),
            }
        }
        Err(Refusal::other("refused again and again within one sync"))
    }
}

impl Hand {
    /// The key of the Deployment, for logs.
    fn key(&self) -> ObjectKey {
        self.deployment.noun.meta.key()
    }
}
