//! Which objects a request speaks of: label and field selectors, as typed in query strings.
//!
//! A selector is parsed once, at the edge, and then asked about one object after the other. What cannot be parsed is
//! refused in the words of Kubernetes' API.

pub mod fields;
pub mod labels;
mod tokens;
mod wording;

use serde_json::Value;

pub use fields::{FieldSelector, Selectable};
pub use labels::LabelSelector;

/// What a list, a watch or a collection's deletion is limited to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// By labels.
    pub labels: LabelSelector,
    /// By fields.
    pub fields: FieldSelector,
}

impl Selection {
    /// Whether the object is among those asked for.
    pub fn matches(&self, object: &Value) -> bool {
        self.fields.matches(object) && self.labels.matches(object)
    }

    /// Whether nothing was asked for in particular, so that every object matches.
    pub fn is_everything(&self) -> bool {
        self.fields.is_everything() && self.labels.is_everything()
    }
}
