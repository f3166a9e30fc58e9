//! Field selectors: `status.phase!=Failed,spec.nodeName=n1`.
//!
//! Only some fields of each kind are selectable ([`Selectable`]). A selector is parsed in two steps, because errors are
//! reported in that order: first its grammar ([`Terms`]), later its fields ([`FieldSelector`]).

use gantry_json::Value;

use crate::Refusal;
use crate::custom::FieldPath;
use crate::kinds::{Kind, Nature, Scope};
use crate::strategies;
use gantry_primitives::go_print::as_go_prints;

/// Required values of fields; without terms everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<(Selected, Comparison, String)>,
}

/// A parsed field selector whose fields may not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(Vec<(String, Comparison, String)>);

/// The selectable fields of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Selectable<'k> {
    known: SelectableFields,
    /// Those that a custom resource definition adds.
    custom: &'k [FieldPath],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
}

/// A selectable field of a built-in kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    label: &'static str,
    source: Source,
}

/// Where a field's value comes from; an absent one is empty, `false` or `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The text at this dotted path.
    Text(&'static str),
    Flag(&'static str),
    Number(&'static str),
    /// The first of a Pod's addresses.
    PodIp,
    /// The component that an Event comes from, or its controller.
    Origin,
    /// Accepted, and always empty.
    Nothing,
}

/// A field that a selector names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Selected {
    Known(Field),
    /// A field that a definition declares selectable.
    Custom(FieldPath),
}

/// The fields of a kind that selectors can use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelectableFields {
    pub(crate) fields: &'static [Field],
    /// The message about any other field.
    pub(crate) unknown: fn(&str) -> String,
}

impl SelectableFields {
    /// Name and namespace.
    pub(crate) const DEFAULT: Self = Self {
        fields: &[NAME, NAMESPACE],
        unknown: |label| {
            format!(
                "\"{label}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )
        },
    };

    /// These fields.
    pub(crate) const fn new(fields: &'static [Field]) -> Self {
        Self { fields, unknown: |label| format!("field label not supported: {label}") }
    }
}

impl Terms {
    /// Parses a `fieldSelector` parameter. Errors are reported in the alphabetical order of the terms.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut terms = Vec::new();
        let mut parts = split_unescaped(text, ',');
        parts.sort_unstable();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let (path, comparison, value) = split_term(part).ok_or_else(|| {
                Refusal::bad_request(format!("invalid selector: '{text}'; can't understand '{part}'"))
            })?;
            terms.push((path.to_owned(), comparison, unescape(value)?));
        }
        Ok(Self(terms))
    }

    /// Returns the value that a field must have, if the selector names one. Authorization uses the name (A0.7).
    pub fn required(&self, path: &str) -> Option<&str> {
        let mut terms = self.0.iter();
        let term = terms.find(|(field, comparison, _)| field == path && *comparison == Comparison::Equal);
        term.map(|(_, _, value)| value.as_str())
    }

    /// Resolves the fields for a kind. A term without field and value, such as `=`, matches everything.
    pub fn of_kind(self, selectable: Selectable<'_>) -> Result<FieldSelector, Refusal> {
        let resolve = |(path, comparison, value): (String, Comparison, String)| {
            let field = selectable.field(&path).ok_or_else(|| selectable.unknown(&path))?;
            Ok((field, comparison, value))
        };
        let named = self.0.into_iter().filter(|(path, _, value)| !path.is_empty() || !value.is_empty());
        named.map(resolve).collect::<Result<_, _>>().map(|terms| FieldSelector { terms })
    }
}

impl FieldSelector {
    /// Parses a `fieldSelector` parameter of a request for this kind.
    pub fn parse(text: &str, selectable: Selectable<'_>) -> Result<Self, Refusal> {
        Terms::parse(text)?.of_kind(selectable)
    }

    /// The selector that matches the object of this name.
    pub fn for_name(name: &str) -> Self {
        Self { terms: vec![(Selected::Known(NAME), Comparison::Equal, name.to_owned())] }
    }

    /// Whether an object matches.
    pub fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|(field, comparison, value)| match comparison {
            Comparison::Equal => field.is(object, value),
            Comparison::NotEqual => !field.is(object, value),
        })
    }

    /// Whether it depends on nothing but the name and the namespace of an object.
    pub fn is_by_name(&self) -> bool {
        self.terms
            .iter()
            .all(|(field, ..)| [NAME, NAMESPACE].into_iter().any(|by| *field == Selected::Known(by)))
    }

    /// Whether every object matches.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the value that a field must have, if the selector names one.
    pub fn required(&self, label: &str) -> Option<&str> {
        let mut terms = self.terms.iter();
        let term =
            terms.find(|(field, comparison, _)| field.has_label(label) && *comparison == Comparison::Equal);
        term.map(|(_, _, value)| value.as_str())
    }
}

