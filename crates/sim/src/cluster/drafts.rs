//! Objects as a user or a controller creates them.

use gantry_model::{
    Deployment, DeploymentStatus, Labels, Limit, Meta, Pod, PodDraft, ReplicaSet, ReplicaSetStatus, Replicas,
    RollingLimits, Selector, SetKind, Strategy, Template,
};
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The API's default for rolling updates.
pub(crate) const DEFAULT_LIMITS: RollingLimits =
    RollingLimits { surge: Limit::Percent(25), unavailable: Limit::Percent(25) };

/// A Deployment to create.
#[derive(Clone, Debug)]
pub struct NewDeployment {
    /// Its name; its pods are labelled `app=<name>`.
    pub name: String,
    /// `spec.replicas`.
    pub replicas: Replicas,
    /// The image of its container.
    pub image: String,
    /// `spec.strategy`.
    pub strategy: Strategy,
    /// `spec.minReadySeconds`.
    pub min_ready_seconds: i32,
    /// `spec.progressDeadlineSeconds`.
    pub progress_deadline_seconds: Option<i32>,
    /// `spec.revisionHistoryLimit`.
    pub revision_history_limit: Option<Replicas>,
    /// `spec.paused`.
    pub paused: bool,
    /// Its annotations.
    pub annotations: Labels,
}

/// A ReplicaSet without an owner to create.
#[derive(Clone, Debug)]
pub struct NewReplicaSet {
    /// Its name.
    pub name: String,
    /// The value of the label `app` that it has, selects and gives to its pods.
    pub app: String,
    /// `spec.replicas`.
    pub replicas: Replicas,
    /// The image of its container.
    pub image: String,
}

impl NewDeployment {
    /// A Deployment with the API's defaults.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            replicas: Replicas::from(1),
            image: "nginx:1".to_owned(),
            strategy: Strategy::RollingUpdate(Ok(DEFAULT_LIMITS)),
            min_ready_seconds: 0,
            progress_deadline_seconds: Some(600),
            revision_history_limit: Some(Replicas::from(10)),
            paused: false,
            annotations: Labels::new(),
        }
    }

    pub(super) fn build(self, mut meta: Meta) -> Deployment {
        let labels = app(&self.name);
        meta.annotations = self.annotations;
        meta.labels.clone_from(&labels);
        Deployment {
            meta,
            replicas: self.replicas,
            selector: Ok(selecting(&labels)),
            template: template(&labels, &self.image),
            strategy: self.strategy,
            min_ready_seconds: self.min_ready_seconds,
            revision_history_limit: self.revision_history_limit,
            progress_deadline_seconds: self.progress_deadline_seconds,
            paused: self.paused,
            status: DeploymentStatus::default(),
        }
    }
}

impl NewReplicaSet {
    pub(super) fn build(self, mut meta: Meta) -> ReplicaSet {
        let labels = app(&self.app);
        meta.labels.clone_from(&labels);
        ReplicaSet {
            kind: SetKind::ReplicaSet,
            meta,
            replicas: self.replicas,
            selector: Ok(selecting(&labels)),
            template: template(&labels, &self.image),
            min_ready_seconds: 0,
            status: ReplicaSetStatus::default(),
        }
    }
}

pub(super) fn pod(mut meta: Meta, draft: &PodDraft) -> Pod {
    let written = draft.template.written().metadata.clone().unwrap_or_default();
    meta.labels = written.labels.unwrap_or_default();
    meta.annotations = written.annotations.unwrap_or_default();
    meta.finalizers = written.finalizers.unwrap_or_default();
    meta.owners = vec![draft.owner.clone()];
    Pod::pending(meta)
}

/// A template with these labels and one container `main` of this image.
pub(crate) fn template(labels: &Labels, image: &str) -> Template {
    let container = wire::Container {
        name: "main".to_owned(),
        image: Some(image.to_owned()),
        ..wire::Container::default()
    };
    Template::parse(wire::PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels.clone()), ..ObjectMeta::default() }),
        spec: Some(wire::PodSpec { containers: vec![container], ..wire::PodSpec::default() }),
    })
}

/// The suffix of a generated name: five characters, the same on every run.
pub(super) fn suffix(nth: u64) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut rest = nth;
    let mut letters = [b'b'; 5];
    for letter in letters.iter_mut().rev() {
        *letter = ALPHABET[usize::try_from(rest % 27).unwrap_or(0)];
        rest /= 27;
    }
    String::from_utf8_lossy(&letters).into_owned()
}

fn app(name: &str) -> Labels {
    Labels::from([("app".to_owned(), name.to_owned())])
}

fn selecting(labels: &Labels) -> Selector {
    labels.iter().fold(Selector::Everything, |selector, (key, value)| selector.with_label(key, value))
}
