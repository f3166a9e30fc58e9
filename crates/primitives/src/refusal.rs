//! Errors of the API: the `Status` object and the field errors in it.

use std::collections::BTreeSet;
use std::fmt::Write;

use gantry_json::{Value, json};

use crate::StatusReason;

/// An error response, with the wording of Kubernetes' API.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The machine-readable reason.
    pub reason: StatusReason,
    /// The message.
    pub message: String,
    /// The details. `None` omits the field; empty details are written as `{}`. Boxed, because errors are rare and
    /// would make every result larger.
    pub details: Option<Box<Details>>,
}

/// The details of an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// The group; empty for the core group.
    pub group: String,
    /// The plural resource in most errors, the kind for invalid objects and delete preconditions.
    pub kind: String,
    /// The object's uid.
    pub uid: String,
    /// All causes.
    pub causes: Vec<Cause>,
    /// After how many seconds to retry; zero for never.
    pub retry_after_seconds: u32,
    /// The continue token of an expired list. It is in the metadata, and then there are no details.
    pub next_page: String,
}

/// A cause of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable reason.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// The field; empty if there is none.
    pub field: String,
}

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldError {
    /// The path of the field, such as `spec.template.spec.containers[0].name`.
    pub field: String,
    /// The type of error.
    pub wrong: Wrong,
}

/// The type of a field error; values are JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// It must be set; the text may be empty.
    Required(String),
    /// It must not have this value.
    Invalid {
        /// The value as JSON; empty if it is not shown.
        value: String,
        /// Why.
        why: String,
    },
    /// It has the wrong type.
    TypeInvalid {
        /// The value, or its type, as JSON.
        value: String,
        /// What it must be.
        why: String,
    },
    /// It must be one of these.
    NotSupported {
        /// The value as JSON.
        value: String,
        /// The supported values, quoted.
        supported: Vec<String>,
    },
    /// It must not be set here, or not to this value.
    Forbidden(String),
    /// It is a duplicate.
    Duplicate {
        /// The value as JSON; empty if it is not shown.
        value: String,
    },
    /// It is too long.
    TooLong {
        /// The limit with its unit: `262144 bytes`.
        most: String,
    },
    /// It has too many members.
    TooMany {
        /// How many there are.
        actual: usize,
        /// How many there may be.
        most: usize,
    },
    /// It refers to something that does not exist.
    NotFound {
        /// The value as JSON.
        value: String,
    },
    /// It could not be validated.
    Internal(String),
}

impl Refusal {
    /// A refusal without details.
    pub fn new(reason: StatusReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), details: None }
    }

    /// The same refusal with details.
    pub fn with(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }

    /// The request is invalid: 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusReason::BadRequest, message)
    }

    /// The media type of the body is not supported; `known` lists those that are: 415.
    pub fn unknown_format(known: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {known}"
        );
        Self::new(StatusReason::UnsupportedMediaType, message)
    }

    /// An unclassified server error: 500.
    pub fn server_error(message: impl Into<String>) -> Self {
        Self::new(StatusReason::Unclassified, message)
    }

    /// A classified server error: 500.
    pub fn internal(why: String) -> Self {
        let message = format!("Internal error occurred: {why}");
        let cause = Cause { reason: "", message: why, field: String::new() };
        Self::new(StatusReason::InternalError, message)
            .with(Details { causes: vec![cause], ..Details::default() })
    }

    /// The object is invalid: 422. Its group and kind are printed as `Deployment.apps` or `Pod`. Duplicate errors are
    /// reported once.
    pub fn invalid(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut seen = BTreeSet::new();
        let errors: Vec<_> = errors.iter().filter(|error| seen.insert(*error)).collect();
        let group_kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let mut message = format!("{group_kind} \"{name}\" is invalid: ");
        // There may be megabytes of errors: they are written once.
        let (open, close) = if errors.len() == 1 { ("", "") } else { ("[", "]") };
        message.push_str(open);
        for (index, error) in errors.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let _ = write!(message, "{comma}{error}");
        }
        message.push_str(close);
        let details = Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: errors.into_iter().map(FieldError::cause).collect(),
            ..Details::default()
        };
        Self::new(StatusReason::Invalid, message).with(details)
    }

    /// The `Status` object.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.reason.code(),
        });
        let reason = self.reason.name();
        if !reason.is_empty() {
            status["reason"] = json!(reason);
        }
        match &self.details {
            Some(details) if !details.next_page.is_empty() => {
                status["metadata"]["continue"] = json!(details.next_page);
            }
            Some(details) => status["details"] = details.render(),
            None => {}
        }
        status
    }
}