impl<'k> Selectable<'k> {
    /// The fields of a served kind.
    pub fn of_kind(kind: &'k Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) => Self::of(kind.group, kind.kind),
            Nature::Custom(custom) => Self::custom(&custom.selectable, kind.scope),
        }
    }

    /// The fields of a built-in kind, or of an unknown one.
    pub fn of(group: &str, kind: &str) -> Self {
        Self { known: strategies::built_in(group, "", kind).selectable, custom: &[] }
    }

    /// The fields of a custom resource, with [those of its version](FieldPath::selectable).
    pub fn custom(custom: &'k [FieldPath], scope: Scope) -> Self {
        let fields: &[Field] = match scope {
            Scope::Namespaced => &[NAME, NAMESPACE],
            Scope::Cluster => &[NAME],
        };
        Self { known: SelectableFields::new(fields), custom }
    }

    fn field(&self, label: &str) -> Option<Selected> {
        let known = || self.known.fields.iter().find(|field| field.label == label);
        let custom = || self.custom.iter().find(|path| path.label() == label);
        known().copied().map(Selected::Known).or_else(|| custom().cloned().map(Selected::Custom))
    }

    fn unknown(&self, label: &str) -> Refusal {
        Refusal::bad_request((self.known.unknown)(label))
    }
}

impl Selected {
    fn has_label(&self, label: &str) -> bool {
        match self {
            Self::Known(field) => field.label == label,
            Self::Custom(path) => path.label() == label,
        }
    }

    fn is(&self, object: &Value, value: &str) -> bool {
        match self {
            Self::Known(field) => field.source.is(object, value),
            Self::Custom(path) => match path.get(object) {
                None | Some(Value::Null) => value.is_empty(),
                Some(Value::String(text)) => text == value,
                Some(other) => as_go_prints(other) == value,
            },
        }
    }
}

impl Source {
    fn is(self, object: &Value, value: &str) -> bool {
        match self {
            Source::Text(path) => at(object, path).as_str().unwrap_or("") == value,
            Source::Flag(path) => {
                value == if at(object, path).as_bool().unwrap_or(false) { "true" } else { "false" }
            }
            Source::Number(path) => value == at(object, path).as_i64().unwrap_or(0).to_string(),
            Source::PodIp => {
                let status = &object["status"];
                let first = status["podIPs"][0]["ip"].as_str().or(status["podIP"].as_str());
                first.unwrap_or("") == value
            }
            Source::Origin => event_source(object) == value,
            Source::Nothing => value.is_empty(),
        }
    }
}

/// Returns the source of an Event of the core group or of `events.k8s.io`.
fn event_source(event: &Value) -> &str {
    let candidates = [
        &event["source"]["component"],
        &event["deprecatedSource"]["component"],
        &event["reportingComponent"],
        &event["reportingController"],
    ];
    candidates.into_iter().filter_map(Value::as_str).find(|text| !text.is_empty()).unwrap_or("")
}

fn at<'o>(object: &'o Value, path: &str) -> &'o Value {
    path.split('.').fold(object, |value, member| &value[member])
}

/// The text at a path.
pub(crate) const fn text(label: &'static str) -> Field {
    field(label, Source::Text(label))
}

/// A field with this label.
pub(crate) const fn field(label: &'static str, source: Source) -> Field {
    Field { label, source }
}

pub(crate) const NAME: Field = text("metadata.name");
pub(crate) const NAMESPACE: Field = text("metadata.namespace");

/// Splits at separators that no backslash escapes.
fn split_unescaped(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, c) in text.char_indices() {
        if c == separator && !escaped {
            parts.push(&text[start..index]);
            start = index + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(&text[start..]);
    parts
}

/// Splits at the first operator.
fn split_term(term: &str) -> Option<(&str, Comparison, &str)> {
    for (index, _) in term.char_indices() {
        for (operator, comparison) in
            [("!=", Comparison::NotEqual), ("==", Comparison::Equal), ("=", Comparison::Equal)]
        {
            if let Some(value) = term[index..].strip_prefix(operator) {
                return Some((&term[..index], comparison, value));
            }
        }
    }
    None
}

fn unescape(value: &str) -> Result<String, Refusal> {
    let wrong = |what: String| Err(Refusal::bad_request(format!("invalid field selector: {what}")));
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                Some(other) => return wrong(format!("invalid escape sequence: \\{other}")),
                None => return wrong("invalid escape sequence: \\".to_owned()),
            },
            // Kubernetes prints the number of the character.
            ',' | '=' => return wrong(format!("unescaped character in value: {}", u32::from(c))),
            _ => plain.push(c),
        }
    }
    Ok(plain)
}
