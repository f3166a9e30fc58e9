//! Options of requests for logs.

use gantry_json::json;

use crate::paging::{flag, integer};
use crate::{FieldError, Refusal};

/// Which log lines of a container, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// The container; empty if the pod has only one.
    pub container: String,
    /// Continue as more is written.
    pub follow: bool,
    /// The log of the container before the last restart.
    pub previous: bool,
    /// Prefix every line with its time.
    pub timestamps: bool,
    /// Only lines of the last so many seconds.
    pub since_seconds: Option<i64>,
    /// Only lines since this time, as the client wrote it.
    pub since_time: Option<String>,
    /// Only the last so many lines.
    pub tail_lines: Option<i64>,
    /// Only the first so many bytes.
    pub limit_bytes: Option<i64>,
}

impl LogOptions {
    /// Parses the options of a request for the log of this pod.
    pub fn read(query: &[(String, String)], pod_name: &str) -> Result<Self, Refusal> {
        let first = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let number = |name: &str| first(name).map(integer).transpose();
        let text = |name: &str| first(name).unwrap_or_default();
        let is_set = |name: &str| first(name).is_some_and(flag);
        let options = Self {
            container: text("container").to_owned(),
            follow: is_set("follow"),
            previous: is_set("previous"),
            timestamps: is_set("timestamps"),
            since_seconds: number("sinceSeconds")?,
            since_time: Some(text("sinceTime").to_owned()).filter(|time| !time.is_empty()),
            tail_lines: number("tailLines")?,
            limit_bytes: number("limitBytes")?,
        };
        let errors = options.errors();
        if errors.is_empty() {
            Ok(options)
        } else {
            Err(Refusal::invalid("PodLogOptions", "", pod_name, &errors))
        }
    }

    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut at_least = |field: &str, given: Option<i64>, least: i64, why: &str| {
            if let Some(given) = given.filter(|given| *given < least) {
                errors.push(FieldError::invalid(field, &json!(given), why));
            }
        };
        at_least("tailLines", self.tail_lines, 0, "must be greater than or equal to 0");
        at_least("limitBytes", self.limit_bytes, 1, "must be greater than 0");
        if self.since_time.is_none() {
            at_least("sinceSeconds", self.since_seconds, 1, "must be greater than 0");
        } else if self.since_seconds.is_some() {
            errors.push(FieldError::forbidden(
                "",
                "at most one of `sinceTime` or `sinceSeconds` may be specified",
            ));
        }
        errors
    }
}
