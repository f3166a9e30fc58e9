//! Failures of commands, with kubectl's messages.

use std::error::Error as _;
use std::fmt::Write as _;
use std::sync::Arc;

use gantry_client::{RefusalKind, RequestError, kind_of_status};
use gantry_json::{Value, json};

use crate::connection_error;
use crate::field::{list, text};

/// The failure of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The server returned an error status.
    Status(StatusError),
    /// The resource type is unknown.
    UnknownType(String),
    /// The connection was refused.
    ConnectionRefused {
        /// Host and port.
        address: String,
    },
    /// The server cannot be reached, for another reason.
    Unreachable(String),
    /// Anything else, in one or more lines.
    Other(String),
    /// A message without the prefix `error: `.
    Verbatim(String),
    /// The reader of the output closed the pipe, which is not an error.
    BrokenPipe,
    /// Several failures.
    Several(Vec<Failure>),
}

/// A `Status` that is not a success.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusError {
    /// The `Status` object.
    pub status: Value,
    /// Its classification.
    pub kind: RefusalKind,
    /// The operation that failed, as a prefix of the message.
    pub doing: String,
}

impl Failure {
    /// A failure with this message.
    pub fn other(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }

    /// An error status that is not the response to a request.
    pub fn of_status(status: Value) -> Self {
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
        Self::Status(StatusError { kind: kind_of_status(code, &status), status, doing: String::new() })
    }

    /// The failure of a request to this server.
    pub fn of_request(error: RequestError, server: &str) -> Self {
        match error.status {
            Some(status) => {
                let (status, kind) = (Arc::unwrap_or_clone(status), error.refusal.kind);
                Self::Status(StatusError { status, kind, doing: String::new() })
            }
            None => connection_error::explain(error.source().unwrap_or(&error), server),
        }
    }

    /// An object without a name, which is rejected before a request is sent.
    pub(crate) fn unnamed() -> Self {
        Self::of_status(json!({"message": "resource name may not be empty"}))
    }

    /// Combines failures. Only a single failure is printed with `error: `.
    pub fn all(failures: Vec<Self>) -> Result<(), Self> {
        let unlabelled = |failure| match failure {
            Self::Other(message) => Self::Verbatim(message),
            failure => failure,
        };
        match failures.len() {
            0 => Ok(()),
            1 => failures.into_iter().next().map_or(Ok(()), Err),
            _ => Err(Self::Several(failures.into_iter().map(unlabelled).collect())),
        }
    }

    /// Adds a prefix to the server's message (K0.4), except for `Invalid` errors.
    pub fn while_doing(self, doing: &str) -> Self {
        match self {
            Self::Status(refused) if refused.kind != RefusalKind::Invalid => {
                Self::Status(StatusError { doing: format!("{doing}: {}", refused.doing), ..refused })
            }
            other => other,
        }
    }

    /// Whether the server has no such object.
    pub fn is_not_found(&self) -> bool {
        self.kind() == Some(RefusalKind::NotFound)
    }

    /// The classification of the server's error.
    pub fn kind(&self) -> Option<RefusalKind> {
        match self {
            Self::Status(refused) => Some(refused.kind),
            _ => None,
        }
    }

    /// The message of the server, or the text that would be printed.
    pub fn message(&self) -> String {
        match self {
            Self::Status(refused) => refused.message().to_owned(),
            Self::Other(message) | Self::Verbatim(message) => message.clone(),
            other => other.lines().trim_end().to_owned(),
        }
    }

    /// What is printed on standard error (K0.3).
    pub fn lines(&self) -> String {
        match self {
            Self::Status(refused) => refused.lines(),
            Self::UnknownType(name) => format!("error: the server doesn't have a resource type \"{name}\"\n"),
            Self::ConnectionRefused { address } => format!(
                "The connection to the server {address} was refused - did you specify the right host or port?\n"
            ),
            Self::Unreachable(why) => format!("Unable to connect to the server: {why}\n"),
            Self::Other(message) if message.starts_with("error: ") => format!("{message}\n"),
            Self::Other(message) => format!("error: {message}\n"),
            Self::Verbatim(message) => format!("{message}\n"),
            Self::BrokenPipe => String::new(),
            Self::Several(failures) => failures.iter().map(Self::lines).collect(),
        }
    }
}

