//! Evictions: the budgets are asked, the pod is marked, then it is deleted like any other.

use gantry_registry::Refusal;
use gantry_registry::decode::Gvk;
use gantry_registry::kinds::{Kind, kinds};
use gantry_registry::lifecycle::DeleteOptions;
use gantry_registry::pods::eviction::{self, EvictionCost};
use gantry_store::ListRequest;
use serde_json::{Value, json};

use super::super::call::Call;
use super::{check_posted_name, done};
use crate::answer::Answer;
use crate::objects::{Change, Objects, Place, failed};
use crate::served;

/// How often a pod is judged again that changed meanwhile.
const ATTEMPTS_MAX: usize = 20;

impl Call<'_> {
    pub(super) async fn evict(&self) -> Result<Answer, Refusal> {
        let options = self.query.write_options("CreateOptions", &self.user_agent)?;
        let gvk = Gvk::new("policy", "v1", "Eviction");
        let (eviction, findings) = self.posted(gvk, &["policy/v1beta1"], &options).await?;
        check_posted_name(self.place().name, &eviction, "Eviction")?;
        let wanted = eviction["deleteOptions"].as_object().map_or_else(|| json!({}), |given| json!(given));
        let mut wanted = DeleteOptions::parse(&wanted)?;
        wanted.dry_run |= options.dry_run;
        let mut outcome = self.try_to_evict(&wanted).await;
        for _ in 1..ATTEMPTS_MAX {
            match outcome {
                // Whoever asked for a certain version is told; for everybody else the pod is looked at again.
                Err(Unevicted::Changed) if wanted.resource_version.is_none() => {
                    outcome = self.try_to_evict(&wanted).await;
                }
                _ => break,
            }
        }
        match outcome {
            Ok(()) => Ok(done(&options, &findings)),
            Err(Unevicted::Changed) => Err(crate::objects::conflict(self.place())),
            Err(Unevicted::Refused(refusal)) => Err(refusal),
        }
    }

    async fn try_to_evict(&self, wanted: &DeleteOptions) -> Result<(), Unevicted> {
        let pod = self.server.objects.get(self.place()).await?;
        let budgets = self.budgets().await?;
        let judgement = eviction::check(&pod, &budgets)?;
        if let EvictionCost::Spends(budget) = &judgement {
            self.spend(budget, wanted.dry_run).await?;
        }
        let (version, budget) = match judgement {
            EvictionCost::FreeAt { version, budget } => (Some(version), budget),
            EvictionCost::Free | EvictionCost::Spends(_) => (None, None),
        };
        match self.mark_and_delete(wanted, version.as_deref()).await {
            Err(Unevicted::Changed) => Err(match budget {
                Some(budget) => eviction::being_processed(&budget).into(),
                None => Unevicted::Changed,
            }),
            other => other,
        }
    }

    /// Deletes the pod as one that was evicted, if it is still of the version that was judged.
    async fn mark_and_delete(&self, wanted: &DeleteOptions, version: Option<&str>) -> Result<(), Unevicted> {
        let (now, place) = (self.server.surroundings.now(), self.place());
        let mut has_changed = false;
        let marked = self.server.objects.change(place, |pod| {
            self.check_preconditions(place, pod, wanted)?;
            has_changed = version.is_some_and(|version| pod["metadata"]["resourceVersion"] != version);
            let marked = eviction::mark(pod, now);
            let is_needless = has_changed || wanted.dry_run || marked == *pod;
            Ok(if is_needless { Change::Keep } else { Change::Store(marked) })
        });
        let marked = marked.await?.into_shown();
        if has_changed {
            return Err(Unevicted::Changed);
        }
        // The mark is ours, so the versions that were asked for are those with the mark.
        let is_strict = version.is_some() || wanted.resource_version.is_some();
        let marked_version = marked["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        let options =
            DeleteOptions { resource_version: marked_version.filter(|_| is_strict), ..wanted.clone() };
        match self.delete_object(place, &options).await {
            Err(refusal) if refusal.reason == "Conflict" && version.is_some() => Err(Unevicted::Changed),
            other => Ok(other.map(drop)?),
        }
    }

    /// Takes one disruption from a budget.
    async fn spend(&self, budget: &str, dry_run: bool) -> Result<(), Refusal> {
        let place = Place { kind: budget_kind()?, namespace: self.namespace, name: budget };
        let now = self.server.surroundings.now();
        let spent = self.server.objects.change(place, |budget| {
            let spent = eviction::spend(budget, self.place().name, now)?;
            Ok(if dry_run { Change::Keep } else { Change::Store(spent) })
        });
        spent.await.map(drop)
    }

    /// The budgets of the pod's namespace.
    async fn budgets(&self) -> Result<Vec<Value>, Refusal> {
        let kind = budget_kind()?;
        let all = ListRequest::all(Objects::prefix(kind, self.namespace));
        let page = self.server.objects.store.list(all).await.map_err(|error| failed(&error))?;
        page.items.iter().map(|item| served::parse(kind, &item.value, item.revision)).collect()
    }
}

/// Why a pod was not evicted.
enum Unevicted {
    /// It is not the one that was judged any more.
    Changed,
    Refused(Refusal),
}

impl From<Refusal> for Unevicted {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn budget_kind() -> Result<&'static Kind, Refusal> {
    kinds().resource("policy", "v1", "poddisruptionbudgets").ok_or_else(super::no_such_resource)
}
