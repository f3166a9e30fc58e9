//! The strategy of ResourceQuotas.

mod validation;

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::admission::quota::QuotaRules;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[column::NAME, column::text("Request"), column::text("Limit"), column::AGE];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| {
        validation::quota(errors, new);
        if let Some(old) = old {
            validation::changes(errors, old, new);
        }
    },
    validate_status: |errors, _, _, new| validation::status(errors, new),
    warnings: |warnings, old, new| {
        if old.is_none() {
            validation::warnings(warnings, &new["spec"]);
        }
    },
    quota: QuotaRules::new(|usage, _| usage.count("resourcequotas")),
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

/// Formats used and hard amounts of the status.
fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in cell::at(object, "status.hard").as_object().into_iter().flatten() {
        let used = cell::plain(&object["status"]["used"][resource]).unwrap_or_else(|| "0".to_owned());
        let amount = format!("{resource}: {used}/{}", cell::plain(hard).unwrap_or_default());
        if resource.starts_with("limits") { &mut limits } else { &mut requests }.push(amount);
    }
    vec![
        json!(cell::name(object)),
        json!(requests.join(", ")),
        json!(limits.join(", ")),
        json!(cell::age(object, now)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: quotas show what is used of what is allowed.
    #[test]
    fn a_quota_shows_requests_and_limits_apart() {
        let quota = json!({"status": {
            "hard": {"pods": "5", "requests.cpu": "2", "limits.cpu": "4"}, "used": {"pods": "1", "limits.cpu": "500m"},
        }});
        assert_eq!(cells(&quota, NOW)[1..3], ["pods: 1/5, requests.cpu: 0/2", "limits.cpu: 500m/4"]);
    }
}
