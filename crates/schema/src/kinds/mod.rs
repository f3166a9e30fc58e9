//! The served resources with their names, verbs, subresources and behaviour, as one table.
//!
//! `served.tsv` has one line per resource. To add a kind, add a line, and its fields to the [`schema`](crate::schema).
//! [`discovery`] renders the table for clients.

pub mod discovery;
mod parse;
mod subresources;
mod versions;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::custom::Custom;
use crate::schema::MessageId;

pub(crate) use subresources::subresource;
pub use versions::{Priority, Stage, version_priority};

/// All served resources, with lookups.
#[derive(Debug)]
pub struct Kinds {
    all: Vec<Arc<Kind>>,
    by_resource: BTreeMap<(&'static str, &'static str, &'static str), usize>,
    by_kind: BTreeMap<(&'static str, &'static str, &'static str), usize>,
    groups: Vec<Group>,
}

/// One group, most preferred version first.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The name; empty for the core group.
    pub name: &'static str,
    /// Its versions, most preferred first.
    pub versions: Vec<&'static str>,
}

/// A resource and its behaviour.
#[derive(Debug)]
pub struct Kind {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// Both as objects write them: `apps/v1`.
    pub api_version: &'static str,
    /// The plural in paths: `deployments`.
    pub resource: &'static str,
    /// The kind: `Deployment`.
    pub kind: &'static str,
    /// The kind of its lists: `DeploymentList`.
    pub list_kind: &'static str,
    /// The singular: `deployment`.
    pub singular: &'static str,
    /// Whether it is namespaced.
    pub scope: Scope,
    /// Short names, such as `deploy`.
    pub short_names: Vec<&'static str>,
    /// Categories, such as `all`.
    pub categories: Vec<&'static str>,
    /// The verbs, in alphabetical order.
    pub verbs: Vec<Verb>,
    /// Subresources, in the order in which they are listed.
    pub subresources: Vec<Subresource>,
    /// The response to a completed DELETE.
    pub deleted: DeleteAnswer,
    /// What happens to dependents if a delete request has no policy.
    pub propagation: DefaultPropagation,
    /// The response to a PUT of an object that does not exist.
    pub put_absent: PutAbsent,
    /// Whether PUT may omit the resourceVersion.
    pub blind_put: BlindPut,
    /// What increments `metadata.generation`.
    pub generation: Generation,
    /// The rule for names.
    pub names: NameRule,
    /// The schema of its objects.
    pub nature: Nature,
    /// The path segment under which objects are stored; resources with the same segment share their objects.
    pub segment: &'static str,
}

/// Where the schema of a kind comes from.
#[derive(Clone, Debug)]
pub enum Nature {
    /// The compiled-in schema: `apps/v1.Deployment`.
    BuiltIn(MessageId),
    /// A CustomResourceDefinition.
    Custom(Arc<Custom>),
}

/// A subresource.
#[derive(Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last path segment: `scale`.
    pub name: &'static str,
    /// The verbs, in alphabetical order.
    pub verbs: Vec<Verb>,
    /// The group and version of its kind, if they differ from the resource.
    pub foreign: Option<GroupVersion>,
    /// The kind of its objects.
    pub kind: &'static str,
}

/// A group and a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupVersion {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
}

/// Whether objects are in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// They are.
    Namespaced,
    /// They are not.
    Cluster,
}

gantry_formats::text_enum! {
    /// The verbs of a resource, in alphabetical order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the words of Kubernetes")]
    pub enum Verb {
        Create = "create",
        Delete = "delete",
        DeleteCollection = "deletecollection",
        Get = "get",
        List = "list",
        Patch = "patch",
        Update = "update",
        Watch = "watch",
    }

    /// The verb in RBAC and discovery.
    pub fn as_str(self) -> &'static str;
    const ALL: [Self; 8];
    fn parse(text: &str) -> Option<Self>;
}

/// The response to a completed DELETE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// The object in its last state.
    Object,
    /// A `Status` with its name.
    Status,
}

/// What happens to dependents if a delete request has no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultPropagation {
    /// They are deleted in the background.
    Background,
    /// They are orphaned.
    Orphan,
    /// The kind has no dependents; policies are ignored.
    Unsupported,
}

/// The response to a PUT of an object that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutAbsent {
    /// Responds with 404.
    NotFound,
    /// Creates the object.
    Creates,
}

/// Whether a PUT without resourceVersion is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlindPut {
    /// It overwrites the object.
    Overwrites,
    /// It is invalid.
    Refused,
}

