//! Field selectors: `status.phase!=Failed,spec.nodeName=n1`.
//!
//! Only a few fields of a few kinds can be selected by ([`Selectable`]). A selector is read in two steps, because a
//! request is judged in that order: first its grammar ([`Terms`]), later whether the kind has such fields
//! ([`FieldSelector`]).

use std::borrow::Cow;

use serde_json::Value;

use crate::Refusal;
use crate::custom::FieldPath;
use crate::kinds::{Kind, Nature, Scope};
use gantry_primitives::go_print::as_go_prints;

/// What some fields of an object have to be; without terms everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<(Field, Comparison, String)>,
}

/// A field selector as typed; the fields need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(Vec<(String, Comparison, String)>);

/// The fields by which objects of a kind can be selected.
#[derive(Clone, Copy, Debug)]
pub struct Selectable<'k>(Fields<'k>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
}

/// A field that can be selected by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    label: Cow<'static, str>,
    source: Source,
}

/// Where a field's value comes from; what is absent is empty, `false` or `0`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
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
    /// Whatever a definition points to, as text.
    Custom(FieldPath),
}

/// The fields of a kind.
#[derive(Clone, Copy, Debug)]
enum Fields<'k> {
    /// A list of its own.
    Own(&'static [Field]),
    /// Those of a Job, which refuses others in words of its own.
    Job,
    /// Its name and namespace only.
    Others,
    /// What its definition says, besides its name and where it is.
    Custom(&'k [FieldPath], Scope),
}

impl Terms {
    /// Reads a `fieldSelector` parameter. The terms are judged in their alphabetical order, not as typed.
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

    /// The value that a field must have, if the selector names one: the name that an authorizer asks for (A0.7).
    pub fn required(&self, path: &str) -> Option<&str> {
        let mut terms = self.0.iter();
        let term = terms.find(|(field, comparison, _)| field == path && *comparison == Comparison::Equal);
        term.map(|(_, _, value)| value.as_str())
    }

    /// The selector for objects of a kind, if the kind has all these fields. A term that names no field and no value, such as
    /// `=`, selects everything.
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
    /// Reads a `fieldSelector` parameter of a request for this kind.
    pub fn parse(text: &str, selectable: Selectable<'_>) -> Result<Self, Refusal> {
        Terms::parse(text)?.of_kind(selectable)
    }

    /// The selector for the object of this name alone.
    pub fn for_name(name: &str) -> Self {
        Self { terms: vec![(NAME, Comparison::Equal, name.to_owned())] }
    }

    /// Whether an object's fields are as wanted.
    pub fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|(field, comparison, value)| match comparison {
            Comparison::Equal => field.source.is(object, value),
            Comparison::NotEqual => !field.source.is(object, value),
        })
    }

    /// Whether nothing is wanted, so that every object matches.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value that a field must have, if the selector names one.
    pub fn required(&self, label: &str) -> Option<&str> {
        let mut terms = self.terms.iter();
        let term =
            terms.find(|(field, comparison, _)| field.label == label && *comparison == Comparison::Equal);
        term.map(|(_, _, value)| value.as_str())
    }
}

impl<'k> Selectable<'k> {
    /// The fields of a kind that is served.
    pub fn of_kind(kind: &'k Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) => Self::of(kind.group, kind.kind),
            Nature::Custom(custom) => Self::custom(&custom.selectable, kind.scope),
        }
    }

    /// The fields of a kind that everybody knows, or of one that is not known.
    pub fn of(group: &str, kind: &str) -> Self {
        Self(match (group, kind) {
            ("", "Pod") => Fields::Own(POD),
            ("", "Node") => Fields::Own(NODE),
            ("", "Namespace") => Fields::Own(CLUSTER_NAMESPACE),
            ("", "Event") => Fields::Own(CORE_EVENT),
            ("events.k8s.io", "Event") => Fields::Own(NEW_EVENT),
            ("", "Secret") => Fields::Own(SECRET),
            ("", "Service") => Fields::Own(SERVICE),
            ("", "ReplicationController") => Fields::Own(REPLICATION_CONTROLLER),
            ("batch", "Job") => Fields::Job,
            _ => Fields::Others,
        })
    }

    /// The fields of a kind that users defined, with [what one of its versions says](FieldPath::selectable).
    pub fn custom(fields: &'k [FieldPath], scope: Scope) -> Self {
        Self(Fields::Custom(fields, scope))
    }

    fn field(&self, label: &str) -> Option<Field> {
        let known = match self.0 {
            Fields::Own(known) => known,
            Fields::Job => JOB,
            Fields::Others | Fields::Custom(_, Scope::Namespaced) => OTHER,
            Fields::Custom(_, Scope::Cluster) => WITHOUT_NAMESPACE,
        };
        let custom = || match self.0 {
            Fields::Custom(paths, _) => paths.iter().find(|path| path.label() == label),
            Fields::Own(_) | Fields::Job | Fields::Others => None,
        };
        known.iter().find(|field| field.label == label).cloned().or_else(|| {
            let source = Source::Custom(custom()?.clone());
            Some(Field { label: Cow::Owned(label.to_owned()), source })
        })
    }

    fn unknown(&self, path: &str) -> Refusal {
        Refusal::bad_request(match self.0 {
            Fields::Own(_) | Fields::Custom(..) => format!("field label not supported: {path}"),
            Fields::Job => format!("field label \"{path}\" not supported for Job"),
            Fields::Others => format!(
                "\"{path}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            ),
        })
    }
}

