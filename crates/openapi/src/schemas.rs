//! Messages of the schema as JSON schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use gantry_json::{Map, Value, json};

use super::custom::{self, Head};
use super::{Dialect, Parts, Writing};
use gantry_schema::kinds::{Kind, Kinds, Nature};
use gantry_schema::schema::{Field, MessageId, Omit, Other, Owning, StrategicMerge, Type, schema};

/// The schemas that a document refers to, each made once.
pub(super) struct Schemas {
    pub(super) dialect: Dialect,
    pub(super) writing: Writing,
    made: Parts,
    /// The referenced messages whose schemas are not made yet.
    wanted: Vec<MessageId>,
    seen: BTreeSet<MessageId>,
    /// Group, version and kind of messages that are kinds.
    kinds: BTreeMap<MessageId, Value>,
}

/// Messages that are kinds although no resource has them.
const KINDS_WITHOUT_RESOURCE: [(&str, &str, &str, &str); 5] = [
    ("autoscaling/v1.Scale", "autoscaling", "v1", "Scale"),
    ("policy/v1.Eviction", "policy", "v1", "Eviction"),
    ("authentication/v1.TokenRequest", "authentication.k8s.io", "v1", "TokenRequest"),
    ("meta/v1.DeleteOptions", "", "v1", "DeleteOptions"),
    ("meta/v1.Status", "", "v1", "Status"),
];

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
/// The extension of a schema with its group, version and kind.
const NAMED: &str = "x-kubernetes-group-version-kind";
const DEFINITIONS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

impl Schemas {
    pub(super) fn new(all: &Kinds, dialect: Dialect, writing: Writing) -> Self {
        let mut kinds: BTreeMap<_, _> = all
            .all()
            .filter_map(|kind| Some((kind.nature.message()?, named(kind.group, kind.version, kind.kind))))
            .collect();
        for (message, group, version, kind) in KINDS_WITHOUT_RESOURCE {
            if let Some(id) = schema().find(message) {
                kinds.insert(id, named(group, version, kind));
            }
        }
        Self { dialect, writing, made: Parts::new(), wanted: Vec::new(), seen: BTreeSet::new(), kinds }
    }

    /// A reference to a message, whose schema is added.
    pub(super) fn message(&mut self, id: MessageId) -> Value {
        if self.seen.insert(id) {
            self.wanted.push(id);
        }
        self.reference(&definition_name(schema().message(id).name))
    }

    /// A reference to a kind.
    pub(super) fn kind(&mut self, kind: &Kind) -> Value {
        match &kind.nature {
            Nature::BuiltIn(id) => self.message(*id),
            Nature::Custom(custom) => {
                let name = custom_name(kind, kind.kind);
                if !self.made.contains_key(&name) {
                    let head = self.head("meta/v1.ObjectMeta");
                    let mut published = custom::object(&custom.schema, self.dialect, &head);
                    published[NAMED] = named(kind.group, kind.version, kind.kind);
                    custom::name_selectable(&mut published, &kind.nature);
                    self.made.insert(name.clone(), (self.writing.schema)(&published));
                }
                self.reference(&name)
            }
        }
    }

    /// A reference to the list of a kind.
    pub(super) fn list(&mut self, kind: &Kind) -> Value {
        let name = match &kind.nature {
            Nature::BuiltIn(id) => format!("{}List", definition_name(schema().message(*id).name)),
            Nature::Custom(_) => custom_name(kind, kind.list_kind),
        };
        if !self.made.contains_key(&name) {
            let items = match &kind.nature {
                Nature::BuiltIn(id) => self.within(&Type::Message(*id)),
                Nature::Custom(_) => self.kind(kind),
            };
            let mut properties = self.head("meta/v1.ListMeta");
            properties.insert("items", json!({"type": "array", "items": items}));
            let mut list = json!({
                "description": format!("{} is a list of {}.", kind.list_kind, kind.kind),
                "type": "object", "required": ["items"], "properties": properties,
                NAMED: named(kind.group, kind.version, kind.list_kind),
            });
            custom::name_selectable(&mut list, &kind.nature);
            self.made.insert(name.clone(), (self.writing.schema)(&list));
        }
        self.reference(&name)
    }

