//! Builders for tests.
//!
//! Each starts from an object as an API server would return it and is changed by chained methods:
//! `replica_set("web-1").owned_by(&web).size(3).available(2)`. Only a dev-dependency: production code never builds
//! objects this way. [`recorded`] has the recordings of Kubernetes, to compare with.

mod deployment;
mod object_metadata;
mod pod;
pub mod recorded;
mod replica_set;

pub use deployment::{DeploymentBuilder, deployment};
pub use object_metadata::{MetadataBuilder, object, reference};
pub use pod::{PodBuilder, pod};
pub use replica_set::{ReplicaSetBuilder, replica_set};

use gantry_model::{InvalidLimit, InvalidSelector, Labels, Limit, Meta, Selector, Template, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// The start of stories: 2026-01-01T12:00:00Z.
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
    Selector::parse(LabelSelector { match_labels, match_expressions: None }).unwrap_or(Selector::Everything)
}

/// The error of a selector with an unknown operator.
///
/// # Panics
/// If the model accepts it.
pub fn invalid_selector() -> InvalidSelector {
    let json =
        gantry_json::json!({"matchExpressions": [{"key": "app", "operator": "Foo", "values": ["web"]}]});
    match Selector::parse(gantry_json::from_value(json).unwrap_or_default()) {
        Err(invalid) => invalid,
        Ok(selector) => unreachable!("{selector:?} was accepted"),
    }
}

/// The error of an invalid limit.
///
/// # Panics
/// If the limit is valid.
pub fn invalid_limit(written: &str) -> InvalidLimit {
    match Limit::parse(Some(&IntOrString::String(written.to_owned()))) {
        Err(invalid) => invalid,
        Ok(limit) => unreachable!("{limit} was accepted"),
    }
}

/// A template with label `app=web` and one container of this image.
pub fn template(image: &str) -> Template {
    labelled_template(&[("app", "web")], image)
}

/// A template with these labels and one container of this image.
pub fn labelled_template(pairs: &[(&str, &str)], image: &str) -> Template {
    let json = gantry_json::json!({
        "metadata": {"labels": labels(pairs)},
        "spec": {"containers": [{"name": "main", "image": image}]},
    });
    Template::parse(gantry_json::from_value(json).unwrap_or_default())
}
