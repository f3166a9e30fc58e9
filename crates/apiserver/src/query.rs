//! Query parameters, and the options of writes.

use gantry_formats::percent;
use gantry_json::json;
use gantry_managed_fields::apply::OnConflict;
use gantry_primitives::{FieldError, Wrong};
use gantry_registry::admission::services::AllocationMode;

use crate::error::ApiError;

/// The query parameters of a request, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(pub(crate) Vec<(String, String)>);

/// The handling of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validation {
    Ignore,
    Warn,
    Strict,
}

/// The options of a write.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) validation: Validation,
    pub(crate) manager: String,
    /// Whether the client named the manager explicitly.
    pub(crate) manager_given: bool,
    pub(crate) force: Option<bool>,
}

const MANAGER_LENGTH_MAX: usize = 128;

impl Query {
    pub(crate) fn parse(query: &str) -> Self {
        Self(percent::query_parameters(query))
    }

    /// The first value of a parameter.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.first(name).is_some_and(gantry_registry::paging::flag)
    }

    /// Parses the options of a write; `kind` is their kind, such as `CreateOptions`.
    pub(crate) fn write_options(&self, kind: &str, user_agent: &str) -> Result<WriteOptions, ApiError> {
        let mut errors = Vec::new();
        let dry_run: Vec<&str> =
            self.0.iter().filter(|(key, _)| key == "dryRun").map(|(_, value)| value.as_str()).collect();
        if dry_run.iter().any(|value| *value != "All") {
            errors.push(FieldError::not_supported("dryRun", &json!(dry_run), &["All"]));
        }
        let given = self.first("fieldManager").unwrap_or_default();
        if given.len() > MANAGER_LENGTH_MAX {
            let most = format!("{MANAGER_LENGTH_MAX} bytes");
            errors.push(FieldError { field: "fieldManager".to_owned(), wrong: Wrong::TooLong { most } });
        }
        if let Some((at, letter)) = given.char_indices().find(|(_, letter)| letter.is_control()) {
            let why = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
            errors.push(FieldError::invalid("fieldManager", &json!(given), why));
        }
        let validation = match self.first("fieldValidation").unwrap_or_default() {
            "" | "Warn" => Validation::Warn,
            "Ignore" => Validation::Ignore,
            "Strict" => Validation::Strict,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported("fieldValidation", &json!(other), &supported));
                Validation::Warn
            }
        };
        if !errors.is_empty() {
            return Err(ApiError::invalid(kind, "meta.k8s.io", "", &errors));
        }
        let force = self.first("force").map(gantry_registry::paging::flag);
        let manager = if given.is_empty() { manager_of(user_agent) } else { given.to_owned() };
        Ok(WriteOptions {
            dry_run: !dry_run.is_empty(),
            validation,
            manager,
            manager_given: !given.is_empty(),
            force,
        })
    }
}

impl WriteOptions {
    /// Whether addresses and ports of services are allocated or only checked.
    pub(crate) fn allotment(&self) -> AllocationMode {
        if self.dry_run { AllocationMode::DryRun } else { AllocationMode::Real }
    }

    /// The handling of conflicts in server-side apply.
    pub(crate) fn on_conflict(&self) -> OnConflict {
        if self.force == Some(true) { OnConflict::Force } else { OnConflict::Refuse }
    }
}

/// The default field manager: the first word of the user agent.
fn manager_of(user_agent: &str) -> String {
    let program = user_agent.split('/').next().unwrap_or_default();
    let printable: String = program.chars().filter(|c| !c.is_control()).collect();
    printable.chars().take(MANAGER_LENGTH_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_unescaped() {
        let query = Query::parse("labelSelector=app%3Dweb%2Cb+in+(1)&watch=&x");
        assert_eq!(query.first("labelSelector"), Some("app=web,b in (1)"));
        assert!(query.flag("watch") && query.flag("x"), "A0.9: an empty value is true");
    }

    /// A2.15, A2.22, A2.23: invalid options are rejected with their name.
    #[test]
    fn invalid_options_are_refused() {
        let refused = |query: &str| {
            Query::parse(query).write_options("CreateOptions", "").unwrap_err().refusal().message
        };
        assert!(
            refused("dryRun=Foo")
                .ends_with("dryRun: Unsupported value: [\"Foo\"]: supported values: \"All\"")
        );
        assert!(
            refused("fieldValidation=Foo")
                .contains("supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"")
        );
        let long = format!("fieldManager={}", "a".repeat(129));
        assert!(refused(&long).ends_with("fieldManager: Too long: may not be more than 128 bytes"));
        assert!(
            refused("fieldManager=a%07b")
                .ends_with("Invalid value: \"a\\ab\": invalid character U+0007 (at position 1)")
        );
        let options = Query::parse("").write_options("CreateOptions", "kubectl/v1.37 (linux)").unwrap();
        assert_eq!(options.manager, "kubectl");
    }
}
