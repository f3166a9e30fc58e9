//! Persistent volumes: whether the claims of a pod can be met, and where.
//!
//! Nothing is bound here. A claim that waits for its first consumer is met only by what is bound to it by others.

use std::collections::BTreeMap;

use gantry_model::quantity::in_nanos;
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::api::storage::v1::StorageClass;

use super::affinity::Places;
use super::reasons::Refusal;
use super::{Node, Pod};

/// Claims, volumes and classes.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    claims: BTreeMap<(String, String), Claim>,
    volumes: BTreeMap<String, Volume>,
    classes: BTreeMap<String, Class>,
}

/// A claim that a pod makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needed {
    name: String,
    /// Whether the claim is made for this pod, by a template in it.
    ephemeral: bool,
}

/// A claim.
#[derive(Clone, Debug, PartialEq)]
struct Claim {
    volume: Option<String>,
    bound: bool,
    lost: bool,
    deleting: bool,
    class: String,
    modes: Vec<String>,
    request: i128,
    labels: BTreeMap<String, String>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq)]
struct Volume {
    class: String,
    modes: Vec<String>,
    capacity: i128,
    labels: BTreeMap<String, String>,
    /// The claim it is for, if it is for one.
    claim: Option<(String, String)>,
    places: Option<Places>,
}

/// A class: who makes its volumes, and when claims are bound.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    waits: bool,
    provisions: bool,
}

/// The provisioner of classes whose volumes are all made by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
/// The annotation of claims whose binding is complete.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// What became of a pod whose claims were not bound in time.
const NOT_BOUND_IN_TIME: &str =
    "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";

impl Needed {
    pub(super) fn parse(pod: &wire::Pod, spec: &wire::PodSpec) -> Vec<Self> {
        let pod = pod.metadata.name.as_deref().unwrap_or_default();
        let volumes = spec.volumes.iter().flatten();
        let needed = volumes.filter_map(|volume| {
            let claim = volume.persistent_volume_claim.as_ref();
            let claim = claim.map(|claim| Self { name: claim.claim_name.clone(), ephemeral: false });
            let template = volume.ephemeral.as_ref();
            claim.or(template.map(|_| Self { name: format!("{pod}-{}", volume.name), ephemeral: true }))
        });
        needed.collect()
    }
}

impl Storage {
    /// Notes a claim as it is now.
    pub fn set_claim(&mut self, claim: &wire::PersistentVolumeClaim) {
        self.claims.insert(claim_key(claim), Claim::parse(claim));
    }

    /// Forgets a claim.
    pub fn remove_claim(&mut self, namespace: &str, name: &str) {
        self.claims.remove(&(namespace.to_owned(), name.to_owned()));
    }

    /// Notes a volume as it is now.
    pub fn set_volume(&mut self, volume: &wire::PersistentVolume) {
        self.volumes.insert(volume.metadata.name.clone().unwrap_or_default(), Volume::parse(volume));
    }

    /// Forgets a volume.
    pub fn remove_volume(&mut self, name: &str) {
        self.volumes.remove(name);
    }

    /// Notes a class as it is now.
    pub fn set_class(&mut self, class: &StorageClass) {
        let waits = class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer");
        let provisions = class.provisioner != NO_PROVISIONER;
        self.classes.insert(class.metadata.name.clone().unwrap_or_default(), Class { waits, provisions });
    }

    /// Forgets a class.
    pub fn remove_class(&mut self, name: &str) {
        self.classes.remove(name);
    }

    /// Why no node can take the pod, whichever it is.
    pub(super) fn problem(&self, pod: &Pod) -> Option<String> {
        let missing = pod.claims.iter().find_map(|needed| self.missing(pod, needed));
        missing.or_else(|| {
            let mut claims = self.claims_of(pod);
            let immediate = claims.any(|(_, claim)| !claim.bound && !self.waits(claim));
            immediate.then(|| "pod has unbound immediate PersistentVolumeClaims".to_owned())
        })
    }

    /// Why this node cannot take the pod.
    pub(super) fn refusal(&self, pod: &Pod, node: &Node) -> Option<Refusal> {
        self.claims_of(pod).find_map(|(key, claim)| match &claim.volume {
            Some(volume) if claim.bound => match self.volumes.get(volume) {
                None => Some(Refusal::VolumeMissing),
                Some(volume) => (!volume.is_reachable(node)).then_some(Refusal::VolumeElsewhere),
            },
            _ => (!self.can_be_met(&key, claim, node)).then_some(Refusal::NoVolume),
        })
    }

