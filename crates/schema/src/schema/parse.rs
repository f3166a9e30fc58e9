//! Parses the compiled-in tables.

use std::collections::BTreeMap;

use super::field_table::FieldTable;
use super::{
    Field, FieldPlace, Merging, Message, MessageId, Omit, Other, Owning, Schema, StrategicMerge, Type,
};
use crate::decode::complete::is_never_absent;

/// The message whose fields may have an alternative type.
const OPEN_API: &str = "apiextensions/v1.JSONSchemaProps";

/// Parses both tables; an error names the line.
pub(super) fn schema(fields: &'static str, lists: &'static str) -> Result<Schema, String> {
    let names = fields.lines().filter(|line| !line.starts_with(['\t', '#']) && !line.is_empty());
    let by_name: BTreeMap<_, _> = names.enumerate().map(|(index, name)| (name, MessageId(index))).collect();
    let mut rules = Rules::parse(lists)?;
    rules.atomic_ids = rules.atomic.iter().filter_map(|name| by_name.get(name).copied()).collect();
    let mut messages: Vec<Message> = Vec::new();
    for line in fields.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(row) = line.strip_prefix('\t') {
            let message = messages.last_mut().ok_or_else(|| format!("a field before any message: {line}"))?;
            let field = field(message.name, row, &by_name, &rules)?;
            message.fields.push(field);
        } else {
            messages.push(Message {
                name: line,
                fields: Vec::new(),
                by_json: FieldTable::default(),
                written: Vec::new(),
                never_absent: Vec::new(),
            });
        }
    }
    rules.check(&messages)?;
    let mut schema = Schema { messages, by_name };
    schema.index();
    Ok(schema)
}

fn field(
    message: &str,
    row: &'static str,
    by_name: &BTreeMap<&'static str, MessageId>,
    rules: &Rules,
) -> Result<Field, String> {
    let mut columns = row.split('\t');
    let mut column = || columns.next().ok_or_else(|| format!("{message}: too few columns: {row}"));
    let (number, json, kind) = (column()?, column()?, column()?);
    let flags = columns.next().unwrap_or("");
    let number = number.parse().map_err(|_| format!("{message}.{json}: {number} is not a number"))?;
    let kind = type_of(kind, by_name).ok_or_else(|| format!("{message}.{json}: there is no type {kind}"))?;
    let inlined = flags.contains('i');
    let kind = match kind {
        Type::Message(id) if inlined => Type::Inline(id),
        kind => kind,
    };
    let omit = match flags {
        flags if flags.contains('z') => Omit::Zero,
        flags if flags.contains('o') => Omit::Empty,
        _ => Omit::Never,
    };
    let merging = rules.of(message, json, &kind);
    Ok(Field {
        number,
        json: if inlined { "" } else { json },
        kind,
        omit,
        pointer: flags.contains('p'),
        merging,
    })
}

fn type_of(name: &str, by_name: &BTreeMap<&'static str, MessageId>) -> Option<Type> {
    if let Some(element) = name.strip_prefix("[]") {
        return type_of(element, by_name).map(|element| Type::List(Box::new(element)));
    }
    if let Some(value) = name.strip_prefix("map<string,").and_then(|rest| rest.strip_suffix('>')) {
        return type_of(value, by_name).map(|value| Type::Map(Box::new(value)));
    }
    Some(match name {
        "string" => Type::String,
        "bool" => Type::Bool,
        "int32" => Type::Int32,
        "int64" => Type::Int64,
        "float64" => Type::Float64,
        "bytes" => Type::Bytes,
        "api/resource.Quantity" => Type::Quantity,
        "util/intstr.IntOrString" => Type::IntOrString,
        "meta/v1.Time" => Type::Time,
        "meta/v1.MicroTime" => Type::MicroTime,
        "meta/v1.Duration" => Type::Duration,
        "runtime.RawExtension" | "meta/v1.FieldsV1" | "apiextensions/v1.JSON" => Type::Raw,
        "apiextensions/v1.JSONSchemaPropsOrBool" => Type::Or(Other::Bool, *by_name.get(OPEN_API)?),
        "apiextensions/v1.JSONSchemaPropsOrArray" => Type::Or(Other::List, *by_name.get(OPEN_API)?),
        "apiextensions/v1.JSONSchemaPropsOrStringArray" => Type::Or(Other::Texts, *by_name.get(OPEN_API)?),
        message => Type::Message(*by_name.get(message)?),
    })
}

