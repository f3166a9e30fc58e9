//! What the fields of a type mean, as the server's `OpenAPI` document says (kubectl's `explain`).
//!
//! Pure: the document of one group and version in, a text out.

mod fields;
mod openapi_v2;
mod schema;
mod wrap;

use serde_json::Value;

use crate::failure::Failure;
use schema::Schemas;

/// How the explanation is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As kubectl does.
    #[default]
    Plaintext,
    /// As kubectl did before 1.27, with shorter names of types.
    PlaintextOpenApiV2,
}

/// What is to be explained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplainQuery<'q> {
    pub(crate) group: &'q str,
    pub(crate) version: &'q str,
    pub(crate) kind: &'q str,
    /// The fields from the object down to the one that is meant.
    pub(crate) path: &'q [String],
    /// Whether all that is below is told too, by name.
    pub(crate) recursive: bool,
}

/// An explanation: what is printed, and what was wrong with the question after that.
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
        // This one names the last field of the path, whichever is not there.
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
