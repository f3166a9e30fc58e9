//! Reading the schemas of an `OpenAPI` v3 document.

use gantry_json::{Map, Value};

use crate::field::{at, list, text};

/// All schemas of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schemas<'d>(&'d Value);

/// A list or map schema.
#[derive(Clone, Copy, Debug)]
pub(super) enum Collection<'d> {
    /// A list with this element schema.
    List(&'d Value),
    /// A map with this value schema.
    Map(&'d Value),
}

impl<'d> Schemas<'d> {
    /// The schemas of a document.
    pub(super) fn of(document: &'d Value) -> Self {
        Self(at(document, "/components/schemas"))
    }

    /// The schema of a kind.
    pub(super) fn of_kind(self, group: &str, version: &str, kind: &str) -> Option<&'d Value> {
        let is_it = |one: &Value| {
            text(one, "/group") == group && text(one, "/version") == version && text(one, "/kind") == kind
        };
        let all = self.0.as_object()?.values();
        all.into_iter().find(|schema| list(schema, "/x-kubernetes-group-version-kind").iter().any(is_it))
    }

    /// The schema itself, or the one that it refers to.
    pub(super) fn resolved(self, schema: &'d Value) -> &'d Value {
        match reference(schema) {
            Some(_) => self.referred(schema).unwrap_or(schema),
            None => schema,
        }
    }

    /// The schema that this one refers to.
    pub(super) fn referred(self, schema: &'d Value) -> Option<&'d Value> {
        self.0.get(reference(schema)?)
    }
}

/// The full name that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The fields of an object, sorted by name.
pub(super) fn properties(schema: &Value) -> Option<&Map> {
    schema.get("properties")?.as_object().filter(|properties| !properties.is_empty())
}

/// The element schema of a list or map.
pub(super) fn collection_of(schema: &Value) -> Option<Collection<'_>> {
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        return Some(Collection::List(items));
    }
    schema.get("additionalProperties").filter(|values| values.is_object()).map(Collection::Map)
}
