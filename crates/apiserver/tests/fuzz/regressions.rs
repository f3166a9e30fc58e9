//! Regressions found by fuzzing.

use super::check_response;
use super::mutation::Mutated;

fn sent(method: &str, path: &str, content_type: &str, body: &str) {
    check_response(&Mutated::of(method, path, content_type, body));
}

/// The check must be able to fail: a valid request passes it.
#[test]
fn a_valid_request_succeeds() {
    sent(
        "POST",
        "/api/v1/namespaces/default/configmaps?dryRun=All",
        "application/json",
        r#"{"metadata":{"name":"a"}}"#,
    );
}
