//! Discovery documents: groups, versions, resources.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use harness::{ReceivedResponse, round_trip, server, sha512};
use http::Method;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

async fn get(server: &ApiServer, path: &str, headers: &[(&str, &str)]) -> ReceivedResponse {
    round_trip(server, Method::GET, path, headers, "").await
}

fn recorded(name: &str) -> Value {
    let path = format!("{}/../registry/tests/recorded/discovery.{name}.json", env!("CARGO_MANIFEST_DIR"));
    gantry_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A1.1, A1.2: the legacy documents equal those of Kubernetes.
#[tokio::test]
async fn legacy_documents_are_served_as_recorded() {
    let server = server().await;
    for exchange in recorded("one_group").as_array().unwrap() {
        let path = exchange["request"].as_str().unwrap().strip_prefix("GET ").unwrap();
        let response = get(&server, path, &[]).await;
        assert_eq!(
            (response.header("content-type"), response.json()),
            ("application/json", exchange["body"].clone())
        );
    }
    let root = get(&server, "/api", &[("host", "10.0.0.1:6443")]).await.json();
    assert_eq!(root["serverAddressByClientCIDRs"][0]["serverAddress"], "10.0.0.1:6443");
    assert_eq!(root.get("apiVersion"), None);
    assert_eq!(get(&server, "/api/v1", &[]).await.json().get("apiVersion"), None);
    let apps = get(&server, "/apis/apps/v1/", &[]).await.json();
    assert_eq!((&apps["apiVersion"], &apps["groupVersion"]), (&json!("v1"), &json!("apps/v1")));
}

/// A1.3, A1.4, A1.5: the aggregated documents have their content type and ETag.
#[tokio::test]
async fn aggregated_documents_are_sent_once() {
    let server = server().await;
    for path in ["/api", "/apis"] {
        let accept = format!("{AGGREGATED},application/json;q=0.9");
        let response = get(&server, path, &[("accept", &accept)]).await;
        assert_eq!((response.status, response.header("content-type")), (200, AGGREGATED));
        assert_eq!((response.header("vary"), response.header("cache-control")), ("Accept", "public"));
        let etag = response.header("etag").to_owned();
        assert_eq!(etag, format!("\"{}\"", sha512(&response.body)));
        let again = get(&server, path, &[("accept", AGGREGATED), ("if-none-match", &etag)]).await;
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, etag.as_str()));
        let other = get(&server, path, &[("accept", AGGREGATED), ("if-none-match", "\"0000\"")]).await;
        assert_eq!(other.status, 200);
    }
    let older = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    assert_eq!(get(&server, "/apis", &[("accept", older)]).await.status, 406);
    let fallback = get(&server, "/apis", &[("accept", &format!("{older},application/json"))]).await.json();
    assert_eq!(fallback["kind"], "APIGroupList");
}

/// A1.6, A1.10: every advertised list can be listed and watched.
#[tokio::test]
async fn everything_advertised_is_served() {
    let server = server().await;
    let mut listed = 0;
    for prefix in prefixes(&server).await {
        let list = get(&server, &prefix, &[]).await.json();
        for resource in list["resources"].as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            let verbs = resource["verbs"].as_array().unwrap();
            if name.contains('/') || !verbs.contains(&json!("list")) {
                continue;
            }
            let response = get(&server, &format!("{prefix}/{name}"), &[]).await;
            assert_eq!(response.status, 200, "{prefix}/{name}");
            if verbs.contains(&json!("watch")) {
                let query = format!("{prefix}/{name}?watch=1&resourceVersion=99999999&timeoutSeconds=1");
                let request = http::Request::get(query).body(bytes::Bytes::new()).unwrap();
                assert_eq!(server.handle(request).await.status(), 200, "{prefix}/{name}");
            }
            listed += 1;
        }
    }
    assert!(listed > 40, "{listed}");
    for plain in ["/apis/storage.k8s.io/v1/csinodes", "/apis/resource.k8s.io/v1/resourceslices"] {
        assert_eq!(get(&server, plain, &[]).await.json()["items"], json!([]), "{plain}");
    }
}

