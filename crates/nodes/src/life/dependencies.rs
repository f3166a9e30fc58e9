//! What a pod depends on besides its images: the objects that its environment and its volumes are read from.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1 as wire;

/// An object in the pod's namespace that the pod depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// What it is.
    pub kind: ReferenceKind,
    /// Its name.
    pub name: String,
}

/// What a pod can depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceKind {
    /// A ConfigMap.
    ConfigMap,
    /// A Secret.
    Secret,
    /// The ServiceAccount whose token is mounted.
    ServiceAccount,
    /// A PersistentVolumeClaim.
    Claim,
}

/// What was found when an object was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It exists and holds values under these keys; ServiceAccounts hold none.
    Keys(BTreeSet<String>),
    /// It is a claim that has a volume, or has none yet.
    Claim {
        /// Whether it has one.
        bound: bool,
    },
    /// It does not exist.
    Missing,
    /// The server refused to return it, in these words.
    Refused(String),
}

/// The objects that were looked up for one look at a pod.
#[derive(Clone, Debug, Default)]
pub struct References(BTreeMap<Reference, Lookup>);

/// What the environment of a container is read from, in the order in which a kubelet reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Environment(Vec<Source>);

/// A volume that a container mounts, as far as its content comes from other objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Volume {
    pub(super) name: String,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Sources(Vec<Source>),
    Claim(String),
}

/// An object, and the keys that it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    reference: Reference,
    keys: Vec<String>,
    optional: bool,
}

/// Why volumes cannot be mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MountProblems {
    /// By volume, what its content lacks.
    pub(super) contents: Vec<(String, String)>,
    /// By volume, what is wrong with its claim.
    pub(super) claims: Vec<(String, String)>,
}

impl References {
    /// Records what was found.
    pub fn insert(&mut self, reference: Reference, found: Lookup) {
        self.0.insert(reference, found);
    }

    /// Whether the object is known not to exist.
    pub(super) fn lacks(&self, kind: ReferenceKind, name: &str) -> bool {
        let reference = Reference { kind, name: name.to_owned() };
        matches!(self.0.get(&reference), Some(Lookup::Missing | Lookup::Refused(_)))
    }

    fn get(&self, reference: &Reference) -> &Lookup {
        // What was not looked up was not asked for by `needed`, so it counts as missing.
        self.0.get(reference).unwrap_or(&Lookup::Missing)
    }
}

impl Environment {
    pub(super) fn parse(container: &wire::Container) -> Self {
        let whole = container.env_from.iter().flatten().filter_map(|from| {
            let config = from.config_map_ref.as_ref();
            let config = config.map(|it| Source::new(ReferenceKind::ConfigMap, &it.name, [], it.optional));
            let secret = from.secret_ref.as_ref();
            config.or(secret.map(|it| Source::new(ReferenceKind::Secret, &it.name, [], it.optional)))
        });
        let single = container.env.iter().flatten().filter_map(|variable| {
            let from = variable.value_from.as_ref()?;
            let config = from.config_map_key_ref.as_ref();
            let config =
                config.map(|it| Source::new(ReferenceKind::ConfigMap, &it.name, [&it.key], it.optional));
            let secret = from.secret_key_ref.as_ref();
            config.or(secret.map(|it| Source::new(ReferenceKind::Secret, &it.name, [&it.key], it.optional)))
        });
        Self(whole.chain(single).collect())
    }

    pub(super) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().map(|source| &source.reference)
    }

    /// Why the environment cannot be built, in a kubelet's words: its first problem.
    pub(super) fn problem(&self, namespace: &str, found: &References) -> Option<String> {
        self.0.iter().find_map(|source| {
            source.problem(found, |key, kind| {
                format!("couldn't find key {key} in {kind} {namespace}/{}", source.reference.name)
            })
        })
    }
}

/// The volumes of a pod that a container mounts and whose content comes from other objects.
pub(super) fn volumes(pod: &str, spec: &wire::PodSpec) -> Vec<Volume> {
    let containers = || spec.init_containers.iter().flatten().chain(&spec.containers);
    let is_used = |name: &str| {
        containers().any(|container| {
            let mut mounts = container.volume_mounts.iter().flatten();
            let mut devices = container.volume_devices.iter().flatten();
            mounts.any(|mount| mount.name == name) || devices.any(|device| device.name == name)
        })
    };
    let account = spec.service_account_name.as_deref().unwrap_or("default");
    let volumes = spec.volumes.iter().flatten().filter(|volume| is_used(&volume.name));
    volumes
        .filter_map(|volume| {
            Some(Volume { name: volume.name.clone(), content: Content::parse(pod, account, volume)? })
        })
        .collect()
}

/// What is wrong with any of these volumes.
pub(super) fn mount_problems(volumes: &[Volume], namespace: &str, found: &References) -> MountProblems {
    let mut problems = MountProblems::default();
    for volume in volumes {
        match &volume.content {
            Content::Sources(sources) => {
                let lacking = sources.iter().filter_map(|source| source.mount_problem(found));
                if let Some(problem) = aggregated(lacking) {
                    problems.contents.push((volume.name.clone(), problem));
                }
            }
            Content::Claim(claim) => {
                if let Some(problem) = claim_problem(claim, namespace, found) {
                    problems.claims.push((volume.name.clone(), problem));
                }
            }
        }
    }
    problems
}

