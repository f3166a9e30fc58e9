//! Reads discovery documents, and merges them into the tables of served resources and of subresources.
//!
//! The selection of served resources is ours: `served.tsv` lists them. A line with only group, version and resource is
//! a new one, which gets its other columns here.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::Value;

use super::omitted::Omitted;
use super::openapi::Schemas;
use super::table::{Entry, Key, Table};

/// The verbs of most resources, which the table writes as `S`.
const ALL_VERBS: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// How the server handles objects of a resource, which is not part of discovery: the six columns from the body of a
/// DELETE to the names, for a new resource.
const NEW_BEHAVIOUR: [&str; 6] = ["status", "background", "-", "-", "-", "subdomain"];
const BEHAVIOUR: std::ops::Range<usize> = 10..16;
const SEGMENT: usize = 17;

/// The resources of a checkout by group, version and plural.
pub(super) type Resources = BTreeMap<(String, String, String), Resource>;

/// One resource.
#[derive(Debug, Default)]
pub(super) struct Resource {
    kind: String,
    singular: String,
    is_namespaced: bool,
    short_names: Vec<String>,
    categories: Vec<String>,
    verbs: Vec<String>,
    subresources: BTreeMap<String, Subresource>,
}

/// One subresource.
#[derive(Debug)]
struct Subresource {
    verbs: Vec<String>,
    /// Group and version of its kind, if they are not those of the resource.
    foreign: Option<(String, String)>,
    kind: String,
}

/// Adds the resources of one `APIResourceList`; other documents are skipped.
pub(super) fn read(text: &str, resources: &mut Resources) -> Result<(), String> {
    let list: Value = gantry_json::from_str(text).map_err(|error| error.to_string())?;
    if list["kind"] != "APIResourceList" {
        return Ok(());
    }
    let group_version = list["groupVersion"].as_str().ok_or("there is no groupVersion in the file")?;
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    for one in list["resources"].as_array().into_iter().flatten() {
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let texts = |name: &str| -> Vec<String> {
            let words = one[name].as_array().into_iter().flatten();
            words.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let name = text("name");
        let (plural, subresource) = name.split_once('/').map_or((&*name, None), |(a, b)| (a, Some(b)));
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        let resource = resources.entry(key).or_default();
        if let Some(subresource) = subresource {
            let foreign = one["version"].is_string().then(|| (text("group"), text("version")));
            let foreign = foreign.filter(|(g, v)| (&**g, &**v) != (group, version));
            let found = Subresource { verbs: texts("verbs"), foreign, kind: text("kind") };
            resource.subresources.insert(subresource.to_owned(), found);
        } else {
            resource.kind = text("kind");
            resource.singular = text("singularName");
            resource.is_namespaced = one["namespaced"] == true;
            resource.short_names = texts("shortNames");
            resource.categories = texts("categories");
            resource.verbs = texts("verbs");
        }
    }
    Ok(())
}

/// A resource that is served: its line in the table, and its discovery.
struct Chosen<'t> {
    columns: Vec<&'t str>,
    resource: Resource,
}

/// The resources that are served, those that are not, and both tables about them.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) resources: Table,
    pub(super) subresources: Table,
    /// The messages of all their kinds.
    pub(super) messages: BTreeSet<String>,
    /// The existing resources without a line in the table, by group and version.
    pub(super) unserved: BTreeMap<String, Vec<String>>,
}

