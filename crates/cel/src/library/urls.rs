//! URLs: `url(self.endpoint).getScheme() == 'https'`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::{Key, Value};
use gantry_formats::percent;
use gantry_primitives::text_formats as texts;

pub(super) const FUNCTIONS: &[&str] = &[
    "url(string) URL",
    "isURL(string) bool",
    "URL.getScheme() string",
    "URL.getHost() string",
    "URL.getHostname() string",
    "URL.getPort() string",
    "URL.getEscapedPath() string",
    "URL.getQuery() map<string,list<string>>",
];

/// The parts of a URL, or of an absolute path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    Some(Ok(match (name, args) {
        ("url" | "isURL", [Value::Text(text)]) => {
            if let Err(fault) = meter.traverse(text.len().saturating_mul(4)) {
                return Some(Err(fault));
            }
            match (name, Url::read(text)) {
                ("isURL", read) => Value::Bool(read.is_some()),
                (_, Some(url)) => Value::Url(Rc::new(url)),
                (_, None) => {
                    let why = "URL parse error during conversion from string: invalid URI for request";
                    return Some(Err(EvaluationError::new(format!("{why}: {text:?}"))));
                }
            }
        }
        (_, [Value::Url(url)]) if meter.traverse(url.letters()).is_err() => {
            return Some(Err(EvaluationError::CostExceeded));
        }
        (_, [Value::Url(url)]) => match name {
            "getScheme" => Value::text(url.scheme.clone()),
            "getHost" => Value::text(url.host.clone()),
            "getHostname" => Value::text(url.split_host().0.to_owned()),
            "getPort" => Value::text(url.split_host().1.to_owned()),
            "getEscapedPath" => Value::text(percent::encode_path(&url.path).into_owned()),
            "getQuery" => url.query(),
            _ => return None,
        },
        _ => return None,
    }))
}

impl Url {
    /// Parses an absolute URL or an absolute path.
    pub(super) fn read(text: &str) -> Option<Self> {
        if !texts::is_uri(text) || text == "*" {
            return None;
        }
        let mut url = Self::default();
        let mut rest = text;
        if !text.starts_with('/') {
            let (scheme, after) = text.split_once(':')?;
            url.scheme = scheme.to_ascii_lowercase();
            rest = after;
        }
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        query.clone_into(&mut url.query);
        let path = match before.strip_prefix("//").filter(|_| !url.scheme.is_empty()) {
            Some(after) => {
                let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
                authority.rsplit('@').next().unwrap_or_default().clone_into(&mut url.host);
                path
            }
            None if before.starts_with('/') => before,
            None => "",
        };
        path.clone_into(&mut url.path);
        // Only the port may follow a colon.
        let bare = if url.host.starts_with('[') { url.split_host().1 } else { url.host.as_str() };
        (bare.matches(':').count() <= 1).then_some(url)
    }

    fn letters(&self) -> usize {
        self.scheme.len() + self.host.len() + self.path.len() + self.query.len()
    }

    /// The host without brackets, and the port.
    fn split_host(&self) -> (&str, &str) {
        match self.host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, port)) => (name, port.trim_start_matches(':')),
            None => self.host.rsplit_once(':').unwrap_or((&self.host, "")),
        }
    }

    fn query<'a>(&self) -> Value<'a> {
        let mut found: BTreeMap<Key<'a>, Vec<Value<'a>>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            found
                .entry(Key::Text(percent::decode_query(key).into_owned().into()))
                .or_default()
                .push(Value::text(percent::decode_query(value).into_owned()));
        }
        Value::map(found.into_iter().map(|(key, values)| (key, Value::list(values))).collect())
    }
}
