//! The names that Go gives to the fields of messages, as errors about Go values have them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The rows of `go_names.tsv`, which `cargo xtask import` writes: the name by message and field.
static NAMES: LazyLock<BTreeMap<(&str, &str), &str>> = LazyLock::new(|| {
    let rows = include_str!("go_names.tsv").lines().filter(|line| !line.starts_with('#'));
    let columns = rows.map(|row| row.split('\t').collect::<Vec<_>>());
    columns.filter_map(|row| Some(((*row.first()?, *row.get(1)?), *row.get(2)?))).collect()
});

/// Returns the Go name of a field of a message: its JSON name, capitalized, unless the table has another one.
pub(crate) fn go_name(message: &str, json: &str) -> String {
    if let Some(name) = NAMES.get(&(message, json)) {
        return (*name).to_owned();
    }
    let mut letters = json.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::schema;

    #[test]
    fn a_name_depends_on_the_message() {
        assert_eq!(go_name("core/v1.Volume", "awsElasticBlockStore"), "AWSElasticBlockStore");
        assert_eq!(go_name("core/v1.RBDVolumeSource", "user"), "RadosUser");
        assert_eq!(go_name("rbac/v1.Subject", "name"), "Name");
        assert_eq!(go_name("core/v1.PodSpec", "serviceAccount"), "DeprecatedServiceAccount");
        assert_eq!(go_name("flowcontrol/v1.Subject", "serviceAccount"), "ServiceAccount");
    }

    #[test]
    fn every_row_is_about_a_field_of_the_schema() {
        for (message, field) in NAMES.keys() {
            let id = schema().find(message).unwrap();
            assert!(schema().field(id, field).is_some(), "{message}.{field}");
        }
    }
}
