//! Masks the parts of a trace that may differ between two conforming servers, and nothing else.
//!
//! These are: uids, times near now, generated names, versions of objects (their equality and order are kept: `rv1` is
//! before `rv2`), versions of lists and bookmarks (kept: which object versions they cover), continue tokens, tokens,
//! addresses and ports that the request did not choose, managedFields of other writers than the case, ages and
//! descriptions of columns in tables, and messages of parsers.

mod text;

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value, json};

use crate::case::Case;
use crate::trace::{Exchange, Trace};
use text::Words;

/// The headers that are compared; others depend on the connection, the time or the state of the server.
const HEADERS: [&str; 6] = ["content-type", "warning", "retry-after", "location", "allow", "cache-control"];
/// Field managers that a case may cause without naming them.
const OWN_MANAGERS: [&str; 3] = ["wire-diff", "before-first-apply", "ancient-changes"];
const ALLOCATED: [&str; 4] = ["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"];

/// Returns the exchanges of a trace in a form in which equivalent responses are equal.
pub(crate) fn masked(case: &Case, trace: &Trace) -> Vec<Value> {
    let mut mask = Mask::new(case, trace);
    trace.exchanges.iter().map(|exchange| mask.exchange(exchange)).collect()
}

struct Mask {
    words: Words,
    /// The versions of objects, with their positions in the order of all of them.
    ranks: BTreeMap<u64, usize>,
    managers: BTreeSet<String>,
    /// All text that the case sends, which contains the values that it chose itself.
    sent: String,
}

impl Mask {
    fn new(case: &Case, trace: &Trace) -> Self {
        let sent = case.to_json().to_string();
        let mut versions = BTreeSet::new();
        let mut names = BTreeMap::new();
        for value in trace.exchanges.iter().flat_map(values) {
            collect(value, &mut versions, &mut names);
        }
        let ranks = versions.into_iter().enumerate().map(|(index, version)| (version, index + 1)).collect();
        let words = Words::new(&trace.namespace, &trace.address, names);
        Self { words, ranks, managers: managers(case), sent }
    }

    fn exchange(&mut self, exchange: &Exchange) -> Value {
        let at = exchange.at;
        let mut masked = json!({"status": exchange.status, "headers": self.headers(exchange)});
        match &exchange.body {
            Value::Null => {}
            Value::String(yaml) => {
                let yaml =
                    text::yaml(yaml, |version, of_an_object| self.version(&json!(version), of_an_object));
                masked["body"] = json!(self.words.masked(&yaml, at));
            }
            body => masked["body"] = self.value("", body, at),
        }
        if let Some(events) = &exchange.events {
            masked["events"] = self.events(events, at);
        }
        if let Some(ended) = exchange.ended {
            masked["ended by the server"] = json!(ended);
        }
        masked
    }

    fn headers(&mut self, exchange: &Exchange) -> Value {
        let mut compared: Map = Map::new();
        for (name, value) in exchange.headers.iter().filter(|(name, _)| HEADERS.contains(&name.as_str())) {
            let values = compared.entry(name.as_str()).or_insert_with(|| json!([]));
            let text = self.words.masked(value, exchange.at);
            values.as_array_mut().into_iter().for_each(|values| values.push(json!(text)));
        }
        Value::Object(compared)
    }

    /// A server may send plain bookmarks at any time: they are dropped, unless they are older than an event before
    /// them. Of other bookmarks only type and metadata are compared, as the API specifies.
    fn events(&mut self, events: &[Value], at: i64) -> Value {
        let mut newest = 0;
        let mut masked = Vec::new();
        for event in events {
            let object = &event["object"];
            let version = version_of(object).unwrap_or(0);
            if event["type"] != "BOOKMARK" {
                newest = newest.max(version);
                masked.push(self.value("", event, at));
                continue;
            }
            let is_plain = object.pointer("/metadata/annotations").is_none();
            let is_behind = version < newest;
            if !is_plain || is_behind {
                let covered = if is_behind { "<behind what was sent>" } else { "<at least what was sent>" };
                let mut object = json!({"kind": object["kind"], "apiVersion": object["apiVersion"], "metadata": object["metadata"]});
                object["metadata"]["resourceVersion"] = json!(covered);
                masked.push(json!({"type": "BOOKMARK", "object": self.value("", &object, at)}));
            }
        }
        Value::Array(masked)
    }

    fn value(&mut self, key: &str, value: &Value, at: i64) -> Value {
        match value {
            Value::Object(fields) => self.object(fields, at),
            Value::Array(items) if key == "cells" => items
                .iter()
                .map(|cell| if is_young_age(cell) { json!("<age>") } else { self.value("", cell, at) })
                .collect(),
            Value::Array(items) if key == "columnDefinitions" => {
                items.iter().map(without_description).collect()
            }
            Value::Array(items) => items.iter().map(|item| self.value("", item, at)).collect(),
            Value::String(text) => json!(self.words.masked(text, at)),
            other => other.clone(),
        }
    }

