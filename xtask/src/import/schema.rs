//! Combines the messages of served kinds from protobuf, Go types and OpenAPI, and writes the tables about them.

use std::collections::{BTreeMap, BTreeSet};

use super::go_types::{GoTypes, short_name};
use super::omitted::Omitted;
use super::openapi::{ObjectSchema, Schemas};
use super::proto::Messages;
use super::registered::Registered;
use super::table::{Entry, Key};

/// Types with their own JSON form; the tables know them by name.
const SCALARS: [&str; 5] = [
    "api/resource.Quantity",
    "meta/v1.Duration",
    "meta/v1.MicroTime",
    "meta/v1.Time",
    "util/intstr.IntOrString",
];

/// Types that may be any JSON, or one of several forms. They are owned as a whole.
const ANY_FORM: [&str; 6] = [
    "apiextensions/v1.JSON",
    "apiextensions/v1.JSONSchemaPropsOrArray",
    "apiextensions/v1.JSONSchemaPropsOrBool",
    "apiextensions/v1.JSONSchemaPropsOrStringArray",
    "meta/v1.FieldsV1",
    "runtime.RawExtension",
];

/// The data of a checkout about messages.
#[derive(Debug, Default)]
pub(super) struct Upstream {
    pub(super) messages: Messages,
    pub(super) types: GoTypes,
    pub(super) schemas: Schemas,
    pub(super) registered: Registered,
}

/// One field in the tables.
#[derive(Debug)]
struct Field {
    number: u32,
    json: String,
    kind: String,
    flags: String,
    go_name: Option<String>,
    go_kind: String,
    /// The allowed values of it, of its elements or of its values.
    values: Option<String>,
}

impl Field {
    fn is_inlined(&self) -> bool {
        self.flags == "i"
    }

    fn is_always_written(&self) -> bool {
        !self.flags.contains(['o', 'z'])
    }
}

/// Splits a type of `fields.tsv` into the parts around the element, and the element.
fn split(kind: &str) -> (&str, &str, &str) {
    if let Some(element) = kind.strip_prefix("[]") {
        return ("[]", element, "");
    }
    match kind.strip_suffix('>').and_then(|map| map.split_once(',')) {
        Some((_, value)) => (&kind[..kind.len() - value.len() - 1], value, ">"),
        None => ("", kind, ""),
    }
}

/// The type that Go has for a type of `fields.tsv`, if there are no named types of strings, lists and maps.
fn plain_go_kind(kind: &str) -> String {
    match split(kind) {
        ("", "bytes", _) => "[]uint8".to_owned(),
        ("", name, _) => short_name(name).to_owned(),
        ("[]", element, _) => format!("[]{}", plain_go_kind(element)),
        (_, value, _) => format!("map[string]{}", plain_go_kind(value)),
    }
}

/// The message of a type or of its elements; none for texts, numbers and the like.
fn message_in(kind: &str) -> Option<&str> {
    let (_, element, _) = split(kind);
    let is_message = element.contains('.') && !SCALARS.contains(&element) && !ANY_FORM.contains(&element);
    is_message.then_some(element)
}

impl Upstream {
    /// The fields of a message: numbers, types and order of protobuf; names and flags of Go.
    fn fields(&self, message: &str) -> Result<Vec<Field>, String> {
        let (Some(in_proto), Some(in_go)) = (self.messages.get(message), self.types.structs.get(message))
        else {
            return Err(format!("{message} is no message, or no struct"));
        };
        let fields = in_proto.iter().map(|proto| {
            let go = in_go.iter().find(|go| go.number == proto.number);
            let go = go.ok_or_else(|| format!("{message} has no Go field for {}", proto.name))?;
            let values = go.element.as_ref().and_then(|element| self.types.values(element));
            Ok(Field {
                number: proto.number,
                json: go.json.clone(),
                kind: self.unwrapped(&proto.kind),
                flags: go.flags.clone(),
                go_name: go.name.clone(),
                go_kind: go.kind.clone(),
                values: values.map(|values| values.into_iter().collect::<Vec<_>>().join(",")),
            })
        });
        fields.collect()
    }

