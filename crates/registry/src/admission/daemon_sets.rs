//! A DaemonSet carries the number of templates it has had as an annotation.

use serde_json::{Value, json};

use crate::defaults::setting::{ensure, object};
use crate::defaults::workload::TEMPLATE_GENERATION;

/// Numbers the template: the first is 1, and every other one is one more.
pub(crate) fn count_template(set: &mut Value, stored: Option<&Value>) {
    let number = match stored {
        None => 1,
        Some(stored) => {
            let before = &stored["metadata"]["annotations"][TEMPLATE_GENERATION];
            let before: i64 = before.as_str().and_then(|text| text.parse().ok()).unwrap_or(1);
            before + i64::from(stored["spec"]["template"] != set["spec"]["template"])
        }
    };
    let metadata = object(set).and_then(|set| ensure(set, "metadata"));
    if let Some(annotations) = metadata.and_then(|metadata| ensure(metadata, "annotations")) {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), json!(number.to_string()));
    }
}