    /// Why a pod that a node would take is not sent there: its claims have to be bound before.
    ///
    /// kube-scheduler waits ten minutes for that, and then says this.
    pub(super) fn unbound(&self, pod: &Pod) -> Option<String> {
        let unbound = self.claims_of(pod).any(|(_, claim)| !claim.bound);
        unbound.then(|| NOT_BOUND_IN_TIME.to_owned())
    }

    fn missing(&self, pod: &Pod, needed: &Needed) -> Option<String> {
        let name = &needed.name;
        match self.claims.get(&(pod.namespace.clone(), name.clone())) {
            None if needed.ephemeral => Some(format!(
                "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\""
            )),
            None => Some(format!("persistentvolumeclaim \"{name}\" not found")),
            Some(claim) if claim.lost => {
                let volume = claim.volume.as_deref().unwrap_or_default();
                Some(format!(
                    "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
                ))
            }
            Some(claim) if claim.deleting => {
                Some(format!("persistentvolumeclaim \"{name}\" is being deleted"))
            }
            Some(_) => None,
        }
    }

    fn claims_of<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = ((String, String), &'a Claim)> {
        pod.claims.iter().filter_map(|needed| {
            let key = (pod.namespace.clone(), needed.name.clone());
            self.claims.get(&key).map(|claim| (key, claim))
        })
    }

    /// Whether a claim is bound only when a pod that needs it has a node. One that names its volume is not.
    fn waits(&self, claim: &Claim) -> bool {
        claim.volume.is_none() && self.classes.get(&claim.class).is_some_and(|class| class.waits)
    }

    /// Whether a volume for the claim could be had on this node, found or made.
    fn can_be_met(&self, key: &(String, String), claim: &Claim, node: &Node) -> bool {
        let provisions = self.classes.get(&claim.class).is_some_and(|class| class.provisions);
        provisions
            || self.volumes.values().any(|volume| volume.meets(key, claim) && volume.is_reachable(node))
    }
}

impl Claim {
    fn parse(claim: &wire::PersistentVolumeClaim) -> Self {
        let fallback = wire::PersistentVolumeClaimSpec::default();
        let spec = claim.spec.as_ref().unwrap_or(&fallback);
        let volume = spec.volume_name.clone().filter(|name| !name.is_empty());
        let phase = claim.status.as_ref().and_then(|status| status.phase.as_deref());
        let completed = claim
            .metadata
            .annotations
            .as_ref()
            .is_some_and(|annotations| annotations.contains_key(BIND_COMPLETED));
        let requests = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        let request = requests.and_then(|requests| in_nanos(&requests.get("storage")?.0));
        let selector = spec.selector.as_ref().and_then(|selector| selector.match_labels.clone());
        Self {
            bound: volume.is_some() && (completed || phase == Some("Bound")),
            lost: phase == Some("Lost"),
            deleting: claim.metadata.deletion_timestamp.is_some(),
            class: spec.storage_class_name.clone().unwrap_or_default(),
            modes: spec.access_modes.clone().unwrap_or_default(),
            request: request.unwrap_or(0),
            labels: selector.unwrap_or_default(),
            volume,
        }
    }
}

impl Volume {
    fn parse(volume: &wire::PersistentVolume) -> Self {
        let fallback = wire::PersistentVolumeSpec::default();
        let spec = volume.spec.as_ref().unwrap_or(&fallback);
        let capacity = spec.capacity.as_ref().and_then(|capacity| in_nanos(&capacity.get("storage")?.0));
        let claim = spec.claim_ref.as_ref().map(|claim| {
            (claim.namespace.clone().unwrap_or_default(), claim.name.clone().unwrap_or_default())
        });
        let required = spec.node_affinity.as_ref().and_then(|affinity| affinity.required.as_ref());
        Self {
            class: spec.storage_class_name.clone().unwrap_or_default(),
            modes: spec.access_modes.clone().unwrap_or_default(),
            capacity: capacity.unwrap_or(0),
            labels: volume.metadata.labels.clone().unwrap_or_default(),
            claim,
            places: required.map(Places::parse),
        }
    }

    fn is_reachable(&self, node: &Node) -> bool {
        self.places.as_ref().is_none_or(|places| places.include(node))
    }

    fn meets(&self, key: &(String, String), claim: &Claim) -> bool {
        self.claim.as_ref().is_none_or(|taken| taken == key)
            && self.class == claim.class
            && self.capacity >= claim.request
            && claim.modes.iter().all(|mode| self.modes.contains(mode))
            && claim.labels.iter().all(|(key, value)| self.labels.get(key) == Some(value))
    }
}

fn claim_key(claim: &wire::PersistentVolumeClaim) -> (String, String) {
    let metadata = &claim.metadata;
    (metadata.namespace.clone().unwrap_or_default(), metadata.name.clone().unwrap_or_default())
}