    /// Replaces messages that exist only because protobuf has no maps of lists by lists.
    fn unwrapped(&self, kind: &str) -> String {
        let (before, element, after) = split(kind);
        match self.messages.get(element).map(Vec::as_slice) {
            Some([items]) if self.types.lists.contains(element) => format!("{before}{}{after}", items.kind),
            _ => kind.to_owned(),
        }
    }
}

/// The messages of served kinds.
pub(super) struct Selection<'u> {
    upstream: &'u Upstream,
    messages: BTreeMap<String, Vec<Field>>,
}

impl<'u> Selection<'u> {
    /// Selects messages with all messages that they contain, except fields that the table at this path omits.
    pub(super) fn new(
        upstream: &'u Upstream,
        roots: BTreeSet<String>,
        path: &str,
        omitted: &mut Omitted,
    ) -> Result<Self, String> {
        let mut messages = BTreeMap::new();
        let mut waiting: Vec<_> = roots.into_iter().collect();
        while let Some(name) = waiting.pop() {
            if messages.contains_key(&name) {
                continue;
            }
            let mut fields = upstream.fields(&name)?;
            fields.retain(|field| !omitted.contains(path, &format!("{name} {}", field.json)));
            waiting.extend(fields.iter().filter_map(|field| message_in(&field.kind)).map(str::to_owned));
            messages.insert(name, fields);
        }
        Ok(Self { upstream, messages })
    }

    /// `fields.tsv`.
    pub(super) fn fields(&self) -> Vec<Entry> {
        let line =
            |field: &Field| format!("\t{}\t{}\t{}\t{}", field.number, field.json, field.kind, field.flags);
        let entry = |(name, fields): (&String, &Vec<Field>)| Entry {
            key: name.clone(),
            lines: std::iter::once(name.clone()).chain(fields.iter().map(line)).collect(),
        };
        self.messages.iter().map(entry).collect()
    }

    /// `lists.tsv`: the fields that merge in another way than their type implies.
    pub(super) fn lists(&self) -> Result<Vec<Entry>, String> {
        let mut entries = Vec::new();
        for (name, fields) in &self.messages {
            if self.upstream.schemas.is_atomic(name) {
                entries.push(Entry::row(&[name, "*", "-", "atomic"], Key::Columns(2)));
            }
            for field in fields.iter().filter(|field| !field.is_inlined()) {
                let schema = self.schema(name).ok_or_else(|| format!("{name} has no schema"))?;
                let strategic = schema.strategic(&field.json)?;
                let usual = self.usual_owning(&field.kind);
                let owning = match schema.owning(&field.json)? {
                    Some(map) if map.starts_with("map:") && self.has_atomic_elements(&field.kind) => {
                        format!("atomic-{map}")
                    }
                    said => said.unwrap_or_else(|| usual.to_owned()),
                };
                if (&*strategic, &*owning) != ("-", usual) {
                    entries.push(Entry::row(&[name, &field.json, &strategic, &owning], Key::Columns(2)));
                }
            }
        }
        Ok(entries)
    }

    /// `enums.tsv`.
    pub(super) fn enums(&self) -> Vec<Entry> {
        self.rows(self.published().map(|(name, _)| name), |field| field.values.as_ref())
    }

    /// `go_names.tsv`: the fields whose names in Go are not those in JSON, capitalized.
    pub(super) fn go_names(&self) -> Vec<Entry> {
        self.rows(self.messages.keys(), |field| {
            let (first, rest) = field.json.split_at_checked(1)?;
            field.go_name.as_ref().filter(|name| **name != first.to_uppercase() + rest)
        })
    }

    /// `go_types.tsv`: the fields with types in Go that their types in `fields.tsv` do not imply.
    pub(super) fn go_types(&self) -> Vec<Entry> {
        self.rows(self.messages.keys(), |field| {
            (field.go_kind != plain_go_kind(&field.kind)).then_some(&field.go_kind)
        })
    }

    /// `pointers.tsv`: the fields that are pointers in Go, by the messages' names without packages.
    pub(super) fn pointers(&self) -> Vec<Entry> {
        let rows = self.messages.keys().filter_map(|name| {
            let pointers = self.flattened(name).into_iter().filter(|field| field.flags.contains('p'));
            let fields: Vec<_> = pointers.map(|field| field.json.as_str()).collect();
            let name = name.rsplit('.').next().unwrap_or(name);
            (!fields.is_empty()).then(|| Entry::row(&[name, &fields.join(",")], Key::Columns(1)))
        });
        rows.collect()
    }