impl Details {
    fn render(&self) -> Value {
        let mut details = json!({});
        for (key, text) in
            [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)]
        {
            if !text.is_empty() {
                details[key] = json!(text);
            }
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(|cause| {
                let mut rendered = json!({"message": cause.message});
                if !cause.reason.is_empty() {
                    rendered["reason"] = json!(cause.reason);
                }
                if !cause.field.is_empty() {
                    rendered["field"] = json!(cause.field);
                }
                rendered
            });
            details["causes"] = causes.collect();
        }
        if self.retry_after_seconds > 0 {
            details["retryAfterSeconds"] = json!(self.retry_after_seconds);
        }
        details
    }
}

/// The size of the errors of an object after which further ones are left out. Every error shows a value, which may be
/// as large as the object, or is many times as large as the value; a response with all of them would not be read.
pub const ERROR_BYTES_MAX: usize = 8 << 20;

/// The approximate size of the fixed text of an error, in a message and in a cause.
const FIXED_WORDS_BYTES: usize = 96;

impl FieldError {
    /// The approximate size of its text.
    pub fn shown_bytes(&self) -> usize {
        let wrong = match &self.wrong {
            Wrong::Required(why) | Wrong::Forbidden(why) | Wrong::Internal(why) => why.len(),
            Wrong::Invalid { value, why } | Wrong::TypeInvalid { value, why } => value.len() + why.len(),
            Wrong::NotSupported { value, supported } => {
                value.len() + supported.iter().map(String::len).sum::<usize>()
            }
            Wrong::Duplicate { value } | Wrong::NotFound { value } => value.len(),
            Wrong::TooLong { most } => most.len(),
            Wrong::TooMany { .. } => 0,
        };
        FIXED_WORDS_BYTES + self.field.len() + wrong
    }

    /// A missing field.
    pub fn required(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { field: field.into(), wrong: Wrong::Required(why.into()) }
    }

    /// A field with an invalid value.
    pub fn invalid(field: impl Into<String>, value: &Value, why: impl Into<String>) -> Self {
        Self { field: field.into(), wrong: Wrong::Invalid { value: shown(value), why: why.into() } }
    }

    /// A field with a value of the wrong type.
    pub fn type_invalid(field: impl Into<String>, value: &Value, why: impl Into<String>) -> Self {
        Self { field: field.into(), wrong: Wrong::TypeInvalid { value: shown(value), why: why.into() } }
    }

    /// A field that must not be set to this value.
    pub fn forbidden(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { field: field.into(), wrong: Wrong::Forbidden(why.into()) }
    }

