//! Ownership through `/scale`: the replicas of the Scale are the replicas of its parent.
//!
//! A write to `/scale` is tracked on a Scale object with the parent's owners of replicas; the new owners are then
//! copied to the parent.

use std::collections::BTreeMap;

use gantry_schema::custom::FieldPath;
use gantry_schema::kinds::Nature;

use super::{Entry, FieldSet, Identity, ManagedFields, Operation, PathElement};

const SCALE_VERSION: &str = "autoscaling/v1";

/// The path of the replicas in the parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReplicasField {
    /// `spec.replicas` in every version.
    #[default]
    Usual,
    /// By version of a definition; versions without a scale have none.
    ByVersion(BTreeMap<String, Option<FieldPath>>),
}

impl ReplicasField {
    /// The replicas of a kind.
    pub fn of(nature: &Nature) -> Self {
        match nature {
            Nature::BuiltIn(_) => Self::Usual,
            Nature::Custom(custom) => Self::ByVersion(custom.replicas.clone()),
        }
    }

    /// The owners of the parent's replicas, as owners of the Scale's.
    pub fn to_scale(&self, parent: &ManagedFields) -> ManagedFields {
        let mut scale = ManagedFields::new();
        for (identity, entry) in parent.entries().filter(|(_, entry)| self.is_owned(entry)) {
            let owner = Entry {
                api_version: SCALE_VERSION.to_owned(),
                time: entry.time.clone(),
                fields: Self::Usual.of_version(SCALE_VERSION).into(),
            };
            scale.set(in_version(identity, SCALE_VERSION), owner);
        }
        scale
    }

    /// Copies the owners of the Scale's replicas back to the parent, which is of this version.
    ///
    /// An applier that keeps the replicas keeps its entry. The entry of an updater has its version, which differs on a
    /// Scale: its replicas become a separate entry without a time, beside its other fields, as in Kubernetes. Entries
    /// of versions that are no longer defined are dropped.
    pub fn to_parent(
        &self,
        parent: &ManagedFields,
        scale: &ManagedFields,
        parent_version: &str,
    ) -> ManagedFields {
        let mut result = ManagedFields::new();
        for (identity, entry) in parent.entries().filter(|(_, entry)| self.knows(&entry.api_version)) {
            let mut entry = entry.clone();
            if self.is_owned(&entry) && scale.get(identity).is_none() {
                entry.fields = entry.fields.difference(&self.of_version(&entry.api_version)).into();
            }
            result.set(identity.clone(), entry);
        }
        for (identity, _) in scale.entries().filter(|(_, entry)| Self::Usual.is_owned(entry)) {
            if parent.get(identity).is_some_and(|known| self.is_owned(known)) {
                continue;
            }
            let time = parent.get(identity).and_then(|known| known.time.clone());
            let fields = self.of_version(parent_version).into();
            result.set(identity.clone(), Entry { api_version: parent_version.to_owned(), time, fields });
        }
        result
    }

    fn knows(&self, version: &str) -> bool {
        match self {
            Self::Usual => true,
            Self::ByVersion(paths) => paths.contains_key(version),
        }
    }

    /// The set with the replicas of a parent of this version; empty if it has none.
    fn of_version(&self, version: &str) -> FieldSet {
        match self {
            Self::Usual => FieldSet::of_fields(&["spec.replicas"]),
            Self::ByVersion(paths) => {
                paths.get(version).and_then(Option::as_ref).map_or_else(FieldSet::new, owned)
            }
        }
    }

    fn is_owned(&self, entry: &Entry) -> bool {
        let replicas = self.of_version(&entry.api_version);
        !replicas.is_empty() && replicas.is_subset(&entry.fields)
    }
}

/// The set with one field.
fn owned(path: &FieldPath) -> FieldSet {
    let mut set = FieldSet::new();
    set.insert(path.names().iter().map(|name| PathElement::field(name)));
    set
}

fn in_version(identity: &Identity, version: &str) -> Identity {
    let api_version = match identity.operation {
        Operation::Apply => String::new(),
        Operation::Update => version.to_owned(),
    };
    Identity { api_version, ..identity.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::{Value, json};

    fn entry(manager: &str, operation: &str, version: &str, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": version, "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        })
    }

    /// The owners of an object, one in a line: `manager operation version fields`.
    fn lines(owners: &ManagedFields) -> Vec<String> {
        let entries = owners.encode();
        let one = |entry: &Value| {
            let word = |name: &str| entry[name].as_str().unwrap_or("").to_owned();
            format!("{} {} {} {}", word("manager"), word("operation"), word("apiVersion"), entry["fieldsV1"])
        };
        entries.as_array().into_iter().flatten().map(one).collect()
    }

    /// Appendix E: the owner of the replicas, at any path, owns the replicas of the Scale.
    #[test]
    fn the_replicas_of_a_custom_kind_are_at_the_path_of_its_definition() {
        let paths =
            [("e.com/v1", Some(".spec.size.n")), ("e.com/v2", Some(".spec.count")), ("e.com/v0", None)];
        let field = ReplicasField::ByVersion(
            paths.into_iter().map(|(v, path)| (v.to_owned(), path.map(FieldPath::read))).collect(),
        );
        let parent = ManagedFields::decode(&json!([
            entry("a", "Apply", "e.com/v1", &json!({"f:spec": {"f:size": {"f:n": {}}, "f:x": {}}})),
            entry("b", "Apply", "e.com/v2", &json!({"f:spec": {"f:count": {}}})),
            entry("c", "Apply", "e.com/v2", &json!({"f:spec": {"f:size": {"f:n": {}}}})),
            entry("d", "Apply", "e.com/v0", &json!({"f:spec": {"f:size": {"f:n": {}}}})),
            entry("e", "Apply", "e.com/gone", &json!({"f:spec": {"f:count": {}}})),
        ]))
        .unwrap();
        let mut scale = field.to_scale(&parent);
        let replicas = "autoscaling/v1 {\"f:spec\":{\"f:replicas\":{}}}";
        assert_eq!(lines(&scale), [format!("a Apply {replicas}"), format!("b Apply {replicas}")]);

        scale.remove(&Identity::applier("a", ""));
        let taker = Identity::updater("z", SCALE_VERSION, "scale");
        let fields = FieldSet::of_fields(&["spec.replicas"]).into();
        scale.set(taker, Entry { api_version: SCALE_VERSION.to_owned(), time: None, fields });
        assert_eq!(
            lines(&field.to_parent(&parent, &scale, "e.com/v1")),
            [
                "a Apply e.com/v1 {\"f:spec\":{\"f:x\":{}}}",
                "b Apply e.com/v2 {\"f:spec\":{\"f:count\":{}}}",
                "c Apply e.com/v2 {\"f:spec\":{\"f:size\":{\"f:n\":{}}}}",
                "d Apply e.com/v0 {\"f:spec\":{\"f:size\":{\"f:n\":{}}}}",
                "z Update e.com/v1 {\"f:spec\":{\"f:size\":{\"f:n\":{}}}}",
            ]
        );
    }
}
