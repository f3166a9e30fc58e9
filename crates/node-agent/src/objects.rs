//! Reads the objects that environments and volumes are made from, and requests tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::{RefusalKind, Timestamp};
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, Clock, RequestError, ResourcePath};
use k8s_openapi::api::certificates::v1::ClusterTrustBundle;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::node::v1::RuntimeClass;

use crate::environment::SourceObjects;
use crate::volume_payload::TokenKey;

/// A token is renewed after this part of its lifetime, and after a day at the latest, as by a kubelet.
const RENEW_AFTER_PERCENT: u32 = 80;
const RENEW_AFTER_MAX: Duration = Duration::from_hours(24);

/// Reads objects of the API for pods.
#[derive(Debug)]
pub(crate) struct PodObjects {
    api: Api,
    clock: Clock,
    tokens: Mutex<BTreeMap<(String, TokenKey), Token>>,
}

#[derive(Clone, Debug)]
struct Token {
    text: String,
    renew_at: Timestamp,
}

impl PodObjects {
    pub(crate) fn new(api: Api, clock: Clock) -> Self {
        Self { api, clock, tokens: Mutex::default() }
    }

    /// Reads the objects that a pod refers to; those that do not exist are omitted.
    pub(crate) async fn sources(&self, pod: &core::Pod) -> Result<SourceObjects, RequestError> {
        let (config_maps, secrets) = referenced(pod);
        let mut found = SourceObjects::default();
        for name in config_maps {
            if let Some(map) = self.read::<core::ConfigMap>(pod, &name).await? {
                found.config_maps.insert(name, map);
            }
        }
        for name in secrets {
            if let Some(secret) = self.read::<core::Secret>(pod, &name).await? {
                found.secrets.insert(name, secret);
            }
        }
        if projections(pod).any(|source| source.cluster_trust_bundle.is_some()) {
            let target = ResourcePath::collection(&resource_of::<ClusterTrustBundle>(), None);
            let all: Value = self.api.get(&target).await?;
            let bundles = all["items"].as_array().into_iter().flatten();
            found.trust_bundles = bundles.filter_map(|it| gantry_json::from_value(it.clone()).ok()).collect();
        }
        Ok(found)
    }

    /// Reads the Secrets that images are pulled with.
    pub(crate) async fn pull_secrets(&self, pod: &core::Pod) -> Result<Vec<core::Secret>, RequestError> {
        let mut found = Vec::new();
        for name in pod.spec.iter().flat_map(|spec| spec.image_pull_secrets.iter().flatten()) {
            found.extend(self.read::<core::Secret>(pod, &name.name).await?);
        }
        Ok(found)
    }

