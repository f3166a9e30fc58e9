//! Quotas count custom objects (A§2.6).

use super::*;

#[tokio::test]
async fn a_quota_counts_custom_objects_from_the_first_on() {
    let server = with_widgets().await;
    make(&server, "before", json!({"size": 1})).await;
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"count/widgets.example.com": "2"}}});
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    assert_eq!(call(&server, Method::POST, quotas, quota).await.0, 201);
    make(&server, "a", json!({"size": 1})).await;
    let (status, refused) = call(&server, Method::POST, WIDGETS, widget("b", json!({"size": 1}))).await;
    assert_eq!(status, 403);
    assert_eq!(
        refused["message"],
        "widgets.example.com \"b\" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, used: \
         count/widgets.example.com=2, limited: count/widgets.example.com=2"
    );
    call(&server, Method::DELETE, &format!("{WIDGETS}/a"), Value::Null).await;
    make(&server, "b", json!({"size": 1})).await;
}