/// What increments `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// The kind has no generation.
    Absent,
    /// A changed spec.
    Spec,
    /// A changed spec, including an empty list in place of an absent one.
    ExactSpec,
    /// A changed spec; a new object has no generation.
    SpecFromZero,
    /// A changed spec, or changed annotations.
    SpecOrAnnotations,
    /// Anything outside metadata, or changed labels.
    Anything,
    /// Anything outside metadata, and outside the status if that is a subresource.
    Content,
    /// It is always 1.
    AlwaysOne,
}

/// The rule for names of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// A DNS subdomain.
    Subdomain,
    /// A DNS label.
    Label,
    /// Any valid path segment.
    PathSegment,
    /// An IP address in canonical form.
    IpAddress,
}

/// The built-in kinds, as in Kubernetes 1.37.
pub fn kinds() -> &'static Kinds {
    static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
        parse::kinds(include_str!("served.tsv"))
            .unwrap_or_else(|problem| unreachable!("the compiled-in table is invalid: {problem}"))
    });
    &KINDS
}

impl Kinds {
    fn new(all: Vec<Arc<Kind>>) -> Self {
        let mut by_resource = BTreeMap::new();
        let mut by_kind = BTreeMap::new();
        for (index, kind) in all.iter().enumerate() {
            by_resource.insert((kind.group, kind.version, kind.resource), index);
            by_kind.insert((kind.group, kind.version, kind.kind), index);
        }
        let groups = groups(&all);
        Self { all, by_resource, by_kind, groups }
    }

    /// These kinds and others after them. Kinds that exist already are not replaced.
    pub fn and(&self, others: impl IntoIterator<Item = Arc<Kind>>) -> Self {
        let is_new = |kind: &Arc<Kind>| {
            self.resource(kind.group, kind.version, kind.resource).is_none()
                && self.kind(kind.group, kind.version, kind.kind).is_none()
        };
        let new: Vec<_> = others.into_iter().filter(is_new).collect();
        Self::new(self.all.iter().cloned().chain(new).collect())
    }

    /// All resources, in the order of the table.
    pub fn all(&self) -> impl Iterator<Item = &Kind> {
        self.all.iter().map(AsRef::as_ref)
    }

    /// The resource of this group, version and plural.
    pub fn resource(&self, group: &str, version: &str, resource: &str) -> Option<&Kind> {
        self.by_resource.get(&(group, version, resource)).map(|index| self.all[*index].as_ref())
    }

    /// The same as a shared pointer.
    pub fn kept(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Kind>> {
        self.by_resource.get(&(group, version, resource)).map(|index| Arc::clone(&self.all[*index]))
    }

    /// The resource of this group, version and kind.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Kind> {
        self.by_kind.get(&(group, version, kind)).map(|index| self.all[*index].as_ref())
    }

    /// The resources of one group version, in alphabetical order.
    pub fn of<'a>(&'a self, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a Kind> + 'a {
        let from = (group, version, "");
        let served =
            self.by_resource.range(from..).take_while(move |(key, _)| (key.0, key.1) == (group, version));
        served.map(|(_, index)| self.all[*index].as_ref())
    }

    /// The groups: the core group, then in the order of the table, then those of definitions by name.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// One group.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The preferred version of a group.
    pub fn preferred(&self, group: &str) -> Option<&'static str> {
        self.group(group).and_then(|group| group.versions.first().copied())
    }
}

/// The groups of these kinds: built-in ones in the order of the table, then those of definitions by name.
fn groups(all: &[Arc<Kind>]) -> Vec<Group> {
    let (built_in, mut custom): (Vec<_>, Vec<_>) =
        all.iter().partition(|kind| kind.nature.message().is_some());
    custom.sort_by_key(|kind| (kind.group, version_priority(kind.version)));
    let mut groups: Vec<Group> = Vec::new();
    for kind in built_in.into_iter().chain(custom) {
        match groups.iter_mut().find(|group| group.name == kind.group) {
            Some(group) if group.versions.contains(&kind.version) => {}
            Some(group) => group.versions.push(kind.version),
            None => groups.push(Group { name: kind.group, versions: vec![kind.version] }),
        }
    }
    groups
}

impl Nature {
    /// The message of the compiled-in schema; `None` for custom kinds.
    pub fn message(&self) -> Option<MessageId> {
        match self {
            Self::BuiltIn(message) => Some(*message),
            Self::Custom(_) => None,
        }
    }
}

impl From<MessageId> for Nature {
    fn from(message: MessageId) -> Self {
        Self::BuiltIn(message)
    }
}

impl Kind {
    /// `pods` or `deployments.apps`, as in error messages.
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    /// Whether the resource has this verb.
    pub fn allows(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// One of its subresources.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Whether `status` is a subresource.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

impl std::fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.group.is_empty() {
            f.write_str(self.version)
        } else {
            write!(f, "{}/{}", self.group, self.version)
        }
    }
}