    /// A reference to a patch, which may be anything.
    pub(super) fn patch(&mut self) -> Value {
        self.well_known(&format!("{META}.Patch"), &json!({"type": "object"}))
    }

    /// All schemas by name.
    pub(super) fn finish(mut self) -> Parts {
        while let Some(id) = self.wanted.pop() {
            let made = (self.writing.schema)(&self.object(id));
            self.made.insert(definition_name(schema().message(id).name), made);
        }
        self.made
    }

    fn object(&mut self, id: MessageId) -> Value {
        let message = schema().message(id);
        let mut properties = Map::new();
        let kind = self.kinds.get(&id).cloned();
        if kind.is_some() {
            properties.extend(type_meta());
        }
        for field in schema().each_field(id) {
            let mut property = self.property(field);
            if let ("metadata", Type::Message(metadata)) = (field.json, &field.kind) {
                describe(&mut property, schema().message(*metadata).name, field.json);
            }
            describe(&mut property, message.name, field.json);
            // Clients of OpenAPI 2 do not use the values.
            if self.dialect == Dialect::V3 {
                enumerate(&mut property, message.name, field.json);
            }
            properties.insert(field.json.to_owned(), property);
        }
        let required: BTreeSet<_> = schema()
            .each_field(id)
            .filter(|field| is_required(message.name, field))
            .map(|field| field.json)
            .collect();
        let mut object = json!({"type": "object"});
        if !properties.is_empty() {
            object["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            object["required"] = required.into_iter().collect();
        }
        if ATOMIC.contains(&id) {
            object["x-kubernetes-map-type"] = json!("atomic");
        }
        if let Some(kind) = kind {
            object[NAMED] = kind;
        }
        describe(&mut object, message.name, "-");
        object
    }

    /// The properties of every object or list, with metadata of this message.
    fn head(&mut self, metadata: &str) -> Head {
        let mut head = type_meta();
        if let Some(id) = schema().find(metadata) {
            let mut property = self.within(&Type::Message(id));
            describe(&mut property, metadata, "metadata");
            head.insert("metadata", property);
        }
        head
    }

    fn property(&mut self, field: &Field) -> Value {
        let mut property = match field.kind {
            Type::Raw if field.json == "fieldsV1" => {
                let reference = self.well_known(&format!("{META}.FieldsV1"), &json!({"type": "object"}));
                self.wrapped(reference)
            }
            Type::Raw if matches!(field.json, "default" | "example") => self.untyped("JSON"),
            Type::List(ref element) if **element == Type::Raw && field.json == "enum" => {
                json!({"type": "array", "items": self.untyped("JSON")})
            }
            _ => self.within(&field.kind),
        };
        for (name, value) in extensions(field) {
            property[name] = value;
        }
        property
    }

    /// The schema of a type in a property. In OpenAPI 3 a reference must be alone, so it is wrapped.
    fn within(&mut self, kind: &Type) -> Value {
        let plain = |word: &str| json!({"type": word});
        let formatted = |word: &str, format: &str| json!({"type": word, "format": format});
        match kind {
            Type::String => plain("string"),
            Type::Bool => plain("boolean"),
            Type::Int32 => formatted("integer", "int32"),
            Type::Int64 => formatted("integer", "int64"),
            Type::Float64 => formatted("number", "double"),
            Type::Bytes => formatted("string", "byte"),
            Type::List(element) => json!({"type": "array", "items": self.within(element)}),
            Type::Map(value) => json!({"type": "object", "additionalProperties": self.within(value)}),
            Type::Message(id) | Type::Inline(id) => {
                let reference = self.message(*id);
                self.wrapped(reference)
            }
            Type::Or(Other::Bool, _) => self.untyped("JSONSchemaPropsOrBool"),
            Type::Or(Other::List, _) => self.untyped("JSONSchemaPropsOrArray"),
            Type::Or(Other::Texts, _) => self.untyped("JSONSchemaPropsOrStringArray"),
            Type::Quantity
            | Type::IntOrString
            | Type::Time
            | Type::MicroTime
            | Type::Duration
            | Type::Raw => {
                let (name, schema) = self.special_type(kind);
                let reference = self.well_known(&name, &schema);
                self.wrapped(reference)
            }
        }
    }

    /// A part of a definition that may be of several types.
    fn untyped(&mut self, name: &str) -> Value {
        let reference = self.well_known(&format!("{DEFINITIONS}.{name}"), &json!({}));
        self.wrapped(reference)
    }

    /// The name and the schema of a type with rules of its own.
    fn special_type(&self, kind: &Type) -> (String, Value) {
        let date = json!({"type": "string", "format": "date-time"});
        let v3 = self.dialect == Dialect::V3;
        match kind {
            Type::Quantity => {
                let either = json!({"oneOf": [{"type": "string"}, {"type": "number"}]});
                let schema = if v3 { either } else { json!({"type": "string"}) };
                ("io.k8s.apimachinery.pkg.api.resource.Quantity".to_owned(), schema)
            }
            Type::IntOrString => {
                let either =
                    json!({"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"});
                let schema = if v3 { either } else { json!({"type": "string", "format": "int-or-string"}) };
                ("io.k8s.apimachinery.pkg.util.intstr.IntOrString".to_owned(), schema)
            }
            Type::Time => (format!("{META}.Time"), date),
            Type::MicroTime => (format!("{META}.MicroTime"), date),
            Type::Duration => (format!("{META}.Duration"), json!({"type": "string"})),
            _ => ("io.k8s.apimachinery.pkg.runtime.RawExtension".to_owned(), json!({"type": "object"})),
        }
    }

    fn well_known(&mut self, name: &str, schema: &Value) -> Value {
        if !self.made.contains_key(name) {
            self.made.insert(name.to_owned(), (self.writing.schema)(schema));
        }
        self.reference(name)
    }

    fn reference(&self, name: &str) -> Value {
        match self.dialect {
            Dialect::V2 => json!({"$ref": format!("#/definitions/{name}")}),
            Dialect::V3 => json!({"$ref": format!("#/components/schemas/{name}")}),
        }
    }

    fn wrapped(&self, reference: Value) -> Value {
        match self.dialect {
            Dialect::V2 => reference,
            Dialect::V3 => json!({"allOf": [reference]}),
        }
    }
}

/// `apiVersion` and `kind`, which no message has as fields.
fn type_meta() -> Head {
    let property = |name: &str| {
        let mut property = json!({"type": "string"});
        describe(&mut property, "meta/v1.TypeMeta", name);
        (name.to_owned(), property)
    };
    Head::from_iter(["apiVersion", "kind"].map(property))
}

fn named(group: &str, version: &str, kind: &str) -> Value {
    json!([{"group": group, "version": version, "kind": kind}])
}

/// The name of a custom kind, or of its list, in documents: `com.example.v1.Widget`.
fn custom_name(kind: &Kind, word: &str) -> String {
    let group: Vec<_> = kind.group.rsplit('.').collect();
    format!("{}.{}.{word}", group.join("."), kind.version)
}

/// `apps/v1.Deployment` is `io.k8s.api.apps.v1.Deployment`.
fn definition_name(message: &str) -> String {
    match message.split_once("/v1.") {
        Some(("meta", name)) => format!("{META}.{name}"),
        Some(("apiextensions", name)) => format!("{DEFINITIONS}.{name}"),
        _ => format!("io.k8s.api.{}", message.replace('/', ".")),
    }
}

/// Adds the description of a message or a field, if there is one.
fn describe(schema: &mut Value, message: &str, field: &str) {
    static SENTENCES: LazyLock<Rows> = LazyLock::new(|| rows(include_str!("descriptions.tsv")));
    if let Some(sentence) = SENTENCES.get(&(message, field)) {
        schema["description"] = json!(sentence);
    }
}

/// Lists the values that a field, the elements of a list or the values of a map may have.
fn enumerate(schema: &mut Value, message: &str, field: &str) {
    static VALUES: LazyLock<Rows> = LazyLock::new(|| rows(include_str!("enums.tsv")));
    if let Some(values) = VALUES.get(&(message, field)) {
        let within = ["items", "additionalProperties"].into_iter().find(|part| schema.get(part).is_some());
        let described = match within {
            Some(part) => &mut schema[part],
            None => schema,
        };
        described["enum"] = values.split(',').collect();
    }
}

/// Texts about fields, by message and field.
type Rows = BTreeMap<(&'static str, &'static str), &'static str>;

fn rows(table: &'static str) -> Rows {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let columns = lines.filter_map(|line| {
        let (message, rest) = line.split_once('\t')?;
        let (field, text) = rest.split_once('\t')?;
        Some(((message, field), text))
    });
    columns.collect()
}

