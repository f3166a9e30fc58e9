//! The roles and bindings of the store as one policy.

use gantry_json::Value;
use gantry_registry::access::Policy;
use gantry_schema::kinds::Kind;

use super::RBAC;
use crate::store_cache::Projection;

impl Projection for Policy {
    fn includes(kind: &Kind) -> bool {
        kind.group == RBAC
    }

    fn add(&mut self, object: &Value) {
        Self::add(self, object);
    }

    fn remove(&mut self, object: &Value) {
        Self::remove(self, object);
    }
}
