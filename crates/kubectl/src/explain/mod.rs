//! Describes the fields of a type from the server's `OpenAPI` document.
//!
//! Pure: the document of one group and version in, text out.

mod fields;
mod openapi_v2;
mod schema;
mod wrap;

use gantry_json::Value;

use crate::failure::Failure;
use schema::Schemas;

/// How the explanation is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// kubectl's default.
    #[default]
    Plaintext,
    /// The layout of kubectl before 1.27.
    PlaintextOpenApiV2,
}

/// The type and field to describe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplainQuery<'q> {
    pub(crate) group: &'q str,
    pub(crate) version: &'q str,
    pub(crate) kind: &'q str,
    /// The field path.
    pub(crate) path: &'q [String],
    /// Whether nested fields are listed, too.
    pub(crate) recursive: bool,
}

/// The text to print, and the failure after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Explanation {
    pub(crate) text: String,
    pub(crate) failure: Option<Failure>,
}

/// Explains a type or a field of it from the document of its group and version.
pub(crate) fn explain(document: &Value, query: ExplainQuery<'_>, layout: Layout) -> Explanation {
    let schemas = Schemas::of(document);
    let Some(schema) = schemas.of_kind(query.group, query.version, query.kind) else {
        let failure = Failure::other(format!(
            "GVK map[group:{} kind:{} version:{}] not found in OpenAPI schema",
            query.group, query.kind, query.version
        ));
        return Explanation { text: heading(query), failure: Some(failure) };
    };
    let rendered = match layout {
        // This layout always names the last field of the path in errors.
        Layout::Plaintext => fields::render(schemas, schema, query.path, query.recursive)
            .map(|rendered| format!("{}{rendered}\n", heading(query)))
            .ok_or_else(|| (heading(query), query.path.last().map_or("", String::as_str))),
        Layout::PlaintextOpenApiV2 => {
            openapi_v2::render(schemas, schema, query).map_err(|missing| (String::new(), missing))
        }
    };
    match rendered {
        Ok(text) => Explanation { text, failure: None },
        Err((text, missing)) => {
            let failure = Failure::other(format!("field \"{missing}\" does not exist"));
            Explanation { text, failure: Some(failure) }
        }
    }
}

fn heading(query: ExplainQuery<'_>) -> String {
    let ExplainQuery { group, version, kind, .. } = query;
    let group = if group.is_empty() { String::new() } else { format!("GROUP:      {group}\n") };
    format!("{group}KIND:       {kind}\nVERSION:    {version}\n\n")
}

#[cfg(test)]
mod tests;