    /// Returns the handler of a pod's RuntimeClass; the default one's name is empty.
    pub(crate) async fn runtime_handler(&self, pod: &core::Pod) -> Result<String, RequestError> {
        let name = pod.spec.as_ref().and_then(|spec| spec.runtime_class_name.as_deref());
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(String::new()) };
        let target = ResourcePath::object(&resource_of::<RuntimeClass>(), None, &name.into());
        let class: Value = self.api.get(&target).await?;
        Ok(class["handler"].as_str().unwrap_or_default().to_owned())
    }

    /// Returns the tokens of a pod's service account, renewed if they are due.
    pub(crate) async fn tokens(&self, pod: &core::Pod) -> Result<BTreeMap<TokenKey, String>, RequestError> {
        let keys = projections(pod).filter_map(|it| it.service_account_token.as_ref()).map(TokenKey::of);
        let keys: BTreeSet<_> = keys.collect();
        let mut tokens = BTreeMap::new();
        for key in keys {
            let text = self.token(pod, &key).await?;
            tokens.insert(key, text);
        }
        Ok(tokens)
    }

    /// Forgets the tokens of a deleted pod.
    pub(crate) fn forget(&self, uid: &str) {
        self.held_tokens().retain(|(pod, _), _| pod != uid);
    }

    async fn token(&self, pod: &core::Pod, key: &TokenKey) -> Result<String, RequestError> {
        let held = (pod.metadata.uid.clone().unwrap_or_default(), key.clone());
        let now = self.clock.now();
        if let Some(token) = self.held_tokens().get(&held).filter(|token| token.renew_at > now) {
            return Ok(token.text.clone());
        }
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default().into();
        let account = pod.spec.as_ref().and_then(|spec| spec.service_account_name.as_deref());
        let account = account.filter(|account| !account.is_empty()).unwrap_or("default");
        let target =
            ResourcePath::object(&resource_of::<core::ServiceAccount>(), Some(&namespace), &account.into());
        let audiences = if key.audience.is_empty() { Vec::new() } else { vec![key.audience.clone()] };
        let body: Value = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "audiences": audiences,
                "expirationSeconds": key.seconds,
                "boundObjectRef": {
                    "apiVersion": "v1", "kind": "Pod", "name": pod.metadata.name, "uid": pod.metadata.uid,
                },
            },
        });
        let response: Value = self.api.create(&target.part("token"), &body).await?;
        let token = response["status"]["token"].as_str().unwrap_or_default().to_owned();
        let expires = gantry_json::from_value(response["status"]["expirationTimestamp"].clone()).ok();
        let lifetime = expires.map_or(Duration::ZERO, |expires| Timestamp::parse(&expires).since(now));
        let renew_at = now.plus((lifetime * RENEW_AFTER_PERCENT / 100).min(RENEW_AFTER_MAX));
        self.held_tokens().insert(held, Token { text: token.clone(), renew_at });
        Ok(token)
    }

    async fn read<T>(&self, pod: &core::Pod, name: &str) -> Result<Option<T>, RequestError>
    where
        T: k8s_openapi::Resource<Scope: 'static> + gantry_runtime::Decode,
    {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default().into();
        let target = ResourcePath::object(&resource_of::<T>(), Some(&namespace), &name.into());
        match self.api.get::<T>(&target).await {
            Ok(object) => Ok(Some(object)),
            Err(failure) if failure.kind() == RefusalKind::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn held_tokens(&self) -> MutexGuard<'_, BTreeMap<(String, TokenKey), Token>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the projections of the pod's projected volumes.
fn projections(pod: &core::Pod) -> impl Iterator<Item = &core::VolumeProjection> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes.flat_map(|volume| volume.projected.iter().flat_map(|it| it.sources.iter().flatten()))
}

/// Returns the names of the ConfigMaps and of the Secrets that a pod refers to.
fn referenced(pod: &core::Pod) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut maps, mut secrets) = (BTreeSet::new(), BTreeSet::new());
    let Some(spec) = &pod.spec else { return (maps, secrets) };
    let ephemeral = spec.ephemeral_containers.iter().flatten();
    let ephemeral: Vec<_> = ephemeral.map(gantry_nodes::pod_lifecycle::ephemeral_as_container).collect();
    for container in spec.init_containers.iter().flatten().chain(&spec.containers).chain(&ephemeral) {
        for from in container.env_from.iter().flatten() {
            maps.extend(from.config_map_ref.iter().map(|it| it.name.clone()));
            secrets.extend(from.secret_ref.iter().map(|it| it.name.clone()));
        }
        for from in container.env.iter().flatten().filter_map(|variable| variable.value_from.as_ref()) {
            maps.extend(from.config_map_key_ref.iter().map(|it| it.name.clone()));
            secrets.extend(from.secret_key_ref.iter().map(|it| it.name.clone()));
        }
    }
    for volume in spec.volumes.iter().flatten() {
        maps.extend(volume.config_map.iter().map(|it| it.name.clone()));
        secrets.extend(volume.secret.iter().filter_map(|it| it.secret_name.clone()));
    }
    for source in projections(pod) {
        maps.extend(source.config_map.iter().map(|it| it.name.clone()));
        secrets.extend(source.secret.iter().map(|it| it.name.clone()));
    }
    (maps, secrets)
}