/// Whether a field is required: it is if it is always written, except for the fields in the two tables.
fn is_required(message: &str, field: &Field) -> bool {
    static OPTIONAL: LazyLock<FieldSet> = LazyLock::new(|| field_set(include_str!("optional.tsv")));
    static REQUIRED: LazyLock<FieldSet> = LazyLock::new(|| field_set(include_str!("required.tsv")));
    let key = (message, field.json);
    if field.omit == Omit::Never { !OPTIONAL.contains(&key) } else { REQUIRED.contains(&key) }
}

/// Fields by message and name.
type FieldSet = BTreeSet<(&'static str, &'static str)>;

fn field_set(table: &'static str) -> FieldSet {
    let rows = table.lines().filter_map(|line| line.split_once('\t'));
    rows.flat_map(|(message, fields)| fields.split(',').map(move |field| (message, field))).collect()
}

/// Messages that are owned as a whole wherever they are used.
static ATOMIC: LazyLock<BTreeSet<MessageId>> = LazyLock::new(|| {
    let fields = schema().messages().flat_map(|(_, message)| &message.fields);
    let whole = fields.filter_map(|field| match (&field.kind, field.merging.owning) {
        (Type::Message(id), Owning::Atomic) => Some(*id),
        (Type::List(element), Owning::AtomicMapList(_)) => match **element {
            Type::Message(id) => Some(id),
            _ => None,
        },
        _ => None,
    });
    whole.collect()
});

