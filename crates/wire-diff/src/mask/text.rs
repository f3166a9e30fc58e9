//! Masks inside of strings: names, uids, times and messages of parsers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gantry_json::Value;
use k8s_openapi::jiff::Timestamp;
use regex::{Captures, Regex};

/// Times up to this many seconds before the response are times of the case.
const PAST: i64 = 7200;
/// Times up to this many seconds after the response are computed from its time, such as the expiration of a token.
const FUTURE: i64 = 90_000;

static UID: LazyLock<Regex> =
    LazyLock::new(|| regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
static TIME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?Z"));
static YAML_VERSION: LazyLock<Regex> = LazyLock::new(|| regex("resourceVersion: \"([0-9]+)\"(\n *uid:)?"));
/// An entry of managedFields whose manager is the API server.
static YAML_SERVER_ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        "  - apiVersion: apiextensions.k8s.io/v1\n    fieldsType: FieldsV1\n    fieldsV1:\n(      .*\n)+",
        "    manager: kube-apiserver\n(    .*\n)*"
    ))
});
static YAML_CONTINUE: LazyLock<Regex> = LazyLock::new(|| regex("continue: [A-Za-z0-9_=-]{12,}"));
/// Parts of messages that come from a parser or a formatter of differences, and versions in messages.
static MESSAGES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"(?s)(json parse error: ).*", "${1}<words>"),
        (r"(?s)(yaml: |error unmarshaling JSON: ).*", "${1}<words>"),
        (r"(?s)(continue key is not valid: ).*", "${1}<words>"),
        (r"(must be a valid regular expression, but isn't: )[^,]*", "${1}<words>"),
        (r"(?s)(if it was previously negative\)).*", "${1}<differences>"),
        (r"StorageError: invalid object, Code: 4, Key: [^,]*, ResourceVersion: 0, AdditionalErrorMsg: ", ""),
        // The name of the cluster is configured.
        (r"https://kubernetes\.default\.svc(\.cluster\.local)?", "<issuer>"),
        (r"(ResourceVersion in record) \([0-9]+\)", "${1} (<rv>)"),
        (r"(ResourceVersion in the precondition) \([0-9]{2,}\)", "${1} (<rv>)"),
        (r"(too old resource version: [0-9]+) \([0-9]+\)", "${1} (<rv>)"),
        (r"(Too large resource version: [0-9]+, current:) [0-9]+", "${1} <rv>"),
    ]
    .map(|(pattern, by)| (regex(pattern), by))
    .into()
});

/// Masks strings that depend on the play.
pub(super) struct Words {
    namespace: String,
    address: String,
    names: BTreeMap<String, String>,
    /// The uids so far; equal uids are replaced by the same word.
    uids: BTreeMap<String, usize>,
}

impl Words {
    pub(super) fn new(namespace: &str, address: &str, names: BTreeMap<String, String>) -> Self {
        Self { namespace: namespace.to_owned(), address: address.to_owned(), names, uids: BTreeMap::new() }
    }

    /// Masks a string of a response that was received at this second.
    pub(super) fn masked(&mut self, text: &str, at: i64) -> String {
        let mut masked = text.to_owned();
        for (word, by) in [(&self.address, "<server>"), (&self.namespace, "NS")] {
            if !word.is_empty() {
                masked = masked.replace(word.as_str(), by);
            }
        }
        for (name, by) in self.names.iter().rev() {
            masked = masked.replace(name, by);
        }
        masked = self.uids_numbered(&masked);
        masked = TIME.replace_all(&masked, |time: &Captures<'_>| timestamp(time, at)).into_owned();
        for (pattern, by) in MESSAGES.iter() {
            masked = pattern.replace_all(&masked, *by).into_owned();
        }
        masked
    }

    fn uids_numbered(&mut self, text: &str) -> String {
        let uids = &mut self.uids;
        let numbered = UID.replace_all(text, |uid: &Captures<'_>| {
            // Uids that begin with zeros were chosen by the case.
            if uid[0].starts_with("00000000-") {
                return uid[0].to_owned();
            }
            let next = uids.len() + 1;
            format!("uid{}", uids.entry(uid[0].to_owned()).or_insert(next))
        });
        numbered.into_owned()
    }
}

/// Masks versions, continue tokens and managedFields of the API server in a response in YAML. The version of an object
/// is followed by its uid, the version of a list is not.
pub(super) fn yaml(text: &str, version: impl Fn(&str, bool) -> Value) -> String {
    let versions = YAML_VERSION.replace_all(text, |found: &Captures<'_>| {
        let uid = found.get(2).map_or("", |uid| uid.as_str());
        format!("resourceVersion: {}{uid}", version(&found[1], !uid.is_empty()))
    });
    let own = YAML_SERVER_ENTRY.replace_all(&versions, "");
    YAML_CONTINUE.replace_all(&own, "continue: <continue>").into_owned()
}

/// Masks a time near the response, except for its distance ahead and its precision; other times were chosen by the
/// case.
fn timestamp(time: &Captures<'_>, at: i64) -> String {
    let Ok(parsed) = time[0].parse::<Timestamp>() else { return time[0].to_owned() };
    let ahead = parsed.as_second() - at;
    if !(-PAST..FUTURE).contains(&ahead) {
        return time[0].to_owned();
    }
    let ahead = if ahead > 5 { format!("+{}s", (ahead + 5) / 10 * 10) } else { String::new() };
    let digits = time.get(2).map_or(String::new(), |digits| format!(" .{}", digits.len() - 1));
    format!("<time{ahead}{digits}>")
}

#[expect(clippy::expect_used, reason = "the patterns are constants, compiled by every test")]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are valid")
}