    fn object(&mut self, fields: &Map, at: i64) -> Value {
        let mut masked = Map::new();
        for (key, value) in fields {
            let value = match key.as_str() {
                "resourceVersion" => self.version(value, fields.contains_key("uid")),
                "continue" if is_text(value) && fields.contains_key("resourceVersion") => json!("<continue>"),
                "token" if value.as_str().is_some_and(|token| token.split('.').count() == 3) => {
                    json!("<token>")
                }
                "managedFields" if value.is_array() => match self.managed_fields(value, at) {
                    Some(value) => value,
                    None => continue,
                },
                "causes" if value.is_array() => self.causes(value, at),
                key if ALLOCATED.contains(&key) => self.allocated(value),
                key => self.value(key, value, at),
            };
            masked.insert(self.words.masked(key, at), value);
        }
        Value::Object(masked)
    }

    fn version(&self, value: &Value, of_an_object: bool) -> Value {
        let Some(number) = number(value) else { return value.clone() };
        if !of_an_object {
            return json!(format!("<covers rv{}>", self.ranks.range(..=number).count()));
        }
        self.ranks.get(&number).map_or_else(|| value.clone(), |rank| json!(format!("rv{rank}")))
    }

    /// Sorts entries with equal seconds, whose order is not specified; whether two are equal depends on chance.
    fn managed_fields(&mut self, entries: &Value, at: i64) -> Option<Value> {
        let own =
            |entry: &&Value| entry["manager"].as_str().is_none_or(|manager| self.managers.contains(manager));
        let mut entries: Vec<Value> = entries.as_array()?.iter().filter(own).cloned().collect();
        let place = |entry: &Value| {
            ["operation", "manager", "apiVersion", "subresource"]
                .map(|key| entry[key].as_str().unwrap_or_default().to_owned())
        };
        entries.sort_by_key(place);
        (!entries.is_empty()).then(|| entries.iter().map(|entry| self.value("", entry, at)).collect())
    }

    /// Sorts conflicts with several managers, whose order is not specified.
    fn causes(&mut self, causes: &Value, at: i64) -> Value {
        let mut causes = causes.as_array().cloned().unwrap_or_default();
        if causes.iter().all(|cause| cause["reason"] == "FieldManagerConflict") {
            causes.sort_by_key(|cause| cause["message"].to_string());
        }
        causes.iter().map(|cause| self.value("", cause, at)).collect()
    }

    fn allocated(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.allocated(item)).collect(),
            Value::String(text) if text.is_empty() || self.sent.contains(&format!("\"{text}\"")) => {
                value.clone()
            }
            Value::Number(number) if self.sent.contains(&number.to_string()) => value.clone(),
            Value::Null => Value::Null,
            _ => json!("<allocated>"),
        }
    }
}

fn values(exchange: &Exchange) -> impl Iterator<Item = &Value> {
    let events = exchange.events.iter().flatten().filter(|event| event["type"] != "BOOKMARK");
    std::iter::once(&exchange.body).chain(events)
}

/// Collects the versions of all objects in a value, and their generated names.
fn collect(value: &Value, versions: &mut BTreeSet<u64>, names: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, versions, names)),
        Value::Object(fields) => {
            if fields.contains_key("uid") {
                versions.extend(fields.get("resourceVersion").and_then(number));
            }
            let text = |key: &str| fields.get(key).and_then(Value::as_str);
            if let (Some(name), Some(base)) = (text("name"), text("generateName"))
                && name.strip_prefix(base).is_some_and(|suffix| suffix.len() == 5)
            {
                names.insert(name.to_owned(), format!("{base}<5>"));
            }
            fields.values().for_each(|value| collect(value, versions, names));
        }
        _ => {}
    }
}

fn managers(case: &Case) -> BTreeSet<String> {
    let queries = case
        .recorded()
        .filter_map(|request| request.path.split_once('?'))
        .flat_map(|(_, query)| query.split('&'));
    let named = queries.filter_map(|parameter| parameter.strip_prefix("fieldManager="));
    named.chain(OWN_MANAGERS).map(str::to_owned).collect()
}

/// Removes the description of a column, which is documentation in the server's own wording.
fn without_description(column: &Value) -> Value {
    let mut column = column.clone();
    column.as_object_mut().into_iter().for_each(|fields| drop(fields.remove("description")));
    column
}

fn version_of(object: &Value) -> Option<u64> {
    number(object.pointer("/metadata/resourceVersion")?)
}

/// Returns the number of a version; zero has the special meaning "any version" and is not a number.
fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok().filter(|number| *number != 0)
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// Whether a cell is an age that objects of a case can have: up to a few minutes.
fn is_young_age(cell: &Value) -> bool {
    let Some(text) = cell.as_str() else { return false };
    let seconds = match text.split_once('m') {
        Some((minutes, "")) => minutes.parse::<u32>().map(|minutes| minutes * 60),
        Some((minutes, seconds)) => minutes
            .parse::<u32>()
            .and_then(|minutes| Ok(minutes * 60 + seconds.trim_end_matches('s').parse::<u32>()?)),
        None if text.ends_with('s') => text.trim_end_matches('s').parse::<u32>(),
        None => return false,
    };
    seconds.is_ok_and(|seconds| seconds < 600)
}

#[cfg(test)]
mod tests;
