//! Requests with the input of an attacker: aliases in YAML, headers, impersonation, continue tokens, printer columns.

use std::sync::{Arc, LazyLock};

use gantry_apiserver::{Access, ApiServer, Settings, StaticToken};
use gantry_json::{Value, json};
use gantry_registry::access::User;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::{HeaderValue, Method, Request};

use super::mutation::Mutated;
use super::{RUNTIME, SERVER, check_response, custom, harness};

const TOKEN: &str = "admin-token";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A server with RBAC and an administrator, who may impersonate anyone.
static GUARDED: LazyLock<ApiServer> = LazyLock::new(|| {
    let groups = vec!["system:masters".to_owned()];
    let user = User { name: "admin".to_owned(), groups, ..User::default() };
    let access = Access { tokens: vec![StaticToken { token: TOKEN.to_owned(), user }], ..Access::rbac() };
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let settings = Settings { access, ..Settings::default() };
    let server = ApiServer::new(store, Arc::new(harness::Noon::default()), settings);
    RUNTIME.block_on(server.prepare()).unwrap();
    server
});

/// YAML of nested lists and maps with anchors and aliases, which may refer to themselves or to nothing.
#[test]
fn yaml_with_any_aliases_gets_a_response() {
    bolero::check!().for_each(|input: &[u8]| {
        let Some((choice, parts)) = input.split_first() else { return };
        let body = format!("metadata: {{name: a}}\ndata:\n  k: {}\n", aliases(parts));
        let path = "/api/v1/namespaces/default/configmaps";
        check_response(&match choice % 2 {
            0 => Mutated::of("POST", &format!("{path}?dryRun=All"), "application/yaml", &body),
            _ => Mutated::of(
                "PATCH",
                &format!("{path}/a?dryRun=All&fieldManager=m"),
                "application/apply-patch+yaml",
                &body,
            ),
        });
    });
}

/// Each byte is a part of the text, and chooses the anchor to which it refers.
fn aliases(parts: &[u8]) -> String {
    let part = |byte: &u8| {
        let anchor = byte / 8 % 6;
        match byte % 8 {
            0 => "[".to_owned(),
            1 => "], ".to_owned(),
            2 => format!("&a{anchor} "),
            3 => format!("*a{anchor}, "),
            4 => "{k: ".to_owned(),
            5 => "}, ".to_owned(),
            6 => "*a0, *a1, *a2, *a3, *a4, *a5, ".to_owned(),
            _ => "\"text\", ".to_owned(),
        }
    };
    parts.iter().map(part).collect()
}

/// Any values of the headers that the server reads.
#[test]
fn any_headers_get_a_response() {
    const NAMES: [&str; 8] = [
        "accept-encoding",
        "authorization",
        "content-encoding",
        "content-length",
        "if-none-match",
        "impersonate-user",
        "user-agent",
        "x-remote-user",
    ];
    bolero::check!().for_each(|input: &[u8]| {
        let headers = headers(&NAMES, input);
        let get = Mutated::of("GET", "/api/v1/pods", "application/json", "");
        check_response(&Mutated { headers, ..get });
    });
}

/// With any headers, a request that impersonates a user never gets the response for its sender.
#[test]
fn an_impersonating_request_is_never_handled_as_its_sender() {
    const NAMES: [&str; 5] = [
        "impersonate-user",
        "impersonate-group",
        "impersonate-uid",
        "impersonate-extra-scopes",
        "impersonate-extra-%2f%ff",
    ];
    bolero::check!().for_each(|input: &[u8]| {
        let mut built = Request::builder().method(Method::POST).uri(REVIEWS);
        built = built
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json");
        let headers = headers(&NAMES, input);
        for (name, value) in &headers {
            let Ok(value) = HeaderValue::from_bytes(value) else { return };
            built = built.header(*name, value);
        }
        let server = &*GUARDED;
        let review = built.body("{}".into()).unwrap();
        let (status, response) = RUNTIME.block_on(async { harness::read(server.handle(review).await).await });
        let user = &response["status"]["userInfo"]["username"];
        if status != 201 {
            return assert!(status >= 400 && user.is_null(), "{headers:?}: {status} {response}");
        }
        // As in Kubernetes, the first of several counts, and an empty one is ignored.
        let first = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| *name == wanted);
            found.map_or(b"".as_slice(), |(_, value)| value)
        };
        let name = first("impersonate-user");
        let wanted = if name.is_empty() { b"admin" } else { name };
        assert_eq!(user.as_str().unwrap().as_bytes(), wanted, "{headers:?}");
        let has_more = !first("impersonate-uid").is_empty()
            || headers.iter().any(|(name, _)| !matches!(*name, "impersonate-user" | "impersonate-uid"));
        assert!(!name.is_empty() || !has_more, "{headers:?} were ignored");
    });
}

