//! The kinds of a definition: one for each served version.

pub mod approval;
pub mod certificates;
pub mod condition;
mod naming;

use std::sync::Arc;

use gantry_json::Value;

use condition::ESTABLISHED;

use super::{Columns, Conversion, Custom, Edition, FieldPath, Scaling, StructuralSchema};
use crate::kinds::{
    BlindPut, DefaultPropagation, DeleteAnswer, Generation, GroupVersion, Kind, NameRule, Nature, PutAbsent,
    Scope, Subresource, Verb, subresource, version_priority,
};

pub use naming::{Ending, end, hold, is_stuck, settle};

/// The finalizer of a definition until its objects are deleted.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The verbs of a custom kind, in the order in which Kubernetes lists them.
const VERBS: [Verb; 8] = [
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Create,
    Verb::Update,
    Verb::Watch,
];

/// Interns a name for the lifetime of the process.
pub type Intern<'k> = &'k dyn Fn(&str) -> &'static str;

/// The served kinds of a definition; none until its names are accepted.
pub fn kinds_of(definition: &Value, keep: Intern<'_>) -> Vec<Arc<Kind>> {
    if !condition::holds(definition, ESTABLISHED) {
        return Vec::new();
    }
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    served.map(|version| kind_of(definition, version, keep)).collect()
}

/// The kind of the storage version, served or not; `None` if its names were never accepted.
pub fn stored_kind_of(definition: &Value, keep: Intern<'_>) -> Option<Arc<Kind>> {
    storage_version(&definition["spec"])
        .filter(|_| condition::holds(definition, ESTABLISHED))
        .map(|version| kind_of(definition, version, keep))
}

/// The storage version in the spec of a definition.
pub fn storage_version(spec: &Value) -> Option<&Value> {
    spec["versions"].as_array()?.iter().find(|version| version["storage"] == true)
}

fn kind_of(definition: &Value, version: &Value, keep: Intern<'_>) -> Arc<Kind> {
    let (spec, names) = (&definition["spec"], &definition["status"]["acceptedNames"]);
    let word = |value: &Value| keep(value.as_str().unwrap_or_default());
    let words = |value: &Value| value.as_array().into_iter().flatten().map(word).collect::<Vec<_>>();
    let (group, resource, kind) = (word(&spec["group"]), word(&names["plural"]), word(&names["kind"]));
    let own = GroupVersion { group, version: word(&version["name"]) };
    Arc::new(Kind {
        group,
        version: own.version,
        api_version: keep(&own.to_string()),
        resource,
        kind,
        list_kind: word(&names["listKind"]),
        singular: word(&names["singular"]),
        scope: if spec["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced },
        short_names: words(&names["shortNames"]),
        categories: words(&names["categories"]),
        verbs: VERBS.to_vec(),
        subresources: subresources(version, kind),
        deleted: DeleteAnswer::Status,
        propagation: DefaultPropagation::Background,
        put_absent: PutAbsent::NotFound,
        blind_put: BlindPut::Refused,
        generation: Generation::Content,
        names: NameRule::Subdomain,
        nature: Nature::Custom(Arc::new(Custom::read(definition, version))),
        segment: keep(&format!("{group}/{resource}")),
    })
}

impl Edition {
    /// Whether it is a state of this definition, and not of another with the same name.
    pub fn is_of(&self, definition: &Value) -> bool {
        definition["metadata"]["uid"] == *self.uid
    }

    fn of(definition: &Value) -> Self {
        let metadata = &definition["metadata"];
        Self {
            uid: metadata["uid"].as_str().unwrap_or_default().to_owned(),
            generation: metadata["generation"].as_i64().unwrap_or_default(),
        }
    }
}

impl Custom {
    /// Reads one version of a definition.
    pub fn read(definition: &Value, version: &Value) -> Self {
        let spec = &definition["spec"];
        let stored = storage_version(spec).and_then(|version| version["name"].as_str()).unwrap_or_default();
        let group = spec["group"].as_str().unwrap_or_default();
        let schema = &version["schema"]["openAPIV3Schema"];
        let others = spec["versions"].as_array().into_iter().flatten();
        let others = others.filter(|other| other["schema"]["openAPIV3Schema"] != *schema);
        let other_versions = others.map(|other| {
            let name = other["name"].as_str().unwrap_or_default();
            (format!("{group}/{name}"), StructuralSchema::read(&other["schema"]["openAPIV3Schema"]))
        });
        Self {
            structural_schema: StructuralSchema::read(schema),
            other_versions: other_versions.collect(),
            schema: schema.clone(),
            columns: Columns::read(version),
            selectable: FieldPath::selectable(version),
            scaling: Scaling::read(version),
            replicas: Scaling::replicas_by_version(definition),
            stored_as: format!("{group}/{stored}"),
            edition: Edition::of(definition),
            is_terminating: definition["metadata"]["deletionTimestamp"].is_string(),
            conversion: match spec["conversion"]["strategy"].as_str() {
                Some("Webhook") => Conversion::Webhook,
                _ => Conversion::None,
            },
            deprecation: deprecation(spec, version),
        }
    }
}

/// The subresources of a version, in the order in which Kubernetes lists them.
fn subresources(version: &Value, kind: &'static str) -> Vec<Subresource> {
    let has = |part: &&str| version["subresources"][*part].is_object();
    ["status", "scale"].into_iter().filter(has).filter_map(|part| subresource(part, kind).ok()).collect()
}

/// The deprecation warning of a version.
fn deprecation(spec: &Value, version: &Value) -> Option<String> {
    fn text(value: &Value) -> &str {
        value.as_str().unwrap_or_default()
    }
    if version["deprecated"] != true {
        return None;
    }
    if let Some(warning) = version["deprecationWarning"].as_str() {
        return Some(warning.to_owned());
    }
    let (group, kind, name) = (text(&spec["group"]), text(&spec["names"]["kind"]), text(&version["name"]));
    let versions = spec["versions"].as_array().into_iter().flatten();
    let current = versions.filter(|one| one["served"] == true && one["deprecated"] != true);
    let better = current.map(|one| text(&one["name"])).min_by_key(|one| version_priority(one));
    let better = better.filter(|better| version_priority(better) < version_priority(name));
    let instead = better.map(|better| format!("; use {group}/{better} {kind}")).unwrap_or_default();
    Some(format!("{group}/{name} {kind} is deprecated{instead}"))
}
