//! The snapshot: the tokens, and the ConfigMap that they sign.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_certificates::token_signature;
use gantry_decide::bootstrap_tokens::{KUBECONFIG, SECRET_TYPE, TokenExpiry, TokenSecret, signed_data};
use gantry_model::{Name, Namespace, ObjectKey, Timestamp, Uid};
use gantry_runtime::Informer;
use gantry_runtime::informer::{Cached as _, InformerScope, Plain};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff;

use crate::context::Assembly;

/// The namespace of tokens.
const SYSTEM: &str = "kube-system";
/// The ConfigMap with the address and the certificate authority of the cluster.
pub(super) const CLUSTER_INFO: (&str, &str) = ("kube-public", "cluster-info");

#[derive(Clone, Debug)]
pub(super) struct Caches {
    /// Only Secrets that hold tokens.
    pub(super) secrets: Informer<Plain<Secret>>,
}

#[derive(Clone, Debug)]
pub(super) struct ClusterInfo {
    /// Only the one ConfigMap.
    pub(super) maps: Informer<Plain<ConfigMap>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        let scope = InformerScope::namespace(SYSTEM).fields(format!("type={SECRET_TYPE}"));
        Self { secrets: assembly.scoped_informer(scope) }
    }

    pub(super) fn token(&self, key: &ObjectKey) -> Option<(TokenSecret, Uid)> {
        self.secrets.read().get(key).map(|secret| (parse(&secret.wire), secret.uid().clone()))
    }

    pub(super) fn tokens(&self) -> Vec<TokenSecret> {
        self.secrets.read().iter().map(|secret| parse(&secret.wire)).collect()
    }
}

impl ClusterInfo {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        let (namespace, name) = CLUSTER_INFO;
        Self { maps: assembly.scoped_informer(InformerScope::namespace(namespace).named(&name.into())) }
    }

    pub(super) fn current(&self) -> Option<Arc<ConfigMap>> {
        let (namespace, name) = CLUSTER_INFO;
        let maps = self.maps.read();
        maps.named(&Namespace::from(namespace), &Name::from(name)).map(|map| Arc::clone(&map.wire))
    }
}

/// The data of the ConfigMap with the signatures of these tokens; `None` if it is up to date, or has nothing to sign.
pub(super) fn signed(info: &ConfigMap, tokens: &BTreeMap<&str, &str>) -> Option<BTreeMap<String, String>> {
    let data = info.data.as_ref()?;
    let text = data.get(KUBECONFIG)?;
    let signatures = tokens.iter().map(|(id, secret)| ((*id).to_owned(), token_signature(text, id, secret)));
    signed_data(data, &signatures.collect())
}

fn parse(secret: &Secret) -> TokenSecret {
    let data: BTreeMap<String, String> = secret
        .data
        .iter()
        .flatten()
        .map(|(key, value)| (key.clone(), String::from_utf8_lossy(&value.0).into_owned()))
        .collect();
    let expiry = match data.get("expiration").map(String::as_str) {
        None | Some("") => TokenExpiry::Never,
        Some(text) => match text.parse::<jiff::Timestamp>() {
            Ok(end) => TokenExpiry::At(Timestamp::parse(&Time(end))),
            Err(_) => TokenExpiry::Malformed,
        },
    };
    TokenSecret { name: secret.metadata.name.clone().unwrap_or_default(), data, expiry }
}
