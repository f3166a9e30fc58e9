//! Prints the results of writes (K0.2), and holds the flags that all writes share.

use gantry_client::ApiRequest;
use gantry_json::{Value, json};

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::print::{Format, json_list, without_managed_fields};

/// The value of `--dry-run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// Persist changes.
    #[default]
    No,
    /// Send nothing.
    Client,
    /// Send the request as a dry run.
    Server,
}

gantry_formats::text_enum! {
    /// How the server handles unknown fields.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Validation {
        /// The write is refused.
        #[default]
        Strict = "Strict",
        /// A warning is returned.
        Warn = "Warn",
        /// They are dropped.
        Ignore = "Ignore",
    }

    fn parameter(self) -> &'static str;
}

/// Prints results in the format of `-o`, with a dry run suffix.
#[derive(Clone, Debug, Default)]
pub struct ResultPrinter {
    /// The value of `-o`.
    pub output: Option<String>,
    /// Whether the write was a dry run.
    pub dry_run: DryRun,
    /// The value of `--show-managed-fields`.
    pub managed_fields: bool,
}

impl DryRun {
    /// Reads the value of `--dry-run`.
    pub fn parse(value: Option<&str>) -> Result<Self, Failure> {
        match value {
            None | Some("none") => Ok(Self::No),
            Some("client") => Ok(Self::Client),
            Some("server") => Ok(Self::Server),
            Some(other) => Err(Failure::other(format!(
                "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
            ))),
        }
    }

    pub(crate) fn is_client(self) -> bool {
        self == Self::Client
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::No => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }

    fn parameter(self) -> &'static str {
        match self {
            Self::Server => "All",
            Self::No | Self::Client => "",
        }
    }
}

impl Validation {
    /// Reads the value of `--validate`.
    pub fn parse(value: Option<&str>) -> Result<Self, Failure> {
        match value {
            None | Some("" | "true" | "strict") => Ok(Self::Strict),
            Some("warn") => Ok(Self::Warn),
            Some("false" | "ignore") => Ok(Self::Ignore),
            Some(other) => Err(Failure::other(format!(
                "invalid - validate option \"{other}\"; must be one of: strict (or true), warn, ignore (or false)"
            ))),
        }
    }
}

/// The parameters of a write that its flags set.
pub(crate) trait WriteParameters {
    /// Adds the field manager and the dry run parameter.
    fn by(self, manager: &str, dry_run: DryRun) -> Self;
    /// Adds the field validation parameter.
    fn validated(self, validation: Validation) -> Self;
}

impl WriteParameters for ApiRequest {
    fn by(self, manager: &str, dry_run: DryRun) -> Self {
        self.with("fieldManager", manager).with("dryRun", dry_run.parameter())
    }

    fn validated(self, validation: Validation) -> Self {
        self.with("fieldValidation", validation.parameter())
    }
}

impl ResultPrinter {
    /// A printer for this `-o`, which must be a format for results.
    pub fn with(output: Option<String>, dry_run: DryRun) -> Result<Self, Failure> {
        Format::parse_for_result(output.as_deref())?;
        Ok(Self { output, dry_run, managed_fields: false })
    }

    /// The object as it is shown.
    pub(crate) fn shown(&self, object: &Value) -> Value {
        if self.managed_fields { object.clone() } else { without_managed_fields(object.clone()) }
    }

    /// Prints the result of an operation on an object.
    pub(crate) fn print(
        &self,
        ctx: &mut ClientContext,
        title: &str,
        operation: &str,
        object: &Value,
    ) -> Result<(), Failure> {
        match Format::parse_for_result(self.output.as_deref())? {
            Format::Rows | Format::Wide => {
                ctx.println(&format!("{title} {operation}{}", self.dry_run.suffix()))
            }
            Format::Name => ctx.println(title),
            format => match format.document(&self.shown(object)) {
                Some(document) if matches!(format, Format::Yaml) => ctx.print_yaml(&document?),
                Some(document) => ctx.print(&document?),
                None => Ok(()),
            },
        }
    }

    /// Prints the result line of an object, unless the format is one of whole objects.
    pub(crate) fn print_name(
        &self,
        ctx: &mut ClientContext,
        title: &str,
        operation: &str,
    ) -> Result<(), Failure> {
        match self.output.as_deref() {
            None | Some("" | "name") => self.print(ctx, title, operation, &Value::Null),
            Some(_) => Ok(()),
        }
    }

    /// Prints all objects as one document, for formats of whole objects.
    pub(crate) fn print_list(&self, ctx: &mut ClientContext, objects: &[Value]) -> Result<(), Failure> {
        let format = Format::parse_for_result(self.output.as_deref())?;
        let objects: Vec<Value> = objects.iter().map(|object| self.shown(object)).collect();
        let document = match (&format, objects.as_slice()) {
            (_, []) => None,
            (_, [only]) => format.document(only),
            (Format::Json, several) => Some(Ok(json_list(several))),
            (_, several) => format.document(&json!({
                "apiVersion": "v1", "items": several, "kind": "List", "metadata": {},
            })),
        };
        document.map_or(Ok(()), |document| ctx.print(&document?))
    }

    /// The dry run suffix, for results that are not printed by `print`.
    pub(crate) fn suffix(&self) -> &'static str {
        self.dry_run.suffix()
    }
}
