//! Persistent volumes: whether the claims of a pod can be satisfied, and on which nodes.
//!
//! Nothing is bound here: a claim that waits for its first consumer stays unbound until a volume controller binds it.

use std::collections::BTreeMap;

use gantry_formats::quantity::parse_billionths;
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::api::storage::v1::StorageClass;

use super::fit_error::NodeRejection;
use super::node_affinity::NodeSelector;
use super::{Node, PodInfo};

/// Claims, volumes and classes.
#[derive(Clone, Debug, Default)]
pub struct StorageObjects {
    claims: BTreeMap<(String, String), Claim>,
    volumes: BTreeMap<String, Volume>,
    classes: BTreeMap<String, Class>,
}

/// A claim of a pod's volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimReference {
    name: String,
    /// Whether the claim is created from an ephemeral volume of the pod.
    ephemeral: bool,
}

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

#[derive(Clone, Debug, PartialEq)]
struct Volume {
    class: String,
    modes: Vec<String>,
    capacity: i128,
    labels: BTreeMap<String, String>,
    /// `claimRef`.
    claim: Option<(String, String)>,
    node_affinity: Option<NodeSelector>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    wait_for_first_consumer: bool,
    has_provisioner: bool,
}

/// The provisioner of classes without dynamic provisioning.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
/// The annotation of claims whose binding is complete.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// kube-scheduler's message when binding the volumes times out.
const NOT_BOUND_IN_TIME: &str =
    "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";

impl ClaimReference {
    pub(super) fn parse(pod: &wire::Pod, spec: &wire::PodSpec) -> Vec<Self> {
        let pod = pod.metadata.name.as_deref().unwrap_or_default();
        let volumes = spec.volumes.iter().flatten();
        let reference = volumes.filter_map(|volume| {
            let claim = volume.persistent_volume_claim.as_ref();
            let claim = claim.map(|claim| Self { name: claim.claim_name.clone(), ephemeral: false });
            let template = volume.ephemeral.as_ref();
            claim.or(template.map(|_| Self { name: format!("{pod}-{}", volume.name), ephemeral: true }))
        });
        reference.collect()
    }
}

impl StorageObjects {
    /// Adds or updates a claim.
    pub fn set_claim(&mut self, claim: &wire::PersistentVolumeClaim) {
        self.claims.insert(claim_key(claim), Claim::parse(claim));
    }

    /// Removes a claim.
    pub fn remove_claim(&mut self, namespace: &str, name: &str) {
        self.claims.remove(&(namespace.to_owned(), name.to_owned()));
    }

    /// Adds or updates a volume.
    pub fn set_volume(&mut self, volume: &wire::PersistentVolume) {
        self.volumes.insert(volume.metadata.name.clone().unwrap_or_default(), Volume::parse(volume));
    }

    /// Removes a volume.
    pub fn remove_volume(&mut self, name: &str) {
        self.volumes.remove(name);
    }

    /// Adds or updates a storage class.
    pub fn set_class(&mut self, class: &StorageClass) {
        let wait_for_first_consumer = class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer");
        let has_provisioner = class.provisioner != NO_PROVISIONER;
        self.classes.insert(
            class.metadata.name.clone().unwrap_or_default(),
            Class { wait_for_first_consumer, has_provisioner },
        );
    }

    /// Removes a storage class.
    pub fn remove_class(&mut self, name: &str) {
        self.classes.remove(name);
    }

    /// Why the pod is unschedulable whatever the node.
    pub(super) fn pre_filter_failure(&self, pod: &PodInfo) -> Option<String> {
        let missing = pod.claims.iter().find_map(|reference| self.missing(pod, reference));
        missing.or_else(|| {
            let mut claims = self.claims_of(pod);
            let immediate = claims.any(|(_, claim)| !claim.bound && !self.is_delayed(claim));
            immediate.then(|| "pod has unbound immediate PersistentVolumeClaims".to_owned())
        })
    }

    pub(super) fn rejection(&self, pod: &PodInfo, node: &Node) -> Option<NodeRejection> {
        self.claims_of(pod).find_map(|(key, claim)| match &claim.volume {
            Some(volume) if claim.bound => match self.volumes.get(volume) {
                None => Some(NodeRejection::VolumeNotFound),
                Some(volume) => (!volume.is_reachable(node)).then_some(NodeRejection::VolumeNodeAffinity),
            },
            _ => (!self.can_be_satisfied(&key, claim, node)).then_some(NodeRejection::NoMatchingVolume),
        })
    }

    /// Why a pod that fits a node is not bound: its claims are unbound. kube-scheduler reports this after waiting ten
    /// minutes.
    pub(super) fn pre_bind_failure(&self, pod: &PodInfo) -> Option<String> {
        let unbound = self.claims_of(pod).any(|(_, claim)| !claim.bound);
        unbound.then(|| NOT_BOUND_IN_TIME.to_owned())
    }

    fn missing(&self, pod: &PodInfo, reference: &ClaimReference) -> Option<String> {
        let name = &reference.name;
        match self.claims.get(&(pod.namespace.clone(), name.clone())) {
            None if reference.ephemeral => Some(format!(
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

    fn claims_of<'a>(&'a self, pod: &'a PodInfo) -> impl Iterator<Item = ((String, String), &'a Claim)> {
        pod.claims.iter().filter_map(|reference| {
            let key = (pod.namespace.clone(), reference.name.clone());
            self.claims.get(&key).map(|claim| (key, claim))
        })
    }

    /// Whether the claim is bound only after its pod has a node. A claim that names its volume is not.
    fn is_delayed(&self, claim: &Claim) -> bool {
        claim.volume.is_none()
            && self.classes.get(&claim.class).is_some_and(|class| class.wait_for_first_consumer)
    }

    /// Whether a volume for the claim exists or can be provisioned on this node.
    fn can_be_satisfied(&self, key: &(String, String), claim: &Claim, node: &Node) -> bool {
        let has_provisioner = self.classes.get(&claim.class).is_some_and(|class| class.has_provisioner);
        has_provisioner
            || self.volumes.values().any(|volume| volume.satisfies(key, claim) && volume.is_reachable(node))
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
        let request = requests.and_then(|requests| parse_billionths(&requests.get("storage")?.0));
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
        let capacity =
            spec.capacity.as_ref().and_then(|capacity| parse_billionths(&capacity.get("storage")?.0));
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
            node_affinity: required.map(NodeSelector::parse),
        }
    }

    fn is_reachable(&self, node: &Node) -> bool {
        self.node_affinity.as_ref().is_none_or(|node_affinity| node_affinity.matches(node))
    }

    fn satisfies(&self, key: &(String, String), claim: &Claim) -> bool {
        self.claim.as_ref().is_none_or(|claim| claim == key)
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
