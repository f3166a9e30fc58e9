//! A ConfigMap: every key with its value, and how long binary values are.

use gantry_json::Value;

use super::heading;
use super::secret::decoded_length;
use crate::field::{members, shown};

/// A ConfigMap.
pub(crate) fn config_map(map: &Value) -> String {
    let mut out = heading(map) + "\nData\n====\n";
    for (key, value) in members(map, "/data") {
        out += &format!("{key}:\n----\n{}\n\n", shown(value));
    }
    out += "\nBinaryData\n====\n";
    for (key, value) in members(map, "/binaryData") {
        out += &format!("{key}: {} bytes\n", decoded_length(&shown(value)));
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3: a key is shown as it is written, and a value with all of its lines.
    #[test]
    fn keys_of_a_config_map_are_not_titles() {
        let map = json!({"data": {"a": "one\ntwo\n"}, "binaryData": {"clusterIPs": "AAEC"}});
        assert!(
            config_map(&map).ends_with(
                "\nData\n====\na:\n----\none\ntwo\n\n\n\nBinaryData\n====\nclusterIPs: 3 bytes\n\n"
            )
        );
    }
}
