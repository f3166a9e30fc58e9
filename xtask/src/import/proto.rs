//! Reads `generated.proto`: the messages of a package with numbers, types and order of their fields.

use std::collections::BTreeMap;

use super::message_name;

/// The messages of a checkout by name, such as `apps/v1.DeploymentSpec`.
pub(super) type Messages = BTreeMap<String, Vec<ProtoField>>;

/// One field of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProtoField {
    pub(super) number: u32,
    pub(super) name: String,
    /// The type in the notation of `fields.tsv`: `[]core/v1.Container`, `map<string,string>`.
    pub(super) kind: String,
}

/// The package that a file declares, such as `core/v1`.
pub(super) fn package(text: &str) -> Option<String> {
    let declared = text.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'))?;
    let name = message_name(&format!("{declared}.X"))?;
    name.strip_suffix(".X").map(str::to_owned)
}

/// Adds the messages of one file; an error names the line.
pub(super) fn read(text: &str, messages: &mut Messages) -> Result<(), String> {
    let package = package(text).ok_or("there is no package of Kubernetes in the file")?;
    let mut current: Option<(String, Vec<ProtoField>)> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some(name) = line.strip_prefix("message ").and_then(|rest| rest.strip_suffix(" {")) {
            current = Some((format!("{package}.{name}"), Vec::new()));
        } else if line == "}" {
            messages.extend(current.take());
        } else if let Some((name, fields)) = &mut current {
            fields.push(field(line, &package).ok_or_else(|| format!("{name}: no field: {line}"))?);
        }
    }
    Ok(())
}

/// Reads `optional TYPE NAME = NUMBER;`, `repeated …` or `map<KEY, VALUE> …`.
fn field(line: &str, package: &str) -> Option<ProtoField> {
    let (declaration, number) = line.strip_suffix(';')?.split_once(" = ")?;
    let (kind, name) = declaration.rsplit_once(' ')?;
    let kind = match kind.split_once(' ') {
        Some(("repeated", element)) => format!("[]{}", type_name(element, package)?),
        Some(("optional", kind)) => type_name(kind, package)?,
        _ => {
            let (key, value) = kind.strip_prefix("map<")?.strip_suffix('>')?.split_once(',')?;
            format!("map<{key},{}>", type_name(value.trim(), package)?)
        }
    };
    Some(ProtoField { number: number.parse().ok()?, name: name.to_owned(), kind })
}

fn type_name(word: &str, package: &str) -> Option<String> {
    Some(match word {
        "string" | "bool" | "int32" | "int64" | "bytes" => word.to_owned(),
        "double" => "float64".to_owned(),
        qualified if qualified.contains('.') => message_name(qualified.trim_start_matches('.'))?,
        local => format!("{package}.{local}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
syntax = "proto2";
package k8s.io.api.harbour.v1;
import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";
option go_package = "k8s.io/api/harbour/v1";

// A Crane lifts.
message Crane {
  // +optional
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;

  repeated Hook hooks = 3;

  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> loads = 2;

  optional double reach = 4;
}

message Hook {
}
"#;

    #[test]
    fn messages_have_their_fields_in_the_order_of_the_file() {
        let mut messages = Messages::new();
        read(FILE, &mut messages).unwrap();
        let crane: Vec<_> = messages["harbour/v1.Crane"]
            .iter()
            .map(|field| (field.number, field.name.as_str(), field.kind.as_str()))
            .collect();
        assert_eq!(
            crane,
            [
                (1, "metadata", "meta/v1.ObjectMeta"),
                (3, "hooks", "[]harbour/v1.Hook"),
                (2, "loads", "map<string,api/resource.Quantity>"),
                (4, "reach", "float64"),
            ]
        );
        assert_eq!(messages["harbour/v1.Hook"], []);
    }

    #[test]
    fn a_line_that_is_no_field_is_a_problem() {
        let text = "package k8s.io.api.harbour.v1;\nmessage Crane {\n  oneof what {\n";
        let problem = read(text, &mut Messages::new()).unwrap_err();
        assert_eq!(problem, "harbour/v1.Crane: no field: oneof what {");
    }
}
