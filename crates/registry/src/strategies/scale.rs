//! The `Scale` of a subresource `scale`.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] =
    &[column::NAME, column::number("Desired"), column::number("Available"), column::AGE];

pub(super) const STRATEGY: KindStrategy =
    KindStrategy { rows: Rows::new(COLUMNS, cells), ..KindStrategy::DEFAULT };

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(cell::name(object)),
        json!(cell::number(object, "spec.replicas")),
        json!(cell::number(object, "status.replicas")),
        json!(cell::age(object, now)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: scale of anything.
    #[test]
    fn a_scale_shows_wanted_and_there() {
        let scale_object =
            json!({"metadata": {"name": "web"}, "spec": {"replicas": 3}, "status": {"replicas": 2}});
        assert_eq!(cells(&scale_object, NOW), [json!("web"), json!(3), json!(2), json!("<unknown>")]);
    }
}
