//! The fields of every built-in kind, as data.
//!
//! `fields.tsv` has one block per message: a line with its name (`apps/v1.DeploymentSpec`), then one line per field
//! with its protobuf number, JSON name, type and flags (`o` omitted when empty, `z` omitted when zero, `p` a pointer,
//! for which zero and absent differ, `i` inlined into the parent). `lists.tsv` says how lists and maps merge.
//!
//! Fields are in the order in which Kubernetes writes them.

mod field_table;
mod merging;
mod parse;

pub use merging::{Merging, Owning, StrategicMerge};

use std::collections::BTreeMap;
use std::sync::LazyLock;

use field_table::FieldTable;

/// All messages by name.
#[derive(Debug)]
pub struct Schema {
    messages: Vec<Message>,
    by_name: BTreeMap<&'static str, MessageId>,
}

/// The id of a message: an index into the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId(usize);

/// The fields of one JSON object.
#[derive(Debug)]
pub struct Message {
    /// `apps/v1.DeploymentSpec`.
    pub name: &'static str,
    /// Its own fields, in the order in which they are written; inlined messages are fields, too.
    pub fields: Vec<Field>,
    /// The fields in the order in which they are written, with those of inlined messages.
    written: Vec<FieldPlace>,
    /// The positions of the written fields by name.
    by_json: FieldTable,
    /// The positions of the fields that are written even if an object lacks them.
    never_absent: Vec<usize>,
}

/// One field of a message.
#[derive(Debug)]
pub struct Field {
    /// Its protobuf number.
    pub number: u32,
    /// Its name in JSON; empty for an inlined message.
    pub json: &'static str,
    /// Its type.
    pub kind: Type,
    /// When it is omitted.
    pub omit: Omit,
    /// Whether it is a pointer in Go: zero and absent differ.
    pub pointer: bool,
    /// How it merges.
    pub merging: Merging,
}

/// When a field is omitted from JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Never: an absent field is written as `null`, zero or `{}`.
    Never,
    /// When empty, in the sense of Go's `omitempty`; plain structs are never empty.
    Empty,
    /// When zero, plain structs included.
    Zero,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A string.
    String,
    /// `true` or `false`.
    Bool,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// A floating point number.
    Float64,
    /// Bytes, base64 in JSON.
    Bytes,
    /// A list.
    List(Box<Type>),
    /// A map with string keys.
    Map(Box<Type>),
    /// An object of another message.
    Message(MessageId),
    /// An inlined object: its fields are fields of the parent.
    Inline(MessageId),
    /// A resource quantity: a string in canonical form; numbers are accepted.
    Quantity,
    /// An integer or a string.
    IntOrString,
    /// A time in whole seconds, or `null`.
    Time,
    /// A time in microseconds, or `null`.
    MicroTime,
    /// A duration as a string.
    Duration,
    /// Any JSON.
    Raw,
    /// An object of another message, or an alternative type.
    Or(Other, MessageId),
}

/// The alternative to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// `true` or `false`.
    Bool,
    /// A list of such objects.
    List,
    /// A list of strings.
    Texts,
}

/// Where a field is declared: in a message, which may be inlined into another one, at this position.
#[derive(Clone, Copy, Debug)]
struct FieldPlace {
    message: MessageId,
    index: usize,
}

/// The schema of Kubernetes 1.37.
pub fn schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        parse::schema(include_str!("fields.tsv"), include_str!("lists.tsv"))
            .unwrap_or_else(|problem| unreachable!("the compiled-in schema is invalid: {problem}"))
    });
    &SCHEMA
}

impl Schema {
    /// The message of this name, such as `apps/v1.Deployment`.
    pub fn find(&self, name: &str) -> Option<MessageId> {
        self.by_name.get(name).copied()
    }

