//! The verbs and kinds of subresources: `subresources.tsv`. Which resource has which is in `served.tsv`.

use super::parse::verbs_of;
use super::{GroupVersion, Subresource};

const TABLE: &str = include_str!("subresources.tsv");

/// Reads `name` or `name:kind` of a resource with this kind.
pub(crate) fn subresource(word: &'static str, kind: &'static str) -> Result<Subresource, String> {
    let (name, named) = word.split_once(':').map_or((word, None), |(name, kind)| (name, Some(kind)));
    let mut rows = TABLE.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let row = rows.find(|columns| columns[0] == name).ok_or_else(|| format!("no subresource {name}"))?;
    let [_, verbs, foreign, own] = row[..] else { return Err(format!("{} columns: {name}", row.len())) };
    let own = if own == "-" { kind } else { own };
    let foreign = foreign.split_once('/').map(|(group, version)| GroupVersion { group, version });
    Ok(Subresource { name, verbs: verbs_of(verbs)?, foreign, kind: named.unwrap_or(own) })
}
