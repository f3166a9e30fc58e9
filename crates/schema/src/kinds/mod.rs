//! What is served: every resource with its names, verbs, subresources and habits, as one table.
//!
//! `served.tsv` has a line a resource. Adding a kind is adding a line (and its shape to the [`schema`](crate::schema)).
//! What a client sees of the table is rendered by [`discovery`].

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

/// Everything that is served, with lookups.
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

/// One resource and how it behaves.
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
    /// The singular, for people: `deployment`.
    pub singular: &'static str,
    /// Whether it lives in namespaces.
    pub scope: Scope,
    /// Short names, such as `deploy`.
    pub short_names: Vec<&'static str>,
    /// Categories, such as `all`.
    pub categories: Vec<&'static str>,
    /// What can be done, in alphabetical order.
    pub verbs: Vec<Verb>,
    /// Subresources, in the order in which they are listed.
    pub subresources: Vec<Subresource>,
    /// What a completed DELETE answers.
    pub deleted: DeleteAnswer,
    /// What happens to dependents when nobody says.
    pub propagation: DefaultPropagation,
    /// What PUT does when there is no such object.
    pub put_absent: PutAbsent,
    /// Whether PUT may leave out the resourceVersion.
    pub blind_put: BlindPut,
    /// What makes `metadata.generation` grow.
    pub generation: Generation,
    /// What a name must be.
    pub names: NameRule,
    /// What its objects look like.
    pub nature: Nature,
    /// Path segment under which objects are stored; resources that share it share their objects.
    pub segment: &'static str,
}

/// Where it is written down what the objects of a kind look like.
#[derive(Clone, Debug)]
pub enum Nature {
    /// In the schema that is compiled in: `apps/v1.Deployment`.
    BuiltIn(MessageId),
    /// In a definition that somebody wrote.
    Custom(Arc<Custom>),
}

/// A subresource.
#[derive(Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last path segment: `scale`.
    pub name: &'static str,
    /// What can be done, in alphabetical order.
    pub verbs: Vec<Verb>,
    /// The group of its kind, when that is not the resource's own group and version.
    pub foreign: Option<GroupVersion>,
    /// The kind it speaks.
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

/// Where objects live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In namespaces.
    Namespaced,
    /// Beside them.
    Cluster,
}

/// What can be done with a resource; in alphabetical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words of Kubernetes")]
pub enum Verb {
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    Update,
    Watch,
}

/// What a completed DELETE answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// The object as it was last.
    Object,
    /// A `Status` that names it.
    Status,
}

/// What happens to dependents when a delete does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultPropagation {
    /// They are collected afterwards.
    Background,
    /// They are left without an owner.
    Orphan,
    /// The kind has no dependents; policies are ignored.
    Unsupported,
}

/// What PUT does when there is no such object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutAbsent {
    /// 404.
    NotFound,
    /// It creates it.
    Creates,
}

/// Whether a PUT without resourceVersion overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlindPut {
    /// It does.
    Overwrites,
    /// It is invalid.
    Refused,
}

/// What makes `metadata.generation` grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// There is none.
    Absent,
    /// A changed spec.
    Spec,
    /// A changed spec, or one in which an empty list was sent in the place of none.
    ExactSpec,
    /// A changed spec; a new object has none yet.
    SpecFromZero,
    /// A changed spec, or changed annotations.
    SpecOrAnnotations,
    /// Anything outside metadata, or changed labels.
    Anything,
    /// Anything outside metadata, and outside the status if that is kept apart.
    Content,
    /// It is 1 for good.
    AlwaysOne,
}

/// What the name of an object must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Labels joined by dots.
    Subdomain,
    /// One label.
    Label,
    /// Anything that fits into a path.
    PathSegment,
}

/// Everything Kubernetes 1.37 serves that we serve.
pub fn kinds() -> &'static Kinds {
    static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
        parse::kinds(include_str!("served.tsv"))
            .unwrap_or_else(|problem| unreachable!("the table that is compiled in is broken: {problem}"))
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

    /// These and others, which come behind them. What is there already stays as it is.
    pub fn and(&self, others: impl IntoIterator<Item = Arc<Kind>>) -> Self {
        let is_new = |kind: &Arc<Kind>| {
            self.resource(kind.group, kind.version, kind.resource).is_none()
                && self.kind(kind.group, kind.version, kind.kind).is_none()
        };
        let new: Vec<_> = others.into_iter().filter(is_new).collect();
        Self::new(self.all.iter().cloned().chain(new).collect())
    }

    /// Every resource, in the order of the table.
    pub fn all(&self) -> impl Iterator<Item = &Kind> {
        self.all.iter().map(AsRef::as_ref)
    }

    /// The resource of this group, version and plural.
    pub fn resource(&self, group: &str, version: &str, resource: &str) -> Option<&Kind> {
        self.by_resource.get(&(group, version, resource)).map(|index| self.all[*index].as_ref())
    }

    /// The same, to be kept.
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

    /// The groups, the core group first, then in the order of the table, then those of definitions by name.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// One group.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The version that is preferred in a group.
    pub fn preferred(&self, group: &str) -> Option<&'static str> {
        self.group(group).and_then(|group| group.versions.first().copied())
    }
}

/// The groups of these: those of the table in its order, then those of definitions by name.
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
    /// The message of the compiled-in schema, if it is there.
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
    /// `pods` or `deployments.apps`, as errors name it.
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    /// Whether this can be done.
    pub fn allows(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// One of its subresources.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Whether `status` is a subresource, hence kept apart from everything else.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

impl Verb {
    /// The word, as RBAC and discovery write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Get => "get",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Update => "update",
            Self::Watch => "watch",
        }
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