    /// A message by its id.
    pub fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0]
    }

    /// The field of a message with this JSON name, inlined ones included.
    pub fn field(&self, id: MessageId, json: &str) -> Option<&Field> {
        self.position(id, json).map(|position| self.field_at(id, position))
    }

    /// The inlined message that declares a field; `None` for a field of the message itself.
    pub fn inlined(&self, id: MessageId, json: &str) -> Option<MessageId> {
        let message = self.message(id);
        if message.written[self.position(id, json)?].message == id {
            return None;
        }
        let inlined = |field: &Field| match field.kind {
            Type::Inline(inlined) if self.field(inlined, json).is_some() => Some(inlined),
            _ => None,
        };
        message.fields.iter().rev().find_map(inlined)
    }

    /// The fields of a message in the order in which they are written, including inlined ones.
    pub fn fields(&self, id: MessageId) -> Vec<&Field> {
        let mut all = Vec::new();
        for field in &self.message(id).fields {
            match field.kind {
                Type::Inline(inlined) => all.extend(self.fields(inlined)),
                _ => all.push(field),
            }
        }
        all
    }

    /// An iterator over [`Schema::fields`].
    pub fn each_field(&self, id: MessageId) -> impl Iterator<Item = &Field> {
        self.message(id).written.iter().map(|place| self.at(*place))
    }

    /// The position of the field with this JSON name among those that are written.
    pub(crate) fn position(&self, id: MessageId, json: &str) -> Option<usize> {
        self.message(id).by_json.find(json)
    }

    /// The field at a position among those that are written.
    pub(crate) fn field_at(&self, id: MessageId, position: usize) -> &Field {
        self.at(self.message(id).written[position])
    }

    /// Whether the field at a position is declared in the message itself, and not in an inlined one.
    pub(crate) fn is_own(&self, id: MessageId, position: usize) -> bool {
        self.message(id).written[position].message == id
    }

    /// The positions of the fields that are written even if an object lacks them.
    pub(crate) fn never_absent(&self, id: MessageId) -> &[usize] {
        &self.message(id).never_absent
    }

    fn at(&self, place: FieldPlace) -> &Field {
        &self.message(place.message).fields[place.index]
    }

    /// Every message with its id.
    pub fn messages(&self) -> impl Iterator<Item = (MessageId, &Message)> {
        self.messages.iter().enumerate().map(|(index, message)| (MessageId(index), message))
    }
}

impl Message {
    /// The name without group and version, as in Go's errors: `DeploymentSpec`.
    pub fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(message: &str, json: &str) -> &'static Field {
        let id = schema().find(message).unwrap();
        schema().field(id, json).unwrap()
    }

    #[test]
    fn fields_have_their_types_and_flags() {
        let replicas = field("apps/v1.DeploymentSpec", "replicas");
        assert_eq!((replicas.number, &replicas.kind, replicas.pointer), (1, &Type::Int32, true));
        assert_eq!(field("apps/v1.DeploymentStatus", "replicas").omit, Omit::Empty);
        assert_eq!(field("apps/v1.ReplicaSetStatus", "replicas").omit, Omit::Never);
        let containers = field("core/v1.PodSpec", "containers");
        let Type::List(element) = &containers.kind else { panic!("{containers:?}") };
        assert_eq!(**element, Type::Message(schema().find("core/v1.Container").unwrap()));
        assert_eq!(field("core/v1.ResourceRequirements", "limits").kind, Type::Map(Box::new(Type::Quantity)));
    }

    #[test]
    fn inlined_fields_are_found_in_their_parent() {
        let volume = schema().find("core/v1.Volume").unwrap();
        assert!(schema().field(volume, "emptyDir").is_some());
        assert!(schema().field(volume, "nope").is_none());
        let names: Vec<_> = schema().fields(volume).into_iter().map(|field| field.json).collect();
        assert_eq!(names[0], "name");
        assert!(names.contains(&"configMap") && !names.contains(&"*"));
    }

    #[test]
    fn lists_have_their_merge_rules() {
        let containers = &field("core/v1.PodSpec", "containers").merging;
        assert_eq!(containers.strategic, StrategicMerge::ByKey { key: "name", retain_keys: false });
        assert_eq!(containers.owning, Owning::MapList(&["name"]));
        let ports = &field("core/v1.Container", "ports").merging;
        assert_eq!(ports.strategic, StrategicMerge::ByKey { key: "containerPort", retain_keys: false });
        assert_eq!(ports.owning, Owning::MapList(&["containerPort", "protocol"]));
        let volumes = &field("core/v1.PodSpec", "volumes").merging;
        assert_eq!(volumes.strategic, StrategicMerge::ByKey { key: "name", retain_keys: true });
        let finalizers = &field("meta/v1.ObjectMeta", "finalizers").merging;
        assert_eq!((finalizers.strategic, finalizers.owning), (StrategicMerge::Primitives, Owning::Set));
        assert_eq!(field("apps/v1.DeploymentSpec", "selector").merging.owning, Owning::Atomic);
        assert_eq!(field("apps/v1.DeploymentSpec", "strategy").merging.strategic, StrategicMerge::RetainKeys);
        assert_eq!(field("core/v1.PodSpec", "tolerations").merging.owning, Owning::Atomic);
        assert_eq!(field("meta/v1.ObjectMeta", "labels").merging.owning, Owning::Granular);
    }

    #[test]
    fn every_type_named_exists() {
        assert!(schema().messages.len() > 400);
        for message in &schema().messages {
            let id = schema().find(message.name).unwrap();
            for field in schema().each_field(id) {
                let found = schema().field(id, field.json).unwrap();
                assert_eq!(found.json, field.json, "{}", message.name);
            }
        }
    }
}
