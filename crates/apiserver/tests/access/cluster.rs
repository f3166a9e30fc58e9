//! A cluster with RBAC, an administrator, and a few users without permissions.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use gantry_apiserver::{Access, ApiServer, AuthenticatedUser, Body, Environment, Settings, StaticToken};
use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::access::User;
use gantry_store::Store;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;

pub(crate) const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const ADMIN: &str = "admin";

/// A clock that is advanced by hand, and uids that count up.
#[derive(Debug)]
pub(crate) struct Clock {
    now: AtomicI64,
    uids: AtomicU64,
}

impl Clock {
    pub(crate) fn wait(&self, seconds: i64) {
        self.now.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Environment for Clock {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(self.now.load(Ordering::Relaxed))
    }
    fn uid(&self) -> String {
        format!("{:08x}-0000-4000-8000-000000000000", 1 + self.uids.fetch_add(1, Ordering::Relaxed))
    }
    fn name_suffix(&self) -> String {
        format!("x{:04}", self.uids.fetch_add(1, Ordering::Relaxed))
    }
}

pub(crate) struct Cluster {
    pub(crate) server: ApiServer,
    pub(crate) clock: Arc<Clock>,
    pub(crate) store: Arc<dyn Store>,
}

/// The static token of a user.
pub(crate) fn token_of(name: &str) -> String {
    format!("{name}-token")
}

/// Anonymous requests are rejected; `admin` may do everything, `bob`, `eve` and `mallory` nothing yet.
pub(crate) fn rbac_access() -> Access {
    let person = |name: &str, groups: &[&str]| StaticToken {
        token: token_of(name),
        user: User {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            ..User::default()
        },
    };
    let tokens = vec![
        person(ADMIN, &["system:masters"]),
        person("bob", &[]),
        person("eve", &["team"]),
        person("mallory", &[]),
    ];
    Access { tokens, ..Access::rbac() }
}

pub(crate) async fn cluster() -> Cluster {
    cluster_with(rbac_access()).await
}

pub(crate) async fn cluster_with(access: Access) -> Cluster {
    on(Arc::new(MemoryStore::new(HistoryLimits::default())), access).await
}

/// Another server on an existing store.
pub(crate) async fn on(store: Arc<dyn Store>, access: Access) -> Cluster {
    let clock = Arc::new(Clock { now: AtomicI64::new(1_767_268_800), uids: AtomicU64::new(0) });
    let settings = Settings { access, ..Settings::default() };
    let server = ApiServer::new(Arc::clone(&store), Arc::clone(&clock) as _, settings);
    server.prepare().await.unwrap();
    Cluster { server, clock, store }
}

impl Cluster {
    /// Sends a request with these headers.
    pub(crate) async fn send(
        &self,
        headers: &[(&str, &str)],
        method: Method,
        path: &str,
        body: &Value,
    ) -> Response<Body> {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let mut request =
            Request::builder().method(method).uri(path).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.server.handle(request.body(bytes.into()).unwrap()).await
    }

    /// Sends a request with a bearer token.
    pub(crate) async fn request_with_token(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        let header = format!("Bearer {token}");
        read(self.send(&[("authorization", &header)], method, path, &body).await).await
    }

    /// Sends a request as a user with a static token.
    pub(crate) async fn request_as(
        &self,
        who: &str,
        method: Method,
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        self.request_with_token(&token_of(who), method, path, body).await
    }

    pub(crate) async fn get(&self, who: &str, path: &str) -> (u16, Value) {
        self.request_as(who, Method::GET, path, Value::Null).await
    }

    /// Creates an object as the administrator.
    pub(crate) async fn create(&self, path: &str, object: Value) -> Value {
        let (status, created) = self.request_as(ADMIN, Method::POST, path, object).await;
        assert_eq!(status, 201, "{created}");
        created
    }

    /// Creates an object as the administrator, impersonating another user.
    pub(crate) async fn request_impersonating(
        &self,
        headers: &[(&str, &str)],
        method: Method,
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        let bearer = format!("Bearer {}", token_of(ADMIN));
        let headers: Vec<_> = headers.iter().copied().chain([("authorization", bearer.as_str())]).collect();
        read(self.send(&headers, method, path, &body).await).await
    }

    /// Sends a request as a user that a listener has authenticated by a certificate.
    pub(crate) async fn request_with_certificate(&self, user: User, path: &str) -> (u16, Value) {
        let mut request = Request::builder().uri(path).body(bytes::Bytes::new()).unwrap();
        request.extensions_mut().insert(AuthenticatedUser(user));
        read(self.server.handle(request).await).await
    }

    /// Grants rules in the namespace `default` to a user.
    pub(crate) async fn grant(&self, user: &str, rules: Value) {
        let path = format!("{RBAC}/namespaces/default/roles");
        self.create(&path, json!({"metadata": {"name": user}, "rules": rules})).await;
        self.bind(user, "Role", user).await;
    }

    /// Binds a user to a role in the namespace `default`.
    pub(crate) async fn bind(&self, user: &str, kind: &str, role: &str) {
        let bindings = format!("{RBAC}/namespaces/default/rolebindings");
        let subjects = json!([{"kind": "User", "name": user}]);
        let reference = json!({"kind": kind, "name": role});
        let binding = json!({"metadata": {"name": format!("{user}-{role}")}, "roleRef": reference, "subjects": subjects});
        self.create(&bindings, binding).await;
    }
}

pub(crate) async fn read(response: Response<Body>) -> (u16, Value) {
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, gantry_json::from_slice(&bytes).unwrap_or(Value::Null))
}

/// A rule on resources of the core group.
pub(crate) fn rule(verbs: &[&str], resources: &[&str]) -> Value {
    json!({"apiGroups": [""], "resources": resources, "verbs": verbs})
}
