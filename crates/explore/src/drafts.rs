//! The objects of the first state of a world, and the metadata of those that the controllers create.

use gantry_model::{
    Annotations, Deployment, DeploymentStatus, Labels, Meta, Replicas, Selector, Template, Timestamp,
};
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::objects::NAMESPACE;
use crate::small_world::SmallWorld;

/// The time at which every world begins.
pub(crate) const BEGINNING: Timestamp = Timestamp::from_secs(1_767_268_800);

/// The metadata of an object that the server stores for the first time.
pub(crate) fn meta(name: &str, uid: &str) -> Meta {
    Meta {
        namespace: NAMESPACE.into(),
        name: name.into(),
        uid: uid.into(),
        resource_version: "0".into(),
        generation: 1,
        labels: Labels::new(),
        annotations: Annotations::new(),
        created: Some(BEGINNING),
        deleting: None,
        owners: Vec::new(),
        finalizers: Vec::new(),
    }
}

/// The template of this version.
pub(crate) fn template(version: u8) -> Template {
    let container = wire::Container {
        name: "main".to_owned(),
        image: Some(format!("web:{version}")),
        ..wire::Container::default()
    };
    Template::parse(wire::PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels()), ..ObjectMeta::default() }),
        spec: Some(wire::PodSpec { containers: vec![container], ..wire::PodSpec::default() }),
    })
}

/// The Deployment of a world, as its user creates it.
pub(crate) fn deployment(world: &SmallWorld) -> Deployment {
    Deployment {
        meta: Meta { labels: labels(), ..meta("web", "deployment") },
        replicas: Replicas::from(world.replicas),
        selector: Ok(Selector::Everything.with_label("app", "web")),
        template: world.templates[0].clone(),
        strategy: world.strategy.clone(),
        min_ready_seconds: world.min_ready_seconds,
        revision_history_limit: world.history.map(Replicas::from),
        progress_deadline_seconds: world.deadline_seconds,
        paused: false,
        status: DeploymentStatus::default(),
    }
}

fn labels() -> Labels {
    Labels::from([("app".to_owned(), "web".to_owned())])
}
