//! The plain limits, with priority and fairness turned off.

use gantry_apiserver::{RequestLimits, Settings};
use gantry_json::{Value, json};
use http::Method;

use crate::harness::gated_store::GatedStore;
use crate::{FLOW_CONTROL, get_as, lists_config_maps, round_trip_as, user};

const GATED: &str = "/api/v1/namespaces/default/configmaps";

/// Reads are limited, writes and administrators are not; FlowSchemas are served, but have no effect.
#[tokio::test]
async fn without_priority_and_fairness_the_in_flight_limits_apply() {
    let requests = RequestLimits { reading: 1, mutating: 1, priority_and_fairness: false };
    let (server, store) =
        GatedStore::server(Settings { requests, ..Settings::default() }, lists_config_maps).await;
    let executes = tokio::spawn({
        let server = server.clone();
        async move { get_as(&server, "a", GATED).await.status }
    });
    store.arrivals(1).await;
    let rejected = get_as(&server, "b", "/api/v1/nodes").await;
    assert_eq!((rejected.status, rejected.header("retry-after")), (429, "1"));
    assert_eq!(rejected.header("x-kubernetes-pf-flowschema-uid"), "");
    let map = json!({"metadata": {"name": "m"}});
    assert_eq!(round_trip_as(&server, user("b", &[]), Method::POST, GATED, &map).await.status, 201);
    let master = user("admin", &["system:masters"]);
    let path = format!("{FLOW_CONTROL}/flowschemas/exempt");
    assert_eq!(round_trip_as(&server, master, Method::GET, &path, &Value::Null).await.status, 200);
    store.open(1);
    assert_eq!(executes.await.unwrap(), 200);
    assert_eq!(get_as(&server, "b", "/api/v1/nodes").await.status, 200);
}
