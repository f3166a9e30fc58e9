//! What went wrong, in the lines that kubectl would print about it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::field::{list, text};

/// Why a command did not do all that was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The server said no.
    Refused(Refused),
    /// There is no such type of resource.
    UnknownType(String),
    /// Nobody listens at the server's address.
    NobodyThere {
        /// Host and port.
        address: String,
    },
    /// The server cannot be reached, for another reason.
    Unreachable(String),
    /// Anything else, in one or more lines.
    Other(String),
    /// A text that stands as it is, without `error: ` before it.
    Bare(String),
    /// The reader of the output went away; it has seen what it wanted to see.
    NobodyReads,
    /// Several things.
    Several(Vec<Failure>),
}

/// A `Status` that is not a success.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The whole answer.
    pub status: Value,
    /// What was being done, to stand before the message.
    pub doing: String,
}

impl Failure {
    /// A failure that is told in one line of its own.
    pub fn other(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }

    /// An object without a name, which nobody is asked about.
    pub(crate) fn unnamed() -> Self {
        let status = json!({"message": "resource name may not be empty"});
        Self::Refused(Refused { status, doing: String::new() })
    }

    /// What came of several attempts: nothing, one failure, or all of them. Only a failure alone says `error: `.
    pub fn all(failures: Vec<Self>) -> Result<(), Self> {
        let unlabelled = |failure| match failure {
            Self::Other(message) => Self::Bare(message),
            failure => failure,
        };
        match failures.len() {
            0 => Ok(()),
            1 => failures.into_iter().next().map_or(Ok(()), Err),
            _ => Err(Self::Several(failures.into_iter().map(unlabelled).collect())),
        }
    }

    /// The same failure, with words before the server's message (K0.4); what is invalid says enough by itself.
    pub fn while_doing(self, doing: &str) -> Self {
        match self {
            Self::Refused(refused) if refused.reason() != "Invalid" => {
                Self::Refused(Refused { doing: format!("{doing}: {}", refused.doing), ..refused })
            }
            other => other,
        }
    }

    /// Whether the server has no such object.
    pub fn is_not_found(&self) -> bool {
        self.reason() == Some("NotFound")
    }

    /// The reason that the server gave.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Refused(refused) => Some(refused.reason()),
            _ => None,
        }
    }

    /// What the server said, or what would be printed.
    pub fn message(&self) -> String {
        match self {
            Self::Refused(refused) => refused.message().to_owned(),
            Self::Other(message) | Self::Bare(message) => message.clone(),
            other => other.lines().trim_end().to_owned(),
        }
    }

    /// What is printed on standard error (K0.3).
    pub fn lines(&self) -> String {
        match self {
            Self::Refused(refused) => refused.lines(),
            Self::UnknownType(name) => format!("error: the server doesn't have a resource type \"{name}\"\n"),
            Self::NobodyThere { address } => format!(
                "The connection to the server {address} was refused - did you specify the right host or port?\n"
            ),
            Self::Unreachable(why) => format!("Unable to connect to the server: {why}\n"),
            Self::Other(message) if message.starts_with("error: ") => format!("{message}\n"),
            Self::Other(message) => format!("error: {message}\n"),
            Self::Bare(message) => format!("{message}\n"),
            Self::NobodyReads => String::new(),
            Self::Several(failures) => failures.iter().map(Self::lines).collect(),
        }
    }
}

impl Refused {
    fn reason(&self) -> &str {
        text(&self.status, "/reason")
    }

    fn message(&self) -> &str {
        text(&self.status, "/message")
    }

    fn lines(&self) -> String {
        let doing = &self.doing;
        match self.reason() {
            "Invalid" => self.invalid(),
            "Unauthorized" => format!(
                "error: You must be logged in to the server ({})\n\
                 hint: the token or certificate is missing, wrong or expired; check the user of the kubeconfig\n",
                self.message()
            ),
            "" if self.status["kind"] == "Status" => {
                format!("Error from server: {doing}{}\n", self.message())
            }
            // What is no API server says nothing of the kind.
            "" => format!("error: {doing}{}\n", self.message()),
            reason => format!("Error from server ({reason}): {doing}{}\n", self.message()),
        }
    }

    /// What is wrong with an object, field by field.
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
        Failure::Refused(Refused { status, doing: String::new() })
    }

    /// K0.3: one cause stands in the line, several below it, each once.
    #[test]
    fn an_invalid_object_is_told_field_by_field() {
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
        let nobody = json!({"reason": "Invalid", "message": "m", "details": {"causes": [{"field": "patch", "message": "no"}]}});
        assert_eq!(refused(nobody).lines(), "The request is invalid: patch: no\n");
    }

    /// K0.3, K0.4: the reason, what was being done, and the message.
    #[test]
    fn a_refusal_names_its_reason_and_the_file() {
        let status = json!({"reason": "NotFound", "message": "namespaces \"a\" not found"});
        let failure = refused(status).while_doing("error when creating \"s.yaml\"");
        assert_eq!(
            failure.lines(),
            "Error from server (NotFound): error when creating \"s.yaml\": namespaces \"a\" not found\n"
        );
    }

    /// K0.3: a server that has no reason to give is still quoted as the server.
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
            Failure::NobodyThere { address: "127.0.0.1:1".into() },
        ]);
        assert_eq!(
            both.lines(),
            "error: once\nerror: the server doesn't have a resource type \"x\"\n\
             The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
        );
    }
}
