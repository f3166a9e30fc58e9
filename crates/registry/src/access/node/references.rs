//! Which objects the pods of each node refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gantry_json::Value;

/// The pods of all nodes and the objects they refer to. Clones share the parts of each node.
#[derive(Clone, Debug, Default)]
pub struct NodeGraph {
    pods: BTreeMap<String, Arc<Pods>>,
    volumes: Arc<BTreeMap<String, Volume>>,
    /// The node of each volume attachment, by the name of the attachment.
    attachments: Arc<BTreeMap<String, String>>,
}

/// The objects that the pods of one node refer to.
#[derive(Clone, Debug, Default)]
pub struct NodeReferences {
    node: String,
    pods: Arc<Pods>,
    volumes: Arc<BTreeMap<String, Volume>>,
    attachments: Arc<BTreeMap<String, String>>,
}

/// The kind of an object that a node has access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referenced {
    /// A Pod of the node.
    Pod,
    /// A Secret.
    Secret,
    /// A ConfigMap.
    ConfigMap,
    /// A PersistentVolumeClaim.
    Claim,
    /// A PersistentVolume.
    Volume,
    /// A ServiceAccount.
    ServiceAccount,
    /// A ResourceClaim.
    ResourceClaim,
    /// A VolumeAttachment.
    Attachment,
}

/// The pods of one node by namespace and name.
type Pods = BTreeMap<(String, String), PodReferences>;

/// The names of the objects in its namespace that a pod refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodReferences {
    pub(super) secrets: BTreeSet<String>,
    pub(super) config_maps: BTreeSet<String>,
    pub(super) claims: BTreeSet<String>,
    pub(super) service_account: String,
    resource_claims: BTreeSet<String>,
}

/// A PersistentVolume that is bound to a claim.
#[derive(Clone, Debug)]
struct Volume {
    claim: (String, String),
    /// Namespaces and names.
    secrets: BTreeSet<(String, String)>,
}

/// The annotation of the pods that a node has made from its own files.
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

impl NodeGraph {
    /// Adds or replaces a Pod, PersistentVolume or VolumeAttachment; ignores other kinds.
    pub fn add(&mut self, object: &Value) {
        let name = text(object, "/metadata/name");
        match object["kind"].as_str() {
            Some("Pod") => {
                let node = text(object, "/spec/nodeName");
                if !node.is_empty() {
                    let key = (text(object, "/metadata/namespace"), name);
                    let references = PodReferences::of_bound(object);
                    Arc::make_mut(self.pods.entry(node).or_default()).insert(key, references);
                }
            }
            Some("PersistentVolume") => {
                let volumes = Arc::make_mut(&mut self.volumes);
                match Volume::of(object) {
                    Some(volume) => volumes.insert(name, volume),
                    None => volumes.remove(&name),
                };
            }
            Some("VolumeAttachment") => {
                Arc::make_mut(&mut self.attachments).insert(name, text(object, "/spec/nodeName"));
            }
            _ => {}
        }
    }

    /// Removes an object.
    pub fn remove(&mut self, object: &Value) {
        let name = text(object, "/metadata/name");
        match object["kind"].as_str() {
            Some("Pod") => {
                let node = text(object, "/spec/nodeName");
                if let Some(pods) = self.pods.get_mut(&node) {
                    Arc::make_mut(pods).remove(&(text(object, "/metadata/namespace"), name));
                    if pods.is_empty() {
                        self.pods.remove(&node);
                    }
                }
            }
            Some("PersistentVolume") => drop(Arc::make_mut(&mut self.volumes).remove(&name)),
            Some("VolumeAttachment") => drop(Arc::make_mut(&mut self.attachments).remove(&name)),
            _ => {}
        }
    }

    /// Returns the references of the pods of this node.
    pub fn references_of(&self, node: &str) -> NodeReferences {
        NodeReferences {
            node: node.to_owned(),
            pods: self.pods.get(node).cloned().unwrap_or_default(),
            volumes: Arc::clone(&self.volumes),
            attachments: Arc::clone(&self.attachments),
        }
    }
}

impl NodeReferences {
    /// Whether the node has access to this object; `namespace` is empty for cluster-wide ones.
    pub fn contains(&self, referenced: Referenced, namespace: &str, name: &str) -> bool {
        let in_pods = |has: &dyn Fn(&PodReferences) -> bool| {
            self.pods.iter().any(|((place, _), pod)| place == namespace && has(pod))
        };
        match referenced {
            Referenced::Pod => self.pods.contains_key(&(namespace.to_owned(), name.to_owned())),
            Referenced::Secret => {
                in_pods(&|pod| pod.secrets.contains(name)) || self.is_secret_of_volume(namespace, name)
            }
            Referenced::ConfigMap => in_pods(&|pod| pod.config_maps.contains(name)),
            Referenced::Claim => in_pods(&|pod| pod.claims.contains(name)),
            Referenced::ServiceAccount => in_pods(&|pod| pod.service_account == name),
            Referenced::ResourceClaim => in_pods(&|pod| pod.resource_claims.contains(name)),
            Referenced::Volume => self.volumes.get(name).is_some_and(|volume| self.is_used(volume)),
            Referenced::Attachment => self.attachments.get(name) == Some(&self.node),
        }
    }

