//! Formats that Kubernetes knows by name: `format.dns1123Label().validate(name)`.

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

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "qualifiedName",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    let known = |wanted: &str| NAMES.into_iter().find(|known| *known == wanted);
    match (name, args) {
        ("format.named", [Value::Text(wanted)]) => {
            let found = known(wanted).map(Value::Format);
            Some(Ok(found.map_or(Value::Optional(None), Value::some)))
        }
        ("validate", [Value::Format(format), Value::Text(text)]) => {
            if let Err(fault) = meter.traverse(text.len().saturating_mul(3)) {
                return Some(Err(fault));
            }
            let wrong = wrong(format, text);
            let wrong = wrong.into_iter().map(Value::text).collect::<Vec<_>>();
            let result =
                if wrong.is_empty() { Value::Optional(None) } else { Value::some(Value::list(wrong)) };
            Some(Ok(result))
        }
        (name, []) => known(name.strip_prefix("format.")?).map(|format| Ok(Value::Format(format))),
        _ => None,
    }
}

fn wrong(format: &str, text: &str) -> Vec<String> {
    // A prefix is completed with generated characters, so it may end in a dash.
    let prefix =
        |text: &str| text.strip_suffix('-').map(|rest| format!("{rest}a")).unwrap_or(text.to_owned());
    let unless = |fits: bool, why: &str| if fits { Vec::new() } else { vec![why.to_owned()] };
    match format {
        "dns1123Label" => names::label(text),
        "dns1123Subdomain" => names::subdomain(text),
        "dns1035Label" => names::label_from_a_letter(text),
        "dns1123LabelPrefix" => names::label(&prefix(text)),
        "dns1123SubdomainPrefix" => names::subdomain(&prefix(text)),
        "dns1035LabelPrefix" => names::label_from_a_letter(&prefix(text)),
        "qualifiedName" => names::qualified_name(text),
        "labelValue" => names::label_value(text),
        "uri" => unless(super::urls::Url::read(text).is_some(), "invalid URI for request"),
        "uuid" => unless(texts::is_uuid(text, None), "does not match the UUID format"),
        "byte" => unless(texts::is_base64(text), "invalid base64"),
        "date" => unless(texts::is_date(text), "invalid date"),
        _ => unless(texts::is_date_time(text), "invalid datetime"),
    }
}