/// How a field merges, in a strategic merge patch and under server-side apply (A1.18).
fn extensions(field: &Field) -> Vec<(&'static str, Value)> {
    const STRATEGY: &str = "x-kubernetes-patch-strategy";
    let mut all = match field.merging.strategic {
        StrategicMerge::Default => Vec::new(),
        StrategicMerge::Primitives => vec![(STRATEGY, json!("merge"))],
        StrategicMerge::RetainKeys => vec![(STRATEGY, json!("retainKeys"))],
        StrategicMerge::Replace => vec![(STRATEGY, json!("replace"))],
        StrategicMerge::ByKey { key, retain_keys } => vec![
            ("x-kubernetes-patch-merge-key", json!(key)),
            (STRATEGY, json!(if retain_keys { "merge,retainKeys" } else { "merge" })),
        ],
    };
    match (&field.kind, field.merging.owning) {
        (Type::List(_), Owning::MapList(keys) | Owning::AtomicMapList(keys)) => {
            all.push(("x-kubernetes-list-type", json!("map")));
            all.push(("x-kubernetes-list-map-keys", json!(keys)));
        }
        (Type::List(_), Owning::Set) => all.push(("x-kubernetes-list-type", json!("set"))),
        (Type::List(_), Owning::Atomic) => all.push(("x-kubernetes-list-type", json!("atomic"))),
        (Type::Map(_), Owning::Atomic) => all.push(("x-kubernetes-map-type", json!("atomic"))),
        _ => {}
    }
    all
}
