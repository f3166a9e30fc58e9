//! ControllerRevisions.

use serde_json::Value;

use super::Strategy;
use crate::table::{Rows, workloads};
use crate::validation::error_list::{ErrorList, Path, number};

pub(super) const STRATEGY: Strategy = Strategy {
    validate: |errors, _, old, new| validate(errors, old, new),
    rows: Rows::new(workloads::CONTROLLER_REVISION, workloads::controller_revision),
    ..Strategy::DEFAULT
};

fn validate(errors: &mut ErrorList, old: Option<&Value>, new: &Value) {
    let data = Path::new("data");
    match &new["data"] {
        Value::Null if old.is_none() => errors.required(&data, "data is mandatory"),
        Value::Null | Value::Object(_) => {}
        _ if old.is_none() => errors.required(&data, "data must be a valid JSON object"),
        _ => {}
    }
    if number(new, "revision").is_some_and(|revision| revision < 0) {
        let why = "must be greater than or equal to 0";
        errors.invalid(&Path::new("revision"), &new["revision"], why);
    }
    if let Some(old) = old {
        errors.immutable(&data, old["data"] == new["data"], &new["data"]);
    }
}
