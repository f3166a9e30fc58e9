//! Placeholders.
use serde_json::Value;

use super::Structure;

impl Structure {
    /// Placeholder.
    pub fn prune(&self, _: &mut Value) -> Vec<String> {
        Vec::new()
    }

    /// Placeholder.
    pub fn fill(&self, _: &mut Value) {}
}
