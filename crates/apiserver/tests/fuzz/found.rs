//! What the searches found, kept so that it stays found.

use super::answered;
use super::mutation::Mutated;

fn sent(method: &str, path: &str, content_type: &str, body: &str) {
    answered(&Mutated {
        method: method.into(),
        path: path.into(),
        content_type: content_type.into(),
        accept: "application/json".into(),
        body: body.into(),
    });
}

/// The searches must be able to fail: a request that is all right is answered by the same eyes.
#[test]
fn a_good_request_is_answered() {
    sent(
        "POST",
        "/api/v1/namespaces/default/configmaps?dryRun=All",
        "application/json",
        r#"{"metadata":{"name":"a"}}"#,
    );
}