/// `lists.tsv`: rules other than the default, by message and field or, with `*`, by type of message.
struct Rules {
    by_field: BTreeMap<(&'static str, &'static str), Merging>,
    /// Messages that are owned as a whole wherever they are used.
    atomic: Vec<&'static str>,
    atomic_ids: Vec<MessageId>,
}

impl Rules {
    fn parse(table: &'static str) -> Result<Self, String> {
        let mut rules = Self { by_field: BTreeMap::new(), atomic: Vec::new(), atomic_ids: Vec::new() };
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let columns: Vec<_> = line.split('\t').collect();
            match columns.as_slice() {
                [message, "*", "-", "atomic"] => rules.atomic.push(message),
                [message, field, strategic, owning] => {
                    let merging = Merging { strategic: strategy(strategic)?, owning: ownership(owning)? };
                    rules.by_field.insert((message, field), merging);
                }
                _ => return Err(format!("lists.tsv: four columns are wanted: {line}")),
            }
        }
        Ok(rules)
    }

    fn of(&self, message: &str, json: &str, kind: &Type) -> Merging {
        let whole = match kind {
            Type::List(_) | Type::Raw | Type::Or(..) => true,
            Type::Message(id) => self.atomic_ids.contains(id),
            _ => false,
        };
        let owning = if whole { Owning::Atomic } else { Owning::Granular };
        let default = Merging { strategic: StrategicMerge::Default, owning };
        let found = self.by_field.iter().find(|((m, f), _)| *m == message && *f == json);
        found.map_or(default, |(_, merging)| *merging)
    }

    /// Every row must refer to an existing field.
    fn check(&self, messages: &[Message]) -> Result<(), String> {
        for (message, field) in self.by_field.keys() {
            let exists =
                messages.iter().any(|m| m.name == *message && m.fields.iter().any(|f| f.json == *field));
            if !exists {
                return Err(format!("lists.tsv: there is no {message}.{field}"));
            }
        }
        match self.atomic.iter().find(|name| !messages.iter().any(|m| m.name == **name)) {
            Some(name) => Err(format!("lists.tsv: there is no {name}")),
            None => Ok(()),
        }
    }
}

fn strategy(word: &'static str) -> Result<StrategicMerge, String> {
    Ok(match word {
        "-" => StrategicMerge::Default,
        "primitives" => StrategicMerge::Primitives,
        "retainKeys" => StrategicMerge::RetainKeys,
        "replace" => StrategicMerge::Replace,
        other => match other.split_once('+') {
            Some((key, "retainKeys")) => StrategicMerge::ByKey { key, retain_keys: true },
            None => StrategicMerge::ByKey { key: other, retain_keys: false },
            Some(_) => return Err(format!("lists.tsv: no strategy {other}")),
        },
    })
}

fn ownership(word: &'static str) -> Result<Owning, String> {
    let keys = |list: &'static str| -> &'static [&'static str] { Vec::leak(list.split('+').collect()) };
    Ok(match word {
        "-" => Owning::Granular,
        "atomic" => Owning::Atomic,
        "set" => Owning::Set,
        other => match other.split_once(':') {
            Some(("map", list)) => Owning::MapList(keys(list)),
            Some(("atomic-map", list)) => Owning::AtomicMapList(keys(list)),
            _ => return Err(format!("lists.tsv: no ownership {other}")),
        },
    })
}

impl Schema {
    fn index(&mut self) {
        for index in 0..self.messages.len() {
            let id = MessageId(index);
            let written = self.places_of(id);
            let by_json = FieldTable::new(written.iter().map(|place| self.at(*place).json));
            let is_never_absent = |position: &usize| is_never_absent(self.at(written[*position]));
            let never_absent = (0..written.len()).filter(is_never_absent).collect();
            let message = &mut self.messages[index];
            (message.written, message.by_json, message.never_absent) = (written, by_json, never_absent);
        }
    }

    fn places_of(&self, id: MessageId) -> Vec<FieldPlace> {
        let mut places = Vec::new();
        for (index, field) in self.messages[id.0].fields.iter().enumerate() {
            match field.kind {
                Type::Inline(inlined) => places.extend(self.places_of(inlined)),
                _ => places.push(FieldPlace { message: id, index }),
            }
        }
        places
    }
}
