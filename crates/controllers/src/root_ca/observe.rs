//! The snapshot: whether the namespace has a ConfigMap with the right certificate.

use std::collections::BTreeMap;

use gantry_model::{Name, Namespace, ObjectKey};
use gantry_runtime::Informer;
use gantry_runtime::informer::{InformerScope, Plain};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::NAME;
use crate::context::Assembly;
use crate::namespace::is_active;

/// Kubernetes' annotation of the ConfigMap.
const DESCRIPTION: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the \
     internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes \
     clusters.",
);

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) namespaces: Informer<Plain<core::Namespace>>,
    /// Only ConfigMaps of this name.
    pub(super) maps: Informer<Plain<core::ConfigMap>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConfigMapWrite {
    Create(core::ConfigMap),
    Replace(core::ConfigMap),
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self {
            namespaces: assembly.informer(),
            maps: assembly.scoped_informer(InformerScope::all().named(&NAME.into())),
        }
    }

    /// The write that a namespace needs, if any.
    pub(super) fn needed_write(&self, namespace: &Name, certificate: &str) -> Option<ConfigMapWrite> {
        let key = ObjectKey::new("", namespace.clone());
        if !self.namespaces.read().get(&key).is_some_and(|found| is_active(&found.wire)) {
            return None;
        }
        let maps = self.maps.read();
        let found = maps.named(&Namespace::from(namespace.as_str()), &NAME.into()).map(|map| &*map.wire);
        needed_write(namespace, certificate, found)
    }
}

fn needed_write(
    namespace: &Name,
    certificate: &str,
    found: Option<&core::ConfigMap>,
) -> Option<ConfigMapWrite> {
    let data = BTreeMap::from([("ca.crt".to_owned(), certificate.to_owned())]);
    let description = (DESCRIPTION.0.to_owned(), DESCRIPTION.1.to_owned());
    let Some(found) = found else {
        let metadata = ObjectMeta {
            namespace: Some(namespace.to_string()),
            name: Some(NAME.to_owned()),
            annotations: Some(BTreeMap::from([description])),
            ..ObjectMeta::default()
        };
        return Some(ConfigMapWrite::Create(core::ConfigMap {
            metadata,
            data: Some(data),
            ..core::ConfigMap::default()
        }));
    };
    let mut wanted = found.clone();
    wanted.data = Some(data);
    wanted.metadata.annotations.get_or_insert_default().extend([description]);
    (wanted != *found).then_some(ConfigMapWrite::Replace(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A6.2: every namespace has the certificate, and a changed ConfigMap is corrected.
    #[test]
    fn a_changed_config_map_is_corrected() {
        let shop = Name::from("shop");
        let Some(ConfigMapWrite::Create(map)) = needed_write(&shop, "PEM", None) else {
            panic!("the ConfigMap must be created")
        };
        assert_eq!(map.data.as_ref().unwrap()["ca.crt"], "PEM");
        assert_eq!(needed_write(&shop, "PEM", Some(&map)), None, "nothing to do");
        let mut other = map.clone();
        other.data = None;
        other.metadata.annotations = Some(BTreeMap::from([("mine".to_owned(), "kept".to_owned())]));
        let Some(ConfigMapWrite::Replace(again)) = needed_write(&shop, "PEM", Some(&other)) else {
            panic!("the ConfigMap must be replaced")
        };
        assert_eq!(again.data, map.data);
        assert_eq!(again.metadata.annotations.unwrap().len(), 2, "other annotations are kept");
    }
}
