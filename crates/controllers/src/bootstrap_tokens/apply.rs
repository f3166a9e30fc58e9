//! Deletes tokens, and writes the ConfigMap.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_json::Value;
use gantry_model::{Name, Namespace, ObjectKey, Uid};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{DeleteParams, NoneIf as _, RequestError, ResourcePath};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::observe::CLUSTER_INFO;
use super::{ClusterInfoSigner, TokenCleaner};

impl TokenCleaner {
    /// Deletes the Secret that was observed, but not another one of its name.
    pub(super) async fn delete(&self, key: &ObjectKey, uid: Uid) -> Result<(), RequestError> {
        let target = ResourcePath::object(&Plain::<Secret>::resource(), Some(&key.namespace), &key.name);
        let deletion = DeleteParams { uid: Some(uid), ..DeleteParams::default() };
        self.context.api.delete(&target, &deletion).await.none_if_changed().map(drop)
    }
}

impl ClusterInfoSigner {
    pub(super) async fn write(
        &self,
        info: Arc<ConfigMap>,
        data: BTreeMap<String, String>,
    ) -> Result<(), RequestError> {
        let (namespace, name) = CLUSTER_INFO;
        let resource = Plain::<ConfigMap>::resource();
        let target = ResourcePath::object(&resource, Some(&Namespace::from(namespace)), &Name::from(name));
        let mut info = Arc::unwrap_or_clone(info);
        info.data = Some(data);
        self.context.api.replace::<Value>(&target, &info).await.none_if_changed().map(drop)
    }
}
