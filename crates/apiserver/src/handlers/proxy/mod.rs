//! Proxies of pods, services and nodes: a request is passed on unchanged, to the address of a pod or to the agent of a
//! node.
//!
//! `location` determines its destination, `headers` the headers that are passed on, `links` how links in the response
//! lead back through the proxy, `html` changes the links of a page. Bodies are streamed in both directions, and
//! upgraded connections are joined.

mod headers;
mod html;
mod links;
mod location;

use bytes::Bytes;
use gantry_formats::percent;
use gantry_registry::target::Target;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

use super::call::Call;
use crate::ApiServer;
use crate::error::ApiError;
use crate::node_connector::{NodeError, ProxyDestination, ProxyTransport};
use crate::request_body::RequestStream;
use crate::request_info::RequestInfo;
use crate::response::{ApiResponse, Body};
use html::{Coding, HtmlBody};
use links::Links;

pub(crate) use headers::without_credentials;

/// The methods of proxied requests.
const METHODS: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];

/// Handles an authorized request for a proxy.
pub(crate) async fn proxy(
    server: &ApiServer,
    info: &RequestInfo,
    body: RequestStream,
) -> Result<ApiResponse, ApiError> {
    let Target::Objects(path) = &info.target else { return Err(ApiError::ResourceNotFound) };
    let kind = server.kind(&path.group, &path.version, &path.resource).await;
    let kind = kind.ok_or(ApiError::ResourceNotFound)?;
    let call = Call::new(server, &kind, path, info, Bytes::new())?;
    call.check_scope()?;
    if !METHODS.contains(&info.method) {
        return Err(ApiError::MethodNotAllowed);
    }
    call.pass_on(ProxiedPath::of(&info.path, path.part.as_deref().unwrap_or_default()), body).await
}

/// The two parts of a proxied path, decoded.
#[derive(Debug, PartialEq, Eq)]
struct ProxiedPath {
    /// The path of the proxy itself, without a slash at the end.
    prefix: String,
    /// The path in the request to the destination; empty if there is not even a slash.
    rest: String,
}

impl ProxiedPath {
    /// Splits a whole path; `part` is its subresource and the rest, without slashes at the end.
    fn of(path: &str, part: &str) -> Self {
        let rest = part.strip_prefix("proxy").unwrap_or_default();
        let trimmed = path.trim_end_matches('/');
        let prefix = trimmed.strip_suffix(rest).unwrap_or(trimmed).to_owned();
        Self { prefix, rest: clean(rest, path.ends_with('/')) }
    }
}

/// Resolves `.`, `..` and empty segments.
fn clean(path: &str, ends_in_slash: bool) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    match (segments.is_empty(), ends_in_slash) {
        (true, false) if path.is_empty() => String::new(),
        (true, _) => "/".to_owned(),
        (false, true) => format!("/{}/", segments.join("/")),
        (false, false) => format!("/{}", segments.join("/")),
    }
}