/// Several problems are one list without repetitions, one problem stands for itself.
pub(super) fn aggregated(problems: impl Iterator<Item = String>) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    for problem in problems {
        if !said.contains(&problem) {
            said.push(problem);
        }
    }
    if said.len() > 1 { Some(format!("[{}]", said.join(", "))) } else { said.pop() }
}

fn claim_problem(claim: &str, namespace: &str, found: &References) -> Option<String> {
    let reference = Reference { kind: ReferenceKind::Claim, name: claim.to_owned() };
    let problem = match found.get(&reference) {
        Lookup::Claim { bound: true } | Lookup::Keys(_) => return None,
        Lookup::Claim { bound: false } => "PVC is not bound".to_owned(),
        Lookup::Missing => {
            format!("failed to fetch PVC from API server: persistentvolumeclaims \"{claim}\" not found")
        }
        Lookup::Refused(words) => format!("failed to fetch PVC from API server: {words}"),
    };
    Some(format!("error processing PVC {namespace}/{claim}: {problem}"))
}

impl Volume {
    pub(super) fn references(&self) -> Vec<Reference> {
        match &self.content {
            Content::Sources(sources) => sources.iter().map(|source| source.reference.clone()).collect(),
            Content::Claim(name) => vec![Reference { kind: ReferenceKind::Claim, name: name.clone() }],
        }
    }
}

impl Content {
    fn parse(pod: &str, account: &str, volume: &wire::Volume) -> Option<Self> {
        if let Some(config) = &volume.config_map {
            let keys = keys(config.items.as_deref());
            return Some(Self::Sources(vec![Source::new(
                ReferenceKind::ConfigMap,
                &config.name,
                keys,
                config.optional,
            )]));
        }
        if let Some(secret) = &volume.secret {
            let (name, keys) =
                (secret.secret_name.as_deref().unwrap_or_default(), keys(secret.items.as_deref()));
            return Some(Self::Sources(vec![Source::new(
                ReferenceKind::Secret,
                name,
                keys,
                secret.optional,
            )]));
        }
        if let Some(projected) = &volume.projected {
            let sources = projected.sources.iter().flatten();
            return Some(Self::Sources(
                sources.filter_map(|source| Source::projected(source, account)).collect(),
            ));
        }
        if let Some(claim) = &volume.persistent_volume_claim {
            return Some(Self::Claim(claim.claim_name.clone()));
        }
        volume.ephemeral.as_ref().map(|_| Self::Claim(format!("{pod}-{}", volume.name)))
    }
}

fn keys(items: Option<&[wire::KeyToPath]>) -> impl Iterator<Item = &String> {
    items.unwrap_or_default().iter().map(|item| &item.key)
}

impl Source {
    fn new<'a>(
        kind: ReferenceKind,
        name: &str,
        keys: impl IntoIterator<Item = &'a String>,
        optional: Option<bool>,
    ) -> Self {
        Self {
            reference: Reference { kind, name: name.to_owned() },
            keys: keys.into_iter().cloned().collect(),
            optional: optional.unwrap_or(false),
        }
    }

    fn projected(source: &wire::VolumeProjection, account: &str) -> Option<Self> {
        if let Some(config) = &source.config_map {
            let keys = keys(config.items.as_deref());
            return Some(Self::new(ReferenceKind::ConfigMap, &config.name, keys, config.optional));
        }
        if let Some(secret) = &source.secret {
            let keys = keys(secret.items.as_deref());
            return Some(Self::new(ReferenceKind::Secret, &secret.name, keys, secret.optional));
        }
        source
            .service_account_token
            .as_ref()
            .map(|_| Self::new(ReferenceKind::ServiceAccount, account, [], None))
    }

    fn mount_problem(&self, found: &References) -> Option<String> {
        self.problem(found, |key, kind| match kind {
            "ConfigMap" => format!("configmap references non-existent config key: {key}"),
            _ => format!("references non-existent secret key: {key}"),
        })
    }

    /// What is wrong with the object; `no_key` words what is said of a key that it lacks.
    fn problem(&self, found: &References, no_key: impl Fn(&str, &str) -> String) -> Option<String> {
        let Reference { kind, name } = &self.reference;
        match found.get(&self.reference) {
            Lookup::Missing if self.optional => None,
            Lookup::Missing => Some(match kind {
                ReferenceKind::ConfigMap => format!("configmap \"{name}\" not found"),
                ReferenceKind::Secret => format!("secret \"{name}\" not found"),
                ReferenceKind::ServiceAccount => {
                    format!("failed to fetch token: serviceaccounts \"{name}\" not found")
                }
                ReferenceKind::Claim => format!("persistentvolumeclaims \"{name}\" not found"),
            }),
            Lookup::Refused(words) => Some(words.clone()),
            Lookup::Keys(keys) if !self.optional => {
                let kind = if *kind == ReferenceKind::ConfigMap { "ConfigMap" } else { "Secret" };
                self.keys.iter().find(|key| !keys.contains(*key)).map(|key| no_key(key, kind))
            }
            Lookup::Keys(_) | Lookup::Claim { .. } => None,
        }
    }
}
