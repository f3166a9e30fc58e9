//! Placeholders in a recording, and their values in this conversation.
//!
//! `uid1` is a uid, the same at every occurrence; `rv2` a version greater than that of `rv1`; `>=rv2` one that covers
//! it; `<time+30s>` a time half a minute ahead. A placeholder is bound at its first occurrence in a response.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value};
use gantry_primitives::Timestamp;

/// The namespace of every conversation.
pub(crate) const NAMESPACE: &str = "recorded-case";
/// The address of the server.
pub(crate) const ADDRESS: &str = "127.0.0.1:6443";

/// The values of the placeholders.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    pub(crate) now: Timestamp,
    /// The field managers of the conversation: only their managed fields were recorded.
    pub(crate) managers: BTreeSet<String>,
    uids: BTreeMap<String, String>,
    versions: BTreeMap<u64, u64>,
    /// Versions that must cover the version of a placeholder.
    covers: Vec<(u64, u64)>,
    /// Generated names, by their recorded form.
    names: BTreeMap<String, String>,
    continue_token: String,
    pub(crate) token: String,
    pub(crate) etag: String,
}

impl Marks {
    pub(crate) fn new(now: Timestamp, managers: BTreeSet<String>) -> Self {
        Self {
            now,
            managers,
            uids: BTreeMap::new(),
            versions: BTreeMap::new(),
            covers: Vec::new(),
            names: BTreeMap::new(),
            continue_token: String::new(),
            token: String::new(),
            etag: String::new(),
        }
    }

    /// Keeps tokens that later requests use: partial recordings may have omitted them.
    pub(crate) fn record(&mut self, response: &Value) {
        if let Some(token) = response["metadata"]["continue"].as_str() {
            token.clone_into(&mut self.continue_token);
        }
        if let Some(token) = response["status"]["token"].as_str() {
            token.clone_into(&mut self.token);
        }
    }

    /// A value to send, with placeholders resolved.
    pub(crate) fn resolve(&self, value: &Value, current: u64) -> Value {
        match value {
            Value::String(text) => Value::from(self.resolve_text(text, current)),
            Value::Array(items) => items.iter().map(|item| self.resolve(item, current)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter();
                fields
                    .map(|(key, value)| (self.resolve_text(key, current), self.resolve(value, current)))
                    .collect::<Map>()
                    .into()
            }
            other => other.clone(),
        }
    }

    /// A text to send, with placeholders resolved.
    pub(crate) fn resolve_text(&self, text: &str, current: u64) -> String {
        if let Some(version) = number_after(text, "rv").and_then(|mark| self.versions.get(&mark)) {
            return version.to_string();
        }
        let mut text = named(text);
        text = text.replace("<rv>", &current.to_string()).replace("<continue>", &self.continue_token);
        text = text.replace("<token>", &self.token);
        text = text.replace("<time>", &self.now.to_string());
        // The one address that a recording requests and hides is outside of the server's range.
        text = text.replace("<allocated>", "10.200.200.200");
        for (mark, name) in &self.names {
            text = text.replace(mark, name);
        }
        // The longest first: uid12 is not uid1 followed by 2.
        for (mark, uid) in self.uids.iter().rev() {
            text = text.replace(mark, uid);
        }
        repeated(&text).unwrap_or(text)
    }

    /// Whether a response equals the recorded one.
    pub(crate) fn fits(&mut self, want: &Value, got: &Value, at: &str) -> Result<(), String> {
        match (want, got) {
            (Value::String(want), _) if want == "<hidden>" => Ok(()),
            (Value::String(want), Value::String(got)) => self.text_fits(want, got, at),
            (Value::Array(want), Value::Array(got)) => {
                if want.len() != got.len() {
                    return Err(different(at, &Value::from(want.clone()), &Value::from(got.clone())));
                }
                let mut pairs = want.iter().zip(got).enumerate();
                pairs.try_for_each(|(index, (want, got))| self.fits(want, got, &format!("{at}[{index}]")))
            }
            (Value::Object(want), Value::Object(got)) => self.object_fits(want, got, at),
            _ if want == got => Ok(()),
            _ => Err(different(at, want, got)),
        }
    }

    fn object_fits(&mut self, want: &Map, got: &Map, at: &str) -> Result<(), String> {
        let mut rest: BTreeSet<&str> = got.keys().map(gantry_json::SmolStr::as_str).collect();
        for (key, want) in want {
            let key = named(key);
            rest.remove(key.as_str());
            let Some(got) = got.get(&key) else {
                return Err(format!("{at}.{key} is missing, recorded was {want}"));
            };
            self.field_fits(&key, want, got, &format!("{at}.{key}"))?;
        }
        // Managed fields were recorded only in the areas about them.
        rest.remove("managedFields");
        if rest.is_empty() { Ok(()) } else { Err(format!("{at} has {rest:?}, which was not recorded")) }
    }

