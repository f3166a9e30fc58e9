//! Builders that let tests speak in the words of the domain.
//!
//! Each starts from an object as an API server would hand it out and is bent by chained words:
//! `replica_set("web-1").owned_by(&web).size(3).available(2)`. Only a dev-dependency: production code never builds
//! objects this way.

mod deployment;
mod pod;
mod replica_set;

pub use deployment::{DeploymentWords, deployment};
pub use pod::{PodWords, pod};
pub use replica_set::{ReplicaSetWords, replica_set};

use gantry_model::{Labels, Meta, Selector, Template, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// The moment at which stories begin: 2026-01-01T12:00:00Z.
pub const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

/// So many seconds after noon; negative for before.
pub fn noon_plus(seconds: i64) -> Timestamp {
    Timestamp::from_nanos(NOON.as_nanos() + seconds * 1_000_000_000)
}

/// Metadata of a stored object in namespace `default`, created at noon, with uid `uid-of-<name>`.
pub fn meta(name: &str) -> Meta {
    Meta {
        namespace: "default".into(),
        name: name.into(),
        uid: format!("uid-of-{name}").into(),
        resource_version: "1".into(),
        generation: 1,
        labels: Labels::new(),
        annotations: Labels::new(),
        created: Some(NOON),
        deleting: None,
        owners: Vec::new(),
        finalizers: Vec::new(),
    }
}

/// Labels from pairs.
pub fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// A selector for these labels.
pub fn selector(pairs: &[(&str, &str)]) -> Selector {
    let match_labels = (!pairs.is_empty()).then(|| labels(pairs));
    Selector::parse(LabelSelector { match_labels, match_expressions: None })
        .unwrap_or(Selector::Everything)
}

/// A template with label `app=web` and one container of this image.
pub fn template(image: &str) -> Template {
    labelled_template(&[("app", "web")], image)
}

/// A template with these labels and one container of this image.
pub fn labelled_template(pairs: &[(&str, &str)], image: &str) -> Template {
    let json = serde_json::json!({
        "metadata": {"labels": labels(pairs)},
        "spec": {"containers": [{"name": "main", "image": image}]},
    });
    Template::parse(serde_json::from_value(json).unwrap_or_default())
}
