//! The head of a request, parsed once when it arrives. Metrics, authorization, timeouts, handlers and response filters use it.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use gantry_formats::percent;
use gantry_registry::access::{RequestAttributes, verb};
use gantry_registry::target::Target;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderName, USER_AGENT};
use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri};

use crate::accept::{Media, media};
use crate::authorization::Caller;
use crate::query::Query;

/// User agents that get pretty-printed JSON by default.
const PRETTY_USER_AGENTS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// The address of the client of a connection, as an extension of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

/// The resources that requests are proxied to.
const PROXIED: [&str; 3] = ["nodes", "pods", "services"];

/// The parsed head of a request, and its caller. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestInfo {
    head: Arc<RequestHead>,
    /// The user and their permissions; anonymous until the request is authorized.
    pub(crate) caller: Caller,
}

/// The parsed head of a request.
pub(crate) struct RequestHead {
    pub(crate) method: Method,
    /// As received.
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) extensions: Extensions,
    /// The unescaped path.
    pub(crate) path: String,
    /// The resource or group that the path names.
    pub(crate) target: Target,
    /// The API verb of a resource request, such as `list`; empty if it has none.
    pub(crate) verb: &'static str,
    pub(crate) query: Query,
    /// The media type of the body, in lower case and without parameters.
    pub(crate) content_type: String,
}

impl Deref for RequestInfo {
    type Target = RequestHead;

    fn deref(&self) -> &RequestHead {
        &self.head
    }
}

impl RequestInfo {
    /// Parses the head of a request.
    pub(crate) fn parse(parts: Parts) -> Self {
        Self { head: Arc::new(RequestHead::parse(parts)), caller: Caller::anonymous() }
    }
}

impl RequestHead {
    fn parse(parts: Parts) -> Self {
        let Parts { method, uri, headers, extensions, .. } = parts;
        let path = percent::decode_path(uri.path()).into_owned();
        let target = Target::parse(&path);
        let query = Query::parse(uri.query().unwrap_or_default());
        let verb = match &target {
            Target::Objects(objects) => verb(method.as_str(), objects, &query.0),
            _ => "",
        };
        let content_type = header(&headers, CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
        let content_type = content_type.to_ascii_lowercase();
        Self { method, uri, headers, extensions, path, target, verb, query, content_type }
    }

    /// Whether the request is for a proxy, which passes it on with its body.
    pub(crate) fn is_proxied(&self) -> bool {
        let Target::Objects(objects) = &self.target else { return false };
        objects.group.is_empty()
            && objects.version == "v1"
            && !objects.watch
            && PROXIED.contains(&objects.resource.as_str())
            && objects.subresource() == Some("proxy")
    }

    /// Whether the client requests an upgrade of the connection.
    pub(crate) fn is_upgrade(&self) -> bool {
        let connection = self.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
        connection.into_iter().any(|words| words.to_ascii_lowercase().contains("upgrade"))
    }

    /// The request as RBAC evaluates it.
    pub(crate) fn access_request(&self) -> RequestAttributes {
        match &self.target {
            Target::Objects(objects) => RequestAttributes::for_objects(self.verb, objects, &self.query.0),
            _ => RequestAttributes::for_path(self.method.as_str(), &self.path),
        }
    }

    /// The value of a header; empty if absent or not text.
    pub(crate) fn header(&self, name: HeaderName) -> &str {
        header(&self.headers, name)
    }

    /// The `Accept` header.
    pub(crate) fn accept(&self) -> &str {
        self.header(ACCEPT)
    }

    pub(crate) fn user_agent(&self) -> &str {
        self.header(USER_AGENT)
    }

    /// The name and port by which the client reached the server: the authority of HTTP/2, or the `Host` of HTTP/1.
    pub(crate) fn host(&self) -> &str {
        self.uri.authority().map_or_else(|| self.header(HOST), |authority| authority.as_str())
    }

    /// Whether the client accepts gzip.
    pub(crate) fn accepts_gzip(&self) -> bool {
        self.header(ACCEPT_ENCODING).split(',').any(|coding| {
            let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
            name.trim() == "gzip" && !matches!(quality.trim(), "q=0" | "q=0.0")
        })
    }

    /// Whether JSON responses are converted to YAML.
    pub(crate) fn wants_yaml(&self) -> bool {
        self.accept().contains("yaml") && media(self.accept()) == Media::Yaml
    }

    /// Whether JSON is pretty-printed: by the parameter `pretty`, or else by the user agent.
    pub(crate) fn wants_pretty(&self) -> bool {
        match self.query.first("pretty") {
            Some(_) => self.query.flag("pretty"),
            None => PRETTY_USER_AGENTS.iter().any(|program| self.user_agent().starts_with(program)),
        }
    }
}

fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(request: http::request::Builder, check: impl Fn(&RequestInfo)) {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(&RequestInfo::parse(parts));
    }

    /// A0.5, A0.7, A9.3: target, verb, query and media type of a resource request.
    #[test]
    fn a_resource_request_is_parsed() {
        let uri = "/apis/apps/v1/namespaces/shop/deployments?watch=true&labelSelector=a%3Db";
        let request = http::Request::get(uri).header(CONTENT_TYPE, "Application/JSON; charset=utf-8");
        parsed(request, |info| {
            assert!(matches!(&info.target, Target::Objects(objects) if objects.resource == "deployments"));
            assert_eq!((info.verb, info.query.first("labelSelector")), ("watch", Some("a=b")));
            assert_eq!(info.content_type, "application/json");
            assert_eq!(info.access_request().verb, "watch");
        });
        parsed(http::Request::get("/metrics"), |info| assert_eq!(info.access_request().verb, "get"));
    }

    #[test]
    fn the_host_is_the_authority_of_http2_or_the_header_of_http1() {
        let first = http::Request::get("/api").header(HOST, "localhost:6443");
        parsed(first, |info| assert_eq!(info.host(), "localhost:6443"));
        let second = http::Request::get("https://10.96.0.1/api");
        parsed(second, |info| assert_eq!(info.host(), "10.96.0.1"));
    }

    /// A0.4: the parameter takes precedence over the user agent.
    #[test]
    fn pretty_printing_is_requested_by_parameter_or_user_agent() {
        for (query, agent, pretty) in [
            ("", "kubectl/v1.37", false),
            ("", "curl/8.0", true),
            ("?pretty=false", "curl/8.0", false),
            ("?pretty=true", "kubectl/v1.37", true),
        ] {
            let request = http::Request::get(format!("/api{query}")).header(USER_AGENT, agent);
            parsed(request, |info| assert_eq!(info.wants_pretty(), pretty, "{query} {agent}"));
        }
    }
}
