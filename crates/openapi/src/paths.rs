//! The paths of a kind: its collection, one object, and its subresources.

use gantry_json::{Map, Value, json};

use super::operations::{Action, Media, Operation};
use super::schemas::Schemas;
use super::{Dialect, Parts};
use gantry_schema::kinds::{GroupVersion, Kind, Nature, Scope, Subresource, Verb};
use gantry_schema::schema::{MessageId, schema};

/// Adds all operations of a kind.
pub(super) fn add(kind: &Kind, schemas: &mut Schemas, paths: &mut Parts) {
    let prefix = match kind.group {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    let own = GroupVersion { group: kind.group, version: kind.version };
    let main = Described { kind, subresource: "", group_version: own, kind_name: kind.kind, message: None };
    let collection = match kind.scope {
        Scope::Namespaced => format!("{prefix}/namespaces/{{namespace}}/{}", kind.resource),
        Scope::Cluster => format!("{prefix}/{}", kind.resource),
    };
    if kind.scope == Scope::Namespaced && kind.allows(Verb::List) {
        let item = main.item(&[Action::List], &[], schemas);
        paths.insert(format!("{prefix}/{}", kind.resource), item);
    }
    let of_many = verbs(&kind.verbs, &[Action::List, Action::Create, Action::DeleteCollection]);
    let namespace: &[&str] = if kind.scope == Scope::Namespaced { &["namespace"] } else { &[] };
    if !of_many.is_empty() {
        paths.insert(collection.clone(), main.item(&of_many, namespace, schemas));
    }
    let named = [&["name"], namespace].concat();
    let of_one = verbs(&kind.verbs, &[Action::Get, Action::Replace, Action::Patch, Action::Delete]);
    if !of_one.is_empty() {
        paths.insert(format!("{collection}/{{name}}"), main.item(&of_one, &named, schemas));
    }
    for subresource in &kind.subresources {
        let Some(part) = Described::part(kind, subresource) else { continue };
        let actions = [Action::Get, Action::Create, Action::Replace, Action::Patch];
        let item = part.item(&verbs(&subresource.verbs, &actions), &named, schemas);
        paths.insert(format!("{collection}/{{name}}/{}", subresource.name), item);
    }
}

/// The actions that the verbs allow.
fn verbs(allowed: &[Verb], actions: &[Action]) -> Vec<Action> {
    actions.iter().copied().filter(|action| allowed.contains(&action.verb())).collect()
}

/// The resource of a path.
struct Described<'k> {
    kind: &'k Kind,
    subresource: &'k str,
    group_version: GroupVersion,
    kind_name: &'k str,
    /// The kind of the subresource, if it differs from the kind of the resource.
    message: Option<MessageId>,
}

impl<'k> Described<'k> {
    /// A subresource, if it has objects: streams are not described.
    fn part(kind: &'k Kind, subresource: &'k Subresource) -> Option<Self> {
        let own = GroupVersion { group: kind.group, version: kind.version };
        let group_version = subresource.foreign.unwrap_or(own);
        let message = if subresource.kind == kind.kind {
            None
        } else {
            let package = match group_version.group {
                "" => "core",
                group => group.split('.').next().unwrap_or(group),
            };
            Some(schema().find(&format!("{package}/{}.{}", group_version.version, subresource.kind))?)
        };
        let name = subresource.name;
        // Subresources of a custom kind are documented with the kind itself.
        let (group_version, kind_name) = match kind.nature {
            Nature::BuiltIn(_) => (group_version, subresource.kind),
            Nature::Custom(_) => (own, kind.kind),
        };
        Some(Self { kind, subresource: name, group_version, kind_name, message })
            .filter(|part| !matches!(part.subresource, "log" | "exec" | "attach" | "portforward" | "proxy"))
    }

    fn item(&self, actions: &[Action], in_path: &[&str], schemas: &mut Schemas) -> Vec<u8> {
        let mut item = Map::new();
        for action in actions {
            let object = match action {
                Action::List => schemas.list(self.kind),
                Action::DeleteCollection | Action::Delete => {
                    schema().find("meta/v1.Status").map_or(Value::Null, |id| schemas.message(id))
                }
                _ => match self.message {
                    Some(message) => schemas.message(message),
                    None => schemas.kind(self.kind),
                },
            };
            let operation = Operation {
                action: *action,
                id: self.operation_id(*action, in_path),
                tag: self.tag(),
                kind: json!({
                    "group": self.group_version.group, "version": self.group_version.version, "kind": self.kind_name,
                }),
                object,
                media: Media::of(&self.kind.nature),
            };
            item.insert(action.method().to_owned(), operation.render(schemas));
        }
        item.insert("parameters", path_parameters(in_path, schemas.dialect));
        (schemas.writing.path)(&Value::Object(item))
    }

    fn tag(&self) -> String {
        let group = group_words(self.kind.group);
        let mut letters = group.chars();
        let first = letters.next().map(|first| first.to_ascii_lowercase());
        let group: String = first.into_iter().chain(letters).collect();
        format!("{group}_{}", self.kind.version)
    }

    /// A unique operation id: `readAppsV1NamespacedDeploymentStatus`.
    fn operation_id(&self, action: Action, in_path: &[&str]) -> String {
        let group = group_words(self.kind.group);
        let everywhere = self.kind.scope == Scope::Namespaced && !in_path.contains(&"namespace");
        let scope = match self.kind.scope {
            Scope::Namespaced if !everywhere => "Namespaced",
            _ => "",
        };
        let words = [group.as_str(), self.kind.version, scope, self.kind.kind, self.subresource];
        let words: String = words.into_iter().map(capitalized).collect();
        let suffix = if everywhere { "ForAllNamespaces" } else { "" };
        format!("{}{words}{suffix}", action.word())
    }
}

/// A group in an operation id: `CertManagerIo`; suffixes of Kubernetes' own groups are dropped.
fn group_words(group: &str) -> String {
    let group = if group.is_empty() { "core" } else { group.strip_suffix(".k8s.io").unwrap_or(group) };
    group.split(['.', '-']).map(capitalized).collect()
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn path_parameters(names: &[&str], dialect: Dialect) -> Value {
    let one = |name: &&str| match dialect {
        Dialect::V2 => {
            json!({"name": name, "in": "path", "required": true, "type": "string", "uniqueItems": true})
        }
        Dialect::V3 => json!({
            "name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true},
        }),
    };
    names.iter().map(one).collect()
}
