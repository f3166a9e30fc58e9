//! `/healthz`, `/livez` and `/readyz`: all checks, or a single one by name.

use std::fmt::Write as _;

use super::discovery::page_not_found;
use crate::ApiServer;
use crate::health::Health;
use crate::request_info::RequestInfo;
use crate::response::ApiResponse;

gantry_formats::text_enum! {
    /// A health check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Check {
        /// Always passes.
        Ping = "ping",
        /// Always passes: Kubernetes checks that the log is flushed.
        Log = "log",
        /// The store reads and writes.
        Store = "etcd",
        /// The default objects exist.
        Startup = "informer-sync",
        /// The server is not shutting down.
        Shutdown = "shutdown",
    }

    fn name(self) -> &'static str;
}

const ALIVE: [Check; 3] = [Check::Ping, Check::Log, Check::Store];
const STARTED: [Check; 4] = [Check::Ping, Check::Log, Check::Store, Check::Startup];
const READY: [Check; 5] = [Check::Ping, Check::Log, Check::Store, Check::Startup, Check::Shutdown];

/// All health paths.
pub(super) fn paths() -> impl Iterator<Item = String> {
    ["healthz", "livez", "readyz"].into_iter().flat_map(|endpoint| {
        let checks = checks(endpoint).unwrap_or_default().iter();
        let single = checks.map(move |check| format!("/{endpoint}/{}", check.name()));
        std::iter::once(format!("/{endpoint}")).chain(single)
    })
}

/// Responds to health paths; `None` for others.
pub(super) async fn path(server: &ApiServer, path: &str, info: &RequestInfo) -> Option<ApiResponse> {
    let mut words = path.trim_matches('/').splitn(2, '/');
    let endpoint = words.next().unwrap_or_default();
    let checks = checks(endpoint)?;
    Some(match words.next() {
        None => all(server, endpoint, checks, info).await,
        Some(name) => match checks.iter().find(|check| check.name() == name) {
            Some(check) => one(server, *check).await,
            None => page_not_found(),
        },
    })
}

fn checks(endpoint: &str) -> Option<&'static [Check]> {
    match endpoint {
        "healthz" => Some(&STARTED),
        "livez" => Some(&ALIVE),
        "readyz" => Some(&READY),
        _ => None,
    }
}

async fn all(server: &ApiServer, endpoint: &str, checks: &[Check], info: &RequestInfo) -> ApiResponse {
    let query = &info.query;
    let mut excluded: Vec<_> =
        query.0.iter().filter(|(key, _)| key == "exclude").map(|(_, value)| value.as_str()).collect();
    let (mut lines, mut failed) = (String::new(), false);
    for check in checks {
        let name = check.name();
        if excluded.contains(&name) {
            excluded.retain(|other| *other != name);
            let _ = writeln!(lines, "[+]{name} excluded: ok");
        } else if check.passes(server).await {
            let _ = writeln!(lines, "[+]{name} ok");
        } else {
            failed = true;
            let _ = writeln!(lines, "[-]{name} failed: reason withheld");
        }
    }
    if !excluded.is_empty() {
        let unknown: Vec<_> = excluded.iter().map(|name| format!("\"{name}\"")).collect();
        let _ = writeln!(
            lines,
            "warn: some health checks cannot be excluded: no matches for {}",
            unknown.join(", ")
        );
    }
    if failed {
        return failure(format!("{lines}{endpoint} check failed\n"));
    }
    if query.first("verbose").is_some() {
        return ApiResponse::text(200, format!("{lines}{endpoint} check passed\n"));
    }
    ApiResponse::text(200, "ok")
}

async fn one(server: &ApiServer, check: Check) -> ApiResponse {
    if check.passes(server).await {
        return ApiResponse::text(200, "ok");
    }
    failure(format!("internal server error: {} failed\n", check.name()))
}

fn failure(text: String) -> ApiResponse {
    ApiResponse::text(500, text).with(http::header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned())
}

impl Check {
    async fn passes(self, server: &ApiServer) -> bool {
        match self {
            Self::Ping | Self::Log => true,
            Self::Store => server.objects.store.health().await.is_ok(),
            Self::Startup => server.health.get() != Health::Starting,
            Self::Shutdown => server.health.get() != Health::ShuttingDown,
        }
    }
}
