//! The strategy of ResourceQuotas.

mod validation;

use gantry_json::{SmolStr, Value, json};

use super::KindStrategy;
use crate::admission::quota::QuotaRules;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Request").computed(|object, _| json!(amounts(object, false))),
    column::text("Limit").computed(|object, _| json!(amounts(object, true))),
    column::AGE,
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, _, new| validation::quota(errors, new),
    validate_change: validation::changes,
    validate_status: |errors, _, _, new| validation::status(errors, new),
    warnings: |warnings, old, new| {
        if old.is_none() {
            validation::warnings(warnings, &new["spec"]);
        }
    },
    quota: QuotaRules::new(|usage, _| usage.count("resourcequotas")),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Formats used and hard amounts of the status, of limits or of everything else.
fn amounts(quota: &Value, of_limits: bool) -> String {
    let hard = cell::at(quota, "status.hard").as_object().into_iter().flatten();
    let amount = |(resource, hard): (&SmolStr, &Value)| {
        let used = cell::plain(&quota["status"]["used"][resource]).unwrap_or_else(|| "0".to_owned());
        format!("{resource}: {used}/{}", cell::plain(hard).unwrap_or_default())
    };
    let chosen = hard.filter(|(resource, _)| resource.starts_with("limits") == of_limits);
    chosen.map(amount).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a row shows used and hard amounts, those of limits in a column of their own.
    #[test]
    fn a_quota_shows_requests_and_limits_apart() {
        let quota = json!({"status": {
            "hard": {"pods": "5", "requests.cpu": "2", "limits.cpu": "4"}, "used": {"pods": "1", "limits.cpu": "500m"},
        }});
        assert_eq!(
            STRATEGY.rows.cells(&quota, NOW)[1..3],
            ["pods: 1/5, requests.cpu: 0/2", "limits.cpu: 500m/4"]
        );
    }
}
