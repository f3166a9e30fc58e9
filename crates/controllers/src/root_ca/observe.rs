//! The snapshot: should the namespace have the certificate, and is what it has the right one?

use std::collections::BTreeMap;

use gantry_model::{Name, Namespace, ObjectKey};
use gantry_runtime::informer::Plain;
use gantry_runtime::{Informer, Informers};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::NAME;
use crate::namespace::is_active;

/// What people are told who find the config map; Kubernetes' words.
const DESCRIPTION: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the \
     internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes \
     clusters.",
);

/// The copies that the controller reads.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) namespaces: Informer<Plain<core::Namespace>>,
    /// Only those of the one name.
    pub(super) maps: Informer<Plain<core::ConfigMap>>,
}

/// What to do about a namespace.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// It has none.
    Create(core::ConfigMap),
    /// It has another.
    Replace(core::ConfigMap),
}

impl Caches {
    pub(super) fn of(informers: &mut Informers) -> Self {
        Self { namespaces: informers.of(), maps: informers.selecting(Some("metadata.name=kube-root-ca.crt")) }
    }

    pub(super) async fn synced(&self) {
        self.namespaces.synced().await;
        self.maps.synced().await;
    }

    /// What to do about a namespace, if anything.
    pub(super) fn step(&self, namespace: &Name, certificate: &str) -> Option<Step> {
        let key = ObjectKey::new("", namespace.clone());
        if !self.namespaces.read().get(&key).is_some_and(|found| is_active(&found.wire)) {
            return None;
        }
        let maps = self.maps.read();
        let found = maps.named(&Namespace::from(namespace.as_str()), &NAME.into()).map(|map| &map.wire);
        step(namespace, certificate, found)
    }
}

fn step(namespace: &Name, certificate: &str, found: Option<&core::ConfigMap>) -> Option<Step> {
    let data = BTreeMap::from([("ca.crt".to_owned(), certificate.to_owned())]);
    let description = (DESCRIPTION.0.to_owned(), DESCRIPTION.1.to_owned());
    let Some(found) = found else {
        let metadata = ObjectMeta {
            namespace: Some(namespace.to_string()),
            name: Some(NAME.to_owned()),
            annotations: Some(BTreeMap::from([description])),
            ..ObjectMeta::default()
        };
        return Some(Step::Create(core::ConfigMap {
            metadata,
            data: Some(data),
            ..core::ConfigMap::default()
        }));
    };
    let mut wanted = found.clone();
    wanted.data = Some(data);
    wanted.metadata.annotations.get_or_insert_default().extend([description]);
    (wanted != *found).then_some(Step::Replace(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A6.2: every namespace has the certificate, and has it put right.
    #[test]
    fn a_map_that_somebody_changed_is_put_right() {
        let shop = Name::from("shop");
        let Some(Step::Create(map)) = step(&shop, "PEM", None) else { panic!("it is missing") };
        assert_eq!(map.data.as_ref().unwrap()["ca.crt"], "PEM");
        assert_eq!(step(&shop, "PEM", Some(&map)), None, "nothing to do");
        let mut other = map.clone();
        other.data = None;
        other.metadata.annotations = Some(BTreeMap::from([("mine".to_owned(), "kept".to_owned())]));
        let Some(Step::Replace(again)) = step(&shop, "PEM", Some(&other)) else { panic!("it is wrong") };
        assert_eq!(again.data, map.data);
        assert_eq!(again.metadata.annotations.unwrap().len(), 2, "what else is noted stays");
    }
}