    fn field_fits(&mut self, key: &str, want: &Value, got: &Value, at: &str) -> Result<(), String> {
        match (key, want, got) {
            ("resourceVersion", Value::String(want), Value::String(got)) => self.version_fits(want, got, at),
            ("managedFields", _, Value::Array(entries)) => {
                // Entries were recorded in order where it mattered, sorted elsewhere.
                let own = self.own(entries);
                let mut tried = self.clone();
                if tried.fits(want, &own, at).is_ok() {
                    *self = tried;
                    return Ok(());
                }
                self.fits(want, &sorted(own), at)
            }
            ("columnDefinitions", _, Value::Array(columns)) => {
                self.fits(want, &without_descriptions(columns), at)
            }
            ("causes", _, Value::Array(causes)) => self.fits(want, &in_order(causes), at),
            ("clusterIP" | "nodePort" | "healthCheckNodePort", Value::String(mark), _)
                if mark == "<allocated>" =>
            {
                Ok(())
            }
            _ => self.fits(want, got, at),
        }
    }

    fn version_fits(&mut self, want: &str, got: &str, at: &str) -> Result<(), String> {
        let wrong = || Err(format!("{at} is version {got}, recorded was {want}"));
        let Ok(version) = got.parse::<u64>() else { return if want == got { Ok(()) } else { wrong() } };
        if let Some(mark) = number_after(want, "rv") {
            return if *self.versions.entry(mark).or_insert(version) == version { Ok(()) } else { wrong() };
        }
        if let Some(mark) = number_after(want, ">=rv") {
            self.covers.push((mark, version));
            return Ok(());
        }
        if want == got || want == "<at least all that was sent>" { Ok(()) } else { wrong() }
    }

    /// Whether the versions are in the recorded order.
    pub(crate) fn versions_are_in_order(&self) -> Result<(), String> {
        let versions: Vec<_> = self.versions.iter().collect();
        for pair in versions.windows(2) {
            if pair[0].1 >= pair[1].1 {
                return Err(format!(
                    "rv{} is {}, but rv{} is {}",
                    pair[0].0, pair[0].1, pair[1].0, pair[1].1
                ));
            }
        }
        for (mark, version) in &self.covers {
            if self.versions.get(mark).is_some_and(|covered| version < covered) {
                return Err(format!("a list of version {version} does not cover rv{mark}"));
            }
        }
        Ok(())
    }

    /// The entries of the conversation's field managers.
    fn own(&self, entries: &[Value]) -> Value {
        let is_own =
            |entry: &&Value| entry["manager"].as_str().is_none_or(|manager| self.managers.contains(manager));
        entries.iter().filter(is_own).cloned().collect()
    }

    fn text_fits(&mut self, want: &str, got: &str, at: &str) -> Result<(), String> {
        let want = named(want);
        let want = repeated(&want).unwrap_or(want);
        let mut tried = self.clone();
        if tried.rest_fits(&want, got) {
            *self = tried;
            if want.ends_with("<5>") {
                self.names.insert(want, got.to_owned());
            }
            return Ok(());
        }
        Err(format!("{at} is {got:?}, recorded was {want:?}"))
    }

    /// Whether the rest of a text matches the rest of a pattern.
    fn rest_fits(&mut self, want: &str, got: &str) -> bool {
        let Some((start, mark)) = first_mark(want) else { return want == got };
        let (Some(rest), literal) = (got.strip_prefix(&want[..start]), &want[start..]) else { return false };
        let after = &literal[mark.len()..];
        if let Some(uid) = mark.strip_prefix("uid") {
            return self.uid_fits(&format!("uid{uid}"), after, rest) || literal_fits(mark, after, rest, self);
        }
        if let Some(time) = mark.strip_prefix("<time") {
            return self.time_fits(time, after, rest);
        }
        let ends = (0..=rest.len()).filter(|end| rest.is_char_boundary(*end));
        for end in ends {
            if mark == "<5>" && end != 5 {
                continue;
            }
            let mut tried = self.clone();
            if tried.rest_fits(after, &rest[end..]) {
                *self = tried;
                return true;
            }
        }
        false
    }

    fn uid_fits(&mut self, mark: &str, after: &str, rest: &str) -> bool {
        const LENGTH: usize = 36;
        let Some(uid) = rest.get(..LENGTH) else { return false };
        let is_uid = uid.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
        let known = self.uids.get(mark).cloned();
        let is_new = known.is_none() && !self.uids.values().any(|other| other == uid);
        if !is_uid || !(is_new || known.as_deref() == Some(uid)) {
            return false;
        }
        self.uids.insert(mark.to_owned(), uid.to_owned());
        self.rest_fits(after, &rest[LENGTH..])
    }