/// Updates both tables.
pub(super) fn served(
    mut all: Resources,
    schemas: &Schemas,
    table: &Table,
    subresources: &Table,
    omitted: &mut Omitted,
) -> Result<Served, String> {
    let mut chosen = Vec::new();
    for entry in &table.entries {
        let columns = entry.columns();
        let [_, version, plural, ..] = columns[..] else {
            return Err(format!("{}: group, version and resource are wanted: {}", table.path, entry.key));
        };
        let key = (group_of(&columns).to_owned(), version.to_owned(), plural.to_owned());
        let Some(mut resource) = all.remove(&key) else { continue };
        resource
            .subresources
            .retain(|name, _| !omitted.contains(table.path, &format!("{} {name}", entry.key)));
        chosen.push(Chosen { columns, resource });
    }
    let defaults = subresource_rows(&chosen, subresources.path)?;
    let mut rows = Vec::new();
    let mut messages = BTreeSet::new();
    for Chosen { columns, resource } in &chosen {
        let (group, version) = (group_of(columns), columns[1]);
        let message = schemas.message(group, version, &resource.kind);
        let message = message.ok_or_else(|| format!("{}: no schema of {}", table.path, resource.kind))?;
        messages.insert(message.to_owned());
        messages.extend(resource.subresources.values().filter_map(|subresource| {
            let foreign = subresource.foreign.as_ref();
            let (group, version) = foreign.map_or((group, version), |(group, version)| (group, version));
            schemas.message(group, version, &subresource.kind).map(str::to_owned)
        }));
        rows.push(row(resource, message, columns, &defaults));
    }
    let resources = table.with(rows);
    let subresources = subresources.with(defaults.into_values().map(|(row, _)| row).collect());
    let mut unserved: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (group, version, plural) in all.into_keys() {
        let group_version = if group.is_empty() { version } else { format!("{group}/{version}") };
        unserved.entry(group_version).or_default().push(plural);
    }
    Ok(Served { resources, subresources, messages, unserved })
}

fn group_of<'t>(columns: &[&'t str]) -> &'t str {
    if columns[0] == "-" { "" } else { columns[0] }
}

fn row(resource: &Resource, message: &str, columns: &[&str], defaults: &Defaults) -> Entry {
    let joined = |words: &[String]| if words.is_empty() { "-".to_owned() } else { words.join(",") };
    let verbs = joined(&resource.verbs);
    let subresource = |(name, subresource): (&String, &Subresource)| {
        let usual = defaults.get(name).and_then(|(_, kind)| kind.as_ref()).unwrap_or(&resource.kind);
        if subresource.kind == *usual { name.clone() } else { format!("{name}:{}", subresource.kind) }
    };
    let subresources: Vec<_> = resource.subresources.iter().map(subresource).collect();
    let behaviour = columns.get(BEHAVIOUR).unwrap_or(&NEW_BEHAVIOUR);
    let segment = columns.get(SEGMENT).unwrap_or(&columns[2]);
    let row = [
        &columns[..3],
        &[
            &resource.kind,
            &resource.singular,
            if resource.is_namespaced { "N" } else { "C" },
            &joined(&resource.short_names),
            &joined(&resource.categories),
            if verbs == ALL_VERBS { "S" } else { &verbs },
            &joined(&subresources),
        ],
        behaviour,
        &[message, segment],
    ];
    Entry::row(&row.concat(), Key::Columns(3))
}

/// By name: the row of `subresources.tsv`, and the kind if it is the same for all resources but not their own.
type Defaults = BTreeMap<String, (Entry, Option<String>)>;