    fn is_used(&self, volume: &Volume) -> bool {
        let (namespace, claim) = &volume.claim;
        self.contains(Referenced::Claim, namespace, claim)
    }

    fn is_secret_of_volume(&self, namespace: &str, name: &str) -> bool {
        let secret = (namespace.to_owned(), name.to_owned());
        self.volumes.values().any(|volume| volume.secrets.contains(&secret) && self.is_used(volume))
    }
}

impl PodReferences {
    /// Returns the objects that a bound pod gives its node access to; none for a mirror pod, which the node creates.
    fn of_bound(pod: &Value) -> Self {
        let annotations = pod.pointer("/metadata/annotations");
        let is_mirror = annotations.is_some_and(|annotations| annotations.get(MIRROR).is_some());
        if is_mirror { Self::default() } else { Self::of(pod) }
    }

    pub(super) fn of(pod: &Value) -> Self {
        let spec = &pod["spec"];
        let mut references =
            Self { service_account: text(pod, "/spec/serviceAccountName"), ..Self::default() };
        insert_all(&mut references.secrets, names(&spec["imagePullSecrets"], "/name"));
        for containers in ["containers", "initContainers", "ephemeralContainers"] {
            for container in items(&spec[containers]) {
                let (env, from) = (&container["env"], &container["envFrom"]);
                insert_all(&mut references.secrets, names(env, "/valueFrom/secretKeyRef/name"));
                insert_all(&mut references.secrets, names(from, "/secretRef/name"));
                insert_all(&mut references.config_maps, names(env, "/valueFrom/configMapKeyRef/name"));
                insert_all(&mut references.config_maps, names(from, "/configMapRef/name"));
            }
        }
        for volume in items(&spec["volumes"]) {
            references.add_volume(pod, volume);
        }
        insert_all(&mut references.resource_claims, names(&spec["resourceClaims"], "/resourceClaimName"));
        let created = &pod["status"]["resourceClaimStatuses"];
        insert_all(&mut references.resource_claims, names(created, "/resourceClaimName"));
        references
    }

    fn add_volume(&mut self, pod: &Value, volume: &Value) {
        for source in volume.as_object().into_iter().flat_map(gantry_json::Map::values) {
            let fields = ["/secretName", "/secretRef/name", "/nodePublishSecretRef/name"];
            insert_all(&mut self.secrets, fields.iter().map(|field| text(source, field)));
        }
        let projected = &volume["projected"]["sources"];
        insert_all(&mut self.secrets, names(projected, "/secret/name"));
        insert_all(&mut self.config_maps, names(projected, "/configMap/name"));
        insert_all(&mut self.config_maps, [text(volume, "/configMap/name")]);
        insert_all(&mut self.claims, [text(volume, "/persistentVolumeClaim/claimName")]);
        if volume["ephemeral"].is_object() {
            let claim = format!("{}-{}", text(pod, "/metadata/name"), text(volume, "/name"));
            self.claims.insert(claim);
        }
    }
}

impl Volume {
    /// Parses a volume; `None` if it is not bound to a claim.
    fn of(object: &Value) -> Option<Self> {
        let claim = &object["spec"]["claimRef"];
        let claim = (text(claim, "/namespace"), text(claim, "/name"));
        if claim.1.is_empty() {
            return None;
        }
        let mut secrets = BTreeSet::new();
        for source in object["spec"].as_object().into_iter().flat_map(gantry_json::Map::values) {
            let references =
                ["secretRef", "nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"];
            let named =
                references.map(|field| (text(&source[field], "/namespace"), text(&source[field], "/name")));
            let azure = [(text(source, "/secretNamespace"), text(source, "/secretName"))];
            for (namespace, name) in named.into_iter().chain(azure).filter(|(_, name)| !name.is_empty()) {
                secrets.insert((if namespace.is_empty() { claim.0.clone() } else { namespace }, name));
            }
        }
        Some(Self { claim, secrets })
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the string at this pointer in each item.
fn names<'v>(list: &'v Value, pointer: &'v str) -> impl Iterator<Item = String> + 'v {
    items(list).map(move |item| text(item, pointer))
}

fn insert_all(set: &mut BTreeSet<String>, names: impl IntoIterator<Item = String>) {
    set.extend(names.into_iter().filter(|name| !name.is_empty()));
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
