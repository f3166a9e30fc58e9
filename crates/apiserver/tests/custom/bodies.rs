//! Unknown and duplicate fields of a body: warned about, refused or ignored, as the client requests.

use super::*;
use crate::harness::{ReceivedResponse, round_trip};

const CRANES: &str = "/apis/example.com/v1/namespaces/default/cranes";
const JSON_PATCH: &str = "application/json-patch+json";

/// A server that defines cranes with an embedded object; unknown fields of their spec may be preserved.
async fn with_cranes(keeps_unknown: bool) -> ApiServer {
    let server = server().await;
    let mut spec = json!({
        "type": "object",
        "properties": {
            "known": {"type": "string"},
            "held": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
                "metadata": {"type": "object"},
            }},
            "ports": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
                "items": {"type": "object", "required": ["port"], "properties": {
                    "port": {"type": "integer"}, "host": {"type": "integer"},
                }},
            },
        },
    });
    if keeps_unknown {
        spec["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    let definition = json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "cranes.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "cranes", "kind": "Crane"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec},
            }}}],
        },
    });
    define(&server, definition).await;
    server
}

async fn sent(server: &ApiServer, method: Method, path: &str, kind: &str, body: &str) -> ReceivedResponse {
    round_trip(server, method, path, &[("content-type", kind), ("user-agent", "story/1")], body.to_owned())
        .await
}

/// The warnings of a response.
fn warnings(response: &ReceivedResponse) -> Vec<String> {
    let headers = response.headers.get_all("warning").iter();
    let texts = headers.map(|header| header.to_str().unwrap().trim_start_matches("299 - "));
    texts.map(|text| gantry_json::from_str(text).unwrap()).collect()
}

const ODD: &str = r#"{"kind": "Crane", "apiVersion": "example.com/v1",
    "metadata": {"name": "first", "name": "NAME", "height": 1},
    "spec": {
        "weight": 1, "twice": 1, "twice": 2, "known": "a", "known": "b",
        "ports": [{"port": 1, "host": 1, "host": 2, "depth": 1}],
        "held": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "colour": "red"}}}}"#;

const ODD_IN_YAML: &str = r#"
apiVersion: example.com/v1
kind: Crane
metadata:
  name: first
  name: "NAME"
  height: 1
spec:
  weight: 1
  twice: 1
  twice: 2
  ports:
  - port: 1
    depth: 1
  held:
    apiVersion: v1
    kind: ConfigMap
    metadata:
      colour: red"#;

