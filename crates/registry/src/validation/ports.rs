//! Ports by number or by name.

use gantry_json::Value;

use super::error_list::{ErrorList, Path};
use super::names::{port_name, port_number};

/// A port by number or by name.
pub(crate) fn port(errors: &mut ErrorList, at: &Path<'_>, value: &Value) {
    let none = Value::from(0);
    let value = if value.is_null() { &none } else { value };
    let wrong = match value {
        Value::String(name) => port_name(name),
        other => port_number(other.as_i64().unwrap_or(0)),
    };
    for why in wrong {
        errors.invalid(at, value, why);
    }
}
