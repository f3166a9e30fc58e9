//! The Go types of fields, as errors name them.
//!
//! The schema has a restart policy as a string; Kubernetes' errors say `v1.RestartPolicy`. Only error messages depend
//! on this table.

use crate::schema::{Other, Type, schema};

/// The Go type of a field, or of its elements or entries if `kind` is their type.
pub(crate) fn name(message: &str, field: &str, kind: &Type) -> String {
    let named = rows().find(|(m, f, _)| *m == message && *f == field).and_then(|(_, _, named)| {
        let id = schema().find(message)?;
        part_of(named, &schema().field(id, field)?.kind, kind)
    });
    named.map_or_else(|| implied(kind), str::to_owned)
}

/// The part of a Go type that stands for the type `part` within the type `whole`. None if a name stands for more.
fn part_of<'n>(name: &'n str, whole: &Type, part: &Type) -> Option<&'n str> {
    match whole {
        whole if whole == part => Some(name),
        Type::List(element) => part_of(name.strip_prefix("[]")?, element, part),
        Type::Map(value) => part_of(name.strip_prefix("map[")?.split_once(']')?.1, value, part),
        _ => None,
    }
}

/// The Go type of fields without a row.
fn implied(kind: &Type) -> String {
    match kind {
        Type::Bool => "bool".to_owned(),
        Type::Int32 | Type::IntOrString => "int32".to_owned(),
        Type::Int64 => "int64".to_owned(),
        Type::Float64 => "float64".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::List(element) => format!("[]{}", implied(element)),
        Type::Map(value) if **value == Type::Time => "map[string]v1.Time".to_owned(),
        Type::Map(value) => format!("map[string]{}", implied(value)),
        Type::Message(id) | Type::Inline(id) => {
            let full = schema().message(*id).name;
            full.rsplit('/').next().unwrap_or(full).to_owned()
        }
        Type::Quantity => "resource.Quantity".to_owned(),
        // Times and durations have their own decoders, from a string.
        Type::String | Type::Time | Type::MicroTime | Type::Duration => "string".to_owned(),
        Type::Raw => "runtime.RawExtension".to_owned(),
        Type::Or(other, id) => {
            let or = match other {
                Other::Bool => "Bool",
                Other::List => "Array",
                Other::Texts => "StringArray",
            };
            format!("{}Or{or}", implied(&Type::Message(*id)))
        }
    }
}

/// The rows of `go_types.tsv`, which `cargo xtask import` writes: message, field, type.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
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

    /// A2.12: errors about an element name the type of the element.
    #[test]
    fn elements_have_the_names_that_go_gives_them() {
        let of = |message, field, kind| name(message, field, &kind);
        assert_eq!(of("core/v1.ServiceSpec", "ipFamilies", Type::String), "v1.IPFamily");
        let claim = "core/v1.PersistentVolumeClaimStatus";
        assert_eq!(of(claim, "allocatedResourceStatuses", Type::String), "v1.ClaimResourceStatus");
        assert_eq!(of("core/v1.ResourceRequirements", "limits", Type::Quantity), "resource.Quantity");
        assert_eq!(of("authentication/v1.UserInfo", "extra", Type::String), "string");
        assert_eq!(of("core/v1.Pod", "kind", Type::String), "string");
    }

    #[test]
    fn every_row_is_about_a_field_of_the_schema() {
        for (message, field, _) in rows() {
            let id = schema().find(message).unwrap();
            assert!(schema().field(id, field).is_some(), "{message}.{field}");
        }
    }
}
