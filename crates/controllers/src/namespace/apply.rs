//! Deletes the content of a namespace, writes its conditions and finalizes it.

use futures::StreamExt as _;
use gantry_decide::gc::discovery::{Discovery, ServedResource, VersionPreference};
use gantry_decide::gc::{Resource, ResourceScope};
use gantry_decide::namespace::{Condition, FINALIZER, PODS, RemainingContent, merge, pods_first};
use gantry_json::Value;
use gantry_model::{Name, Namespace, Timestamp};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{DeleteParams, Form, NoneIf as _, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;
use std::collections::BTreeMap;
use std::time::Duration;

use super::Namespaces;
use crate::discovery::discover;

/// The number of kinds that are deleted concurrently.
const KINDS_AT_ONCE: usize = 8;

impl Namespaces {
    /// Deletes everything in a namespace, pods first, and counts what remains.
    pub(super) async fn delete_content(&self, name: &Name) -> Result<RemainingContent, RequestError> {
        let namespace = Namespace::from(name.as_str());
        let found = discover(&self.context.api).await?;
        let mut remaining_content = RemainingContent::default();
        for group in &found.failed_groups {
            remaining_content
                .undiscovered
                .insert(group.clone(), "the discovery of the group failed".to_owned());
        }
        let (pods, others): (Vec<_>, Vec<_>) =
            deletable(&found).into_iter().partition(|served| is_pods(&served.resource));
        for served in pods {
            self.delete_kind(&namespace, &served, &mut remaining_content).await;
        }
        if pods_first(remaining_content.remaining.values().sum()) {
            return Ok(remaining_content);
        }
        let namespace = &namespace;
        let emptied = futures::stream::iter(others).map(|served: ServedResource| async move {
            let mut remaining = RemainingContent::default();
            self.delete_kind(namespace, &served, &mut remaining).await;
            remaining
        });
        let mut emptied = emptied.buffer_unordered(KINDS_AT_ONCE);
        while let Some(remaining) = emptied.next().await {
            add(&mut remaining_content, remaining);
        }
        Ok(remaining_content)
    }

    /// Writes the conditions if they changed. Returns the namespace as stored.
    pub(super) async fn report(
        &self,
        mut namespace: core::Namespace,
        found: Vec<Condition>,
    ) -> Result<core::Namespace, RequestError> {
        let status = namespace.status.get_or_insert_default();
        let present: Vec<_> = status.conditions.iter().flatten().map(parse).collect();
        let Some(merged) = merge(&present, found, self.context.clock.now()) else { return Ok(namespace) };
        status.phase = Some("Terminating".to_owned());
        status.conditions = Some(merged.into_iter().map(render).collect());
        self.context.api.replace(&target(&namespace).part("status"), &namespace).await
    }

    /// Removes our finalizer; not found counts as success.
    pub(super) async fn finalize(&self, mut namespace: core::Namespace) -> Result<(), RequestError> {
        let spec = namespace.spec.get_or_insert_default();
        spec.finalizers.get_or_insert_default().retain(|held| held != FINALIZER);
        let target = target(&namespace).part("finalize");
        self.context.api.replace::<Value>(&target, &namespace).await.none_if_absent().map(drop)
    }

    /// Deletes the objects of one kind, and counts what remains.
    async fn delete_kind(
        &self,
        namespace: &Namespace,
        served: &ServedResource,
        remaining_content: &mut RemainingContent,
    ) {
        let resource = &served.resource;
        if let Err(failure) = self.delete_all(namespace, served, remaining_content).await {
            // A kind that is no longer served has no objects.
            if !failure.is_not_served() {
                let kind = format!("{}.{}", resource.plural, resource.group());
                remaining_content.failures.insert(format!("{kind}: {failure}"));
            }
        }
    }

    async fn delete_all(
        &self,
        namespace: &Namespace,
        served: &ServedResource,
        remaining_content: &mut RemainingContent,
    ) -> Result<(), RequestError> {
        let (api, resource) = (&self.context.api, &served.resource);
        let collection = ResourcePath::collection(resource, Some(namespace));
        let has_delete_collection = served.verbs.contains("deletecollection");
        // Most kinds have no objects here, so listing first saves half of the requests and every write. If the
        // collection is deleted as a whole, one object is enough to know that there are any.
        let query: &[_] = if has_delete_collection { &[("limit", "1")] } else { &[] };
        let present = self.list(resource, &collection, query).await?;
        if present.is_empty() {
            return Ok(());
        }
        if has_delete_collection {
            api.delete(&collection, &DeleteParams::background()).await?;
        } else {
            for object in &present {
                let name = Name::from(object["metadata"]["name"].as_str().unwrap_or_default());
                let target = ResourcePath::object(resource, Some(namespace), &name);
                api.delete(&target, &DeleteParams::background()).await.none_if_absent()?;
            }
        }
        let remaining = self.list(resource, &collection, &[]).await?;
        if !remaining.is_empty() {
            count(resource, &remaining, remaining_content);
        }
        Ok(())
    }

    async fn list(
        &self,
        resource: &Resource,
        collection: &ResourcePath,
        query: &[(&'static str, &str)],
    ) -> Result<Vec<Value>, RequestError> {
        let form = if is_pods(resource) { Form::Whole } else { Form::Metadata };
        let mut list = self.context.api.list::<Value>(collection, form, query).await?;
        Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }
}

/// The kinds to delete, each in one version.
fn deletable(found: &Discovery) -> Vec<ServedResource> {
    let mut chosen: BTreeMap<(&str, &str), &ServedResource> = BTreeMap::new();
    for served in &found.resources {
        let verbs = &served.verbs;
        let can_go =
            verbs.contains("list") && (verbs.contains("delete") || verbs.contains("deletecollection"));
        let kind = (served.resource.group(), served.resource.plural.as_str());
        if served.resource.scope == ResourceScope::Namespaced
            && can_go
            && (served.preference == VersionPreference::Preferred || !chosen.contains_key(&kind))
        {
            chosen.insert(kind, served);
        }
    }
    chosen.into_values().cloned().collect()
}

fn is_pods(resource: &Resource) -> bool {
    (resource.group(), resource.plural.as_str()) == PODS
}

fn count(resource: &Resource, remaining: &[Value], remaining_content: &mut RemainingContent) {
    let kind = (resource.group().to_owned(), resource.plural.clone());
    remaining_content.remaining.insert(kind, remaining.len());
    for object in remaining {
        let finalizers = object["metadata"]["finalizers"].as_array().into_iter().flatten();
        for finalizer in finalizers.filter_map(Value::as_str) {
            *remaining_content.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
        let phase = object["status"]["phase"].as_str().unwrap_or_default();
        if is_pods(resource) && phase != "Succeeded" && phase != "Failed" {
            let grace = object["metadata"]["deletionGracePeriodSeconds"].as_u64().map(Duration::from_secs);
            remaining_content.pod_grace = remaining_content.pod_grace.max(grace);
        }
    }
}

fn add(all: &mut RemainingContent, more: RemainingContent) {
    all.failures.extend(more.failures);
    all.remaining.extend(more.remaining);
    all.pod_grace = all.pod_grace.max(more.pod_grace);
    for (finalizer, count) in more.finalizers {
        *all.finalizers.entry(finalizer).or_default() += count;
    }
}

fn target(namespace: &core::Namespace) -> ResourcePath {
    let name = Name::from(namespace.metadata.name.clone().unwrap_or_default());
    ResourcePath::object(&Plain::<core::Namespace>::resource(), None, &name)
}

fn parse(condition: &core::NamespaceCondition) -> Condition {
    Condition {
        condition_type: condition.type_.clone(),
        status: condition.status.clone().into(),
        reason: condition.reason.clone().unwrap_or_default(),
        message: condition.message.clone().unwrap_or_default(),
        last_transition: condition.last_transition_time.as_ref().map(Timestamp::parse),
    }
}

fn render(condition: Condition) -> core::NamespaceCondition {
    core::NamespaceCondition {
        type_: condition.condition_type,
        status: condition.status.as_str().to_owned(),
        reason: Some(condition.reason),
        message: Some(condition.message),
        last_transition_time: condition.last_transition.map(Timestamp::render),
    }
}