/// The common properties of subresources of the same name.
fn subresource_rows(chosen: &[Chosen<'_>], path: &str) -> Result<Defaults, String> {
    let mut by_name: BTreeMap<&String, Vec<(&String, &Subresource)>> = BTreeMap::new();
    for Chosen { resource, .. } in chosen {
        for (name, subresource) in &resource.subresources {
            by_name.entry(name).or_default().push((&resource.kind, subresource));
        }
    }
    let mut rows = Defaults::new();
    for (name, all) in by_name {
        let [(_, first), ..] = all[..] else { continue };
        if all.iter().any(|(_, other)| (&other.verbs, &other.foreign) != (&first.verbs, &first.foreign)) {
            return Err(format!("{path}: `{name}` has other verbs or another group at some resources"));
        }
        let is_own = all.iter().all(|(kind, subresource)| subresource.kind == **kind);
        let is_same = all.iter().all(|(_, subresource)| subresource.kind == first.kind);
        let kind = (is_same && !is_own).then(|| first.kind.clone());
        let foreign =
            first.foreign.as_ref().map_or("-".to_owned(), |(group, version)| format!("{group}/{version}"));
        let columns = [name, &first.verbs.join(","), &foreign, kind.as_deref().unwrap_or("-")];
        rows.insert(name.clone(), (Entry::row(&columns, Key::Columns(1)), kind));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"kind": "APIResourceList", "groupVersion": "harbour.k8s.io/v1", "resources": [
        {"name": "cranes", "singularName": "crane", "kind": "Crane", "namespaced": true, "shortNames": ["cr"],
         "categories": ["all"],
         "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]},
        {"name": "cranes/scale", "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get"]},
        {"name": "cranes/status", "kind": "Crane", "verbs": ["get", "update"]},
        {"name": "cranes/trial", "kind": "Crane", "verbs": ["get"]},
        {"name": "cranes/lift", "kind": "CraneLiftOptions", "verbs": ["create"]},
        {"name": "docks", "singularName": "dock", "kind": "Dock", "verbs": ["get", "list"]},
        {"name": "docks/lift", "kind": "DockLiftOptions", "verbs": ["create"]},
        {"name": "ships", "singularName": "ship", "kind": "Ship", "verbs": ["get"]}
    ]}"#;

    const TABLE: &str = "# Ours.\nharbour.k8s.io\tv1\tcranes\tKran\tkran\tC\t-\t-\tget\t-\tobject\torphan\tcreates\t\
                         required\tspec\tlabel\tharbour/v1.Kran\told-cranes\nharbour.k8s.io\tv1\tdocks\n\
                         harbour.k8s.io\tv1\tferries\tFerry\n";

    fn schemas() -> Schemas {
        let named = |message: &str, group: &str, kind: &str| {
            format!(
                r#""io.k8s.api.{message}": {{"x-kubernetes-group-version-kind":
                    [{{"group": "{group}", "version": "v1", "kind": "{kind}"}}]}}"#
            )
        };
        let all = [
            named("harbour.v1.Crane", "harbour.k8s.io", "Crane"),
            named("harbour.v1.Dock", "harbour.k8s.io", "Dock"),
            named("autoscaling.v1.Scale", "autoscaling", "Scale"),
        ];
        let mut schemas = Schemas::default();
        schemas.read(&format!(r#"{{"components": {{"schemas": {{{}}}}}}}"#, all.join(","))).unwrap();
        schemas
    }

    fn merged() -> Served {
        let mut resources = Resources::new();
        read(LIST, &mut resources).unwrap();
        let table = Table::parse("kinds/served.tsv", TABLE, Key::Columns(3));
        let subresources = Table::parse("kinds/subresources.tsv", "", Key::Columns(1));
        let mut omitted =
            Omitted::parse("served.tsv\tharbour.k8s.io v1 cranes trial\toff by default").unwrap();
        let served = served(resources, &schemas(), &table, &subresources, &mut omitted).unwrap();
        assert!(omitted.stale().is_empty());
        served
    }

    #[test]
    fn names_and_verbs_are_imported_and_behaviour_is_kept() {
        let text = merged().resources.render();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1],
            "harbour.k8s.io\tv1\tcranes\tCrane\tcrane\tN\tcr\tall\tS\tlift:CraneLiftOptions,scale,status\tobject\t\
             orphan\tcreates\trequired\tspec\tlabel\tharbour/v1.Crane\told-cranes"
        );
    }

    #[test]
    fn a_line_with_three_columns_becomes_a_row_and_one_without_a_resource_is_removed() {
        let text = merged().resources.render();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[2..],
            [
                "harbour.k8s.io\tv1\tdocks\tDock\tdock\tC\t-\t-\tget,list\tlift:DockLiftOptions\tstatus\tbackground\t-\t-\t\
              -\tsubdomain\tharbour/v1.Dock\tdocks"
            ]
        );
    }

    #[test]
    fn subresources_have_what_is_common_to_all_of_a_name() {
        let served = merged();
        assert_eq!(
            served.subresources.render(),
            "lift\tcreate\t-\t-\nscale\tget\tautoscaling/v1\tScale\nstatus\tget,update\t-\t-\n"
        );
        assert_eq!(
            served.messages.into_iter().collect::<Vec<_>>(),
            ["autoscaling/v1.Scale", "harbour/v1.Crane", "harbour/v1.Dock"]
        );
        let unserved = BTreeMap::from([("harbour.k8s.io/v1".to_owned(), vec!["ships".to_owned()])]);
        assert_eq!(served.unserved, unserved);
    }
}
