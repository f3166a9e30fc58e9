//! How objects are printed: as rows, as names, as YAML and JSON, by a path, by columns of one's own.

mod columns;
mod document;
mod elastic;
mod go_json;
pub(crate) mod jsonpath;
mod rows;

pub(crate) use columns::CustomColumns;
pub(crate) use document::{as_list, without_managed_fields};
pub(crate) use elastic::aligned;
pub(crate) use go_json::{compact, indented};
pub(crate) use rows::{Rows, Widths};

use gantry_registry::encode;
use serde_json::Value;

use crate::failure::Failure;
use jsonpath::Template;

/// What `-o` asks for.
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
    /// What a template finds in the object.
    JsonPath(Template),
    /// As `JsonPath`, as one JSON list.
    JsonPathAsJson(Template),
    /// Rows with columns of one's own.
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
                Template::parse(contents(file)?.trim_end_matches('\n')).map(Self::JsonPath)
            }
            ("custom-columns", _) => CustomColumns::parse(rest.unwrap_or_default()).map(Self::Columns),
            ("custom-columns-file", Some(file)) => {
                CustomColumns::parse_file(&contents(file)?).map(Self::Columns)
            }
            _ => Err(Failure::other(format!(
                "unable to match a printer suitable for the output format \"{output}\", allowed formats are: \
                 custom-columns,custom-columns-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,wide,yaml"
            ))),
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

fn contents(file: &str) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::other(format!("error reading template {file}, {error}")))
}
