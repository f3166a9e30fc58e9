//! The transaction from the installed tables to the wanted ones, as a script of `nft`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::nft_tables::{NftSet, NftTable, NftTables};
use crate::ruleset::Family;

/// The tables that the kernel has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Installed {
    /// They are not known: existing tables are replaced.
    #[default]
    Unknown,
    /// The tables of an earlier process: names are known, contents are not.
    Found(NftTables),
    /// The tables that this process has written.
    Known(NftTables),
}

/// Returns the transaction from the installed to the wanted tables; empty if there is nothing to do.
///
/// Sets of clients keep their content, so that affinity survives changes and restarts.
pub(crate) fn transaction(table: &str, installed: &Installed, wanted: &NftTables) -> String {
    let mut script = String::new();
    let none = NftTables::new();
    let old = match installed {
        Installed::Known(tables) => tables,
        Installed::Found(tables) if is_compatible(tables, wanted) => {
            for (family, found) in tables {
                flush_all(&mut script, &format!("{} {table}", family.as_str()), found);
            }
            tables
        }
        Installed::Found(_) | Installed::Unknown => {
            for family in Family::ALL {
                let _ = writeln!(script, "add table {0} {table}\ndelete table {0} {table}", family.as_str());
            }
            &none
        }
    };
    for family in Family::ALL {
        let at = format!("{} {table}", family.as_str());
        match (old.get(&family), wanted.get(&family)) {
            (Some(_), None) => {
                let _ = writeln!(script, "delete table {at}");
            }
            (old, Some(new)) => {
                let fallback = NftTable::default();
                if old.is_none() {
                    let _ = writeln!(script, "add table {at}");
                }
                change_table(&mut script, &at, old.unwrap_or(&fallback), new);
            }
            (None, None) => {}
        }
    }
    script
}

/// Whether chains and sets of the same name have the same type: those of another version may differ.
fn is_compatible(found: &NftTables, wanted: &NftTables) -> bool {
    found.iter().all(|(family, found)| {
        let Some(wanted) = wanted.get(family) else { return true };
        let chains = found
            .chains
            .iter()
            .all(|(name, chain)| wanted.chains.get(name).is_none_or(|wanted| wanted.hook == chain.hook));
        let sets = found
            .sets
            .iter()
            .all(|(name, set)| wanted.sets.get(name).is_none_or(|wanted| wanted.is_map == set.is_map));
        chains && sets
    })
}

/// Empties everything except the sets of clients.
fn flush_all(script: &mut String, at: &str, found: &NftTable) {
    for chain in found.chains.keys() {
        let _ = writeln!(script, "flush chain {at} {chain}");
    }
    for (name, set) in found.sets.iter().filter(|(_, set)| !is_of_clients(set)) {
        let _ = writeln!(script, "flush {} {at} {name}", keyword(set));
    }
}

fn change_table(script: &mut String, at: &str, old: &NftTable, new: &NftTable) {
    for (name, chain) in new.chains.iter().filter(|(name, _)| !old.chains.contains_key(*name)) {
        let hook = if chain.hook.is_empty() { String::new() } else { format!(" {{ {} }}", chain.hook) };
        let _ = writeln!(script, "add chain {at} {name}{hook}");
    }
    for (name, set) in new.sets.iter().filter(|(name, _)| !old.sets.contains_key(*name)) {
        let _ = writeln!(script, "add {} {at} {name} {{ {} }}", keyword(set), set.declaration);
    }
    let rules = |table: &NftTable, name: &str| table.chains.get(name).map(|chain| chain.rules.clone());
    for name in old.chains.keys() {
        let (before, after) = (rules(old, name).unwrap_or_default(), rules(new, name).unwrap_or_default());
        if before != after && !before.is_empty() {
            let _ = writeln!(script, "flush chain {at} {name}");
        }
    }
    for (name, chain) in &new.chains {
        if rules(old, name).as_ref() != Some(&chain.rules) {
            for rule in &chain.rules {
                let _ = writeln!(script, "add rule {at} {name} {rule}");
            }
        }
    }
    let empty = BTreeMap::new();
    let elements = |table: &NftTable, name: &str| table.sets.get(name).map(|set| set.elements.clone());
    for (name, set) in &old.sets {
        let after = elements(new, name).unwrap_or_default();
        change_elements(script, &format!("delete element {at} {name}"), &set.elements, &after);
    }
    for (name, set) in &new.sets {
        let before = elements(old, name).unwrap_or(empty.clone());
        change_elements(script, &format!("add element {at} {name}"), &set.elements, &before);
    }
    for name in old.chains.keys().filter(|name| !new.chains.contains_key(*name)) {
        let _ = writeln!(script, "delete chain {at} {name}");
    }
    for (name, set) in old.sets.iter().filter(|(name, _)| !new.sets.contains_key(*name)) {
        let _ = writeln!(script, "delete {} {at} {name}", keyword(set));
    }
}

/// Writes a command for the elements that are not in the others.
fn change_elements(
    script: &mut String,
    command: &str,
    elements: &BTreeMap<String, String>,
    others: &BTreeMap<String, String>,
) {
    let changed: Vec<String> = elements
        .iter()
        .filter(|(key, value)| others.get(*key) != Some(value))
        .map(|(key, value)| if value.is_empty() { key.clone() } else { format!("{key} : {value}") })
        .collect();
    if !changed.is_empty() {
        let _ = writeln!(script, "{command} {{ {} }}", changed.join(", "));
    }
}

fn keyword(set: &NftSet) -> &'static str {
    if set.is_map { "map" } else { "set" }
}

fn is_of_clients(set: &NftSet) -> bool {
    set.declaration.contains("dynamic")
}
