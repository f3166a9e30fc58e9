//! The options of lists and watches: parsed from the query and validated, with pages and resource versions.
//!
//! A server executes a [`ListPlan`] or a [`WatchPlan`] on its store.

mod token;

use std::num::NonZeroU64;

use gantry_json::{Value, json};

pub use token::Continue;

use crate::selector::fields::Terms;
use crate::selector::{LabelSelector, Selectable, Selection};
use crate::{Cause, Details, FieldError, Refusal, StatusReason};

/// The options of a list, a watch or a deletion of a collection, validated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// The selected objects.
    pub selection: Selection,
    /// The timeout in seconds.
    pub timeout_seconds: Option<i64>,
    /// Whether it is a watch.
    pub watch: bool,
    /// Whether the client accepts bookmarks.
    pub bookmarks: bool,
    limit: i64,
    token: String,
    version: String,
    version_match: String,
    initial_events: Option<bool>,
}

/// Which state of the store a list returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListPlan {
    /// The most recent one.
    Latest,
    /// One at least as new as this version; zero is any.
    AtLeast(u64),
    /// This one.
    Exactly(u64),
    /// The page after another one.
    Continue(Continue),
}

/// The pages after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The start of the next page.
    pub next: Continue,
    /// How many objects remain, whether they match a selector or not.
    pub remaining: u64,
}

/// Where a watch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchPlan {
    /// After this version.
    After(u64),
    /// Now.
    FromNow,
    /// With all existing objects, in a state at least as new as this version, and then their changes.
    Initial {
        /// Zero is any, but never older than the state known when the watch starts.
        at_least: u64,
        /// Whether a bookmark marks the end of the initial objects.
        end_bookmark: bool,
    },
}

impl ListOptions {
    /// Parses the query of a request for objects of a kind with these fields; of a repeated parameter the first is used.
    ///
    /// Errors are reported in Kubernetes' order: numbers, selectors, contradictions, fields.
    pub fn read<S: AsRef<str>>(query: &[(S, S)], selectable: Selectable<'_>) -> Result<Self, Refusal> {
        let first =
            |name: &str| query.iter().find(|(key, _)| key.as_ref() == name).map(|(_, value)| value.as_ref());
        let owned = |name: &str| first(name).unwrap_or("").to_owned();
        let timeout_seconds = first("timeoutSeconds").map(integer).transpose()?;
        let limit = first("limit").map(integer).transpose()?.unwrap_or(0);
        let labels = LabelSelector::parse(first("labelSelector").unwrap_or(""))?;
        let terms = Terms::parse(first("fieldSelector").unwrap_or(""))?;
        let mut options = Self {
            selection: Selection { labels, ..Selection::default() },
            timeout_seconds,
            watch: first("watch").is_some_and(flag),
            bookmarks: first("allowWatchBookmarks").is_some_and(flag),
            limit,
            token: owned("continue"),
            version: owned("resourceVersion"),
            version_match: owned("resourceVersionMatch"),
            initial_events: first("sendInitialEvents").map(flag),
        };
        let wrong = if options.watch { options.wrong_for_watch() } else { options.wrong_for_list() };
        if !wrong.is_empty() {
            return Err(Refusal::invalid("ListOptions", "meta.k8s.io", "", &wrong));
        }
        options.selection.fields = terms.of_kind(selectable)?;
        Ok(options)
    }

    /// The state that a list returns.
    pub fn list_plan(&self) -> Result<ListPlan, Refusal> {
        if !self.token.is_empty() {
            let page = Continue::decode(&self.token)?;
            return match self.version.as_str() {
                "" | "0" => Ok(ListPlan::Continue(page)),
                _ => Err(Refusal::bad_request(
                    "specifying resource version is not allowed when using continue",
                )),
            };
        }
        if self.version.is_empty() {
            return Ok(ListPlan::Latest);
        }
        let version = parse_version(&self.version)
            .map_err(|wrong| Refusal::bad_request(format!("invalid resource version: {wrong}")))?;
        Ok(match self.version_match.as_str() {
            "Exact" => ListPlan::Exactly(version),
            "" if self.limit > 0 && version > 0 => ListPlan::Exactly(version),
            _ => ListPlan::AtLeast(version),
        })
    }

    /// The most objects of a page; `None` is no limit.
    ///
    /// A list of any state (`resourceVersion=0`) is not paged, as in Kubernetes.
    pub fn page_size(&self) -> Option<NonZeroU64> {
        let any_state = self.version == "0" && self.token.is_empty();
        let limit = u64::try_from(self.limit).ok().filter(|_| !any_state)?;
        NonZeroU64::new(limit)
    }

    /// The metadata of a list at this version. The number of remaining objects is only known without selectors.
    pub fn metadata(&self, version: u64, rest: Option<&Rest>) -> Value {
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if let Some(rest) = rest {
            metadata["continue"] = json!(rest.next.encode());
            if self.selection.is_everything() {
                metadata["remainingItemCount"] = json!(rest.remaining);
            }
        }
        metadata
    }

