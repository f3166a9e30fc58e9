//! Events expire some time after their last write.

use gantry_json::Value;

use super::{metadata, text};
use crate::Timestamp;

/// Whether the last write of the object is at least so many seconds ago.
///
/// Uses the creation timestamp and the times of managed fields, which the server sets, not the times in its content.
pub fn is_expired(object: &Value, now: Timestamp, lifetime_seconds: i64) -> bool {
    let entries =
        metadata(object).and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    let written = entries.into_iter().flatten().filter_map(|entry| entry["time"].as_str());
    let moments = written.chain(text(object, "creationTimestamp")).filter_map(Timestamp::parse);
    moments.max().is_some_and(|last| now.seconds_after(last) >= lifetime_seconds)
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// A8.9: every write of an event restarts its lifetime; the times in its content are ignored.
    #[test]
    fn writes_restart_the_lifetime_of_an_event() {
        let created = Timestamp::from_secs(10_000);
        let event = json!({"eventTime": "2001-01-01T00:00:00Z", "metadata": {
            "creationTimestamp": created.to_string(), "managedFields": [{"time": created.plus(600).to_string()}]}});
        assert!(!is_expired(&event, created.plus(4199), 3600));
        assert!(is_expired(&event, created.plus(4200), 3600));
        assert!(!is_expired(&json!({}), created, 0), "an object without times does not expire");
    }
}
