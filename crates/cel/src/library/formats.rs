//! Named formats of Kubernetes: `format.dns1123Label().validate(name)`.

use super::Called;
use crate::cost::CostMeter;
use crate::value::Value;
use gantry_primitives::names;
use gantry_primitives::text_formats as texts;

pub(super) const FUNCTIONS: &[&str] = &[
    "format.named(string) optional<Format>",
    "format.dns1123Label() Format",
    "format.dns1123Subdomain() Format",
    "format.dns1035Label() Format",
    "format.dns1123LabelPrefix() Format",
    "format.dns1123SubdomainPrefix() Format",
    "format.dns1035LabelPrefix() Format",
    "format.qualifiedName() Format",
    "format.labelValue() Format",
    "format.uri() Format",
    "format.uuid() Format",
    "format.byte() Format",
    "format.date() Format",
    "format.datetime() Format",
    "Format.validate(string) optional<list<string>>",
];

/// Returns the errors in a string.
type Check = fn(&str) -> Vec<String>;

/// The formats by their names.
const FORMATS: [(&str, Check); 13] = [
    ("dns1123Label", names::label),
    ("dns1123Subdomain", names::subdomain),
    ("dns1035Label", names::label_from_a_letter),
    ("dns1123LabelPrefix", |text| names::label(&completed(text))),
    ("dns1123SubdomainPrefix", |text| names::subdomain(&completed(text))),
    ("dns1035LabelPrefix", |text| names::label_from_a_letter(&completed(text))),
    ("qualifiedName", names::qualified_name),
    ("labelValue", names::label_value),
    ("uri", |text| unless(super::urls::Url::read(text).is_some(), "invalid URI for request")),
    ("uuid", |text| unless(texts::is_uuid(text, None), "does not match the UUID format")),
    ("byte", |text| unless(texts::is_base64(text), "invalid base64")),
    ("date", |text| unless(texts::is_date(text), "invalid date")),
    ("datetime", |text| unless(texts::is_date_time(text), "invalid datetime")),
];

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    let known = |wanted: &str| FORMATS.into_iter().map(|(name, _)| name).find(|known| *known == wanted);
    match (name, args) {
        ("format.named", [Value::Text(wanted)]) => {
            let found = known(wanted).map(Value::Format);
            Some(Ok(found.map_or(Value::Optional(None), Value::some)))
        }
        ("validate", [Value::Format(format), Value::Text(text)]) => {
            if let Err(fault) = meter.traverse(text.len().saturating_mul(3)) {
                return Some(Err(fault));
            }
            let (_, check) = FORMATS.into_iter().find(|(known, _)| known == format)?;
            let wrong = check(text).into_iter().map(Value::text).collect::<Vec<_>>();
            let result =
                if wrong.is_empty() { Value::Optional(None) } else { Value::some(Value::list(wrong)) };
            Some(Ok(result))
        }
        (name, []) => known(name.strip_prefix("format.")?).map(|format| Ok(Value::Format(format))),
        _ => None,
    }
}

/// Appends a character to a prefix as generated names do, so that it may end in a dash.
fn completed(prefix: &str) -> String {
    prefix.strip_suffix('-').map(|rest| format!("{rest}a")).unwrap_or(prefix.to_owned())
}

fn unless(fits: bool, why: &str) -> Vec<String> {
    if fits { Vec::new() } else { vec![why.to_owned()] }
}
