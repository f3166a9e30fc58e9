//! Reads the objects that pods depend on from the server, when a pod needs them.
//!
//! There are no informers: a kubelet retries at its own intervals as well, and most pods read nothing after their start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_model::{Namespace, RefusalKind, Timestamp};
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, Clock, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use crate::pod_lifecycle::{Lookup, Reference, ReferenceKind, References};

/// How long an object that was found is cached: pods that start together mostly need the same ones.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Reads objects, with a short cache.
#[derive(Debug)]
pub(crate) struct Lookups {
    api: Api,
    clock: Clock,
    recent: Mutex<BTreeMap<(Namespace, Reference), Recent>>,
}

#[derive(Debug)]
struct Recent {
    found: Lookup,
    until: Timestamp,
}

impl Lookups {
    pub(crate) fn new(api: Api, clock: Clock) -> Self {
        Self { api, clock, recent: Mutex::default() }
    }

    /// Looks up the objects of these references.
    pub(crate) async fn find(
        &self,
        namespace: &Namespace,
        needed: Vec<Reference>,
    ) -> Result<References, RequestError> {
        let mut references = References::default();
        for reference in needed {
            let found = match self.recall(namespace, &reference) {
                Some(found) => found,
                None => self.read(namespace, &reference).await?,
            };
            references.insert(reference, found);
        }
        Ok(references)
    }

    fn recall(&self, namespace: &Namespace, reference: &Reference) -> Option<Lookup> {
        let now = self.clock.steady();
        let key = (namespace.clone(), reference.clone());
        self.recent().get(&key).filter(|recent| recent.until > now).map(|recent| recent.found.clone())
    }

    async fn read(&self, namespace: &Namespace, reference: &Reference) -> Result<Lookup, RequestError> {
        let found = match self.request(namespace, reference).await {
            Ok(found) => found,
            Err(failure) if failure.kind() == RefusalKind::NotFound => return Ok(Lookup::Missing),
            // A retry does not help if permissions are missing, so the error is reported in the pod's status.
            Err(failure) if failure.lacks_permission() => return Ok(Lookup::Denied(failure.to_string())),
            Err(failure) => return Err(failure),
        };
        let now = self.clock.steady();
        let mut recent = self.recent();
        recent.retain(|_, recent| recent.until > now);
        let key = (namespace.clone(), reference.clone());
        recent.insert(key, Recent { found: found.clone(), until: now.plus(FRESH_FOR) });
        Ok(found)
    }

    async fn request(&self, namespace: &Namespace, reference: &Reference) -> Result<Lookup, RequestError> {
        let name = reference.name.as_str();
        Ok(match reference.kind {
            ReferenceKind::ConfigMap => {
                let map: core::ConfigMap = self.api.get(&target::<core::ConfigMap>(namespace, name)).await?;
                let binary = map.binary_data.unwrap_or_default().into_keys();
                Lookup::Keys(map.data.unwrap_or_default().into_keys().chain(binary).collect())
            }
            ReferenceKind::Secret => {
                let secret: core::Secret = self.api.get(&target::<core::Secret>(namespace, name)).await?;
                Lookup::Keys(secret.data.unwrap_or_default().into_keys().collect())
            }
            ReferenceKind::ServiceAccount => {
                let _: core::ServiceAccount =
                    self.api.get(&target::<core::ServiceAccount>(namespace, name)).await?;
                Lookup::Keys(BTreeSet::new())
            }
            ReferenceKind::Claim => {
                let claim: core::PersistentVolumeClaim =
                    self.api.get(&target::<core::PersistentVolumeClaim>(namespace, name)).await?;
                let named = claim.spec.and_then(|spec| spec.volume_name).is_some_and(|name| !name.is_empty());
                let phase = claim.status.and_then(|status| status.phase);
                Lookup::Claim { bound: named && phase.as_deref() == Some("Bound") }
            }
        })
    }

    fn recent(&self) -> MutexGuard<'_, BTreeMap<(Namespace, Reference), Recent>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn target<W: k8s_openapi::Resource<Scope: 'static>>(namespace: &Namespace, name: &str) -> ResourcePath {
    ResourcePath::object(&resource_of::<W>(), Some(namespace), &name.into())
}
