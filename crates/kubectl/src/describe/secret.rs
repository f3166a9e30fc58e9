//! Describes a secret: keys and sizes, never values.

use gantry_json::Value;

use super::labels_annotations::{annotations, labels};
use crate::field::{members, shown, text};

/// A secret.
pub(crate) fn secret(secret: &Value) -> String {
    let mut out = format!("Name:\t{}\n", text(secret, "/metadata/name"));
    out += &format!("Namespace:\t{}\n", text(secret, "/metadata/namespace"));
    out += &labels("Labels:", "", secret, "/metadata/labels");
    out += &annotations("Annotations:", "", secret, "/metadata/annotations");
    out += &format!("\nType:\t{}\n\nData\n====\n", text(secret, "/type"));
    for (name, value) in members(secret, "/data") {
        out += &format!("{name}:\t{} bytes\n", decoded_length(&shown(value)));
    }
    out
}

/// The number of bytes that a base64 text encodes.
pub(super) fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::align_columns;
    use gantry_json::json;

    #[test]
    fn secret_values_are_not_printed() {
        let object = json!({"metadata": {"name": "sec", "namespace": "default"}, "type": "Opaque",
            "data": {"p": "cGFzcw==", "empty": "", "long-name": "YWJjZA=="}});
        assert_eq!(
            align_columns(&secret(&object), 2),
            "Name:         sec\nNamespace:    default\nLabels:       <none>\nAnnotations:  <none>\n\nType:  Opaque\n\n\
             Data\n====\nempty:      0 bytes\nlong-name:  4 bytes\np:          4 bytes\n"
        );
    }
}