/// Any name and value: the first byte is the name and the length of the value.
fn headers(names: &[&'static str], mut input: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut headers = Vec::new();
    while let Some((choice, rest)) = input.split_first() {
        let name = names[usize::from(*choice) % names.len()];
        let length = (usize::from(*choice) / names.len()).min(rest.len());
        let (value, rest) = rest.split_at(length);
        // Surrounding white space is not part of a value.
        headers.push((name, value.trim_ascii().to_vec()));
        input = rest;
    }
    headers
}

/// Continue tokens of any version, revision and start.
#[test]
fn any_continue_token_gets_a_response() {
    const REVISIONS: [&str; 8] = ["-1", "0", "1", "2", "9223372036854775807", "1e3", "\"1\"", "null"];
    bolero::check!().for_each(|input: &[u8]| {
        let Some((choice, start)) = input.split_first() else { return };
        let revision = REVISIONS[usize::from(*choice) % REVISIONS.len()];
        let start = Value::from(String::from_utf8_lossy(start));
        let version = if choice & 0x80 == 0 { "meta.k8s.io/v1" } else { "meta.k8s.io/v2" };
        let token = format!("{{\"v\":\"{version}\",\"rv\":{revision},\"start\":{start}}}");
        let token = gantry_formats::base64::encode_url(token.as_bytes());
        let path = format!("/api/v1/namespaces/default/configmaps?limit=1&continue={token}");
        check_response(&Mutated::of("GET", &path, "", ""));
    });
}

/// Printer columns of any path, on objects that have several levels.
#[test]
fn any_printer_column_gets_a_response() {
    const PARTS: [&str; 16] = [
        ".spec",
        ".parts",
        ".free",
        ".any",
        "[*]",
        ".*",
        "..",
        "..name",
        "[0]",
        "[-1]",
        "[0:2]",
        "[1:0:-1]",
        "['a','b']",
        "[?(@.name)]",
        "[?(@.name==\"a\")]",
        "[?(@..a>1)]",
    ];
    bolero::check!().for_each(|input: &[u8]| {
        let json_path: String =
            input.iter().take(5).map(|byte| PARTS[usize::from(*byte) % PARTS.len()]).collect();
        let columns = json!([{"name": "C", "type": "string", "jsonPath": json_path}]);
        let patch =
            json!([{"op": "replace", "path": "/spec/versions/0/additionalPrinterColumns", "value": columns}]);
        let definition = format!("{}/widgets.columns.example.com", custom::DEFINITIONS);
        let server = &*SERVER;
        LazyLock::force(&COLUMNS);
        RUNTIME.block_on(async {
            let kind = "application/json-patch+json";
            harness::read(harness::send(server, Method::PATCH, &definition, kind, &patch).await).await
        });
        let list = Mutated::of("GET", COLUMNS_WIDGETS, "", "");
        check_response(&Mutated { accept: "application/json;as=Table;v=v1;g=meta.k8s.io".into(), ..list });
    });
}

const COLUMNS_WIDGETS: &str = "/apis/columns.example.com/v1/namespaces/default/widgets";

/// A separate definition, whose columns are changed.
static COLUMNS: LazyLock<()> = LazyLock::new(|| {
    let text = custom::definition().to_string().replace("example.com", "columns.example.com");
    let definition = gantry_json::from_str(&text).unwrap();
    let text = custom::widget("a").to_string().replace("example.com", "columns.example.com");
    let widget = gantry_json::from_str(&text).unwrap();
    let server = &*SERVER;
    RUNTIME.block_on(async {
        let (status, response) = harness::call(server, Method::POST, custom::DEFINITIONS, definition).await;
        assert_eq!(status, 201, "{response}");
        let (status, response) = harness::call(server, Method::POST, COLUMNS_WIDGETS, widget).await;
        assert_eq!(status, 201, "{response}");
    });
});
