//! The snapshot: whether the namespace lacks its service account.

use gantry_model::{Name, Namespace, ObjectKey};
use gantry_runtime::Informer;
use gantry_runtime::informer::{InformerScope, Plain};
use k8s_openapi::api::core::v1 as core;

use super::DEFAULT;
use crate::context::Assembly;
use crate::namespace::is_active;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) namespaces: Informer<Plain<core::Namespace>>,
    /// Only accounts named `default`.
    pub(super) accounts: Informer<Plain<core::ServiceAccount>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self {
            namespaces: assembly.informer(),
            accounts: assembly.scoped_informer(InformerScope::all().named(&DEFAULT.into())),
        }
    }

    /// Whether a namespace should have an account and has none.
    pub(super) fn lacks_account(&self, namespace: &Name) -> bool {
        let key = ObjectKey::new("", namespace.clone());
        let is_active = self.namespaces.read().get(&key).is_some_and(|found| is_active(&found.wire));
        let namespace = Namespace::from(namespace.as_str());
        is_active && self.accounts.read().named(&namespace, &DEFAULT.into()).is_none()
    }
}
