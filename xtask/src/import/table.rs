//! A table of the repository as entries, and the difference between two states of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A table: the comment at its top, which is ours, and its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) path: &'static str,
    header: String,
    pub(super) entries: Vec<Entry>,
}

/// A row, or a block: a line and the indented lines below it. Blank lines belong to the entry that follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) lines: Vec<String>,
}

/// The part of an entry's first line that identifies it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    /// So many columns, separated by tabs.
    Columns(usize),
    /// The words up to the name of a role or binding.
    Role,
}

impl Key {
    pub(super) fn of(self, line: &str) -> String {
        match self {
            Self::Columns(count) => line.split('\t').take(count).collect::<Vec<_>>().join(" "),
            Self::Role => {
                let is_namespaced = line.starts_with("role ") || line.starts_with("bind-in ");
                let words = line.split(' ').take(if is_namespaced { 3 } else { 2 });
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl Entry {
    /// An entry of one line.
    pub(super) fn row(columns: &[&str], key: Key) -> Self {
        let line = columns.join("\t");
        Self { key: key.of(&line), lines: vec![line] }
    }

    /// The columns of a row.
    pub(super) fn columns(&self) -> Vec<&str> {
        self.lines.iter().flat_map(|line| line.split('\t')).collect()
    }
}

impl Table {
    /// Splits the text of a table into entries.
    pub(super) fn parse(path: &'static str, text: &str, key: Key) -> Self {
        let mut table = Self { path, header: String::new(), entries: Vec::new() };
        let mut blank = Vec::new();
        for line in text.lines() {
            if line.starts_with('#') {
                table.header.push_str(line);
                table.header.push('\n');
            } else if line.is_empty() {
                blank.push(String::new());
            } else if line.starts_with([' ', '\t']) {
                if let Some(entry) = table.entries.last_mut() {
                    entry.lines.push(line.to_owned());
                }
            } else {
                let mut lines = std::mem::take(&mut blank);
                lines.push(line.to_owned());
                table.entries.push(Entry { key: key.of(line), lines });
            }
        }
        table
    }

    /// The same table with other entries.
    pub(super) fn with(&self, entries: Vec<Entry>) -> Self {
        Self { path: self.path, header: self.header.clone(), entries }
    }

    /// The same table with other entries, in the order of the ones that it has. New ones come last.
    pub(super) fn with_in_order(&self, mut entries: Vec<Entry>) -> Self {
        let places: BTreeMap<_, _> =
            self.entries.iter().enumerate().map(|(place, entry)| (entry.key.as_str(), place)).collect();
        entries.sort_by_key(|entry| places.get(entry.key.as_str()).copied().unwrap_or(usize::MAX));
        self.with(entries)
    }

    /// The text of the file.
    pub(super) fn render(&self) -> String {
        let mut text = self.header.clone();
        for line in self.entries.iter().flat_map(|entry| &entry.lines) {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// The lines of all entries, without the line that only names a block.
    fn by_key(&self) -> BTreeMap<&str, Vec<&str>> {
        let entries = self.entries.iter().map(|Entry { key, lines }| {
            let lines = lines.iter().map(String::as_str);
            (key.as_str(), lines.filter(|line| !line.is_empty() && line != key).collect())
        });
        entries.collect()
    }

    /// Describes how the table differs from an earlier state of it; none if it does not.
    pub(super) fn difference(&self, before: &Self) -> Option<String> {
        if self.entries == before.entries {
            return None;
        }
        let (old, new) = (before.by_key(), self.by_key());
        let (mut added, mut removed, mut changed) = (0, 0, 0);
        let mut listed = String::new();
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (old.get(key), new.get(key));
            let (count, word) = match (was, is) {
                (was, is) if was == is => continue,
                (None, _) => (&mut added, "added"),
                (_, None) => (&mut removed, "removed"),
                _ => (&mut changed, "changed"),
            };
            *count += 1;
            let _ = writeln!(listed, "  {word} {key}");
            let (was, is) = (was.map_or(&[][..], Vec::as_slice), is.map_or(&[][..], Vec::as_slice));
            let minus: Vec<_> =
                was.iter().filter(|line| !is.contains(line)).map(|line| ('-', line)).collect();
            let plus: Vec<_> = is.iter().filter(|line| !was.contains(line)).map(|line| ('+', line)).collect();
            if minus.is_empty() && plus.is_empty() {
                listed.push_str("    the lines have another order\n");
            }
            for (sign, line) in minus.into_iter().chain(plus) {
                let _ = writeln!(listed, "    {sign} {}", line.trim());
            }
        }
        let order = if added + removed + changed == 0 { "; only the order differs" } else { "" };
        Some(format!("{}: {added} added, {removed} removed, {changed} changed{order}\n{listed}", self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: &str =
        "# Ours.\n\nrole a b\n  allow x\n  allow y\nbind-in a b c user:u\n\ncluster-role d e=f\n";

    #[test]
    fn a_table_is_rendered_as_it_was_parsed() {
        let table = Table::parse("roles.txt", BLOCKS, Key::Role);
        let keys: Vec<_> = table.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["role a b", "bind-in a b", "cluster-role d"]);
        assert_eq!(table.render(), BLOCKS);
    }

    #[test]
    fn the_difference_names_entries_and_shows_their_lines() {
        let before = Table::parse("t.tsv", "a\tx\t1\nb\ty\t2\nc\tz\t3\n", Key::Columns(2));
        let after = Table::parse("t.tsv", "a\tx\t1\nb\ty\t4\nd\tz\t3\n", Key::Columns(2));
        assert_eq!(
            after.difference(&before).unwrap(),
            "t.tsv: 1 added, 1 removed, 1 changed\n  changed b y\n    - b\ty\t2\n    + b\ty\t4\n  removed c z\n    \
             - c\tz\t3\n  added d z\n    + d\tz\t3\n"
        );
        assert_eq!(before.difference(&before), None);
    }

    #[test]
    fn another_order_is_a_difference() {
        let before = Table::parse("t.tsv", "a\nb\n", Key::Columns(1));
        let after = Table::parse("t.tsv", "b\na\n", Key::Columns(1));
        let shown = after.difference(&before).unwrap();
        assert_eq!(shown, "t.tsv: 0 added, 0 removed, 0 changed; only the order differs\n");
    }

    #[test]
    fn another_order_of_the_lines_of_a_block_is_a_change() {
        let before = Table::parse("t.tsv", "a\n\tx\n\ty\n", Key::Columns(1));
        let after = Table::parse("t.tsv", "a\n\ty\n\tx\n", Key::Columns(1));
        let shown = after.difference(&before).unwrap();
        assert_eq!(
            shown,
            "t.tsv: 0 added, 0 removed, 1 changed\n  changed a\n    the lines have another order\n"
        );
    }

    #[test]
    fn entries_keep_their_places_and_new_ones_come_last() {
        let before = Table::parse("t.tsv", "# Ours.\nc\nb\n", Key::Columns(1));
        let rows = ["a", "b", "c"].map(|name| Entry::row(&[name], Key::Columns(1)));
        assert_eq!(before.with_in_order(rows.to_vec()).render(), "# Ours.\nc\nb\na\n");
    }
}
