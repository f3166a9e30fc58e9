//! Output formats: tables, names, YAML, JSON, JSONPath and custom columns.

mod columns;
mod document;
mod go_json;
pub(crate) mod jsonpath;
mod rows;
mod tabwriter;

pub(crate) use columns::CustomColumns;
pub(crate) use document::{as_list, without_managed_fields};
pub(crate) use go_json::{compact, indented, indented_as_declared, json_list};
pub(crate) use rows::{Rows, Widths};
pub(crate) use tabwriter::{align_columns, escape_control_characters};

use gantry_json::Value;
use gantry_schema::encode;

use crate::failure::Failure;
use jsonpath::Template;

/// The format of `-o`.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// Rows.
    Rows,
    /// Rows with more columns.
    Wide,
    /// `deployment.apps/web`.
    Name,
    /// The object as JSON.
    Json,
    /// The object as YAML.
    Yaml,
    /// A JSONPath template.
    JsonPath(Template),
    /// As `JsonPath`, as one JSON list.
    JsonPathAsJson(Template),
    /// Custom columns.
    Columns(CustomColumns),
}

impl Format {
    /// Reads the value of `-o`.
    pub(crate) fn parse(output: Option<&str>) -> Result<Self, Failure> {
        let Some(output) = output.filter(|output| !output.is_empty()) else { return Ok(Self::Rows) };
        let (name, rest) = output.split_once('=').map_or((output, None), |(name, rest)| (name, Some(rest)));
        let template = || match rest {
            None | Some("") => Err(Failure::other("template format specified but no template given")),
            Some(rest) => Template::parse(rest),
        };
        match (name, rest) {
            ("wide", None) => Ok(Self::Wide),
            ("name", None) => Ok(Self::Name),
            ("json", None) => Ok(Self::Json),
            ("yaml", None) => Ok(Self::Yaml),
            ("jsonpath", _) => template().map(Self::JsonPath),
            ("jsonpath-as-json", _) => template().map(Self::JsonPathAsJson),
            ("jsonpath-file", Some(file)) => {
                Template::parse(contents("--template ", file)?.trim_end_matches('\n')).map(Self::JsonPath)
            }
            ("custom-columns", _) => CustomColumns::parse(rest.unwrap_or_default()).map(Self::Columns),
            ("custom-columns-file", Some(file)) => {
                CustomColumns::parse_file(&contents("template ", file)?).map(Self::Columns)
            }
            ("go-template" | "go-template-file" | "template" | "templatefile", _) => Err(Failure::other(
                "Go templates are not supported\nhint: use -o jsonpath=… or, for get, -o custom-columns=…",
            )),
            _ => Err(no_printer(
                output,
                "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,\
                 jsonpath-file,name,template,templatefile,wide,yaml",
            )),
        }
    }

    /// Parses the value of `-o` for results of writes, which have neither tables nor columns.
    pub(crate) fn parse_for_result(output: Option<&str>) -> Result<Self, Failure> {
        let written = output.unwrap_or_default();
        match Self::parse(output) {
            Ok(Self::Wide | Self::Columns(_)) => Err(no_printer(written, RESULTS)),
            Err(_) if written.starts_with("custom-columns") => Err(no_printer(written, RESULTS)),
            Err(Failure::Other(problem)) if problem.starts_with("unable to match") => {
                Err(no_printer(written, RESULTS))
            }
            other => other,
        }
    }

    /// One whole object in this form; `None` if it is not for whole objects.
    pub(crate) fn document(&self, object: &Value) -> Option<Result<String, Failure>> {
        match self {
            Self::Rows | Self::Wide | Self::Name => None,
            Self::Json => Some(Ok(indented(object) + "\n")),
            Self::Yaml => Some(Ok(encode::yaml_text(object))),
            Self::JsonPath(template) => Some(template.print(object)),
            Self::JsonPathAsJson(template) => Some(template.as_json(object)),
            Self::Columns(columns) => Some(columns.print(object)),
        }
    }
}

const RESULTS: &str = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,\
                       templatefile,yaml";

fn no_printer(output: &str, allowed: &str) -> Failure {
    Failure::other(format!(
        "unable to match a printer suitable for the output format \"{output}\", allowed formats are: {allowed}"
    ))
}

fn contents(flag: &str, file: &str) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => format!("open {file}: no such file or directory"),
            _ => error.to_string(),
        };
        Failure::other(format!("error reading {flag}{file}, {why}"))
    })
}