    /// `>`, `+30s>`, ` .6>`: the offset of the time, and the number of fraction digits.
    fn time_fits(&mut self, mark: &str, after: &str, rest: &str) -> bool {
        let mark = mark.trim_end_matches('>');
        let (ahead, digits) = mark.split_once(" .").unwrap_or((mark, "0"));
        let ahead: i64 = ahead.trim_matches(['+', 's']).parse().unwrap_or(0);
        let digits: usize = digits.parse().unwrap_or(0);
        let length = "2026-01-01T12:00:00Z".len() + if digits == 0 { 0 } else { digits + 1 };
        let Some(time) = rest.get(..length) else { return false };
        let expected = self.now.plus(ahead).to_string();
        let is_near = ahead != 0 || time[..11] == expected[..11];
        let is_right = if ahead == 0 { is_near } else { time[..19] == expected[..19] };
        is_right && time.ends_with('Z') && self.rest_fits(after, &rest[length..])
    }
}

/// A text with the names of this conversation. `NS` is the namespace, but not in `DNS`.
pub(crate) fn named(text: &str) -> String {
    let mut pieces = text.split("NS");
    let mut named = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_within_a_word = named.ends_with(|letter: char| letter.is_ascii_uppercase());
        named.push_str(if is_within_a_word { "NS" } else { NAMESPACE });
        named.push_str(piece);
    }
    named.replace("<server>", ADDRESS)
}

/// `uid7` may also be an ordinary word.
fn literal_fits(mark: &str, after: &str, rest: &str, marks: &mut Marks) -> bool {
    rest.strip_prefix(mark).is_some_and(|rest| marks.rest_fits(after, rest))
}

/// The first placeholder of a text, and its position.
fn first_mark(text: &str) -> Option<(usize, &str)> {
    const PLAIN: [&str; 14] = [
        "<words>",
        "<diff>",
        "<template>",
        "<formats>",
        "<rv>",
        "<scheme>",
        "<patched>",
        "<5>",
        "<present>",
        "<age>",
        "<token>",
        "<allocated>",
        "<JSON or protobuf>",
        "<continue>",
    ];
    let mut found: Option<(usize, &str)> = None;
    let mut consider = |start: usize, length: usize| {
        if found.is_none_or(|(earliest, _)| start < earliest) {
            found = Some((start, &text[start..start + length]));
        }
    };
    for mark in PLAIN {
        if let Some(start) = text.find(mark) {
            consider(start, mark.len());
        }
    }
    if let Some(start) = text.find("<time")
        && let Some(end) = text[start..].find('>')
    {
        consider(start, end + 1);
    }
    for (start, word) in text.match_indices("uid") {
        let after = start + word.len();
        let digits = text[after..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            consider(start, word.len() + digits);
        }
    }
    found
}

fn number_after(text: &str, prefix: &str) -> Option<u64> {
    text.strip_prefix(prefix)?.parse().ok()
}

/// `<300 times x>` written out.
fn repeated(text: &str) -> Option<String> {
    let middle = text.find(" times ")?;
    let start = text[..middle].rfind('<')?;
    let count: usize = text[start + 1..middle].parse().ok()?;
    let letter = text[middle + " times ".len()..].chars().next()?;
    let end = middle + " times ".len() + letter.len_utf8() + 1;
    Some(format!("{}{}{}", &text[..start], letter.to_string().repeat(count), &text[end..]))
}

/// Entries by operation, manager, version and subresource.
fn sorted(mut entries: Value) -> Value {
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    if let Some(entries) = entries.as_array_mut() {
        entries.sort_by_key(|entry| {
            ["operation", "manager", "apiVersion", "subresource"].map(|field| text(entry, field))
        });
    }
    entries
}

fn without_descriptions(columns: &[Value]) -> Value {
    let columns = columns.iter().cloned().map(|mut column| {
        column.as_object_mut().map(|column| column.remove("description"));
        column
    });
    columns.collect()
}

/// Conflicts with several managers are in any order; they were recorded sorted.
fn in_order(causes: &[Value]) -> Value {
    let mut causes = causes.to_vec();
    if causes.iter().all(|cause| cause["reason"] == "FieldManagerConflict") {
        causes.sort_by_key(|cause| cause["message"].as_str().unwrap_or_default().to_owned());
    }
    causes.into()
}

fn different(at: &str, want: &Value, got: &Value) -> String {
    format!("{at} is {got}, recorded was {want}")
}
