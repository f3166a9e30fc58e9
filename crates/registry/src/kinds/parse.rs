//! Reads the table that is compiled in.

use std::collections::BTreeMap;

use super::subresources::subresource;
use super::{
    BlindPut, DefaultPropagation, DeleteAnswer, Generation, Group, Kind, Kinds, NameRule, PutAbsent, Scope,
    Verb,
};
use crate::schema::schema;

const ALL_VERBS: [Verb; 8] = [
    Verb::Create,
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Update,
    Verb::Watch,
];

/// Reads the table; a problem names the line.
pub(super) fn kinds(table: &'static str) -> Result<Kinds, String> {
    let mut all = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        all.push(kind(line).map_err(|problem| format!("{problem}: {line}"))?);
    }
    let mut by_resource = BTreeMap::new();
    let mut by_kind = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (index, kind) in all.iter().enumerate() {
        by_resource.insert((kind.group, kind.version, kind.resource), index);
        by_kind.insert((kind.group, kind.version, kind.kind), index);
        match groups.iter_mut().find(|group| group.name == kind.group) {
            Some(group) if group.versions.contains(&kind.version) => {}
            Some(group) => group.versions.push(kind.version),
            None => groups.push(Group { name: kind.group, versions: vec![kind.version] }),
        }
    }
    Ok(Kinds { all, by_resource, by_kind, groups })
}

fn kind(line: &'static str) -> Result<Kind, String> {
    let columns: Vec<&'static str> = line.split('\t').collect();
    let [
        group,
        version,
        resource,
        kind,
        singular,
        scope,
        short_names,
        categories,
        verbs,
        subresources,
        deleted,
        propagation,
        put_absent,
        blind_put,
        generation,
        names,
        message_name,
        segment,
    ] = columns.as_slice()
    else {
        return Err(format!("{} columns", columns.len()));
    };
    Ok(Kind {
        group: if *group == "-" { "" } else { group },
        version,
        resource,
        kind,
        singular,
        scope: word(scope, &[("N", Scope::Namespaced), ("C", Scope::Cluster)])?,
        short_names: words(short_names),
        categories: words(categories),
        verbs: verbs_of(verbs)?,
        subresources: words(subresources)
            .into_iter()
            .map(|name| subresource(name, kind))
            .collect::<Result<_, _>>()?,
        deleted: word(deleted, &[("object", DeleteAnswer::Object), ("status", DeleteAnswer::Status)])?,
        propagation: word(
            propagation,
            &[
                ("background", DefaultPropagation::Background),
                ("orphan", DefaultPropagation::Orphan),
                ("-", DefaultPropagation::Unsupported),
            ],
        )?,
        put_absent: word(put_absent, &[("creates", PutAbsent::Creates), ("-", PutAbsent::NotFound)])?,
        blind_put: word(blind_put, &[("required", BlindPut::Refused), ("-", BlindPut::Overwrites)])?,
        generation: word(
            generation,
            &[
                ("-", Generation::Absent),
                ("spec", Generation::Spec),
                ("spec+annotations", Generation::SpecOrAnnotations),
                ("all", Generation::Anything),
                ("one", Generation::AlwaysOne),
            ],
        )?,
        names: word(
            names,
            &[
                ("subdomain", NameRule::Subdomain),
                ("label", NameRule::Label),
                ("path", NameRule::PathSegment),
            ],
        )?,
        message_name,
        message: schema().find(message_name).ok_or_else(|| format!("no message {message_name}"))?,
        segment,
    })
}

fn words(column: &'static str) -> Vec<&'static str> {
    if column == "-" { Vec::new() } else { column.split(',').collect() }
}

fn word<T: Copy>(column: &str, meanings: &[(&str, T)]) -> Result<T, String> {
    let found = meanings.iter().find(|(name, _)| *name == column);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| format!("no meaning of {column}"))
}

fn verbs_of(column: &'static str) -> Result<Vec<Verb>, String> {
    if column == "S" {
        return Ok(ALL_VERBS.to_vec());
    }
    let named = |name: &str| ALL_VERBS.iter().find(|verb| verb.as_str() == name).copied();
    words(column).into_iter().map(|name| named(name).ok_or_else(|| format!("no verb {name}"))).collect()
}