async fn prefixes(server: &ApiServer) -> Vec<String> {
    let groups = get(server, "/apis", &[]).await.json();
    let groups = groups["groups"].as_array().unwrap();
    let versions = groups.iter().flat_map(|group| group["versions"].as_array().unwrap().clone());
    let named = versions.map(|version| format!("/apis/{}", version["groupVersion"].as_str().unwrap()));
    std::iter::once("/api/v1".to_owned()).chain(named).collect()
}

/// A1.7, A1.9: version and the list of paths are pretty-printed, with and without a trailing slash.
#[tokio::test]
async fn version_and_paths_are_listed() {
    let server = server().await;
    for path in ["/version", "/version/"] {
        let response = get(&server, path, &[]).await;
        assert!(response.text().starts_with("{\n  \""), "{}", response.text());
        let version = response.json();
        assert_eq!((&version["major"], &version["minor"]), (&json!("1"), &json!("37")));
        assert!(version["gitVersion"].as_str().unwrap().starts_with("v1.37."));
    }
    let root = get(&server, "/", &[]).await.json();
    let paths: Vec<_> = root["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(paths.is_sorted());
    for path in
        ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/livez/ping", "/version"]
    {
        assert!(paths.contains(&path), "{path}");
    }
    for path in paths {
        assert_eq!(get(&server, path, &[]).await.status, 200, "{path}");
    }
}

/// A1.12: deprecated kinds get a warning.
#[tokio::test]
async fn deprecated_kinds_get_a_warning() {
    let server = server().await;
    for (path, warning) in [
        (
            "/api/v1/namespaces/default/endpoints",
            r#"299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice""#,
        ),
        ("/api/v1/componentstatuses", r#"299 - "v1 ComponentStatus is deprecated in v1.19+""#),
        ("/api/v1/namespaces/default/configmaps", ""),
    ] {
        assert_eq!(get(&server, path, &[]).await.header("warning"), warning, "{path}");
    }
}

/// A0.5, A0.6, A0.8, A0.15: the errors of absent resources, absent paths and unsupported methods.
#[tokio::test]
async fn there_are_two_kinds_of_404() {
    let server = server().await;
    for path in ["/foo", "/apis/nope.example.com", "/apis/nope.example.com/v1/foos", "/version/more"] {
        let response = get(&server, path, &[]).await;
        assert_eq!((response.status, response.text()), (404, "404 page not found\n"), "{path}");
        assert_eq!(response.header("x-content-type-options"), "nosniff");
        assert_eq!(response.header("content-type"), "text/plain; charset=utf-8");
    }
    for path in ["/api/v2/pods", "/apis/apps/v9", "/apis/apps/v1/foos", "/api/v1/nodes/x/y/z"] {
        let response = get(&server, path, &[]).await;
        let status = response.json();
        assert_eq!(
            (response.status, &status["reason"], &status["details"]),
            (404, &json!("NotFound"), &json!({}))
        );
        assert_eq!(status["message"], "the server could not find the requested resource", "{path}");
    }
    for method in [Method::HEAD, Method::OPTIONS, Method::TRACE, Method::POST] {
        let response = round_trip(&server, method.clone(), "/api/v1/namespaces/default", &[], "").await;
        assert_eq!(
            (response.status, &response.json()["reason"]),
            (405, &json!("MethodNotAllowed")),
            "{method}"
        );
    }
    let everywhere = round_trip(&server, Method::DELETE, "/api/v1/configmaps", &[], "").await;
    assert_eq!(everywhere.status, 405, "a collection can be deleted in one namespace only");
    assert_eq!(round_trip(&server, Method::POST, "/apis", &[], "").await.status, 405);
    let get_with_watch = get(&server, "/api/v1/namespaces/default/?watch=true&nonsense=1", &[]).await;
    assert_eq!(get_with_watch.json()["kind"], "Namespace", "A0.6");
}