impl StatusError {
    fn message(&self) -> &str {
        text(&self.status, "/message")
    }

    fn lines(&self) -> String {
        let doing = &self.doing;
        match (self.kind, text(&self.status, "/reason")) {
            (RefusalKind::Invalid, _) => self.invalid(),
            (RefusalKind::Unauthorized, _) => format!(
                "error: You must be logged in to the server ({})\n\
                 hint: the token or certificate is missing, wrong or expired; check the user of the kubeconfig\n",
                self.message()
            ),
            (_, "") if self.status["kind"] == "Status" => {
                format!("Error from server: {doing}{}\n", self.message())
            }
            // The server is not an API server.
            (_, "") => format!("error: {doing}{}\n", self.message()),
            (_, reason) => format!("Error from server ({reason}): {doing}{}\n", self.message()),
        }
    }

    /// The errors of an invalid object, field by field.
    fn invalid(&self) -> String {
        let (kind, name) = (text(&self.status, "/details/kind"), text(&self.status, "/details/name"));
        let subject = match (kind, name) {
            ("", _) | (_, "") => "The request is invalid".to_owned(),
            (kind, name) => format!("The {kind} \"{name}\" is invalid"),
        };
        let mut causes = Vec::new();
        for cause in list(&self.status, "/details/causes") {
            let (field, message) = (text(cause, "/field"), text(cause, "/message"));
            let line = if field.is_empty() { message.to_owned() } else { format!("{field}: {message}") };
            if !causes.contains(&line) {
                causes.push(line);
            }
        }
        match causes.as_slice() {
            [] if kind.is_empty() || name.is_empty() => format!("{subject}: {}\n", self.message()),
            [] => format!("{subject}\n"),
            [only] => format!("{subject}: {only}\n"),
            several => several.iter().fold(format!("{subject}: \n"), |mut lines, cause| {
                // Writing to a string does not fail.
                let _ = writeln!(lines, "* {cause}");
                lines
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: Value) -> Failure {
        Failure::of_status(status)
    }

    /// K0.3: a single cause is printed on the first line, several below it, each once.
    #[test]
    fn an_invalid_object_is_reported_field_by_field() {
        let status = |causes: Value| json!({"reason": "Invalid", "message": "m", "details": {"kind": "Deployment", "name": "x", "causes": causes}});
        let one = json!([{"field": "spec.a", "message": "Required value"}]);
        assert_eq!(refused(status(one)).lines(), "The Deployment \"x\" is invalid: spec.a: Required value\n");
        let two = json!([
            {"field": "spec.a", "message": "Required value"}, {"field": "spec.b", "message": "wrong"},
            {"field": "spec.a", "message": "Required value"}]);
        assert_eq!(
            refused(status(two)).lines(),
            "The Deployment \"x\" is invalid: \n* spec.a: Required value\n* spec.b: wrong\n"
        );
        let without_subject = json!({"reason": "Invalid", "message": "m", "details": {"causes": [{"field": "patch", "message": "no"}]}});
        assert_eq!(refused(without_subject).lines(), "The request is invalid: patch: no\n");
    }

    /// K0.3, K0.4: the reason, the failed operation, and the message.
    #[test]
    fn a_refusal_names_its_reason_and_the_file() {
        let status = json!({"reason": "NotFound", "message": "namespaces \"a\" not found"});
        let failure = refused(status).while_doing("error when creating \"s.yaml\"");
        assert_eq!(
            failure.lines(),
            "Error from server (NotFound): error when creating \"s.yaml\": namespaces \"a\" not found\n"
        );
    }

    /// K0.3: an error without a reason is printed as the server's, too.
    #[test]
    fn a_refusal_without_a_reason_is_the_servers_too() {
        let status = json!({"kind": "Status", "message": "field not declared"});
        assert_eq!(refused(status).lines(), "Error from server: field not declared\n");
    }

    /// K0.3: several errors have a line each, without doubling the prefix.
    #[test]
    fn several_failures_have_a_line_each() {
        let both = Failure::Several(vec![
            Failure::other("error: once"),
            Failure::UnknownType("x".into()),
            Failure::ConnectionRefused { address: "127.0.0.1:1".into() },
        ]);
        assert_eq!(
            both.lines(),
            "error: once\nerror: the server doesn't have a resource type \"x\"\n\
             The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
        );
    }
}
