//! Evictions: checks the disruption budgets, sets the condition, deletes the pod.

use gantry_json::{Value, json};
use gantry_registry::lifecycle::DeleteOptions;
use gantry_registry::pods::eviction::{self, EvictionCost};
use gantry_schema::decode::Gvk;
use gantry_schema::kinds::{Kind, kinds};
use gantry_store::ListRequest;

use super::super::call::Call;
use super::{check_posted_name, created_status};
use crate::authorization::NodeWrite;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::{Change, ObjectRef, Objects};
use crate::response::ApiResponse;
use crate::storage_codec;

/// The maximum number of attempts on concurrent changes of the pod.
const ATTEMPTS_MAX: usize = 20;

impl Call<'_> {
    pub(super) async fn evict(&self) -> Result<ApiResponse, ApiError> {
        let options = self.info.query.write_options("CreateOptions", self.info.user_agent())?;
        let gvk = Gvk::new("policy", "v1", "Eviction");
        let (eviction, findings) = self.decode_posted(gvk, &["policy/v1beta1"], &options)?;
        created_status(self.evict_by(eviction, options.dry_run).await, &options, &findings)
    }

    async fn evict_by(&self, mut eviction: Value, dry_run: bool) -> Result<(), ApiError> {
        self.check_posted_namespace(&mut eviction).await?;
        check_posted_name(self.object_ref().name, &eviction, "Eviction")?;
        let wanted = eviction["deleteOptions"].as_object().map_or_else(|| json!({}), |given| json!(given));
        let mut wanted = DeleteOptions::parse(&wanted)?;
        wanted.dry_run |= dry_run;
        let mut outcome = self.try_to_evict(&wanted).await;
        for _ in 1..ATTEMPTS_MAX {
            match outcome {
                // A request with a resource version fails on a concurrent change; others are retried.
                Err(EvictionError::Changed) if wanted.resource_version.is_none() => {
                    outcome = self.try_to_evict(&wanted).await;
                }
                _ => break,
            }
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(EvictionError::Changed) => Err(ApiError::modified(self.object_ref())),
            Err(EvictionError::Failed(error)) => Err(error),
        }
    }

    async fn try_to_evict(&self, wanted: &DeleteOptions) -> Result<(), EvictionError> {
        let pod = self.server.objects.get(self.object_ref()).await?;
        self.info.caller.check_node_write(self.object_ref(), &NodeWrite::Evict(&pod))?;
        let budgets = self.budgets().await?;
        let cost = eviction::check(&pod, &budgets)?;
        if let EvictionCost::Decrements(budget) = &cost {
            self.decrement_disruptions_allowed(budget, wanted.dry_run).await?;
        }
        let (version, budget) = match cost {
            EvictionCost::FreeAt { version, budget } => (Some(version), budget),
            EvictionCost::Free | EvictionCost::Decrements(_) => (None, None),
        };
        match self.mark_and_delete(wanted, version.as_deref()).await {
            Err(EvictionError::Changed) => Err(match budget {
                Some(budget) => eviction::being_processed(&budget).into(),
                None => EvictionError::Changed,
            }),
            other => other,
        }
    }

    /// Sets the eviction condition and deletes the pod, if it has the expected version.
    async fn mark_and_delete(
        &self,
        wanted: &DeleteOptions,
        version: Option<&str>,
    ) -> Result<(), EvictionError> {
        let (now, object_ref) = (self.server.environment.now(), self.object_ref());
        let mut has_changed = false;
        let marked = self.server.objects.change(object_ref, |pod| {
            self.check_preconditions(object_ref, pod, wanted)?;
            has_changed = version.is_some_and(|version| Metadata::of(pod).resource_version() != version);
            let marked = eviction::mark(pod, now);
            let is_needless = has_changed || wanted.dry_run || marked == *pod;
            Ok(if is_needless { Change::Keep } else { Change::Store(marked) })
        });
        let marked = marked.await?.into_object();
        if has_changed {
            return Err(EvictionError::Changed);
        }
        // Setting the condition created a new version, which the deletion expects.
        let is_strict = version.is_some() || wanted.resource_version.is_some();
        let marked_version = Metadata::of(&marked).resource_version().to_owned();
        let options =
            DeleteOptions { resource_version: is_strict.then_some(marked_version), ..wanted.clone() };
        match self.delete_object(object_ref, &options).await {
            Err(ApiError::Conflict { .. }) if version.is_some() => Err(EvictionError::Changed),
            other => Ok(other.map(drop)?),
        }
    }

    /// Decrements the allowed disruptions of a budget.
    async fn decrement_disruptions_allowed(&self, budget: &str, dry_run: bool) -> Result<(), ApiError> {
        let object_ref = ObjectRef { kind: budget_kind()?, namespace: self.namespace, name: budget };
        let now = self.server.environment.now();
        let updated = self.server.objects.change(object_ref, |budget| {
            let updated = eviction::decrement_disruptions_allowed(budget, self.object_ref().name, now)?;
            Ok(if dry_run { Change::Keep } else { Change::Store(updated) })
        });
        updated.await.map(drop)
    }

    /// Lists the budgets of the pod's namespace.
    async fn budgets(&self) -> Result<Vec<Value>, ApiError> {
        let kind = budget_kind()?;
        let all = ListRequest::all(Objects::prefix(kind, self.namespace));
        let page = self.server.objects.store.list(all).await?;
        page.items.iter().map(|item| storage_codec::decode(kind, &item.value, item.revision)).collect()
    }
}

/// Why a pod was not evicted.
enum EvictionError {
    /// It was changed concurrently.
    Changed,
    Failed(ApiError),
}

impl<E: Into<ApiError>> From<E> for EvictionError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn budget_kind() -> Result<&'static Kind, ApiError> {
    kinds().resource("policy", "v1", "poddisruptionbudgets").ok_or(ApiError::ResourceNotFound)
}