impl Call<'_> {
    async fn pass_on(&self, path: ProxiedPath, body: RequestStream) -> Result<ApiResponse, ApiError> {
        let info = self.info;
        let destination = self.location().await?;
        let is_upgrade = info.is_upgrade();
        if path.rest.is_empty() && !is_upgrade && matches!(info.method, Method::GET | Method::HEAD) {
            // Relative links of the page need the trailing slash.
            let query = info.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            return Ok(ApiResponse::empty(301).with(LOCATION, format!("{}/{query}", info.uri.path())));
        }
        let request = self.proxied_request(&path, body)?;
        let client_host = info.host().to_owned();
        let links = Links::new(&path.prefix, authority(&destination), client_host);
        let Some(connector) = &self.server.settings.nodes else {
            return Err(unreachable("this server makes no connections", is_upgrade));
        };
        let response = connector.proxy(destination, request).await.map_err(|error| match error {
            NodeError::NoAgent => {
                unreachable("this server has no certificate for the agents of nodes", is_upgrade)
            }
            NodeError::AddressNotAllowed => ApiError::bad_request("address not allowed"),
            NodeError::Failed(why) => unreachable(&why, is_upgrade),
        })?;
        if is_upgrade { upgraded(response) } else { self.proxied_response(response, links) }
    }

    /// The client's request as it is sent to the destination, with the client's connection but without its credentials.
    fn proxied_request(
        &self,
        path: &ProxiedPath,
        body: RequestStream,
    ) -> Result<Request<RequestStream>, ApiError> {
        let info = self.info;
        let escaped = percent::encode_decoded_path(if path.rest.is_empty() { "/" } else { &path.rest });
        let uri = match info.uri.query() {
            Some(query) => format!("{escaped}?{query}"),
            None => escaped.clone().into_owned(),
        };
        let mut request = Request::new(body);
        *request.method_mut() = info.method.clone();
        *request.uri_mut() = uri.parse().map_err(|error| ApiError::bad_request(format!("{error}")))?;
        *request.headers_mut() = headers::of_request(info);
        if !info.is_upgrade() {
            let forwarded = format!("{}{escaped}", percent::encode_decoded_path(&path.prefix));
            if let Ok(forwarded) = HeaderValue::from_str(&forwarded) {
                request.headers_mut().insert("x-forwarded-uri", forwarded);
            }
        }
        *request.extensions_mut() = info.extensions.clone();
        Ok(request)
    }

    /// The destination's response as it is sent to the client: links lead through the proxy, and headers about the
    /// connection and about other origins are removed.
    fn proxied_response(&self, response: Response<Body>, links: Links) -> Result<ApiResponse, ApiError> {
        let (parts, body) = response.into_parts();
        let mut headers = headers::of_response(&parts.headers);
        if let Some(link) = parts.headers.get(LOCATION).and_then(|link| link.to_str().ok()) {
            links::check(link)
                .map_err(|why| ApiError::Internal(format!("error trying to parse Location header: {why}")))?;
            if let Some(link) = links.rewrite(link).and_then(|link| HeaderValue::from_str(&link).ok()) {
                headers.insert(LOCATION, link);
            }
            return Ok(ApiResponse::forwarded(parts.status, headers, body));
        }
        match html_coding(&headers) {
            Some(coding) if self.info.method != Method::HEAD => {
                headers.remove(CONTENT_LENGTH);
                let body = Body::Stream(Box::pin(HtmlBody::new(body, coding, links)));
                Ok(ApiResponse::forwarded(parts.status, headers, body))
            }
            _ => Ok(ApiResponse::forwarded(parts.status, headers, body)),
        }
    }
}

/// The response to a request that upgrades the connection. A response that neither upgrades nor refuses is an error.
fn upgraded(response: Response<Body>) -> Result<ApiResponse, ApiError> {
    let (parts, body) = response.into_parts();
    match parts.status {
        StatusCode::SWITCHING_PROTOCOLS => Ok(ApiResponse::forwarded(parts.status, parts.headers, body)),
        status if status.as_u16() >= 400 => {
            Ok(ApiResponse::forwarded(status, headers::of_response(&parts.headers), body))
        }
        status => {
            Err(ApiError::Unclassified(format!("invalid upgrade response: status code {}", status.as_u16())))
        }
    }
}

/// The encoding of the body, if it is a page whose links can be changed.
fn html_coding(headers: &HeaderMap) -> Option<Coding> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = text(CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    match (media, text(CONTENT_ENCODING)) {
        ("text/html", "") => Some(Coding::Identity),
        ("text/html", "gzip") => Some(Coding::Gzip),
        _ => None,
    }
}

/// Host and port in the notation of a URL.
fn authority(destination: &ProxyDestination) -> String {
    let ProxyDestination { transport, host, port } = destination;
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    match (transport, port) {
        (ProxyTransport::Http, 80) | (ProxyTransport::Https, 443) => host,
        _ => format!("{host}:{port}"),
    }
}

fn unreachable(why: &str, is_upgrade: bool) -> ApiError {
    if is_upgrade {
        ApiError::Unclassified(format!("error dialing backend: {why}"))
    } else {
        ApiError::Unavailable(format!("error trying to reach service: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(path: &str) -> (String, String) {
        let part = path.trim_end_matches('/').strip_prefix("/pods/p/").unwrap();
        let ProxiedPath { prefix, rest } = ProxiedPath::of(path, part);
        (prefix, rest)
    }

    /// The paths are those that kube-apiserver 1.37 sends to the pod.
    #[test]
    fn the_path_after_the_proxy_is_passed_on_without_dots_and_empty_segments() {
        let prefix = "/pods/p/proxy";
        for (path, rest) in [
            ("/pods/p/proxy", ""),
            ("/pods/p/proxy/", "/"),
            ("/pods/p/proxy//", "/"),
            ("/pods/p/proxy/a/b", "/a/b"),
            ("/pods/p/proxy//x//y//", "/x/y/"),
            ("/pods/p/proxy/../../secrets", "/secrets"),
            ("/pods/p/proxy/..", "/"),
        ] {
            assert_eq!(split(path), (prefix.to_owned(), rest.to_owned()), "{path}");
        }
    }
}
