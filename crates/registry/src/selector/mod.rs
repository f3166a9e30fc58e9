//! Label and field selectors of requests.
//!
//! A selector is parsed once per request and then matched against objects. Parse errors have Kubernetes' messages.

pub mod fields;
pub mod labels;
mod tokens;
mod wording;

use gantry_json::Value;

pub use fields::{FieldSelector, Selectable};
pub use labels::LabelSelector;

/// The selectors of a list, a watch or a collection delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// By labels.
    pub labels: LabelSelector,
    /// By fields.
    pub fields: FieldSelector,
}

impl Selection {
    /// Whether the object matches both selectors.
    pub fn matches(&self, object: &Value) -> bool {
        self.fields.matches(object) && self.labels.matches(object)
    }

    /// Whether it depends on nothing but the name, the namespace and the labels of an object.
    pub fn is_by_labels(&self) -> bool {
        self.fields.is_by_name()
    }

    /// Whether every object matches.
    pub fn is_everything(&self) -> bool {
        self.fields.is_everything() && self.labels.is_everything()
    }
}
