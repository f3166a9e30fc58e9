//! The trace of a case on a server: one exchange per recorded request.

use std::time::{SystemTime, UNIX_EPOCH};

use gantry_json::{Value, json};

/// One recorded response.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// The events of an opened watch.
    pub(crate) events: Option<Vec<Value>>,
    /// Whether the server ended the watch while the case waited for it.
    pub(crate) ended: Option<bool>,
    /// When the response was received, in seconds since the epoch.
    pub(crate) at: i64,
}

/// The responses of a whole case, and the values in them that depend on the play.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    pub(crate) exchanges: Vec<Exchange>,
    /// The namespace of the play.
    pub(crate) namespace: String,
    /// Host and port of the server.
    pub(crate) address: String,
}

impl Exchange {
    pub(crate) fn new(status: u16, headers: Vec<(String, String)>, body: Value) -> Self {
        Self { status, headers, body, at: now(), ..Self::default() }
    }

    fn to_json(&self) -> Value {
        json!({"status": self.status, "headers": self.headers, "body": self.body, "events": self.events, "ended": self.ended, "at": self.at})
    }

    fn from_json(value: &Value) -> Option<Self> {
        let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        Some(Self {
            status: value["status"].as_u64()?.try_into().ok()?,
            headers: value["headers"].as_array()?.iter().filter_map(pair).collect(),
            body: value["body"].clone(),
            events: value["events"].as_array().cloned(),
            ended: value["ended"].as_bool(),
            at: value["at"].as_i64()?,
        })
    }
}

impl Trace {
    pub(crate) fn to_json(&self) -> Value {
        let exchanges: Vec<Value> = self.exchanges.iter().map(Exchange::to_json).collect();
        json!({"exchanges": exchanges, "namespace": self.namespace, "address": self.address})
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            exchanges: value["exchanges"]
                .as_array()?
                .iter()
                .map(Exchange::from_json)
                .collect::<Option<_>>()?,
            namespace: value["namespace"].as_str()?.to_owned(),
            address: value["address"].as_str()?.to_owned(),
        })
    }
}

/// The seconds since the epoch.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_survives_being_written_to_a_file() {
        let headers = vec![("warning".to_owned(), "299 - \"x\"".to_owned())];
        let response = Exchange { at: 7, ..Exchange::new(200, headers, json!({"kind": "Pod"})) };
        let watch =
            Exchange { events: Some(vec![json!({"type": "ADDED"})]), ended: Some(true), ..response.clone() };
        let trace =
            Trace { exchanges: vec![response, watch], namespace: "n".to_owned(), address: "a:1".to_owned() };
        assert_eq!(Trace::from_json(&trace.to_json()), Some(trace));
    }
}
