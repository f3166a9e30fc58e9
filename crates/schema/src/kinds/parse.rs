//! Parses the compiled-in table.

use std::sync::Arc;

use super::subresources::subresource;
use super::{
    BlindPut, DefaultPropagation, DeleteAnswer, Generation, GroupVersion, Kind, Kinds, NameRule, Nature,
    PutAbsent, Scope, Verb,
};
use crate::schema::schema;

/// Parses the table; an error names the line.
pub(super) fn kinds(table: &'static str) -> Result<Kinds, String> {
    let mut all = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        all.push(Arc::new(kind(line).map_err(|problem| format!("{problem}: {line}"))?));
    }
    Ok(Kinds::new(all))
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
        message,
        segment,
    ] = columns.as_slice()
    else {
        return Err(format!("{} columns", columns.len()));
    };
    let group = if *group == "-" { "" } else { group };
    Ok(Kind {
        group,
        version,
        api_version: GroupVersion { group, version }.to_string().leak(),
        resource,
        kind,
        list_kind: format!("{kind}List").leak(),
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
                ("exact-spec", Generation::ExactSpec),
                ("spec-from-zero", Generation::SpecFromZero),
                ("spec+annotations", Generation::SpecOrAnnotations),
                ("all", Generation::Anything),
                ("one", Generation::AlwaysOne),
            ],
        )?,
        names: word(
            names,
            &[
                ("ip", NameRule::IpAddress),
                ("subdomain", NameRule::Subdomain),
                ("label", NameRule::Label),
                ("path", NameRule::PathSegment),
            ],
        )?,
        nature: Nature::BuiltIn(schema().find(message).ok_or_else(|| format!("no message {message}"))?),
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

pub(super) fn verbs_of(column: &'static str) -> Result<Vec<Verb>, String> {
    if column == "S" {
        return Ok(Verb::ALL.to_vec());
    }
    let verb = |name| Verb::parse(name).ok_or_else(|| format!("no verb {name}"));
    words(column).into_iter().map(verb).collect()
}
