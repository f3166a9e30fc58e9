//! Reads `register.go` of API packages: the group of a package, and the kinds that it registers.

use std::collections::BTreeMap;

use super::omitted::Omitted;
use super::table::{Entry, Key};

/// The group and the kinds of packages such as `apps/v1`.
pub(super) type Registered = BTreeMap<String, (String, Vec<String>)>;

/// Adds the kinds that the `register.go` of a package registers for its version.
pub(super) fn read(package: &str, text: &str, registered: &mut Registered) {
    let group = text.lines().find_map(|line| line.strip_prefix("const GroupName = \"")?.strip_suffix('"'));
    let Some(group) = group else { return };
    let kinds = text.lines().filter_map(|line| line.trim().strip_prefix('&')?.strip_suffix("{},"));
    let group = if group.is_empty() { "-" } else { group };
    registered.insert(package.to_owned(), (group.to_owned(), kinds.map(str::to_owned).collect()));
}

/// `known.tsv`.
pub(super) fn entries(registered: &Registered, path: &str, omitted: &mut Omitted) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (package, (group, kinds)) in registered {
        let mut kinds = kinds.clone();
        kinds.sort();
        if !omitted.contains(path, package) {
            entries.push(Entry::row(&[package, group, &kinds.join(",")], Key::Columns(1)));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_a_group_and_kinds() {
        let text = "const GroupName = \"\"\nfunc f() {\n\tscheme.AddKnownTypes(SchemeGroupVersion,\n\t\t&Pod{},\n\t\t&Node{},\n\t)\n\
                    \tscheme.AddKnownTypes(SchemeGroupVersion, &metav1.Status{})\n}\n";
        let mut registered = Registered::new();
        read("core/v1", text, &mut registered);
        read("core/v2", "package v2", &mut registered);
        let mut omitted = Omitted::parse("").unwrap();
        let entries = entries(&registered, "known.tsv", &mut omitted);
        assert_eq!(entries, [Entry::row(&["core/v1", "-", "Node,Pod"], Key::Columns(1))]);
    }
}
