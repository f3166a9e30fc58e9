//! The objects that the environment and the volumes of a pod are read from.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1 as wire;

/// An object in the pod's namespace that the pod depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Its kind.
    pub kind: ReferenceKind,
    /// Its name.
    pub name: String,
}

/// A kind of object that a pod can depend on.
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

/// The result of looking up an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It exists and has these keys; ServiceAccounts have none.
    Keys(BTreeSet<String>),
    /// It is a claim.
    Claim {
        /// Whether it is bound to a volume.
        bound: bool,
    },
    /// It does not exist.
    Missing,
    /// The server denied access to it, with this message.
    Denied(String),
}

/// The objects that were looked up for one sync of a pod.
#[derive(Clone, Debug, Default)]
pub struct References(BTreeMap<Reference, Lookup>);

/// The sources of a container's environment, in the order in which a kubelet reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Environment(Vec<Source>);

/// A mounted volume whose content is read from other objects.
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

/// An object and the keys that are required of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    reference: Reference,
    keys: Vec<String>,
    optional: bool,
}

/// Why volumes cannot be mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MountProblems {
    /// By volume, the problem with its content.
    pub(super) contents: Vec<(String, String)>,
    /// By volume, the problem with its claim.
    pub(super) claims: Vec<(String, String)>,
}

impl References {
    /// Adds the result of a lookup.
    pub fn insert(&mut self, reference: Reference, found: Lookup) {
        self.0.insert(reference, found);
    }

    /// Whether the object was looked up and not found.
    pub(super) fn is_missing(&self, kind: ReferenceKind, name: &str) -> bool {
        let reference = Reference { kind, name: name.to_owned() };
        matches!(self.0.get(&reference), Some(Lookup::Missing | Lookup::Denied(_)))
    }

    fn get(&self, reference: &Reference) -> &Lookup {
        // References that `needed` did not list count as missing.
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

    /// Returns the kubelet's message if the environment cannot be built: its first problem.
    pub(super) fn problem(&self, namespace: &str, found: &References) -> Option<String> {
        self.0.iter().find_map(|source| {
            source.problem(found, |key, kind| {
                format!("couldn't find key {key} in {kind} {namespace}/{}", source.reference.name)
            })
        })
    }
}

/// Returns the volumes of a pod that a container mounts and whose content is read from other objects.
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

/// Returns why any of these volumes cannot be mounted.
pub(super) fn mount_problems(volumes: &[Volume], namespace: &str, found: &References) -> MountProblems {
    let mut problems = MountProblems::default();
    for volume in volumes {
        match &volume.content {
            Content::Sources(sources) => {
                let missing = sources.iter().filter_map(|source| source.mount_problem(found));
                if let Some(problem) = aggregated(missing) {
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

/// Joins several problems to a list without duplicates; a single one is returned as it is.
pub(super) fn aggregated(problems: impl Iterator<Item = String>) -> Option<String> {
    let mut distinct: Vec<String> = Vec::new();
    for problem in problems {
        if !distinct.contains(&problem) {
            distinct.push(problem);
        }
    }
    if distinct.len() > 1 { Some(format!("[{}]", distinct.join(", "))) } else { distinct.pop() }
}

fn claim_problem(claim: &str, namespace: &str, found: &References) -> Option<String> {
    let reference = Reference { kind: ReferenceKind::Claim, name: claim.to_owned() };
    let problem = match found.get(&reference) {
        Lookup::Claim { bound: true } | Lookup::Keys(_) => return None,
        Lookup::Claim { bound: false } => "PVC is not bound".to_owned(),
        Lookup::Missing => {
            format!("failed to fetch PVC from API server: persistentvolumeclaims \"{claim}\" not found")
        }
        Lookup::Denied(message) => format!("failed to fetch PVC from API server: {message}"),
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

    /// Returns why the object cannot be used; `no_key` formats the message about a missing key.
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
            Lookup::Denied(message) => Some(message.clone()),
            Lookup::Keys(keys) if !self.optional => {
                let kind = if *kind == ReferenceKind::ConfigMap { "ConfigMap" } else { "Secret" };
                self.keys.iter().find(|key| !keys.contains(*key)).map(|key| no_key(key, kind))
            }
            Lookup::Keys(_) | Lookup::Claim { .. } => None,
        }
    }
}