impl Source {
    fn is(&self, object: &Value, value: &str) -> bool {
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
            Source::Custom(path) => match path.get(object) {
                None | Some(Value::Null) => value.is_empty(),
                Some(Value::String(text)) => text == value,
                Some(other) => as_go_prints(other) == value,
            },
        }
    }
}

/// Both shapes of an Event are understood: the core one, and the one of events.k8s.io.
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

const fn text(label: &'static str) -> Field {
    field(label, Source::Text(label))
}

const fn field(label: &'static str, source: Source) -> Field {
    Field { label: Cow::Borrowed(label), source }
}

const NAME: Field = text("metadata.name");
const NAMESPACE: Field = text("metadata.namespace");

const POD: &[Field] = &[
    NAME,
    NAMESPACE,
    text("spec.nodeName"),
    field("spec.host", Source::Text("spec.nodeName")),
    text("spec.restartPolicy"),
    text("spec.schedulerName"),
    text("spec.serviceAccountName"),
    field("spec.hostNetwork", Source::Flag("spec.hostNetwork")),
    text("status.phase"),
    field("status.podIP", Source::PodIp),
    field("status.podIPs", Source::Nothing),
    text("status.nominatedNodeName"),
];
const CORE_EVENT: &[Field] = &[
    NAME,
    NAMESPACE,
    text("involvedObject.kind"),
    text("involvedObject.namespace"),
    text("involvedObject.name"),
    text("involvedObject.uid"),
    text("involvedObject.apiVersion"),
    text("involvedObject.resourceVersion"),
    text("involvedObject.fieldPath"),
    text("reason"),
    text("reportingComponent"),
    field("source", Source::Origin),
    text("type"),
];
const NEW_EVENT: &[Field] = &[
    NAME,
    NAMESPACE,
    text("regarding.kind"),
    text("regarding.namespace"),
    text("regarding.name"),
    text("regarding.uid"),
    text("regarding.apiVersion"),
    text("regarding.resourceVersion"),
    text("regarding.fieldPath"),
    text("reason"),
    text("reportingController"),
    text("type"),
];

const NODE: &[Field] = &[NAME, NAMESPACE, field("spec.unschedulable", Source::Flag("spec.unschedulable"))];
const CLUSTER_NAMESPACE: &[Field] = &[NAME, NAMESPACE, text("status.phase")];
const SECRET: &[Field] = &[NAME, NAMESPACE, text("type")];
const SERVICE: &[Field] = &[NAME, NAMESPACE, text("spec.clusterIP"), text("spec.type")];
const REPLICATION_CONTROLLER: &[Field] =
    &[NAME, NAMESPACE, field("status.replicas", Source::Number("status.replicas"))];
const JOB: &[Field] = &[NAME, NAMESPACE, field("status.successful", Source::Number("status.succeeded"))];
const OTHER: &[Field] = &[NAME, NAMESPACE];
const WITHOUT_NAMESPACE: &[Field] = &[NAME];

/// Splits where the separator stands without a backslash before it.
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
            // The reference names the character by its number.
            ',' | '=' => return wrong(format!("unescaped character in value: {}", u32::from(c))),
            _ => plain.push(c),
        }
    }
    Ok(plain)
}