    /// A row for every field of which there is something to say.
    fn rows<'s>(
        &'s self,
        messages: impl Iterator<Item = &'s String>,
        of: impl Fn(&Field) -> Option<&String>,
    ) -> Vec<Entry> {
        let mut rows = Vec::new();
        for name in messages {
            let said = self.flattened(name).into_iter().filter_map(|field| Some((&field.json, of(field)?)));
            rows.extend(said.map(|(json, said)| Entry::row(&[name, json, said], Key::Columns(2))));
        }
        rows
    }

    /// `optional.tsv` (fields that are always written and not required) or `required.tsv` (the opposite).
    pub(super) fn required(&self, required: bool) -> Vec<Entry> {
        let rows = self.published().filter_map(|(name, schema)| {
            let differs = |field: &&Field| {
                schema.requires(&field.json) == required && field.is_always_written() != required
            };
            let fields: BTreeSet<_> =
                self.flattened(name).into_iter().filter(differs).map(|field| field.json.as_str()).collect();
            let joined = fields.into_iter().collect::<Vec<_>>().join(",");
            (!joined.is_empty()).then(|| Entry::row(&[name, &joined], Key::Columns(1)))
        });
        rows.collect()
    }

    /// The messages that have their own schema.
    fn published(&self) -> impl Iterator<Item = (&String, &ObjectSchema)> {
        let schemas = &self.upstream.schemas.by_message;
        self.messages.keys().filter_map(|name| Some((name, schemas.get(name)?)))
    }

    /// The schema with the fields of a message: its own, or that of a message into which it is inlined.
    fn schema(&self, message: &str) -> Option<&ObjectSchema> {
        let own = self.upstream.schemas.by_message.get(message);
        own.or_else(|| {
            let inlines =
                |fields: &[Field]| fields.iter().any(|field| field.is_inlined() && field.kind == message);
            let (outer, _) = self.messages.iter().find(|(_, fields)| inlines(fields))?;
            self.schema(outer)
        })
    }

    /// The fields of a message, with inlined messages replaced by their fields.
    fn flattened(&self, message: &str) -> Vec<&Field> {
        let fields = self.messages.get(message).into_iter().flatten();
        fields
            .flat_map(|field| if field.is_inlined() { self.flattened(&field.kind) } else { vec![field] })
            .collect()
    }

    fn usual_owning(&self, kind: &str) -> &'static str {
        let is_whole =
            kind.starts_with("[]") || ANY_FORM.contains(&kind) || self.upstream.schemas.is_atomic(kind);
        if is_whole { "atomic" } else { "-" }
    }

    fn has_atomic_elements(&self, kind: &str) -> bool {
        self.upstream.schemas.is_atomic(split(kind).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::proto;

    const PROTO: &str = "
package k8s.io.api.harbour.v1;
message Crane {
  optional Arm arm = 2;
  repeated Hook hooks = 1;
  map<string, Crew> crews = 3;
  optional Berth berth = 4;
  optional .k8s.io.apimachinery.pkg.runtime.RawExtension manual = 5;
  repeated string trial = 6;
}
message Arm {
  optional string mood = 1;
}
message Berth {
}
message Crew {
  repeated string items = 1;
}
message Hook {
  optional int32 load = 1;
}
message Unrelated {
}
";

    const GO: &str = r#"
type Crane struct {
	Arm `json:",inline" protobuf:"bytes,2,opt,name=arm"`
	Hooks []Hook `json:"hooks,omitempty" protobuf:"bytes,1,rep,name=hooks"`
	Crews map[string]Crew `json:"crews" protobuf:"bytes,3,rep,name=crews"`
	Berth *Berth `json:"berth" protobuf:"bytes,4,opt,name=berth"`
	Manual runtime.RawExtension `json:"manual" protobuf:"bytes,5,opt,name=manual"`
	Trial []string `json:"trial" protobuf:"bytes,6,rep,name=trial"`
}
type Arm struct {
	Mood Mood `json:"mood" protobuf:"bytes,1,opt,name=mood"`
}
type Berth struct{}
type Crew []string
type Hook struct {
	MaxLoad int32 `json:"load" protobuf:"varint,1,opt,name=load"`
}
// +enum
type Mood string
const Up Mood = "Up"
const Down Mood = "Down"
"#;

    const SCHEMAS: &str = r#"{"components": {"schemas": {
        "io.k8s.api.harbour.v1.Crane": {"required": ["hooks", "crews", "berth", "mood"], "properties": {
            "hooks": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["load"]},
            "berth": {"x-kubernetes-map-type": "granular"},
            "mood": {"x-kubernetes-patch-strategy": "replace"},
            "crews": {}, "manual": {}
        }},
        "io.k8s.api.harbour.v1.Hook": {"required": ["load"], "properties": {"load": {}},
                                       "x-kubernetes-map-type": "atomic"},
        "io.k8s.api.harbour.v1.Berth": {"x-kubernetes-map-type": "atomic"}
    }}}"#;

    fn upstream() -> Upstream {
        let mut upstream = Upstream::default();
        proto::read(PROTO, &mut upstream.messages).unwrap();
        upstream.types.read("harbour/v1", GO);
        upstream.schemas.read(SCHEMAS).unwrap();
        upstream
    }

    fn crane(upstream: &Upstream) -> Selection<'_> {
        let roots = BTreeSet::from(["harbour/v1.Crane".to_owned()]);
        let mut omitted = Omitted::parse("fields.tsv\tharbour/v1.Crane trial\toff by default").unwrap();
        Selection::new(upstream, roots, "schema/fields.tsv", &mut omitted).unwrap()
    }

    fn lines(entries: Vec<Entry>) -> Vec<String> {
        entries.into_iter().flat_map(|entry| entry.lines).collect()
    }

    #[test]
    fn fields_are_those_of_protobuf_with_the_names_and_flags_of_go() {
        assert_eq!(
            lines(crane(&upstream()).fields()),
            [
                "harbour/v1.Arm",
                "\t1\tmood\tstring\t",
                "harbour/v1.Berth",
                "harbour/v1.Crane",
                "\t2\t*\tharbour/v1.Arm\ti",
                "\t1\thooks\t[]harbour/v1.Hook\to",
                "\t3\tcrews\tmap<string,[]string>\t",
                "\t4\tberth\tharbour/v1.Berth\tp",
                "\t5\tmanual\truntime.RawExtension\t",
                "harbour/v1.Hook",
                "\t1\tload\tint32\t",
            ]
        );
    }

    #[test]
    fn only_fields_that_merge_unusually_are_listed() {
        assert_eq!(
            lines(crane(&upstream()).lists().unwrap()),
            [
                "harbour/v1.Arm\tmood\treplace\t-",
                "harbour/v1.Berth\t*\t-\tatomic",
                "harbour/v1.Crane\thooks\t-\tatomic-map:load",
                "harbour/v1.Crane\tberth\t-\t-",
                "harbour/v1.Hook\t*\t-\tatomic",
            ]
        );
    }

    #[test]
    fn inlined_fields_are_enumerated_and_required_where_they_are_published() {
        let upstream = upstream();
        let crane = crane(&upstream);
        assert_eq!(lines(crane.enums()), ["harbour/v1.Crane\tmood\tDown,Up"]);
        assert_eq!(lines(crane.required(true)), ["harbour/v1.Crane\thooks"]);
        assert_eq!(lines(crane.required(false)), ["harbour/v1.Crane\tmanual"]);
    }

    #[test]
    fn names_and_types_of_go_are_listed_if_nothing_implies_them() {
        let upstream = upstream();
        let crane = crane(&upstream);
        assert_eq!(lines(crane.go_names()), ["harbour/v1.Hook\tload\tMaxLoad"]);
        assert_eq!(
            lines(crane.go_types()),
            [
                "harbour/v1.Arm\tmood\tv1.Mood",
                "harbour/v1.Crane\tmood\tv1.Mood",
                "harbour/v1.Crane\tcrews\tmap[string]v1.Crew",
            ]
        );
    }

    #[test]
    fn pointers_are_listed_by_message() {
        assert_eq!(lines(crane(&upstream()).pointers()), ["Crane\tberth"]);
    }

    #[test]
    fn a_message_without_a_struct_is_a_problem() {
        let upstream = upstream();
        let problem = upstream.fields("harbour/v1.Unrelated").unwrap_err();
        assert_eq!(problem, "harbour/v1.Unrelated is no message, or no struct");
    }
}
