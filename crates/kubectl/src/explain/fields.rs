//! A type or a field of it, and the fields below, as kubectl lays them out.

use gantry_json::Value;

use super::schema::{Collection, Schemas, collection_of, properties, reference};
use super::wrap::{indented, wrapped};
use crate::field::{list, shown, text};

/// How many values of a field its line names.
const VALUES_NAMED: usize = 4;

/// The description of the field at a path; `None` if there is no such field.
pub(super) fn render(
    schemas: Schemas<'_>,
    schema: &Value,
    path: &[String],
    recursive: bool,
) -> Option<String> {
    render_children(schemas, schema, path, recursive, &[])
}

/// Follows a path; `passed` are the references that were followed since the last field, so that cycles end.
fn render_children(
    schemas: Schemas<'_>,
    schema: &Value,
    path: &[String],
    recursive: bool,
    passed: &[&str],
) -> Option<String> {
    let here = schemas.resolved(schema);
    let Some((first, rest)) = path.split_first() else { return Some(end(schemas, here, recursive)) };
    let mut passed = passed.to_vec();
    if let Some(name) = reference(schema) {
        if passed.contains(&name) {
            return None;
        }
        passed.push(name);
    }
    if let Some(field) = properties(here).and_then(|properties| properties.get(first)) {
        let below = render_children(schemas, field, rest, recursive, &[])?;
        let title = if rest.is_empty() { title(schemas, first, field) } else { String::new() };
        return Some(title + &below);
    }
    match collection_of(here) {
        Some(Collection::List(one) | Collection::Map(one)) => {
            render_children(schemas, one, path, recursive, &passed)
        }
        None => list(here, "/allOf")
            .iter()
            .find_map(|part| render_children(schemas, part, path, recursive, &passed)),
    }
}

/// `FIELD: strategy <DeploymentStrategy>`, with the values that it may have.
fn title(schemas: Schemas<'_>, name: &str, field: &Value) -> String {
    let values = list(field, "/enum").iter().map(|value| format!("\n    {}", named(value)));
    let values = values.collect::<String>();
    let values = if values.is_empty() { values } else { format!("ENUM:{values}") };
    format!("FIELD: {name} <{}>\n{values}\n\n", type_name(schemas, field))
}

/// The description and the fields of the schema at the end of a path.
fn end(schemas: Schemas<'_>, schema: &Value, recursive: bool) -> String {
    let description = match description(schemas, schema) {
        empty if empty.is_empty() => "<empty>".to_owned(),
        description => description,
    };
    let mut out = format!("DESCRIPTION:\n{}\n", indented(&wrapped(&description, 76), 4));
    let below = field_list(schemas, schema, 1, recursive, &[]);
    if !below.is_empty() {
        out.push_str("FIELDS:\n");
        out.push_str(&below);
    }
    out
}

/// The descriptions of a schema and of its parts, one per line.
fn description(schemas: Schemas<'_>, schema: &Value) -> String {
    let here = schemas.resolved(schema);
    let mut out = match text(here, "/description") {
        "" => String::new(),
        own => format!("{own}\n"),
    };
    for part in list(here, "/allOf") {
        out.push_str(&description(schemas, part));
    }
    if let Some(Collection::List(one) | Collection::Map(one)) = collection_of(here) {
        out.push_str(&description(schemas, one));
    }
    out
}

fn field_list(
    schemas: Schemas<'_>,
    schema: &Value,
    level: usize,
    recursive: bool,
    passed: &[&str],
) -> String {
    let mut passed = passed.to_vec();
    if let Some(name) = reference(schema) {
        if passed.contains(&name) {
            return String::new();
        }
        passed.push(name);
    }
    let here = schemas.resolved(schema);
    let mut out = String::new();
    for (name, field) in properties(here).into_iter().flatten() {
        out.push_str(&line(schemas, here, name, field, level));
        if recursive {
            out.push_str(&field_list(schemas, field, level + 1, recursive, &passed));
        } else {
            let description = match text(field, "/description") {
                "" => "<no description>",
                own => own,
            };
            let indent = level * 2;
            out.push_str(&indented(&wrapped(description, 78 - indent), indent + 2));
            out.push_str("\n\n");
        }
    }
    for part in list(here, "/allOf") {
        out.push_str(&field_list(schemas, part, level, recursive, &passed));
    }
    if let Some(Collection::List(one) | Collection::Map(one)) = collection_of(here) {
        out.push_str(&field_list(schemas, one, level, recursive, &passed));
    }
    out
}

/// `  name⇥<string> -required-`, with the first values that it may have.
fn line(schemas: Schemas<'_>, schema: &Value, name: &str, field: &Value, level: usize) -> String {
    let indent = " ".repeat(level * 2);
    let required = list(schema, "/required").iter().any(|one| one == name);
    let required = if required { " -required-" } else { "" };
    let values = list(field, "/enum");
    let mut named: Vec<String> = values.iter().take(VALUES_NAMED).map(named).collect();
    if values.len() > VALUES_NAMED {
        named.push("....".to_owned());
    }
    let values =
        if named.is_empty() { String::new() } else { format!("\n{indent}enum: {}", named.join(", ")) };
    format!("{indent}{name}\t<{}>{required}{values}\n", type_name(schemas, field))
}

/// One of the values that a field may have; an empty one is quoted.
fn named(value: &Value) -> String {
    if value == "" { "\"\"".to_owned() } else { shown(value) }
}

/// The displayed type of a field: `string`, `[]Container`, `map[string]string`.
fn type_name(schemas: Schemas<'_>, schema: &Value) -> String {
    let own = || match text(schema, "/type") {
        "" | "object" => "Object".to_owned(),
        own => own.to_owned(),
    };
    match collection_of(schema) {
        Some(Collection::List(one)) => return format!("[]{}", type_name(schemas, one)),
        Some(Collection::Map(one)) => return format!("map[string]{}", type_name(schemas, one)),
        None => {}
    }
    if let ([only], None) = (list(schema, "/allOf"), properties(schema)) {
        return type_name(schemas, only);
    }
    let Some(name) = reference(schema) else { return own() };
    match schemas.referred(schema).map_or("", |referred| text(referred, "/type")) {
        "" | "object" => {
            name.rsplit('.').next().filter(|name| !name.is_empty()).unwrap_or("Object").to_owned()
        }
        simple => simple.to_owned(),
    }
}
