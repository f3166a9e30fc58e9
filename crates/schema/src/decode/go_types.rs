//! The Go types of fields, as errors name them.
//!
//! The schema has a restart policy as a string; Kubernetes' errors say `v1.RestartPolicy`. Only error messages depend
//! on this table.

use crate::schema::{Other, Type, schema};

/// The Go type of a field, or of its elements or entries if `kind` is their type.
pub(crate) fn name(message: &str, field: &str, kind: &Type) -> String {
    match kind {
        Type::String => {
            let named = named_text(message, field).unwrap_or("string");
            // The table has the type of a whole map if its keys have a named type.
            named.rsplit(']').next().unwrap_or(named).to_owned()
        }
        Type::Bool => "bool".to_owned(),
        Type::Int32 | Type::IntOrString => "int32".to_owned(),
        Type::Int64 => "int64".to_owned(),
        Type::Float64 => "float64".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::List(element) => format!("[]{}", name(message, field, element)),
        Type::Map(value) => match **value {
            Type::String | Type::Time if let Some(map) = named_text(message, field) => map.to_owned(),
            Type::Quantity if message.starts_with("core/") => "v1.ResourceList".to_owned(),
            Type::List(_) => "map[string]v1.ExtraValue".to_owned(),
            _ => format!("map[string]{}", name(message, field, value)),
        },
        Type::Message(id) | Type::Inline(id) => {
            let full = schema().message(*id).name;
            full.rsplit('/').next().unwrap_or(full).to_owned()
        }
        Type::Quantity => "resource.Quantity".to_owned(),
        // These types have their own decoders, from a string.
        Type::Time | Type::MicroTime | Type::Duration => "string".to_owned(),
        Type::Raw => "runtime.RawExtension".to_owned(),
        Type::Or(other, id) => {
            let or = match other {
                Other::Bool => "Bool",
                Other::List => "Array",
                Other::Texts => "StringArray",
            };
            format!("{}Or{or}", name(message, field, &Type::Message(*id)))
        }
    }
}

/// Named string types.
fn named_text(message: &str, field: &str) -> Option<&'static str> {
    let short = message.rsplit('.').next().unwrap_or(message);
    named().find(|(m, f, _)| *m == short && *f == field).map(|(_, _, name)| name).or_else(|| match field {
        "uid" => Some("types.UID"),
        "protocol" => Some("v1.Protocol"),
        "accessModes" => Some("v1.PersistentVolumeAccessMode"),
        "volumeMode" => Some("v1.PersistentVolumeMode"),
        "preemptionPolicy" => Some("v1.PreemptionPolicy"),
        "status" if short.ends_with("Condition") => Some("v1.ConditionStatus"),
        _ => None,
    })
}

/// The rows of `go_types.tsv`.
fn named() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let rows = include_str!("go_types.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let (message, rest) = row.split_once('\t').expect("a row has three columns");
        let (field, name) = rest.split_once('\t').expect("a row has three columns");
        (message, field, name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A2.12: types have Go's names.
    #[test]
    fn types_have_the_names_of_go() {
        let of = |message: &str, field: &str| {
            let id = schema().find(message).unwrap();
            name(message, field, &schema().field(id, field).unwrap().kind)
        };
        assert_eq!(of("core/v1.PodSpec", "containers"), "[]v1.Container");
        assert_eq!(of("core/v1.PodSpec", "restartPolicy"), "v1.RestartPolicy");
        assert_eq!(of("core/v1.ResourceRequirements", "limits"), "v1.ResourceList");
        assert_eq!(of("meta/v1.ObjectMeta", "labels"), "map[string]string");
        assert_eq!(of("meta/v1.ObjectMeta", "uid"), "types.UID");
        assert_eq!(of("core/v1.ServiceSpec", "ipFamilies"), "[]v1.IPFamily");
        assert_eq!(of("core/v1.Secret", "data"), "map[string][]uint8");
        let statuses = "map[v1.ResourceName]v1.ClaimResourceStatus";
        assert_eq!(of("core/v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses"), statuses);
        assert_eq!(of("autoscaling/v2.HorizontalPodAutoscaler", "spec"), "v2.HorizontalPodAutoscalerSpec");
    }

    #[test]
    fn every_named_text_is_a_text_of_the_schema() {
        let short_names: Vec<_> = schema().messages().collect();
        for (message, field, _) in named() {
            let found = short_names.iter().any(|(id, m)| {
                m.short_name() == message
                    && schema().field(*id, field).is_some_and(|f| match &f.kind {
                        Type::String => true,
                        Type::List(element) => **element == Type::String,
                        Type::Map(value) => matches!(**value, Type::String | Type::Time),
                        _ => false,
                    })
            });
            assert!(found, "{message}.{field}");
        }
    }
}
