//! Reads recorded exchanges: requests and their responses.

use gantry_json::Value;

/// One request and its response.
pub(crate) struct Exchange {
    /// The path without its query.
    pub(crate) path: String,
    /// The query, decoded.
    pub(crate) query: Vec<(String, String)>,
    /// The body of the response, or the part of it that was recorded.
    pub(crate) body: Value,
    /// The code of the response.
    pub(crate) status: u64,
    /// The events of a watch.
    pub(crate) events: Vec<Value>,
}

/// The exchanges of a recording, without notes.
macro_rules! recorded {
    ($name:literal) => {
        crate::recording::exchanges(include_str!(concat!("../recorded/", $name, ".json")))
    };
}
pub(crate) use recorded;

pub(crate) fn exchanges(text: &str) -> Vec<Exchange> {
    let all: Vec<Value> = gantry_json::from_str(text).unwrap();
    all.into_iter().filter(|entry| entry.get("note").is_none()).map(|entry| exchange(&entry)).collect()
}

fn exchange(entry: &Value) -> Exchange {
    let request = entry["request"].as_str().or(entry["watch"].as_str()).unwrap();
    let target = request.split_once(' ').unwrap().1;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (key.to_owned(), percent_decoded(value))
    };
    Exchange {
        path: path.to_owned(),
        query: query.split('&').filter(|part| !part.is_empty()).map(pair).collect(),
        body: entry["body"].clone(),
        status: entry["status"].as_u64().unwrap(),
        events: entry["events"].as_array().cloned().unwrap_or_default(),
    }
}

impl Exchange {
    /// Returns the value of a parameter, or an empty string.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.query.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Returns the group and kind of the resource in the path.
    pub(crate) fn kind(&self) -> (&'static str, &'static str) {
        let resource = self.path.trim_end_matches("/a").rsplit('/').next().unwrap();
        match resource {
            "pods" => ("", "Pod"),
            "nodes" => ("", "Node"),
            "secrets" => ("", "Secret"),
            "services" => ("", "Service"),
            "configmaps" => ("", "ConfigMap"),
            "jobs" => ("batch", "Job"),
            "leases" => ("coordination.k8s.io", "Lease"),
            "deployments" => ("apps", "Deployment"),
            "replicasets" => ("apps", "ReplicaSet"),
            "events" if self.path.starts_with("/apis/") => ("events.k8s.io", "Event"),
            "events" => ("", "Event"),
            other => panic!("no kind for {other}"),
        }
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if let (b'%', [high, low, after @ ..]) = (first, after) {
            let digits = [*high, *low];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}