/// Appendix E, A2.23: the order is duplicate fields, unknown metadata, unknown fields, unknown metadata of embedded
/// objects.
#[tokio::test]
async fn warnings_have_an_order() {
    let twice = ["metadata.name", "spec.twice", "spec.known", "spec.ports[0].host"];
    let twice: Vec<_> = twice.iter().map(|path| format!("duplicate field \"{path}\"")).collect();
    let in_yaml = [r#"line 6: key "name" already set in map"#, r#"line 11: key "twice" already set in map"#];
    let in_yaml: Vec<_> = in_yaml.map(str::to_owned).to_vec();
    let all =
        ["metadata.height", "spec.ports[0].depth", "spec.twice", "spec.weight", "spec.held.metadata.colour"];
    let kept = ["metadata.height", "spec.ports[0].depth", "spec.held.metadata.colour"];
    for (keeps_unknown, unknown) in [(false, &all[..]), (true, &kept[..])] {
        let server = with_cranes(keeps_unknown).await;
        let unknown: Vec<_> = unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
        for (kind, body, twice) in
            [("application/json", ODD, &twice), ("application/yaml", ODD_IN_YAML, &in_yaml)]
        {
            let expected = [twice.as_slice(), &unknown].concat();
            let name = format!("{}-{keeps_unknown}", kind.trim_start_matches("application/"));
            let path = |validation: &str| format!("{CRANES}?fieldValidation={validation}");
            let body = body.replace("NAME", &name);
            let response = sent(&server, Method::POST, &path("Strict"), kind, &body).await;
            assert_eq!(response.status, 400, "{}", response.text());
            let message = response.json()["message"].as_str().unwrap().to_owned();
            let details = message.split_once("strict decoding error: ").unwrap().1;
            let details =
                details.strip_prefix("yaml: unmarshal errors:\n  ").unwrap_or(details).replace("\n  ", ", ");
            assert_eq!(details, expected.join(", "));
            let response = sent(&server, Method::POST, CRANES, kind, &body).await;
            assert_eq!(
                (response.status, warnings(&response)),
                (201, expected.clone()),
                "{}",
                response.text()
            );
            let mut stored = response.json();
            assert!(stored["spec"]["held"]["metadata"].get("colour").is_none(), "{stored}");
            // The same with PUT.
            stored["spec"]["weight"] = json!(1);
            let path = |validation: &str| format!("{CRANES}/{name}?fieldValidation={validation}");
            let version = stored["metadata"]["resourceVersion"].as_str().unwrap();
            let body = match kind {
                "application/json" => {
                    body.replace("\"height\"", &format!("\"resourceVersion\": \"{version}\", \"height\""))
                }
                _ => body.replace("  height: 1", &format!("  height: 1\n  resourceVersion: \"{version}\"")),
            };
            let response = sent(&server, Method::PUT, &path("Strict"), kind, &body).await;
            assert_eq!(response.status, 400, "{}", response.text());
            let response = sent(&server, Method::PUT, &path("Ignore"), kind, &body).await;
            assert_eq!((response.status, warnings(&response)), (200, Vec::new()), "{}", response.text());
        }
    }
}

/// Appendix E, A2.23: patches get warnings about themselves and about their result.
#[tokio::test]
async fn patches_get_warnings() {
    let server = with_cranes(false).await;
    let body = r#"{"kind": "Crane", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}]}}"#;
    assert_eq!(sent(&server, Method::POST, CRANES, "application/json", body).await.status, 201);
    let merge = r#"{"spec": {"weight": 1, "known": "a", "known": "b", "ports": [{"port": 1, "port": 2, "depth": 1}]}}"#;
    let operations = r#"[
        {"op": "add", "path": "/spec/weight", "value": 1, "was": 2},
        {"op": "add", "path": "/spec/height", "path": "/spec/width", "value": 1},
        {"op": "add", "path": "/spec/ports/0/depth", "value": 1}]"#;
    let expected_of_merge = [
        r#"duplicate field "spec.known""#,
        r#"duplicate field "spec.ports[0].port""#,
        r#"unknown field "spec.ports[0].depth""#,
        r#"unknown field "spec.weight""#,
    ];
    let expected_of_operations = [
        r#"json patch unknown field "[0].was""#,
        r#"json patch duplicate field "[1].path""#,
        r#"unknown field "spec.ports[0].depth""#,
        r#"unknown field "spec.weight""#,
        r#"unknown field "spec.width""#,
    ];
    let path = |validation: &str| format!("{CRANES}/a?fieldValidation={validation}");
    for (kind, body, expected) in
        [(MERGE, merge, &expected_of_merge[..]), (JSON_PATCH, operations, &expected_of_operations[..])]
    {
        let response = sent(&server, Method::PATCH, &path("Strict"), kind, body).await;
        assert_eq!(
            (response.status, &response.json()["reason"]),
            (422, &json!("Invalid")),
            "{}",
            response.text()
        );
        let message = response.json()["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with(&format!("strict decoding error: {}", expected.join(", "))), "{message}");
        let response = sent(&server, Method::PATCH, &path("Ignore"), kind, body).await;
        assert_eq!((response.status, warnings(&response)), (200, Vec::new()));
        let response = sent(&server, Method::PATCH, &path("Warn"), kind, body).await;
        assert_eq!(
            (response.status, warnings(&response)),
            (200, expected.iter().map(ToString::to_string).collect())
        );
    }
}

/// A2.23: apply configurations are YAML, and duplicate keys get the YAML parser's messages.
#[tokio::test]
async fn apply_configurations_get_warnings() {
    let server = with_cranes(false).await;
    let body =
        "kind: Crane\napiVersion: example.com/v1\nmetadata: {name: a}\nspec:\n  known: a\n  known: b\n";
    let path = |validation: &str| format!("{CRANES}/a?fieldManager=m&fieldValidation={validation}");
    let response = sent(&server, Method::PATCH, &path("Strict"), APPLY, body).await;
    assert_eq!(response.status, 400);
    assert_eq!(
        response.json()["message"],
        "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key \"known\" \
         already set in map"
    );
    let response = sent(&server, Method::PATCH, &path("Warn"), APPLY, body).await;
    assert_eq!(
        (response.status, warnings(&response)),
        (201, vec![r#"line 6: key "known" already set in map"#.to_owned()])
    );
}

/// Appendix E: a body must have the kind and version of the path.
#[tokio::test]
async fn a_body_has_kind_and_version() {
    let server = with_widgets().await;
    let table = [
        (
            r#"{"apiVersion":"example.com/v1","metadata":{"name":"a"}}"#,
            400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in \
             '{\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}' ({\"apiVersion\":\"example.com/v1\" ...)",
        ),
        (
            r#"{"kind":"Widget","metadata":{"name":"a"}}"#,
            400,
            "the API version in the data () does not match the expected API version (example.com/v1)",
        ),
        (
            r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"}}"#,
            400,
            "the API version in the data (apps/v1) does not match the expected API version (example.com/v1)",
        ),
        (
            r#"{"kind":"Gadget","apiVersion":"example.com/v1","metadata":{"name":"a"},"spec":{"size":1}}"#,
            422,
            "Gadget.example.com \"a\" is invalid: kind: Invalid value: \"Gadget\": must be Widget",
        ),
        (
            r#"{"kind":"Widget","apiVersion":"a/b/c","metadata":{"name":"a"}}"#,
            400,
            "the object provided is unrecognized (must be of type Widget): unexpected GroupVersion string: a/b/c \
             ({\"kind\":\"Widget\",\"apiVersion\": ...)",
        ),
    ];
    for (body, status, message) in table {
        let response = sent(&server, Method::POST, WIDGETS, "application/json", body).await;
        assert_eq!(
            (response.status, response.json()["message"].as_str().unwrap()),
            (status, message),
            "{body}"
        );
    }
    make(&server, "a", json!({"size": 1})).await;
    let path = format!("{WIDGETS}/a");
    let (status, response) = patch(&server, &path, MERGE, json!({"kind": "Gadget"})).await;
    assert_eq!((status, response["message"].as_str().unwrap()), (422, table[3].2));
    let (status, response) = patch(&server, &path, MERGE, json!({"apiVersion": "example.com/v2"})).await;
    assert_eq!(status, 422);
    assert_eq!(
        response["message"],
        "Widget.example.com \"a\" is invalid: apiVersion: Invalid value: \"example.com/v2\": must be example.com/v1"
    );
    let (status, response) = patch(&server, &path, MERGE, json!({"kind": null})).await;
    assert_eq!(status, 422);
    let message = response["message"].as_str().unwrap();
    assert!(
        message.starts_with(" \"\" is invalid: patch: Invalid value: ")
            && message.contains("Object 'Kind' is missing in")
    );
    let other = json!({"kind": "Gadget", "apiVersion": "example.com/v1", "metadata": {"name": "a"}});
    let (status, response) = patch(&server, &format!("{path}?fieldManager=m"), APPLY, other).await;
    assert_eq!(
        (status, response["message"].as_str().unwrap()),
        (400, "invalid object type: example.com/v1, Kind=Gadget")
    );
}

/// A0.11: an object that could not be read back is refused; the deepest accepted one is read, changed and owned.
#[tokio::test]
async fn very_deep_objects_are_refused() {
    let server = with_widgets().await;
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    // The object, its spec and `free` are three levels.
    make(&server, "deep", json!({"size": 1, "free": nested(118)})).await;
    let path = format!("{WIDGETS}/deep");
    let (status, response) = patch(&server, &path, MERGE, json!({"spec": {"size": 2}})).await;
    assert_eq!(status, 200, "{response}");
    assert_eq!(get(&server, WIDGETS).await.0, 200);
    for levels in [119, 400, 600, 5_000] {
        let body = widget("b", json!({"size": 1})).to_string();
        let deep = format!("{}{}", "{\"a\":".repeat(levels - 1), "{}".to_owned() + &"}".repeat(levels - 1));
        let body = body.replace("\"size\":1", &format!("\"size\":1,\"free\":{deep}"));
        let response = sent(&server, Method::POST, WIDGETS, "application/json", &body).await;
        assert_eq!(response.status, 400, "{levels}: {}", response.text());
        assert_eq!(
            response.json()["message"],
            "Widget in version \"v1\" cannot be handled as a Widget: exceeded max depth"
        );
    }
    let (status, response) = patch(&server, &path, MERGE, json!({"spec": {"free": nested(119)}})).await;
    assert_eq!(
        (status, response["message"].as_str().unwrap()),
        (400, "error decoding patch: exceeded max depth")
    );
    let doubled = json!([{"op": "copy", "from": "/spec/free", "path": "/spec/free/b"}]);
    let (status, response) = patch(&server, &path, JSON_PATCH, doubled).await;
    assert_eq!((status, &response["details"]["causes"][0]["field"]), (422, &json!("patch")));
    let statement = widget("deep", json!({"free": nested(119)}));
    let (status, response) =
        patch(&server, &format!("{path}?fieldManager=m&force=true"), APPLY, statement).await;
    assert_eq!(
        (status, response["message"].as_str().unwrap()),
        (400, "error encoding patch: exceeded max depth")
    );
    let statement = widget("deep", json!({"free": nested(118)}));
    let (status, response) =
        patch(&server, &format!("{path}?fieldManager=m&force=true"), APPLY, statement).await;
    assert_eq!(status, 200, "{response}");
    assert_eq!(get(&server, &path).await.0, 200);
    let (status, response) = call(&server, Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, 200, "{response}");
}

/// A0.11: the same limit applies to schemaless parts of other kinds.
#[tokio::test]
async fn very_deep_revisions_are_refused() {
    let server = server().await;
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    let revision = |name: &str, levels| {
        json!({"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": {"name": name}, "revision": 1,
            "data": nested(levels)})
    };
    let path = "/apis/apps/v1/namespaces/default/controllerrevisions";
    assert_eq!(call(&server, Method::POST, path, revision("a", 119)).await.0, 201);
    assert_eq!(get(&server, &format!("{path}/a")).await.0, 200);
    let (status, response) = patch(&server, &format!("{path}/a"), MERGE, json!({"revision": 2})).await;
    assert_eq!(status, 200, "{response}");
    let (status, response) = call(&server, Method::POST, path, revision("b", 120)).await;
    assert_eq!(status, 400);
    assert!(response["message"].as_str().unwrap().ends_with(": exceeded max depth"), "{response}");
}
