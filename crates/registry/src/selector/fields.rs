//! Field selectors: `status.phase!=Failed,spec.nodeName=n1`.
//!
//! Only a few fields of a few kinds can be selected by. A selector is read in two steps, because a request is judged
//! in that order: first its grammar ([`Terms`]), later whether the kind has such fields ([`FieldSelector`]).

use serde_json::Value;

use crate::Refusal;

/// What some fields of an object have to be; without terms everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<(Selectable, Comparison, String)>,
}

/// A field selector as typed; the fields need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(Vec<(String, Comparison, String)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
}

/// A field that can be selected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Selectable {
    label: &'static str,
    source: Source,
}

/// Where a field's value comes from; what is absent is empty, `false` or `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// The fields of a kind, and what is said of others.
struct Fields {
    known: &'static [Selectable],
    /// Whether the kind has a list of its own; others know their name and namespace only.
    own: bool,
}

impl Terms {
    /// Reads a `fieldSelector` parameter.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut terms = Vec::new();
        for part in split_unescaped(text, ',').into_iter().filter(|part| !part.is_empty()) {
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

    /// The selector for objects of a kind, if the kind has all these fields.
    pub fn of_kind(self, group: &str, kind: &str) -> Result<FieldSelector, Refusal> {
        let fields = fields_of(group, kind);
        let resolve = |(path, comparison, value): (String, Comparison, String)| {
            let known = fields.known.iter().find(|field| field.label == path);
            known.map(|field| (*field, comparison, value)).ok_or_else(|| fields.unknown(&path))
        };
        self.0.into_iter().map(resolve).collect::<Result<_, _>>().map(|terms| FieldSelector { terms })
    }
}

impl FieldSelector {
    /// Reads a `fieldSelector` parameter of a request for this kind.
    pub fn parse(text: &str, group: &str, kind: &str) -> Result<Self, Refusal> {
        Terms::parse(text)?.of_kind(group, kind)
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

impl Fields {
    fn unknown(&self, path: &str) -> Refusal {
        Refusal::bad_request(if self.own {
            format!("field label not supported: {path}")
        } else {
            format!(
                "\"{path}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )
        })
    }
}

const fn text(label: &'static str) -> Selectable {
    Selectable { label, source: Source::Text(label) }
}

const fn field(label: &'static str, source: Source) -> Selectable {
    Selectable { label, source }
}

const NAME: Selectable = text("metadata.name");
const NAMESPACE: Selectable = text("metadata.namespace");

const POD: &[Selectable] = &[
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
const CORE_EVENT: &[Selectable] = &[
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
const NEW_EVENT: &[Selectable] = &[
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

const NODE: &[Selectable] =
    &[NAME, NAMESPACE, field("spec.unschedulable", Source::Flag("spec.unschedulable"))];
const CLUSTER_NAMESPACE: &[Selectable] = &[NAME, NAMESPACE, text("status.phase")];
const SECRET: &[Selectable] = &[NAME, NAMESPACE, text("type")];
const SERVICE: &[Selectable] = &[NAME, NAMESPACE, text("spec.clusterIP"), text("spec.type")];
const REPLICATION_CONTROLLER: &[Selectable] =
    &[NAME, NAMESPACE, field("status.replicas", Source::Number("status.replicas"))];
const JOB: &[Selectable] = &[NAME, NAMESPACE, field("status.successful", Source::Number("status.succeeded"))];
const OTHER: &[Selectable] = &[NAME, NAMESPACE];

fn fields_of(group: &str, kind: &str) -> Fields {
    let known = match (group, kind) {
        ("", "Pod") => POD,
        ("", "Node") => NODE,
        ("", "Namespace") => CLUSTER_NAMESPACE,
        ("", "Event") => CORE_EVENT,
        ("events.k8s.io", "Event") => NEW_EVENT,
        ("", "Secret") => SECRET,
        ("", "Service") => SERVICE,
        ("", "ReplicationController") => REPLICATION_CONTROLLER,
        ("batch", "Job") => JOB,
        _ => return Fields { known: OTHER, own: false },
    };
    Fields { known, own: true }
}

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
