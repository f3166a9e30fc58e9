//! The assumptions about pods and nodes.

use gantry_kubectl::Manifest;
use gantry_nodes::behaviour::{Profile, Traits};
use gantry_nodes::{Capacity, NodeTemplate};

use crate::import::ClusterObjects;

/// The nodes beyond those that hold all pods, for pods that terminate.
const SPARE_NODES: usize = 3;

/// The assumptions about pods and nodes.
#[derive(Clone, Debug)]
pub struct Assumptions {
    /// The behaviour of pods.
    pub profile: Profile,
    /// Traits of all pods, as `name=value`.
    pub all_pods: Vec<String>,
    /// Traits of pods with images that are new in the change, as `name=value`.
    pub new_pods: Vec<String>,
    /// The number of nodes.
    pub nodes: usize,
    /// The capacity of each node.
    pub capacity: Capacity,
    /// How many pods fit, if that was given.
    pub pods_max: Option<u32>,
    /// The nodes of a running cluster, in place of those of the default capacity.
    pub templates: Vec<NodeTemplate>,
    /// Notes about the cluster, as text.
    pub notes: Vec<String>,
}

impl Assumptions {
    /// Pods that behave as the profile says, and nodes of the default capacity for this many pods.
    pub fn new(profile: Profile, pods: usize) -> Self {
        let capacity = Capacity::default();
        let nodes = pods.div_ceil(capacity.pods.try_into().unwrap_or(1)) + SPARE_NODES;
        Self {
            profile,
            all_pods: Vec::new(),
            new_pods: Vec::new(),
            nodes,
            capacity,
            pods_max: None,
            templates: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The nodes of a running cluster, if they are known.
    #[must_use]
    pub fn with_nodes_of(mut self, cluster: &ClusterObjects) -> Self {
        self.templates = cluster.node_templates();
        if self.templates.is_empty() {
            return self;
        }
        self.nodes = self.templates.len();
        let nodes = if self.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", self.nodes) };
        self.notes.push(format!("the cluster's {nodes}, with what other pods leave free"));
        let unready = cluster.unready_nodes();
        if !unready.is_empty() {
            self.notes.push(format!("no pods on nodes that are not ready ({})", unready.join(", ")));
        }
        self
    }

    /// Adds notes about what could not be read from a running cluster.
    #[must_use]
    pub fn with_unread(mut self, cluster: &ClusterObjects) -> Self {
        let unread = cluster.unread.iter().map(|what| format!("no permission to read {what}: ignored"));
        self.notes.extend(unread);
        self
    }

    /// The behaviour of pods in this change: the profile, traits of all pods, then those of new images.
    pub(crate) fn profile(&self, before: &[Manifest], after: &[Manifest]) -> Result<Profile, String> {
        let profile = self.profile.clone().with_rule("*", traits("--assume", &self.all_pods)?);
        let new = traits("--assume-new", &self.new_pods)?;
        if self.new_pods.is_empty() {
            return Ok(profile);
        }
        let known = images(before);
        let brought: Vec<_> = images(after).into_iter().filter(|image| !known.contains(image)).collect();
        if brought.is_empty() {
            return Err("--assume-new: the change brings no new image; use --assume for all pods".to_owned());
        }
        Ok(brought.iter().fold(profile, |profile, image| profile.with_rule(image, new)))
    }

    /// The assumptions as text.
    pub(crate) fn described(&self) -> Vec<String> {
        let new = self.new_pods.iter().map(|text| format!("{text} (new images)"));
        let pods_max = self.pods_max.map(|pods| format!("{pods} pods fit"));
        self.all_pods.iter().cloned().chain(new).chain(pods_max).chain(self.notes.iter().cloned()).collect()
    }

    /// Nodes with capacity for that many pods.
    #[must_use]
    pub fn with_capacity(mut self, pods: u32) -> Self {
        self.pods_max = Some(pods);
        let nodes = pods.div_ceil(self.capacity.pods).max(1);
        // The number of nodes over which the pods are distributed evenly: the limit of a node is the same for all.
        let nodes = (nodes..=pods.max(1)).find(|nodes| pods.is_multiple_of(*nodes)).unwrap_or(1);
        self.nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
        self.capacity.pods = pods / nodes;
        self
    }
}

fn traits(flag: &str, written: &[String]) -> Result<Traits, String> {
    let mut traits = Traits::default();
    for text in written {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            format!("{flag}: {text:?} is not of the form TRAIT=VALUE; for example start-seconds=20±5")
        })?;
        traits.set(name, value).map_err(|error| format!("{flag}: {error}"))?;
    }
    Ok(traits)
}

/// The images of all pod templates.
fn images(manifests: &[Manifest]) -> Vec<String> {
    let mut images = Vec::new();
    for manifest in manifests {
        let spec = &manifest.object["spec"]["template"]["spec"];
        for field in ["containers", "initContainers"] {
            let containers = spec[field].as_array().into_iter().flatten();
            images.extend(containers.filter_map(|it| it["image"].as_str().map(str::to_owned)));
        }
    }
    images
}
