//! An explanation as kubectl laid it out before 1.27: `-o plaintext-openapiv2`.

use gantry_json::Value;

use super::ExplainQuery;
use super::schema::{Collection, Schemas, collection_of, properties, reference};
use crate::field::{list, text};

const WIDTH: usize = 80;
const INDENT: usize = 5;

/// The text for the field at a path, or the first field of the path that does not exist.
pub(super) fn render<'q>(
    schemas: Schemas<'_>,
    schema: &Value,
    query: ExplainQuery<'q>,
) -> Result<String, &'q str> {
    let ExplainQuery { group, version, kind, path, recursive } = query;
    let version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let field = path.iter().try_fold(schema, |here, name| {
        properties(object(schemas, here)).and_then(|fields| fields.get(name)).ok_or(name.as_str())
    })?;
    let below = properties(object(schemas, field));
    let mut out = format!("KIND:     {kind}\nVERSION:  {version}\n\n");
    if let Some(name) = path.last() {
        let title = if below.is_some() { "RESOURCE:" } else { "FIELD:   " };
        out.push_str(&format!("{title} {name} <{}>\n\n", type_name(schemas, field)));
    }
    out.push_str("DESCRIPTION:\n");
    out.push_str(&description(schemas, field));
    if below.is_some() {
        out.push_str("\nFIELDS:\n");
        out.push_str(&field_list(schemas, object(schemas, field), 0, recursive, &[]));
    }
    Ok(out)
}

/// Resolves references, lists and maps to the schema that has the fields.
fn object<'d>(schemas: Schemas<'d>, schema: &'d Value) -> &'d Value {
    let mut here = schema;
    // Bounded against reference cycles.
    for _ in 0..16 {
        here = schemas.resolved(here);
        here = match (collection_of(here), list(here, "/allOf"), properties(here)) {
            (Some(Collection::List(one) | Collection::Map(one)), _, None) => one,
            (None, [only], None) => only,
            _ => return here,
        };
    }
    here
}

/// The description of a field, and after an empty line that of its type.
fn description(schemas: Schemas<'_>, field: &Value) -> String {
    let own = text(field, "/description");
    let one = match collection_of(field) {
        Some(Collection::List(one) | Collection::Map(one)) => one,
        None => field,
    };
    let one = match list(one, "/allOf") {
        [only] => only,
        _ => one,
    };
    let of_type = reference(one).map_or("", |_| text(schemas.resolved(one), "/description"));
    match (own, of_type) {
        ("", "") => paragraphs("<empty>"),
        (own, "") => paragraphs(own),
        (own, of_type) => format!("{}\n{}", paragraphs(own), paragraphs(of_type)),
    }
}

fn field_list(
    schemas: Schemas<'_>,
    schema: &Value,
    level: usize,
    recursive: bool,
    passed: &[&str],
) -> String {
    let indent = " ".repeat(3 * (level + 1));
    let mut out = String::new();
    for (name, field) in properties(schema).into_iter().flatten() {
        let required = list(schema, "/required").iter().any(|one| one == name.as_str());
        let required = if required && !recursive { " -required-" } else { "" };
        out.push_str(&format!("{indent}{name}\t<{}>{required}\n", type_name(schemas, field)));
        if !recursive {
            if !text(field, "/description").is_empty() {
                out.push_str(&paragraphs(text(field, "/description")));
            }
            out.push('\n');
            continue;
        }
        let part = list(field, "/allOf").first().unwrap_or(field);
        let part = match collection_of(part) {
            Some(Collection::List(one) | Collection::Map(one)) => one,
            None => part,
        };
        let mut passed = passed.to_vec();
        if let Some(name) = reference(part) {
            if passed.contains(&name) {
                continue;
            }
            passed.push(name);
        }
        out.push_str(&field_list(schemas, object(schemas, field), level + 1, recursive, &passed));
    }
    out
}

/// `Object` for a type with fields, otherwise its JSON type.
fn type_name(schemas: Schemas<'_>, schema: &Value) -> String {
    match collection_of(schema) {
        Some(Collection::List(one)) => return format!("[]{}", type_name(schemas, one)),
        Some(Collection::Map(one)) => return format!("map[string]{}", type_name(schemas, one)),
        None => {}
    }
    if let [only] = list(schema, "/allOf") {
        return type_name(schemas, only);
    }
    let here = schemas.resolved(schema);
    match text(here, "/type") {
        // A choice of types is shown as a string.
        "" if here.get("oneOf").is_some() => "string".to_owned(),
        "" if properties(here).is_none() => String::new(),
        "object" if here["x-kubernetes-preserve-unknown-fields"] == true => String::new(),
        "object" if properties(here).is_none() => "map[string]".to_owned(),
        "" | "object" => "Object".to_owned(),
        own => own.to_owned(),
    }
}

/// A text in lines of words; empty lines and code stay as they are.
fn paragraphs(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for original in text.lines() {
        let is_code = original.starts_with("    ");
        if is_code || original.trim().is_empty() {
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if is_code {
                lines.push(original.to_owned());
            } else if !lines.is_empty() {
                lines.push(String::new());
            }
            continue;
        }
        for word in original.split_whitespace() {
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH - INDENT {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    let indent = " ".repeat(INDENT);
    let rendered =
        lines.iter().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") });
    rendered.collect()
}
