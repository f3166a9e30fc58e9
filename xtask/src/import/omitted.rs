//! Upstream entries that our tables omit on purpose: `omitted.tsv`, a line each with the reason.

use std::collections::BTreeMap;

/// The omitted entries, and which of them upstream still has.
#[derive(Debug)]
pub(super) struct Omitted {
    found: BTreeMap<(String, String), bool>,
}

impl Omitted {
    /// Reads lines of three columns: the name of a table, a key in it, and the reason.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let rows = lines.map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [table, key, reason] if !reason.is_empty() => Ok(((table.to_owned(), key.to_owned()), false)),
            _ => Err(format!("omitted.tsv: a table, a key and a reason are wanted: {line}")),
        });
        Ok(Self { found: rows.collect::<Result<_, _>>()? })
    }

    /// Whether an entry of the table at this path is omitted.
    pub(super) fn contains(&mut self, path: &str, key: &str) -> bool {
        let table = path.rsplit('/').next().unwrap_or(path);
        let found = self.found.get_mut(&(table.to_owned(), key.to_owned()));
        found.map(|found| *found = true).is_some()
    }

    /// Lines about entries that upstream does not have (any more).
    pub(super) fn stale(&self) -> Vec<String> {
        let stale = self.found.iter().filter(|(_, found)| !**found);
        stale.map(|((table, key), _)| format!("{table} {key}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_reason_is_a_problem() {
        assert!(Omitted::parse("served.tsv\ta b").is_err());
        assert!(Omitted::parse("served.tsv\ta b\t").is_err());
    }

    #[test]
    fn omissions_without_upstream_entry_are_stale() {
        let mut omitted = Omitted::parse("# Ours.\nserved.tsv\ta b\toff\nserved.tsv\tc d\toff\n").unwrap();
        assert!(omitted.contains("kinds/served.tsv", "a b"));
        assert!(!omitted.contains("kinds/served.tsv", "e f"));
        assert_eq!(omitted.stale(), ["served.tsv c d"]);
    }
}
