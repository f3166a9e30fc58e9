//! The `Scale` of a subresource `scale`.

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::number("Desired").number_at("spec.replicas"),
    column::number("Available").number_at("status.replicas"),
    column::AGE,
];

pub(super) const STRATEGY: KindStrategy = KindStrategy { rows: Rows::new(COLUMNS), ..KindStrategy::DEFAULT };

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(1_767_225_900);

    /// Appendix C: the row of a Scale.
    #[test]
    fn the_row_of_a_scale_has_desired_and_available() {
        let scale_object =
            json!({"metadata": {"name": "web"}, "spec": {"replicas": 3}, "status": {"replicas": 2}});
        assert_eq!(
            STRATEGY.rows.cells(&scale_object, NOW),
            [json!("web"), json!(3), json!(2), json!("<unknown>")]
        );
    }
}