    /// A field whose value is not one of these.
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        let supported = supported.iter().map(|word| quoted(word)).collect();
        Self { field: field.into(), wrong: Wrong::NotSupported { value: shown(value), supported } }
    }

    /// A duplicate value.
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self { field: field.into(), wrong: Wrong::Duplicate { value: shown(value) } }
    }

    /// The message without the field.
    pub fn message(&self) -> String {
        match &self.wrong {
            Wrong::Required(why) if why.is_empty() => "Required value".to_owned(),
            Wrong::Required(why) => format!("Required value: {why}"),
            Wrong::Invalid { value, why } if value.is_empty() => format!("Invalid value: {why}"),
            Wrong::Invalid { value, why } if why.is_empty() => format!("Invalid value: {value}"),
            Wrong::Invalid { value, why } | Wrong::TypeInvalid { value, why } => {
                format!("Invalid value: {value}: {why}")
            }
            Wrong::NotSupported { value, supported } => {
                format!("Unsupported value: {value}: supported values: {}", supported.join(", "))
            }
            Wrong::Forbidden(why) if why.is_empty() => "Forbidden".to_owned(),
            Wrong::Forbidden(why) => format!("Forbidden: {why}"),
            Wrong::Duplicate { value } if value.is_empty() => "Duplicate value".to_owned(),
            Wrong::Duplicate { value } => format!("Duplicate value: {value}"),
            Wrong::TooLong { most } => format!("Too long: may not be more than {most}"),
            Wrong::TooMany { actual, most } => {
                let items = if *most == 1 { "item" } else { "items" };
                format!("Too many: {actual}: must have at most {most} {items}")
            }
            Wrong::NotFound { value } => format!("Not found: {value}"),
            Wrong::Internal(why) => format!("Internal error: {why}"),
        }
    }

    fn cause(&self) -> Cause {
        let reason = match &self.wrong {
            Wrong::Required(_) => "FieldValueRequired",
            Wrong::Invalid { .. } => "FieldValueInvalid",
            Wrong::TypeInvalid { .. } => "FieldValueTypeInvalid",
            Wrong::NotSupported { .. } => "FieldValueNotSupported",
            Wrong::Forbidden(_) => "FieldValueForbidden",
            Wrong::Duplicate { .. } => "FieldValueDuplicate",
            Wrong::TooLong { .. } => "FieldValueTooLong",
            Wrong::TooMany { .. } => "FieldValueTooMany",
            Wrong::NotFound { .. } => "FieldValueNotFound",
            Wrong::Internal(_) => "InternalError",
        };
        Cause { reason, message: self.message(), field: self.field.clone() }
    }
}

/// A value as Go prints it in messages: strings quoted, anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) => match (number.is_f64(), number.as_f64()) {
            (true, Some(real)) => go_float(real),
            _ => number.to_string(),
        },
        Value::Bool(_) | Value::Null => value.to_string(),
        other => {
            let json = other.to_string();
            json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
        }
    }
}

/// A number as Go prints it: with an exponent from a million up, and below a ten thousandth.
pub fn go_float(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => number.to_string(),
    }
}

/// A string quoted as in Go.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            control if control.is_ascii_control() => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(control));
            }
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            printable => quoted.push(printable),
        }
    }
    quoted.push('"');
    quoted
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.message())
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A0.13: several errors are in brackets, and each is a cause.
    #[test]
    fn an_invalid_object_names_every_field() {
        let replicas = FieldError::invalid("spec.replicas", &json!(-1), "must be greater than or equal to 0");
        let selector = FieldError::required("spec.selector", "");
        let one = Refusal::invalid("Deployment", "apps", "web", std::slice::from_ref(&replicas)).status();
        assert_eq!(
            one["message"],
            "Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
        let two = Refusal::invalid("Pod", "", "web", &[replicas, selector]).status();
        assert_eq!(
            two["message"],
            "Pod \"web\" is invalid: [spec.replicas: Invalid value: -1: must be greater than or equal to 0, \
             spec.selector: Required value]"
        );
        assert_eq!(
            two["details"]["causes"][1],
            json!({"reason": "FieldValueRequired", "message": "Required value", "field": "spec.selector"})
        );
        assert_eq!(two["code"], 422);
        assert_eq!(two["details"].get("group"), None);
    }

    /// A0.13: strings are quoted as in Go, everything else is JSON.
    #[test]
    fn values_are_formatted_as_by_go() {
        let shown = |value: Value| FieldError::invalid("f", &value, "no").message();
        assert_eq!(shown(json!("a\x07<b>\u{1}")), "Invalid value: \"a\\a<b>\\x01\": no");
        assert_eq!(shown(json!({"a": "<b>"})), "Invalid value: {\"a\":\"\\u003cb\\u003e\"}: no");
        assert_eq!(shown(json!(-1)), "Invalid value: -1: no");
        assert_eq!(shown(json!(2.5)), "Invalid value: 2.5: no");
        assert_eq!(shown(json!(100_000.0)), "Invalid value: 100000: no");
        assert_eq!(shown(json!(1_250_000.0)), "Invalid value: 1.25e+06: no");
        assert_eq!(shown(json!(0.000_01)), "Invalid value: 1e-05: no");
    }

    #[test]
    fn an_unclassified_error_has_neither_reason_nor_details() {
        let status = Refusal::server_error("unknown patch type").status();
        assert_eq!((status.get("reason"), status.get("details")), (None, None));
    }
}
