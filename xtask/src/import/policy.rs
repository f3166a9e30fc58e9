//! Reads the bootstrap roles and bindings of RBAC, and writes them in the form of `rbac.txt`.

use gantry_json::{Map, Value};
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::table::{Entry, Key};

/// The annotation and label of every bootstrap object, which the table does not repeat.
const BOOTSTRAPPING: &str = "kubernetes.io/bootstrapping";

/// The roles and bindings in one file.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, String> {
    let list = yaml(text)?;
    let items = list["items"].as_array().ok_or("there is no list of items in the file")?;
    items
        .iter()
        .map(|item| entry(item).ok_or_else(|| format!("no role or binding of this form: {item}")))
        .collect()
}

fn entry(item: &Value) -> Option<Entry> {
    let metadata = &item["metadata"];
    let name = metadata["name"].as_str()?;
    let namespace = || metadata["namespace"].as_str();
    let lines = match item["kind"].as_str()? {
        "ClusterRole" => role(format!("cluster-role {name}{}", labels(&metadata["labels"])), item)?,
        "Role" => role(format!("role {} {name}", namespace()?), item)?,
        // The table has no other name for the role of such a binding.
        "ClusterRoleBinding" if item["roleRef"]["name"] == name => {
            vec![format!("bind {name}{}", subjects(item)?)]
        }
        "RoleBinding" => {
            let role = item["roleRef"]["name"].as_str()?;
            vec![format!("bind-in {} {name} {role}{}", namespace()?, subjects(item)?)]
        }
        _ => return None,
    };
    Some(Entry { key: Key::Role.of(lines.iter().find(|line| !line.is_empty())?), lines })
}

/// A blank line, the line with the name of the role, and its rules.
fn role(named: String, item: &Value) -> Option<Vec<String>> {
    let mut lines = vec![String::new(), named];
    for selector in items(&item["aggregationRule"]["clusterRoleSelectors"]) {
        let (label, _) = selector["matchLabels"].as_object()?.iter().next()?;
        lines.push(format!("  aggregate {}", label.strip_prefix("rbac.authorization.k8s.io/aggregate-to-")?));
    }
    for rule in items(&item["rules"]) {
        lines.push(if rule["nonResourceURLs"].is_array() {
            format!("  path {} {}", words(&rule["nonResourceURLs"]), words(&rule["verbs"]))
        } else {
            let columns = ["apiGroups", "resources", "verbs", "resourceNames"].map(|part| words(&rule[part]));
            format!("  allow {}", columns.join(" ").trim_end())
        });
    }
    Some(lines)
}

fn labels(labels: &Value) -> String {
    let labels = labels.as_object().into_iter().flatten().filter(|(name, _)| *name != BOOTSTRAPPING);
    labels.flat_map(|(name, value)| [" ", name, "=", value.as_str().unwrap_or_default()]).collect()
}

fn subjects(item: &Value) -> Option<String> {
    let subjects = items(&item["subjects"]).map(|subject| {
        let name = subject["name"].as_str()?;
        Some(match subject["kind"].as_str()? {
            "User" => format!(" user:{name}"),
            "Group" => format!(" group:{name}"),
            "ServiceAccount" => format!(" account:{}/{name}", subject["namespace"].as_str()?),
            _ => return None,
        })
    });
    subjects.collect()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Words joined by commas; the core group, which has no name, is `-`.
fn words(list: &Value) -> String {
    let words = items(list).filter_map(Value::as_str).map(|word| if word.is_empty() { "-" } else { word });
    words.collect::<Vec<_>>().join(",")
}

/// Reads a document of maps, lists and texts; these files contain nothing else.
fn yaml(text: &str) -> Result<Value, String> {
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut root = Value::Null;
    for event in Parser::new_from_str(text) {
        let complete = match event.map_err(|error| error.to_string())?.0 {
            Event::MappingStart(..) => {
                open.push((Value::Object(Map::new()), None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Value::Array(Vec::new()), None));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().map(|(value, _)| value).unwrap_or_default(),
            Event::Scalar(word, ScalarStyle::Plain, ..) if word == "null" => Value::Null,
            Event::Scalar(word, ..) => Value::from(word),
            _ => continue,
        };
        match open.last_mut() {
            None => root = complete,
            Some((Value::Array(list), _)) => list.push(complete),
            Some((Value::Object(members), key)) => match (key.take(), complete) {
                (Some(key), value) => drop(members.insert(key, value)),
                (None, Value::String(name)) => *key = Some(name.into()),
                (None, other) => return Err(format!("a key that is no text: {other}")),
            },
            Some(_) => {}
        }
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
apiVersion: v1
kind: List
items:
- kind: ClusterRole
  metadata:
    labels:
      kubernetes.io/bootstrapping: rbac-defaults
      rbac.authorization.k8s.io/aggregate-to-docker: "true"
    name: docker
  rules:
  - apiGroups:
    - ""
    - harbour.k8s.io
    resources:
    - cranes
    resourceNames:
    - big-one
    verbs:
    - get
    - list
  - nonResourceURLs:
    - /tides
    verbs:
    - '*'
- aggregationRule:
    clusterRoleSelectors:
    - matchLabels:
        rbac.authorization.k8s.io/aggregate-to-docker: "true"
  kind: ClusterRole
  metadata:
    name: all-docks
  rules: null
- kind: ClusterRoleBinding
  metadata:
    name: docker
  roleRef:
    name: docker
  subjects:
  - kind: Group
    name: system:dockers
  - kind: ServiceAccount
    name: crane
    namespace: quay
- kind: Role
  metadata:
    name: pilot
    namespace: quay
  rules:
  - apiGroups:
    - ""
    resources:
    - buoys
    verbs:
    - get
- kind: RoleBinding
  metadata:
    name: pilots
    namespace: quay
  roleRef:
    name: pilot
  subjects:
  - kind: User
    name: ann
"#;

    #[test]
    fn roles_and_bindings_become_entries_of_the_table() {
        let entries = read(FILE).unwrap();
        let lines: Vec<_> = entries.iter().flat_map(|entry| &entry.lines).map(String::as_str).collect();
        assert_eq!(
            lines,
            [
                "",
                "cluster-role docker rbac.authorization.k8s.io/aggregate-to-docker=true",
                "  allow -,harbour.k8s.io cranes get,list big-one",
                "  path /tides *",
                "",
                "cluster-role all-docks",
                "  aggregate docker",
                "bind docker group:system:dockers account:quay/crane",
                "",
                "role quay pilot",
                "  allow - buoys get",
                "bind-in quay pilots pilot user:ann",
            ]
        );
        assert_eq!(entries[4].key, "bind-in quay pilots");
    }

    #[test]
    fn an_object_that_the_table_cannot_express_is_a_problem() {
        let text = "items:\n- kind: ClusterRoleBinding\n  metadata:\n    name: a\n  roleRef:\n    name: b\n";
        assert!(read(text).unwrap_err().starts_with("no role or binding of this form: "));
    }
}