    /// Where a watch starts.
    pub fn watch_plan(&self) -> Result<WatchPlan, Refusal> {
        let version = get_version(&self.version)?;
        Ok(match (self.initial_events, version) {
            (Some(true), at_least) => WatchPlan::Initial { at_least, end_bookmark: self.bookmarks },
            (None, 0) => WatchPlan::Initial { at_least: 0, end_bookmark: self.bookmarks },
            (Some(false), 0) => WatchPlan::FromNow,
            (_, version) => WatchPlan::After(version),
        })
    }

    /// The list with which a watch starts: the same selection, the latest state, unpaged.
    pub fn initial(&self) -> Self {
        Self { selection: self.selection.clone(), ..Self::default() }
    }

    fn wrong_for_list(&self) -> Vec<FieldError> {
        let mut wrong = Vec::new();
        if !self.version_match.is_empty() {
            if self.version.is_empty() {
                wrong.push(forbidden_match("is forbidden unless resourceVersion is provided"));
            }
            if !self.token.is_empty() {
                wrong.push(forbidden_match("is forbidden when continue is provided"));
            }
            if !["Exact", "NotOlderThan"].contains(&self.version_match.as_str()) {
                wrong.push(self.unsupported_match(&["Exact", "NotOlderThan", ""]));
            }
            if self.version_match == "Exact" && self.version == "0" {
                wrong.push(forbidden_match("\"exact\" is forbidden for resourceVersion \"0\""));
            }
        }
        if self.initial_events.is_some() {
            wrong.push(FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        wrong
    }

    fn wrong_for_watch(&self) -> Vec<FieldError> {
        let mut wrong = Vec::new();
        if self.initial_events.is_some() && self.version_match != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            wrong.push(FieldError::forbidden("resourceVersionMatch", why));
        }
        if !self.version_match.is_empty() {
            if self.initial_events.is_none() {
                wrong.push(forbidden_match("is forbidden for watch unless sendInitialEvents is provided"));
            }
            if self.version_match != "NotOlderThan" {
                wrong.push(self.unsupported_match(&["NotOlderThan"]));
            }
            if !self.token.is_empty() {
                wrong.push(forbidden_match("is forbidden when continue is provided"));
            }
        }
        wrong
    }

    fn unsupported_match(&self, supported: &[&str]) -> FieldError {
        let value = Value::from(self.version_match.as_str());
        FieldError::not_supported("resourceVersionMatch", &value, supported)
    }
}

/// The minimal `resourceVersion` of a get or a watch; absent and zero are any.
pub fn get_version(text: &str) -> Result<u64, Refusal> {
    if text.is_empty() {
        return Ok(0);
    }
    parse_version(text).map_err(|wrong| Refusal::server_error(wrong.to_string()))
}

/// The error about a version that the store does not reach in time: 504.
pub fn too_large(wanted: u64, current: u64) -> Refusal {
    let cause = Cause {
        reason: "ResourceVersionTooLarge",
        message: "Too large resource version".to_owned(),
        field: String::new(),
    };
    let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
    let details = Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() };
    Refusal::new(StatusReason::Timeout, message).with(details)
}

/// The error about a list of a compacted version: 410.
pub fn expired_list() -> Refusal {
    expired("The resourceVersion for the provided list is too old.")
}

/// The error about a page of a compacted version: 410, with a token that continues with the latest state.
pub fn expired_page(page: &Continue) -> Refusal {
    let next_page = Continue { version: None, ..page.clone() }.encode();
    expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of \
         the results. Continuing with the provided token results in an inconsistent list - objects that were \
         created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    )
    .with(Details { next_page, ..Details::default() })
}

/// The error about a watch from a compacted version; sent as an ERROR event.
pub fn expired_watch(wanted: u64, oldest: u64) -> Refusal {
    expired(format!("too old resource version: {wanted} ({oldest})"))
}

/// A boolean query value: everything but `false` and `0` is true, including the empty string.
pub fn flag(text: &str) -> bool {
    text != "0" && !text.eq_ignore_ascii_case("false")
}

/// An integer query value.
pub fn integer(text: &str) -> Result<i64, Refusal> {
    text.parse().map_err(|problem| Refusal::bad_request(number_problem("ParseInt", text, &problem)))
}

fn parse_version(text: &str) -> Result<u64, FieldError> {
    // Unlike Rust, Go accepts no sign here.
    let parsed = if text.starts_with('+') { "".parse() } else { text.parse::<u64>() };
    parsed.map_err(|problem| {
        let why = number_problem("ParseUint", text, &problem);
        FieldError::invalid("resourceVersion", &Value::from(text), why)
    })
}

fn number_problem(function: &str, text: &str, problem: &std::num::ParseIntError) -> String {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let what = match problem.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    format!("strconv.{function}: parsing {}: {what}", Value::from(text))
}

fn forbidden_match(why: &str) -> FieldError {
    FieldError::forbidden("resourceVersionMatch", format!("resourceVersionMatch {why}"))
}

fn expired(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusReason::Expired, message)
}
