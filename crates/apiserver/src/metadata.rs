//! Typed access to the metadata of an object.

use gantry_json::Value;

/// The metadata of an object; absent strings are empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metadata<'a>(&'a Value);

impl<'a> Metadata<'a> {
    pub(crate) fn of(object: &'a Value) -> Self {
        Self(&object["metadata"])
    }

    pub(crate) fn name(self) -> &'a str {
        self.text("name")
    }

    /// The name, or else the prefix of the generated name.
    pub(crate) fn name_or_prefix(self) -> &'a str {
        if self.name().is_empty() { self.text("generateName") } else { self.name() }
    }

    pub(crate) fn namespace(self) -> Option<&'a str> {
        self.0["namespace"].as_str()
    }

    pub(crate) fn uid(self) -> &'a str {
        self.text("uid")
    }

    pub(crate) fn resource_version(self) -> &'a str {
        self.text("resourceVersion")
    }

    pub(crate) fn deletion_timestamp(self) -> Option<&'a str> {
        self.0["deletionTimestamp"].as_str()
    }

    pub(crate) fn has_finalizers(self) -> bool {
        self.0["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
    }

    fn text(self, field: &str) -> &'a str {
        self.0[field].as_str().unwrap_or_default()
    }
}
