//! Approves, signs and deletes CertificateSigningRequests: three controllers over one cache.
//!
//! These controllers run where Gantry runs the API server. Elsewhere kube-controller-manager does the same.

mod apply;
mod observe;
mod triggers;

use std::sync::Arc;
use std::time::Duration;

use gantry_certificates::RequestSigner;
use gantry_decide::Wake;
use gantry_decide::certificates::{self, Cleaning, SigningRequest};
use gantry_decide::queue::RetryPolicy;
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::RequestError;

use crate::context::{Assembly, Context, Reconciler};
use observe::Caches;

/// There are few requests at a time.
const WORKERS: usize = 1;

/// The authority that signs requests.
#[derive(Clone, Debug)]
pub struct ClusterSigner {
    /// Its certificate and its key.
    pub authority: Arc<RequestSigner>,
    /// How long certificates are valid whose request has no shorter lifetime.
    pub longest: Duration,
}

impl ClusterSigner {
    /// How long certificates are valid by default: a year, as in Kubernetes.
    pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
}

#[derive(Clone, Debug)]
struct Requests {
    context: Context,
    caches: Caches,
    task: Task,
}

/// The task of a controller of requests.
#[derive(Clone, Debug)]
enum Task {
    Approve,
    Sign(ClusterSigner),
    Clean,
}

pub(crate) fn assemble_approving(assembly: &mut Assembly<'_>) {
    assemble(assembly, "certificate_approving", Task::Approve);
}

/// Adds the signing controller, if there is an authority.
pub(crate) fn assemble_signing(assembly: &mut Assembly<'_>) {
    let Some(signer) = assembly.options.signer.clone() else {
        tracing::info!("no authority is given, so no certificate is signed");
        return;
    };
    assemble(assembly, "certificate_signing", Task::Sign(signer));
}

pub(crate) fn assemble_cleaner(assembly: &mut Assembly<'_>) {
    assemble(assembly, "certificate_cleaner", Task::Clean);
}

fn assemble(assembly: &mut Assembly<'_>, name: &'static str, task: Task) {
    let context = assembly.context.clone();
    let caches = Caches::of(assembly);
    let queue = assembly.queue(name);
    triggers::subscribe(&caches, &queue);
    let controller = Requests { context, caches, task };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

impl Reconciler<ObjectKey> for Requests {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let Some(observed) = self.caches.observe(key) else { return Ok(Wake::OnChange) };
        let done = match &self.task {
            Task::Approve => self.approve(&observed).await,
            Task::Sign(signer) => self.sign(&observed, signer).await,
            Task::Clean => self.clean(key, &observed.decided_on).await,
        };
        Ok(done?)
    }
}

impl Requests {
    async fn clean(&self, key: &ObjectKey, request: &SigningRequest) -> Result<Wake, RequestError> {
        match certificates::cleaning(request, self.context.clock.now()) {
            Cleaning::Keep => Ok(Wake::OnChange),
            Cleaning::CheckAfter(time) => Ok(Wake::After(time)),
            Cleaning::Delete => self.delete(&key.name).await.map(|()| Wake::OnChange),
        }
    }
}
